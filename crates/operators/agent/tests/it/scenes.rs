//! The scenes of the specification's fourth document, on a simulated cluster and on a real one.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_agent_operator::api::{Agent, ModelConfig};
use evenkeel_controller::Status;
use evenkeel_testkit::real::WORKLOAD_CONTROLLERS;
use evenkeel_testkit::{RealCluster, real_cluster_or_skip};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use kube::ResourceExt;
use serde_json::json;
use tokio::sync::OnceCell;

use crate::bed::{Bed, SUPPORT_BOT};

static REAL: OnceCell<Option<Arc<RealCluster>>> = OnceCell::const_new();

async fn real(namespace: &str) -> Option<Bed> {
    let cluster = REAL.get_or_init(async || {
        let builder = RealCluster::builder().controllers(WORKLOAD_CONTROLLERS);
        let cluster = real_cluster_or_skip(builder.scheduler().nodes(2)).await;
        cluster.map(Arc::new)
    });
    match cluster.await.clone() {
        Some(cluster) => Some(Bed::real(cluster, namespace).await),
        None => None,
    }
}

/// Each scene on both clusters.
macro_rules! scenes {
    ($($scene:ident),* $(,)?) => {
        mod on_a_simulated_cluster {
            use super::*;
            $(
                #[tokio::test(start_paused = true)]
                async fn $scene() {
                    super::$scene(&Bed::quick().await).await;
                }
            )*
        }

        /// One test, because one control plane serves them all.
        mod on_a_real_cluster {
            use super::*;

            #[tokio::test(flavor = "multi_thread")]
            async fn all_scenes() {
                $(
                    let name = stringify!($scene).replace('_', "-");
                    let Some(bed) = real(&name).await else {
                        return;
                    };
                    super::$scene(&bed).await;
                )*
                if let Some(bed) = real("definitions").await {
                    crate::definitions::a_server_refuses_what_makes_no_sense_and_fills_in_the_rest(&bed).await;
                }
            }
        }
    };
}

scenes!(
    an_agent_is_created_and_becomes_ready,
    a_deleted_deployment_is_back_at_once,
    another_model_restarts_the_pods_and_people_are_told_why,
    what_is_no_longer_needed_is_gone,
    a_lost_pod_is_replaced,
    a_rotated_secret_restarts_the_pods_once,
    a_deleted_agent_takes_everything_with_it,
);

async fn an_agent_is_created_and_becomes_ready(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    assert!(bed.is("support-bot", "Accepted", Status::True).await);
    let ready = bed
        .condition("support-bot", "Ready")
        .await
        .expect("a condition");
    assert_eq!(ready.message, "3/3 pods are ready");
    assert_eq!(ready.reason.as_str(), "DeploymentReady");
    let agent = bed
        .api::<Agent>()
        .get("support-bot")
        .await
        .expect("the agent");
    let uid = agent.uid().expect("a uid");
    let metas = [
        bed.api::<Deployment>()
            .get("support-bot")
            .await
            .expect("a deployment")
            .metadata,
        bed.api::<Service>()
            .get("support-bot")
            .await
            .expect("a service")
            .metadata,
        bed.api::<Secret>()
            .get("support-bot")
            .await
            .expect("a secret")
            .metadata,
        bed.api::<ServiceAccount>()
            .get("support-bot")
            .await
            .expect("an account")
            .metadata,
    ];
    for meta in metas {
        let owners = meta.owner_references.expect("an owner");
        assert_eq!((owners.len(), &owners[0].uid), (1, &uid));
        assert_eq!(
            (owners[0].controller, owners[0].block_owner_deletion),
            (Some(true), Some(true))
        );
    }
    working.end().await;
}

async fn a_deleted_deployment_is_back_at_once(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let before = bed
        .deployment("support-bot")
        .await
        .expect("a deployment")
        .uid();
    bed.delete::<Deployment>("support-bot").await;
    bed.until("the deployment is back", async || {
        bed.deployment("support-bot")
            .await
            .is_some_and(|now| now.uid() != before)
    })
    .await;
    bed.until_ready("support-bot").await;
    working.end().await;
}

async fn another_model_restarts_the_pods_and_people_are_told_why(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let before = bed.hash("support-bot").await;
    bed.apply(
        "\
apiVersion: kagent.dev/v1alpha2
kind: ModelConfig
metadata: {name: gpt-4, namespace: NS}
spec: {provider: OpenAI, model: gpt-4, apiKeySecret: openai, apiKeySecretKey: api-key}
",
    )
    .await;
    let other = json!({"spec": {"declarative": {"modelConfig": "gpt-4"}}});
    bed.merge::<Agent>("support-bot", other).await;
    bed.until("the pods have another hash", async || {
        bed.hash("support-bot").await != before
    })
    .await;
    bed.until_ready("support-bot").await;
    assert!(
        bed.file("support-bot", "config.json")
            .await
            .contains(r#""model":"gpt-4""#)
    );
    for pod in bed.pods("support-bot").await {
        if pod.metadata.deletion_timestamp.is_none() {
            assert_ne!(pod.annotations()["kagent.dev/config-hash"], before);
        }
    }
    bed.until("people are told", async || {
        bed.events().await.contains_key("PodsRestarted")
    })
    .await;
    let told = &bed.events().await["PodsRestarted"];
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("model") && !told[0].contains("system message"),
        "{told:?}"
    );
    working.end().await;
}

