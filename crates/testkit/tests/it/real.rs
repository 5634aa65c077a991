//! A real control plane that comes up, keeps to itself, and leaves nothing behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use evenkeel_testkit::real::{RealCluster, WORKLOAD_CONTROLLERS};
use evenkeel_testkit::real_cluster_or_skip;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::json;

/// Command lines of running processes that mention `directory`.
fn processes_in(directory: &Path) -> Vec<String> {
    let directory = directory.display().to_string();
    let processes = std::fs::read_dir("/proc")
        .expect("list processes")
        .flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&directory))
        .collect()
}

#[tokio::test]
async fn two_clusters_live_side_by_side_and_leave_nothing() {
    let Some(one) = real_cluster_or_skip(RealCluster::builder().controllers(&[])).await else {
        return;
    };
    let two = RealCluster::builder()
        .controllers(&[])
        .start()
        .await
        .unwrap();
    let maps = |client| Api::<ConfigMap>::namespaced(client, "default");
    let metadata = ObjectMeta {
        name: Some("only-here".into()),
        ..ObjectMeta::default()
    };
    let map = ConfigMap {
        metadata,
        data: Some(BTreeMap::new()),
        ..ConfigMap::default()
    };
    maps(one.client().await.unwrap())
        .create(&PostParams::default(), &map)
        .await
        .unwrap();

    let elsewhere = maps(two.client().await.unwrap())
        .get_opt("only-here")
        .await
        .unwrap();
    assert!(elsewhere.is_none());

    let directories = [&one, &two].map(|cluster| cluster.directory().unwrap().to_owned());
    assert!(
        directories
            .iter()
            .all(|directory| !processes_in(directory).is_empty())
    );
    drop((one, two));
    for directory in &directories {
        assert_eq!(processes_in(directory), Vec::<String>::new());
        assert!(!directory.exists());
    }
}

#[tokio::test]
async fn a_deployment_becomes_ready_on_a_pretended_node() {
    let builder = RealCluster::builder()
        .controllers(WORKLOAD_CONTROLLERS)
        .scheduler()
        .nodes(1);
    let Some(cluster) = real_cluster_or_skip(builder).await else {
        return;
    };
    let deployments: Api<Deployment> = Api::namespaced(cluster.client().await.unwrap(), "default");
    let labels = json!({"app": "web"});
    let wanted = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "example.com/web"}]},
        }},
    });
    let parameters = PatchParams::apply("test").force();
    deployments
        .patch("web", &parameters, &Patch::Apply(wanted))
        .await
        .unwrap();

    let ready = async {
        loop {
            let status = deployments
                .get("web")
                .await
                .unwrap()
                .status
                .unwrap_or_default();
            if status.ready_replicas == Some(3) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(120), ready).await;
    assert!(in_time.is_ok(), "{}", cluster.logs());
}
