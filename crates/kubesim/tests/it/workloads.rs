//! Workloads come to life: controllers, scheduler and a pretended kubelet, on virtual time.

use std::time::Duration;

use evenkeel_kubesim::{Ambient, Cluster, Workloads};
use serde_json::{Value, json};

use crate::client::{delete, get, merge, post};

const APPS: &str = "/apis/apps/v1/namespaces/default";
const CORE: &str = "/api/v1/namespaces/default";
const BATCH: &str = "/apis/batch/v1/namespaces/default";

fn cluster(workloads: Workloads) -> Cluster {
    Cluster::builder()
        .ambient(Ambient::seeded(1))
        .workloads(workloads)
        .build()
}

fn instant() -> Cluster {
    cluster(Workloads::instant())
}

fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    })
}

fn workload(name: &str, replicas: u32, image: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": template(image),
        },
    })
}

async fn items(cluster: &Cluster, path: &str) -> Vec<Value> {
    let list = get(cluster, path).await.expect(200);
    list["items"].as_array().cloned().unwrap_or_default()
}

async fn one(cluster: &Cluster, path: &str) -> Value {
    get(cluster, path).await.expect(200)
}

fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"]
        .as_array()
        .expect("conditions");
    let found = conditions
        .iter()
        .find(|condition| condition["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {conditions:#?}"))
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_deployment_gets_its_pods_ready_after_a_time() {
    let cluster = cluster(Workloads::default().ready_after(Duration::from_secs(5)));
    let web = format!("{APPS}/deployments/web");
    post(
        &cluster,
        &format!("{APPS}/deployments"),
        &workload("web", 3, "nginx:1"),
    )
    .await
    .expect(201);
    pass(1).await;
    let early = one(&cluster, &web).await;
    assert_eq!(early["status"]["unavailableReplicas"], 3);
    assert_eq!(
        condition(&early, "Available")["reason"],
        "MinimumReplicasUnavailable"
    );
    assert_eq!(
        condition(&early, "Progressing")["reason"],
        "ReplicaSetUpdated"
    );
    pass(5).await;
    let late = one(&cluster, &web).await;
    assert_eq!(late["status"]["readyReplicas"], 3);
    assert_eq!(late["status"]["observedGeneration"], 1);
    assert_eq!(
        late["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "1"
    );
    assert_eq!(
        condition(&late, "Available")["reason"],
        "MinimumReplicasAvailable"
    );
    assert_eq!(
        condition(&late, "Progressing")["reason"],
        "NewReplicaSetAvailable"
    );
    let pods = items(&cluster, &format!("{CORE}/pods")).await;
    let mut nodes: Vec<&str> = pods
        .iter()
        .map(|pod| pod["spec"]["nodeName"].as_str().unwrap())
        .collect();
    nodes.sort_unstable();
    assert_eq!(
        nodes,
        ["node-0", "node-1", "node-2"],
        "each pod on a node of its own"
    );
}

#[tokio::test(start_paused = true)]
async fn a_rolling_update_stays_within_its_limits() {
    let cluster = cluster(Workloads::default());
    let web = format!("{APPS}/deployments/web");
    let mut deployment = workload("web", 4, "nginx:1");
    deployment["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
    post(&cluster, &format!("{APPS}/deployments"), &deployment)
        .await
        .expect(201);
    pass(3).await;
    merge(&cluster, &web, &image("nginx:2")).await.expect(200);
    let mut rolled = false;
    for _ in 0..200 {
        let status = one(&cluster, &web).await["status"].clone();
        let count = |field: &str| status[field].as_i64().unwrap_or(0);
        assert!(count("replicas") <= 5, "at most one too many: {status}");
        assert!(
            count("availableReplicas") >= 3,
            "at most one too few: {status}"
        );
        rolled = count("updatedReplicas") == 4 && count("replicas") == 4;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(rolled);
    let deployment = one(&cluster, &web).await;
    assert_eq!(
        deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "2"
    );
    let sets = items(&cluster, &format!("{APPS}/replicasets")).await;
    let mut sizes: Vec<i64> = sets
        .iter()
        .map(|set| set["spec"]["replicas"].as_i64().unwrap())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [0, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_rollback_takes_the_old_set_up_again() {
    let cluster = instant();
    let web = format!("{APPS}/deployments/web");
    post(
        &cluster,
        &format!("{APPS}/deployments"),
        &workload("web", 2, "nginx:1"),
    )
    .await
    .expect(201);
    merge(&cluster, &web, &image("nginx:2")).await.expect(200);
    merge(&cluster, &web, &image("nginx:1")).await.expect(200);
    pass(1).await;
    let sets = items(&cluster, &format!("{APPS}/replicasets")).await;
    assert_eq!(sets.len(), 2);
    let current = sets
        .iter()
        .find(|set| set["spec"]["replicas"] == 2)
        .unwrap();
    let annotations = &current["metadata"]["annotations"];
    assert_eq!(annotations["deployment.kubernetes.io/revision"], "3");
    assert_eq!(
        annotations["deployment.kubernetes.io/revision-history"],
        "1"
    );
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_gets_nowhere_exceeds_its_deadline() {
    let cluster = instant();
    let web = format!("{APPS}/deployments/web");
    let mut deployment = workload("web", 2, "nginx:1");
    deployment["spec"]["progressDeadlineSeconds"] = 60.into();
    post(&cluster, &format!("{APPS}/deployments"), &deployment)
        .await
        .expect(201);
    merge(&cluster, &web, &image("sim/image-pull:2"))
        .await
        .expect(200);
    pass(30).await;
    assert_eq!(
        condition(&one(&cluster, &web).await, "Progressing")["status"],
        "True"
    );
    pass(60).await;
    let stuck = one(&cluster, &web).await;
    assert_eq!(
        condition(&stuck, "Progressing")["reason"],
        "ProgressDeadlineExceeded"
    );
    assert_eq!(
        condition(&stuck, "Available")["status"],
        "True",
        "the old pods still serve"
    );
    let pods = items(&cluster, &format!("{CORE}/pods")).await;
    let reasons: Vec<&Value> = pods
        .iter()
        .map(|pod| &pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"])
        .filter(|reason| !reason.is_null())
        .collect();
    assert_eq!(reasons, ["ImagePullBackOff"]);
}

#[tokio::test(start_paused = true)]
async fn scaling_and_pausing_a_deployment() {
    let cluster = instant();
    let web = format!("{APPS}/deployments/web");
    post(
        &cluster,
        &format!("{APPS}/deployments"),
        &workload("web", 2, "nginx:1"),
    )
    .await
    .expect(201);
    merge(
        &cluster,
        &format!("{web}/scale"),
        &json!({"spec": {"replicas": 5}}),
    )
    .await
    .expect(200);
    assert_eq!(items(&cluster, &format!("{CORE}/pods")).await.len(), 5);
    merge(&cluster, &web, &json!({"spec": {"paused": true}}))
        .await
        .expect(200);
    merge(&cluster, &web, &image("nginx:2")).await.expect(200);
    let paused = one(&cluster, &web).await;
    assert_eq!(
        condition(&paused, "Progressing")["reason"],
        "DeploymentPaused"
    );
    assert_eq!(
        items(&cluster, &format!("{APPS}/replicasets")).await.len(),
        1
    );
    merge(
        &cluster,
        &web,
        &json!({"spec": {"paused": null, "replicas": 1}}),
    )
    .await
    .expect(200);
    pass(1).await;
    let resumed = one(&cluster, &web).await;
    assert_eq!(resumed["status"]["updatedReplicas"], 1);
    assert_eq!(items(&cluster, &format!("{CORE}/pods")).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn recreating_leaves_no_pod_of_the_old_template_beside_the_new() {
    let cluster = cluster(Workloads::default());
    let web = format!("{APPS}/deployments/web");
    let mut deployment = workload("web", 2, "nginx:1");
    deployment["spec"]["strategy"] = json!({"type": "Recreate"});
    post(&cluster, &format!("{APPS}/deployments"), &deployment)
        .await
        .expect(201);
    pass(2).await;
    merge(&cluster, &web, &image("nginx:2")).await.expect(200);
    for _ in 0..40 {
        let pods = items(&cluster, &format!("{CORE}/pods")).await;
        let mut images: Vec<String> = pods
            .iter()
            .map(|pod| {
                pod["spec"]["containers"][0]["image"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        images.dedup();
        assert!(images.len() <= 1, "{images:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(one(&cluster, &web).await["status"]["updatedReplicas"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_goes_in_order_and_keeps_its_claims() {
    let cluster = cluster(Workloads::default());
    let mut set = workload("db", 3, "postgres:1");
    set["spec"]["serviceName"] = "db".into();
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    post(&cluster, &format!("{APPS}/statefulsets"), &set)
        .await
        .expect(201);
    let pods = format!("{CORE}/pods");
    assert_eq!(
        items(&cluster, &pods).await.len(),
        1,
        "the first before the others"
    );
    pass(10).await;
    let db = format!("{APPS}/statefulsets/db");
    let status = one(&cluster, &db).await["status"].clone();
    assert_eq!(status["readyReplicas"], 3);
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    let claims = items(&cluster, &format!("{CORE}/persistentvolumeclaims")).await;
    let phases: Vec<&Value> = claims
        .iter()
        .map(|claim| &claim["status"]["phase"])
        .collect();
    assert_eq!(phases, ["Bound"; 3]);
    merge(&cluster, &db, &json!({"spec": {"replicas": 1}}))
        .await
        .expect(200);
    pass(10).await;
    assert_eq!(items(&cluster, &pods).await.len(), 1);
    let claims = items(&cluster, &format!("{CORE}/persistentvolumeclaims")).await;
    assert_eq!(claims.len(), 3, "claims outlive their pods");
}

#[tokio::test(start_paused = true)]
async fn a_partition_holds_an_update_back() {
    let cluster = instant();
    let mut set = workload("db", 3, "postgres:1");
    set["spec"]["updateStrategy"] =
        json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    post(&cluster, &format!("{APPS}/statefulsets"), &set)
        .await
        .expect(201);
    let db = format!("{APPS}/statefulsets/db");
    merge(&cluster, &db, &image("postgres:2")).await.expect(200);
    pass(2).await;
    let images = async || -> Vec<String> {
        let pods = items(&cluster, &format!("{CORE}/pods")).await;
        pods.iter()
            .map(|pod| {
                pod["spec"]["containers"][0]["image"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(images().await, ["postgres:1", "postgres:1", "postgres:2"]);
    let status = one(&cluster, &db).await["status"].clone();
    assert_eq!(
        (&status["currentReplicas"], &status["updatedReplicas"]),
        (&json!(2), &json!(1))
    );
    let rest = json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}});
    merge(&cluster, &db, &rest).await.expect(200);
    pass(2).await;
    assert_eq!(images().await, ["postgres:2"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_daemon_runs_on_every_node_that_takes_it() {
    let cluster = instant();
    let mut set = workload("agent", 0, "agent:1");
    set["spec"].as_object_mut().unwrap().remove("replicas");
    post(&cluster, &format!("{APPS}/daemonsets"), &set)
        .await
        .expect(201);
    let agent = format!("{APPS}/daemonsets/agent");
    assert_eq!(one(&cluster, &agent).await["status"]["numberReady"], 3);
    post(
        &cluster,
        "/api/v1/nodes",
        &json!({"metadata": {"name": "late"}}),
    )
    .await
    .expect(201);
    assert_eq!(one(&cluster, &agent).await["status"]["numberReady"], 4);
    merge(&cluster, &agent, &image("agent:2")).await.expect(200);
    pass(1).await;
    assert_eq!(
        one(&cluster, &agent).await["status"]["updatedNumberScheduled"],
        4
    );
    delete(&cluster, "/api/v1/nodes/late", &json!(null))
        .await
        .expect(200);
    let status = one(&cluster, &agent).await["status"].clone();
    assert_eq!(status["desiredNumberScheduled"], 3);
    assert_eq!(items(&cluster, &format!("{CORE}/pods")).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_job_completes_or_fails() {
    let cluster = instant();
    let job = |name: &str, image: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {
                "completions": 3, "parallelism": 2, "backoffLimit": 1,
                "template": {"spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "c", "image": image}],
                }},
            },
        })
    };
    post(&cluster, &format!("{BATCH}/jobs"), &job("good", "busybox"))
        .await
        .expect(201);
    pass(1).await;
    let good = one(&cluster, &format!("{BATCH}/jobs/good")).await;
    assert_eq!(good["status"]["succeeded"], 3, "{good:#}");
    assert_eq!(condition(&good, "Complete")["reason"], "CompletionsReached");
    post(&cluster, &format!("{BATCH}/jobs"), &job("bad", "sim/fail"))
        .await
        .expect(201);
    pass(120).await;
    let bad = one(&cluster, &format!("{BATCH}/jobs/bad")).await;
    assert_eq!(condition(&bad, "Failed")["reason"], "BackoffLimitExceeded");
    assert_eq!(bad["status"].get("active"), None);
}

#[tokio::test(start_paused = true)]
async fn a_cron_job_starts_jobs_and_keeps_a_few() {
    let cluster = instant();
    let cron = json!({
        "metadata": {"name": "tick"},
        "spec": {
            "schedule": "* * * * *",
            "jobTemplate": {"spec": {"template": {"spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "busybox"}],
            }}}},
        },
    });
    post(&cluster, &format!("{BATCH}/cronjobs"), &cron)
        .await
        .expect(201);
    pass(65).await;
    assert_eq!(items(&cluster, &format!("{BATCH}/jobs")).await.len(), 1);
    pass(600).await;
    assert_eq!(
        items(&cluster, &format!("{BATCH}/jobs")).await.len(),
        3,
        "the history is short"
    );
    let tick = one(&cluster, &format!("{BATCH}/cronjobs/tick")).await;
    assert_eq!(tick["status"]["lastScheduleTime"], "2026-01-01T00:11:00Z");
}

#[tokio::test(start_paused = true)]
async fn a_service_leads_to_ready_pods() {
    let cluster = instant();
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    });
    post(&cluster, &format!("{CORE}/services"), &service)
        .await
        .expect(201);
    post(
        &cluster,
        &format!("{APPS}/deployments"),
        &workload("web", 2, "nginx:1"),
    )
    .await
    .expect(201);
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice = items(&cluster, slices).await.remove(0);
    let ready: Vec<&Value> = slice["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|endpoint| &endpoint["conditions"]["ready"])
        .collect();
    assert_eq!(ready, [true, true]);
    assert_eq!(slice["ports"][0]["port"], 8080);
    let endpoints = one(&cluster, &format!("{CORE}/endpoints/web")).await;
    assert_eq!(
        endpoints["subsets"][0]["addresses"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_crashing_container_waits_longer_each_time() {
    let cluster = instant();
    let pod = json!({
        "metadata": {"name": "p", "annotations": {"kubesim.evenkeel.io/fate": "crash-loop"}},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    });
    post(&cluster, &format!("{CORE}/pods"), &pod)
        .await
        .expect(201);
    let restarts = async || {
        let pod = one(&cluster, &format!("{CORE}/pods/p")).await;
        let status = &pod["status"]["containerStatuses"][0];
        assert_eq!(status["state"]["waiting"]["reason"], "CrashLoopBackOff");
        status["restartCount"].as_i64().unwrap()
    };
    assert_eq!(restarts().await, 1);
    pass(11).await;
    assert_eq!(restarts().await, 2);
    pass(10).await;
    assert_eq!(restarts().await, 2, "20 seconds before the next");
    pass(11).await;
    assert_eq!(restarts().await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_fits_nowhere_says_why_and_goes_when_there_is_room() {
    let cluster = instant();
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "containers": [{"name": "c", "image": "nginx"}],
        },
    });
    post(&cluster, &format!("{CORE}/pods"), &pod)
        .await
        .expect(201);
    let waiting = one(&cluster, &format!("{CORE}/pods/p")).await;
    let message = condition(&waiting, "PodScheduled")["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.starts_with("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity"),
        "{message}"
    );
    let label = json!({"metadata": {"labels": {"disk": "ssd"}}});
    merge(&cluster, "/api/v1/nodes/node-1", &label)
        .await
        .expect(200);
    let placed = one(&cluster, &format!("{CORE}/pods/p")).await;
    assert_eq!(placed["spec"]["nodeName"], "node-1");
    assert_eq!(placed["status"]["phase"], "Running");
}

#[tokio::test(start_paused = true)]
async fn a_pod_stops_within_its_grace() {
    let cluster = cluster(Workloads::default());
    let pod = json!({
        "metadata": {"name": "p", "annotations": {"kubesim.evenkeel.io/stops-after": "5s"}},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    });
    post(&cluster, &format!("{CORE}/pods"), &pod)
        .await
        .expect(201);
    pass(2).await;
    delete(&cluster, &format!("{CORE}/pods/p"), &json!(null))
        .await
        .expect(200);
    pass(4).await;
    let stopping = one(&cluster, &format!("{CORE}/pods/p")).await;
    assert_eq!(stopping["metadata"]["deletionGracePeriodSeconds"], 30);
    pass(2).await;
    assert_eq!(get(&cluster, &format!("{CORE}/pods/p")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_deployment_takes_everything_along() {
    let cluster = cluster(Workloads::default());
    for policy in ["Foreground", "Background"] {
        post(
            &cluster,
            &format!("{APPS}/deployments"),
            &workload("web", 2, "nginx:1"),
        )
        .await
        .expect(201);
        pass(2).await;
        let options = json!({"propagationPolicy": policy});
        delete(&cluster, &format!("{APPS}/deployments/web"), &options)
            .await
            .expect(200);
        pass(2).await;
        assert_eq!(
            get(&cluster, &format!("{APPS}/deployments/web")).await.code,
            404
        );
        assert_eq!(
            items(&cluster, &format!("{APPS}/replicasets")).await.len(),
            0
        );
        assert_eq!(items(&cluster, &format!("{CORE}/pods")).await.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_bound_grows_and_goes_with_its_volume() {
    let cluster = instant();
    let claims = format!("{CORE}/persistentvolumeclaims");
    let claim = json!({
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    post(&cluster, &claims, &claim).await.expect(201);
    let data = format!("{claims}/data");
    let bound = one(&cluster, &data).await;
    assert_eq!(bound["status"]["phase"], "Bound");
    assert_eq!(bound["spec"]["storageClassName"], "standard");
    let more = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
    merge(&cluster, &data, &more).await.expect(200);
    assert_eq!(
        one(&cluster, &data).await["status"]["capacity"]["storage"],
        "2Gi"
    );
    delete(&cluster, &data, &json!(null)).await.expect(200);
    assert_eq!(get(&cluster, &data).await.code, 404);
    assert_eq!(items(&cluster, "/api/v1/persistentvolumes").await.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_reopened_cluster_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("objects");
    let open = || {
        let builder = Cluster::builder().ambient(Ambient::seeded(1));
        builder.workloads(Workloads::default()).open(&path).unwrap()
    };
    let cluster = open();
    post(
        &cluster,
        &format!("{APPS}/deployments"),
        &workload("web", 2, "nginx:1"),
    )
    .await
    .expect(201);
    drop(cluster);
    let cluster = open();
    pass(3).await;
    let web = one(&cluster, &format!("{APPS}/deployments/web")).await;
    assert_eq!(web["status"]["readyReplicas"], 2);
    assert_eq!(items(&cluster, "/api/v1/nodes").await.len(), 3);
}
