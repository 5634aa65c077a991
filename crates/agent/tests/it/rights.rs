//! The rights that `deploy/agent` gives are enough, and no more is asked for.

use std::sync::Arc;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_kubeset::{Cluster as Sets, Manifests, Owner, SetPolicy, Settings as SetSettings};
use evenkeel_testfleet::{Fleet, Site, map, space};
use evenkeel_testkit::Cluster;
use evenkeel_vitals::Requests;
use evenkeel_vitals::requests::Verb;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::PostParams;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;

const INSTALL: &str = include_str!("../../../../deploy/agent/install.yaml");
const CLUSTER: &str = include_str!("../../../../deploy/agent/cluster.yaml");
const NAMESPACED: &str = include_str!("../../../../deploy/agent/namespaced.yaml");

/// Applies manifests as somebody with all rights.
async fn install(person: &Client, name: &str, text: &str) {
    let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let settings = SetSettings {
        inventory_namespace: "default".to_owned(),
        ..SetSettings::default()
    };
    let set = Sets::new(person.clone(), settings, clock, dice).set(Owner::new(name).unwrap());
    let manifests = Manifests::parse(text).unwrap();
    let converged = set.converge(&manifests, &SetPolicy::default()).await;
    assert!(converged.is_settled(), "{:?}", converged.result);
}

/// A client with the rights of the agent's account, whose requests are counted.
async fn agent_in(cluster: &Cluster, home: &str) -> (Client, Requests) {
    let person = cluster.client().await;
    let accounts: Api<ServiceAccount> = Api::namespaced(person, home);
    let request = TokenRequest {
        spec: Some(TokenRequestSpec::default()),
        ..TokenRequest::default()
    };
    let made = accounts
        .create_token_request("evenkeel-agent", &PostParams::default(), &request)
        .await
        .unwrap();
    let file = Kubeconfig::read_from(cluster.kubeconfig().await).unwrap();
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(file, &options)
        .await
        .unwrap();
    config.default_retry = false;
    config.auth_info = AuthInfo {
        token: Some(made.status.unwrap().token.unwrap().into()),
        ..AuthInfo::default()
    };
    let requests = Requests::default();
    let client = requests.counted(&Client::try_from(config).unwrap());
    (client, requests)
}

/// How often the agent was told that it may not do something.
fn forbidden(requests: &Requests) -> u64 {
    let verbs = [
        Verb::Get,
        Verb::List,
        Verb::Watch,
        Verb::Create,
        Verb::Update,
        Verb::Patch,
        Verb::Apply,
        Verb::DryRun,
        Verb::Delete,
        Verb::Other,
    ];
    verbs.iter().map(|verb| requests.count(*verb, 403)).sum()
}

fn workload(namespace: &str) -> String {
    map(namespace, "config", "1")
        + &format!(
            "---
apiVersion: v1
kind: Secret
metadata: {{name: secret, namespace: {namespace}}}
stringData: {{password: hunter2}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {namespace}}}
spec:
  replicas: 0
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: web}}]}}
"
        )
}

/// Apply, update, prune, drift, delete.
async fn live(fleet: &Fleet, east: &Site, namespace: &str, own: &str) {
    let shop = fleet.stack("shop").await;
    east.serves(&shop).await;
    let one = shop.submit(&format!("{own}{}", workload(namespace))).await;
    east.reaches(&one).await;
    let two = shop
        .submit(&format!("{own}{}", map(namespace, "config", "2")))
        .await;
    east.reaches(&two).await;
    let maps = east.maps(namespace);
    maps.merge("config", json!({"data": {"value": "theirs"}}))
        .await;
    maps.becomes("config", "/data/value", "2").await;
    east.goes_on().await;
    shop.delete().await;
    east.confirms_removal(&shop).await;
    assert_eq!(maps.get("config").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rights_for_the_whole_cluster_are_enough() {
    let Some(cluster) = Cluster::shared_real_or_skip().await else {
        return;
    };
    let home = "rights-home";
    let text = format!("{INSTALL}{CLUSTER}").replace("evenkeel-system", home);
    install(&cluster.client().await, "rights-whole", &text).await;
    let (client, requests) = agent_in(&cluster, home).await;
    let fleet = Fleet::start().await;
    let east = fleet.quiet_site("rights", &cluster).await;
    east.settings.lock().await.namespace = home.to_owned();
    east.start_as(client).await;
    live(&fleet, &east, "rights-served", &space("rights-served")).await;
    east.stop().await;
    assert_eq!(forbidden(&requests), 0);
    assert!(requests.count(Verb::Apply, 201) > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rights_for_one_namespace_are_enough_there_and_nowhere_else() {
    let Some(cluster) = Cluster::shared_real_or_skip().await else {
        return;
    };
    let (home, served) = ("rights-narrow-home", "rights-narrow");
    let text = format!("{INSTALL}{NAMESPACED}{}", space(served));
    let text = text
        .replace("evenkeel-system", home)
        .replace("served-namespace", served);
    install(&cluster.client().await, "rights-narrow", &text).await;
    let (client, requests) = agent_in(&cluster, home).await;
    let fleet = Fleet::start().await;
    let east = fleet.quiet_site("rights-narrow", &cluster).await;
    east.settings.lock().await.namespace = home.to_owned();
    east.settings.lock().await.namespaces = vec![served.to_owned()];
    east.start_as(client).await;
    live(&fleet, &east, served, "").await;
    assert_eq!(forbidden(&requests), 0);

    let elsewhere = fleet.stack("elsewhere").await;
    east.serves(&elsewhere).await;
    let one = elsewhere.submit(&map("default", "rights", "1")).await;
    let message = east.fails_with(&one).await.message.unwrap();
    assert!(message.contains("403"), "{message}");
    east.stop().await;
}
