//! The scenario suite: the simulator against the record, the real server against its own record.

use std::collections::BTreeSet;

use evenkeel_testkit::scenario::{Clients, Library, Recording, differences, play_all};
use evenkeel_testkit::{Cluster, RealCluster, note, real_cluster_or_skip};

/// What differs between two runs, as lines to read.
fn disagreements(expected: &Recording, found: &Recording) -> Vec<(String, Vec<String>)> {
    let nothing = Vec::new();
    found
        .iter()
        .map(|(id, replies)| {
            let differences = differences(expected.get(id).unwrap_or(&nothing), replies);
            (
                id.clone(),
                differences
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>(),
            )
        })
        .filter(|(_, lines)| !lines.is_empty())
        .collect()
}

fn report(disagreements: &[(String, Vec<String>)]) -> String {
    let story = |(id, lines): &(String, Vec<String>)| format!("{id}\n    {}", lines.join("\n    "));
    disagreements
        .iter()
        .map(story)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_scenario_has_a_name_of_its_own_and_a_record() {
    let library = Library::open().unwrap();
    assert!(library.scenarios.len() >= 300);
    let ids: BTreeSet<String> = library.scenarios.iter().map(|story| story.id()).collect();
    let namespaces: BTreeSet<String> = library
        .scenarios
        .iter()
        .map(|story| story.namespace())
        .collect();
    assert_eq!(ids.len(), library.scenarios.len());
    assert_eq!(namespaces.len(), library.scenarios.len());
    let recorded: BTreeSet<String> = library.recording().unwrap().into_keys().collect();
    assert_eq!(ids, recorded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_simulator_agrees_with_the_record_or_lists_a_gap() {
    let library = Library::open().unwrap();
    let scenarios = &library.scenarios;
    let simulated = async |story: &_| Clients::for_scenario(story);
    let played = play_all(scenarios, &library.definitions, 2, simulated).await;
    let wrong = disagreements(&library.recording().expect("a recording"), &played);
    let gaps = library.gaps().unwrap();
    let (listed, unlisted): (Vec<_>, Vec<_>) =
        wrong.into_iter().partition(|(id, _)| gaps.contains(id));
    let (all, known) = (played.len(), listed.len());
    note(&format!(
        "kubesim: {all} scenarios compared with Kubernetes 1.36.4, {} agree, {known} are listed gaps",
        all - known - unlisted.len()
    ));
    assert!(unlisted.is_empty(), "{}", report(&unlisted));
    let listed: BTreeSet<String> = listed.into_iter().map(|(id, _)| id).collect();
    assert_eq!(listed, gaps, "GAPS.md lists scenarios that agree by now");
    assert!(known * 20 <= all, "more than 5 % of the scenarios are gaps");
}

async fn agrees_with_its_record(cluster: &RealCluster, workloads: bool) {
    let library = Library::open().expect("the scenarios can be read");
    let clients = Clients::of_real(cluster)
        .await
        .expect("clients of the cluster");
    let scenarios = library
        .scenarios
        .iter()
        .filter(|story| story.workloads == workloads);
    let scenarios: Vec<_> = scenarios.cloned().collect();
    let played = play_all(&scenarios, &library.definitions, 6, async |_| {
        clients.clone()
    })
    .await;
    let wrong = disagreements(&library.recording().expect("a recording"), &played);
    assert!(wrong.is_empty(), "{}", report(&wrong));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_server_agrees_with_its_record() {
    if let Some(Cluster::Real(cluster)) = Cluster::shared_real_or_skip().await {
        agrees_with_its_record(&cluster, false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_controllers_agree_with_their_record() {
    if let Some(cluster) = real_cluster_or_skip(RealCluster::with_workloads()).await {
        agrees_with_its_record(&cluster, true).await;
    }
}