async fn what_is_no_longer_needed_is_gone(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    let skills = json!({"spec": {"skills": {"refs": ["ghcr.io/org/skill:v1"]}}});
    bed.merge::<Agent>("support-bot", skills).await;
    let map = "support-bot-skills-init";
    bed.until("the skills are configured", async || {
        bed.api::<ConfigMap>()
            .get_opt(map)
            .await
            .expect("an answer")
            .is_some()
    })
    .await;
    bed.until_ready("support-bot").await;
    bed.merge::<Agent>("support-bot", json!({"spec": {"skills": null}}))
        .await;
    bed.until("the configuration of skills is gone", async || {
        bed.api::<ConfigMap>()
            .get_opt(map)
            .await
            .expect("an answer")
            .is_none()
    })
    .await;
    bed.until_ready("support-bot").await;
    assert!(
        bed.api::<Service>()
            .get_opt("support-bot")
            .await
            .expect("an answer")
            .is_some()
    );
    working.end().await;
}

async fn a_lost_pod_is_replaced(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let lost = bed.pods("support-bot").await[0].name_any();
    bed.delete::<Pod>(&lost).await;
    bed.until("another pod serves", async || {
        let pods = bed.pods("support-bot").await;
        let ready = |pod: &&Pod| {
            let conditions = pod
                .status
                .iter()
                .flat_map(|status| status.conditions.iter().flatten());
            conditions
                .into_iter()
                .any(|it| it.type_ == "Ready" && it.status == "True")
        };
        pods.iter().filter(ready).count() == 3 && pods.iter().all(|pod| pod.name_any() != lost)
    })
    .await;
    bed.until_ready("support-bot").await;
    working.end().await;
}

async fn a_rotated_secret_restarts_the_pods_once(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    let (hash, generation) = (bed.hash("support-bot").await, generation(bed).await);
    bed.merge::<Secret>("openai", json!({"stringData": {"unused": "y"}}))
        .await;
    bed.settle().await;
    assert_eq!(
        bed.hash("support-bot").await,
        hash,
        "an entry that nobody uses"
    );
    bed.merge::<Secret>("openai", json!({"stringData": {"api-key": "sk-2"}}))
        .await;
    bed.until("the pods have another hash", async || {
        bed.hash("support-bot").await != hash
    })
    .await;
    bed.until_ready("support-bot").await;
    bed.settle().await;
    assert_eq!(self::generation(bed).await, generation + 1, "one roll");
    let model = bed
        .api::<ModelConfig>()
        .get("gpt")
        .await
        .expect("the model");
    assert!(model.status.expect("a status").secret_hash.is_some());
    working.end().await;
}

async fn generation(bed: &Bed) -> i64 {
    let deployment = bed.deployment("support-bot").await.expect("a deployment");
    deployment.metadata.generation.expect("a generation")
}

async fn a_deleted_agent_takes_everything_with_it(bed: &Bed) {
    let working = bed.operator();
    bed.apply(SUPPORT_BOT).await;
    bed.until_ready("support-bot").await;
    bed.delete::<Agent>("support-bot").await;
    bed.until("its objects are gone", async || {
        bed.deployment("support-bot").await.is_none()
            && bed
                .api::<Secret>()
                .get_opt("support-bot")
                .await
                .expect("an answer")
                .is_none()
    })
    .await;
    assert!(
        bed.api::<Secret>()
            .get_opt("openai")
            .await
            .expect("an answer")
            .is_some()
    );
    working.end().await;
}

/// At once accepted, after 5 seconds waiting for pods, after 15 seconds ready.
#[tokio::test(start_paused = true)]
async fn an_agent_is_ready_when_its_pods_are_and_not_before() {
    let bed = Bed::simulated(Duration::from_secs(15)).await;
    let working = bed.operator();
    bed.settle().await;
    bed.apply(SUPPORT_BOT).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(bed.is("support-bot", "Accepted", Status::True).await);
    assert!(!bed.is("support-bot", "Ready", Status::True).await);
    tokio::time::sleep(Duration::from_secs(4)).await;
    let ready = bed
        .condition("support-bot", "Ready")
        .await
        .expect("a condition");
    assert_eq!(ready.status, Status::False);
    assert_eq!(ready.reason.as_str(), "DeploymentNotReady");
    assert!(
        ready.message.contains("0/3 pods are ready"),
        "{}",
        ready.message
    );
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert!(bed.is("support-bot", "Ready", Status::True).await);
    working.end().await;
}
