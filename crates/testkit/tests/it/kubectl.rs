//! kubectl does the same on both clusters.

use std::path::Path;

use evenkeel_testkit::{Cluster, kubectl, skip};

/// What a script prints on `cluster`; `None` when there is no kubectl.
async fn printed(script: &str, cluster: &Cluster) -> Option<String> {
    let kubectl = kubectl(cluster).await;
    let words = std::iter::once(kubectl.as_std().get_program()).chain(kubectl.as_std().get_args());
    let words: Vec<_> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let probe = std::process::Command::new(&words[0])
        .args(&words[1..])
        .arg("help")
        .output();
    if probe.is_err() {
        skip(&"no kubectl: `make testbed` builds one");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/kubectl")
        .join(script);
    let output = tokio::process::Command::new("sh")
        .arg(script)
        .env("KUBECTL", words.join(" "))
        .env("KUBECONFIG", cluster.kubeconfig().await)
        .output()
        .await
        .expect("run the script");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}: {text}", cluster.name());
    Some(text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_says_the_same_on_both() {
    let Some(simulated) = printed("smoke.sh", &Cluster::simulated()).await else {
        return;
    };
    assert!(simulated.lines().count() > 20, "{simulated}");
    let Some(real) = Cluster::shared_real_or_skip().await else {
        return;
    };
    let Some(real) = printed("smoke.sh", &real).await else {
        return;
    };
    similar(&real, &simulated);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_session_goes_the_same_way_on_both() {
    let Some(simulated) = printed("session.sh", &Cluster::simulated_alive()).await else {
        return;
    };
    assert!(simulated.lines().count() > 350, "{simulated}");
    let Some(real) = Cluster::shared_real_alive_or_skip().await else {
        return;
    };
    let Some(real) = printed("session.sh", &real).await else {
        return;
    };
    similar(&real, &simulated);
}

#[track_caller]
pub(crate) fn similar(real: &str, simulated: &str) {
    let lines = real.lines().zip(simulated.lines());
    let wrong: Vec<_> = lines.filter(|(one, two)| one != two).collect();
    let same_length = real.lines().count() == simulated.lines().count();
    assert!(
        wrong.is_empty() && same_length,
        "{wrong:#?}\nreal:\n{real}\nsimulated:\n{simulated}"
    );
}
