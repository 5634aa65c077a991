//! Applying: marked, ordered, validated first, and not again.

use evenkeel_kubeset::{Error, SetPolicy};
use evenkeel_kubesim::faults::{Fault, Refusal, View, Which};
use evenkeel_kubesim::{Cluster, Verb};
use evenkeel_reconcile::{Classify, ErrorClass, Policy, Word};
use evenkeel_testkit::on_each_cluster;
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;
use tower::Layer;
use tower::util::MapRequestLayer;

use crate::bed::{Bed, OWNER_KEY, read, settle, told, why};

fn mixed(bed: &Bed) -> String {
    let service = format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: web, namespace: {}}}\n\
         spec: {{selector: {{app: web}}, ports: [{{port: 80}}]}}\n",
        bed.name
    );
    [
        bed.deployment("web", 2),
        service,
        bed.map("settings", "1"),
        bed.namespace(),
    ]
    .concat()
}

#[tokio::test]
async fn a_set_is_made_in_order_and_carries_its_marks() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-marks").await;
        let annotations = [("example.com/checksum".to_owned(), "abc".to_owned())].into();
        let policy = SetPolicy {
            annotations,
            ..SetPolicy::default()
        };
        let converged = settle(&bed.set("a"), &mixed(&bed), &policy).await;
        assert!(
            told(&converged).values().all(|word| *word == Word::Created),
            "{}",
            why(&converged)
        );
        let kinds: Vec<_> = converged
            .changes()
            .iter()
            .map(|change| change.key.kind.kind.as_str())
            .collect();
        assert_eq!(kinds, ["Namespace", "ConfigMap", "Service", "Deployment"]);
        for (api_version, kind, name) in [
            ("v1", "ConfigMap", "settings"),
            ("apps/v1", "Deployment", "web"),
        ] {
            let metadata = bed
                .of(api_version, kind, bed.name.as_str())
                .get(name)
                .await
                .unwrap()
                .metadata;
            let owner = bed.owner("a");
            assert_eq!(metadata.labels.unwrap()[OWNER_KEY], owner.as_str());
            let annotations = metadata.annotations.unwrap();
            assert_eq!(annotations[OWNER_KEY], owner.as_str());
            assert_eq!(annotations["example.com/checksum"], "abc");
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_unchanged_is_neither_read_nor_written_also_after_a_restart() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-twice").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &mixed(&bed), &policy).await;
        let again = settle(&set, &mixed(&bed), &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
        let restarted = bed.restarted();
        let again = settle(&restarted.set("a"), &mixed(&bed), &policy).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
        assert_eq!(again.drift, []);
    })
    .await;
}

fn requests(view: &View) -> (u64, u64) {
    let log = view.reset_log();
    (log.requests() + log.other_requests(), log.writes())
}

#[tokio::test]
async fn a_pass_costs_two_requests_for_each_changed_object_and_none_for_others() {
    let view = Cluster::new().view("sets");
    let bed = Bed::seen_through(view.clone(), "apply-cost");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    let text = |changed: &str| {
        let maps =
            (0..50).map(|at| bed.map(&format!("m{at}"), if at == 7 { changed } else { "same" }));
        bed.namespace() + &maps.collect::<String>()
    };
    settle(&set, &text("1"), &policy).await;
    let (first, _) = requests(&view);
    assert!(first <= 2 * 51 + 70, "{first} requests for 51 objects");
    settle(&set, &text("1"), &policy).await;
    assert_eq!(requests(&view), (0, 0));
    settle(&set, &text("2"), &policy).await;
    assert_eq!(requests(&view).0, 2);
}

#[tokio::test]
async fn nothing_is_written_when_one_object_would_be_refused() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-refused").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &bed.namespace(), &policy).await;
        let bad = bed
            .deployment("bad", 1)
            .replace("image: 'main:1'", "image: ''");
        let text = [bed.namespace(), bed.map("good", "1"), bad].concat();
        let converged = set.converge(&read(&text), &policy).await;
        let failed = converged.result.unwrap_err();
        let Error::Invalid { first, rest } = &failed.failures[0].error else {
            panic!("{failed:?}");
        };
        assert!(
            first
                .to_string()
                .contains("validate Deployment.apps apply-refused/bad"),
            "{first}"
        );
        assert_eq!(rest.len(), 0);
        assert!(bed.maps().get_opt("good").await.unwrap().is_none());
        assert!(
            converged.undone.is_empty(),
            "the namespace was there before"
        );
    })
    .await;
}

#[tokio::test]
async fn a_namespace_made_by_a_failed_attempt_is_removed_and_no_other() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-undo").await;
        let bad = bed
            .deployment("bad", 1)
            .replace("image: 'main:1'", "image: ''");
        let text = bed.namespace() + &bad;
        let converged = bed
            .set("a")
            .converge(&read(&text), &SetPolicy::default())
            .await;
        assert!(converged.result.is_err());
        assert_eq!(converged.undone, ["apply-undo"]);
        let namespaces = bed.of("v1", "Namespace", None);
        let left = namespaces.get_opt("apply-undo").await.unwrap();
        assert!(left.is_none_or(|left| left.metadata.deletion_timestamp.is_some()));
    })
    .await;
}

#[tokio::test]
async fn an_unknown_kind_is_named_and_stops_the_set() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-unknown").await;
        let text =
            bed.namespace() + "---\napiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}\n";
        let failed = bed
            .set("a")
            .converge(&read(&text), &SetPolicy::default())
            .await
            .result
            .unwrap_err();
        assert_eq!(
            failed.failures[0].error.to_string(),
            "no kind Foo in example.com/v1; is its CRD installed or part of this set?"
        );
        assert!(
            bed.of("v1", "Namespace", None)
                .get_opt("apply-unknown")
                .await
                .unwrap()
                .is_none()
        );
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_changed_in_place_is_terminal_or_replaced() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-immutable").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(
            &set,
            &(bed.namespace() + &bed.deployment("web", 1)),
            &policy,
        )
        .await;
        let uid = |bed: &Bed| {
            let deployments = bed.of("apps/v1", "Deployment", bed.name.as_str());
            async move { deployments.get("web").await.unwrap().metadata.uid }
        };
        let before = uid(&bed).await;
        let other = bed.namespace() + &bed.deployment("web", 1).replace("app: web", "app: other");
        let failed = set
            .converge(&read(&other), &policy)
            .await
            .result
            .unwrap_err();
        let Error::Invalid { first, .. } = &failed.failures[0].error else {
            panic!("{failed:?}");
        };
        assert!(matches!(**first, Error::Immutable { .. }), "{first}");
        assert_eq!(uid(&bed).await, before);
        let replacing = SetPolicy {
            replace: true,
            ..policy
        };
        settle(&set, &other, &replacing).await;
        assert_ne!(uid(&bed).await, before);
        let again = settle(&set, &other, &replacing).await;
        assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    })
    .await;
}

#[tokio::test]
async fn what_exists_already_is_adopted_only_when_the_policy_says_so() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-adopt").await;
        let (set, policy) = (bed.set("a"), SetPolicy::default());
        settle(&set, &bed.namespace(), &policy).await;
        let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"theirs": "1"}});
        let theirs = serde_json::from_value(theirs).unwrap();
        bed.maps().create(&Default::default(), &theirs).await.unwrap();
        let text = bed.namespace() + &bed.map("m", "1");
        let refused = set.converge(&read(&text), &policy).await;
        assert_eq!(told(&refused)["ConfigMap m"], Word::Refused, "{}", why(&refused));
        let engine = Policy { adopt: evenkeel_reconcile::Adopt::On, ..Policy::default() };
        let adopting = SetPolicy { engine, ..policy };
        let adopted = settle(&set, &text, &adopting).await;
        assert_eq!(told(&adopted)["ConfigMap m"], Word::Adopted);
        let data = &bed.maps().get("m").await.unwrap().data["data"];
        assert_eq!(*data, json!({"theirs": "1", "value": "1", "other": "same"}));
    })
    .await;
}

/// Incidents: kustomize-controller#486 and #558: what client-side apply left keeps fields alive that
/// nobody declares any more.
#[tokio::test]
async fn fields_that_kubectl_applied_go_when_the_manifest_drops_them() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-leftover").await;
        let set = bed.set("a");
        settle(&set, &bed.namespace(), &SetPolicy::default()).await;
        let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"},
            "data": {"value": "1", "other": "same", "old": "1"}});
        let how = PostParams {
            field_manager: Some("kubectl-client-side-apply".to_owned()),
            ..PostParams::default()
        };
        let applied = serde_json::from_value(applied).unwrap();
        bed.maps().create(&how, &applied).await.unwrap();
        let engine = Policy {
            adopt: evenkeel_reconcile::Adopt::On,
            ..Policy::default()
        };
        let adopting = SetPolicy {
            engine,
            ..SetPolicy::default()
        };
        let text = bed.namespace() + &bed.map("m", "1");
        let adopted = settle(&set, &text, &adopting).await;
        assert_eq!(told(&adopted)["ConfigMap m"], Word::Adopted, "{}", why(&adopted));
        let data = bed.maps().get("m").await.unwrap().data["data"].clone();
        assert_eq!(data, json!({"value": "1", "other": "same"}), "declared by nobody any more");
        let fewer = text.replace(", other: same", "");
        settle(&set, &fewer, &adopting).await;
        let data = bed.maps().get("m").await.unwrap().data["data"].clone();
        assert_eq!(data, json!({"value": "1"}));

        // Somebody uses the tool on an object of ours, and changes nothing.
        let again = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"value": "1", "more": "2"}});
        let by = PatchParams {
            field_manager: Some("kubectl-client-side-apply".to_owned()),
            ..PatchParams::default()
        };
        bed.maps().patch("m", &by, &Patch::Merge(again)).await.unwrap();
        let set = bed.restarted().set("a");
        settle(&set, &fewer.replace("value: '1'", "last: '1'"), &adopting).await;
        let data = bed.maps().get("m").await.unwrap().data["data"].clone();
        assert_eq!(data, json!({"last": "1"}));
        let rest = settle(&set, &fewer.replace("value: '1'", "last: '1'"), &adopting).await;
        assert_eq!(rest.changes().writes(), 0, "{}", why(&rest));
    })
    .await;
}

/// Incidents: argo-cd#15058 and argo-cd#11402: two that act at the same moment.
#[tokio::test]
async fn of_two_sets_that_make_one_object_at_once_one_has_it() {
    on_each_cluster(async |cluster| {
        let bed = Bed::on(cluster, "apply-race").await;
        let other = Bed::on(cluster, "apply-race").await;
        let policy = SetPolicy::default();
        settle(&bed.set("n"), &bed.namespace(), &policy).await;
        let (one, two) = (bed.set("a"), other.set("b"));
        for at in 0..5 {
            let (mine, theirs) = (
                bed.map(&format!("m{at}"), "a"),
                bed.map(&format!("m{at}"), "b"),
            );
            let (mine, theirs) = (read(&mine), read(&theirs));
            let _ = tokio::join!(one.converge(&mine, &policy), two.converge(&theirs, &policy));
            let sets = [(&one, &mine), (&two, &theirs)];
            let mut words = Vec::new();
            for _ in 0..3 {
                words.clear();
                for (set, text) in sets {
                    let converged = set.converge(text, &policy).await;
                    words.push(told(&converged)[&format!("ConfigMap m{at}")]);
                }
            }
            words.sort_unstable();
            assert_eq!(words, [Word::Kept, Word::Refused], "object {at}");
        }
    })
    .await;
}

/// The same with somebody who is no set: nothing of theirs is overwritten.
#[tokio::test]
async fn what_somebody_makes_between_validation_and_apply_is_not_taken() {
    let cluster = Cluster::new();
    let view = cluster.view("sets");
    let bed = Bed::seen_through(view.clone(), "apply-between");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    settle(&set, &bed.namespace(), &policy).await;
    let slow = std::time::Duration::from_millis(300);
    view.fault_times(
        Which::writes().verbs(&[Verb::Patch]).of("", "configmaps"),
        Fault::Delay(slow),
        1,
    );
    let other = Bed::seen_through(cluster.view("other"), "apply-between");
    let text = read(&(bed.namespace() + &bed.map("m", "ours")));
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"value": "theirs"}});
    let theirs = serde_json::from_value(theirs).unwrap();
    let (_, made) = tokio::join!(set.converge(&text, &policy), async {
        tokio::time::sleep(slow / 2).await;
        other.maps().create(&PostParams::default(), &theirs).await
    });
    made.unwrap();
    let last = set.converge(&text, &policy).await;
    assert_eq!(told(&last)["ConfigMap m"], Word::Refused, "{}", why(&last));
    let metadata = bed.maps().get("m").await.unwrap();
    assert_eq!(metadata.data["data"]["value"], "theirs");
    assert_eq!(metadata.metadata.labels, None);
}

/// Some servers, and proxies before them, know only the old form of discovery.
#[tokio::test]
async fn a_server_without_aggregated_discovery_is_asked_group_by_group() {
    let plain = MapRequestLayer::new(|mut request: http::Request<kube::client::Body>| {
        if matches!(request.uri().path(), "/api" | "/apis") {
            let json = http::HeaderValue::from_static("application/json");
            request.headers_mut().insert(http::header::ACCEPT, json);
        }
        request
    });
    let service = plain.layer(Cluster::new().view("sets"));
    let bed = Bed::with(kube::Client::new(service, "default"), "apply-old");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    settle(&set, &mixed(&bed), &policy).await;
    let again = settle(&set, &mixed(&bed), &policy).await;
    assert_eq!(again.changes().writes(), 0, "{}", why(&again));
    let unknown = read("apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: x}\n");
    let failed = set.converge(&unknown, &policy).await.result.unwrap_err();
    assert!(matches!(
        failed.failures[0].error,
        Error::UnknownKind { .. }
    ));
}

/// Decided: only what should exist and does not makes an attempt a failed one. After a failed
/// delete everything that was wanted is in place, so its new namespace stays, too.
#[tokio::test]
async fn a_failed_prune_leaves_the_namespaces_of_its_attempt() {
    let view = Cluster::new().view("sets");
    let bed = Bed::seen_through(view.clone(), "apply-failed-prune");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    settle(&set, &(bed.namespace() + &bed.map("m", "1")), &policy).await;
    view.fault(Which::all().verbs(&[Verb::Delete]), Fault::Forbid);
    let more = bed.namespace() + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n";
    let failed = set.converge(&read(&more), &policy).await;
    assert_eq!(
        told(&failed)["ConfigMap m"],
        Word::Failed,
        "{}",
        why(&failed)
    );
    assert_eq!(told(&failed)["Namespace new"], Word::Created);
    assert!(failed.undone.is_empty());
    let namespaces = bed.of("v1", "Namespace", None);
    assert!(namespaces.get_opt("new").await.unwrap().is_some());
    view.heal();
    settle(&set, &more, &policy).await;
}

#[tokio::test]
async fn how_long_the_server_asks_us_to_stay_away_is_passed_on() {
    let view = Cluster::new().view("sets");
    let bed = Bed::seen_through(view.clone(), "apply-busy");
    let (set, policy) = (bed.set("a"), SetPolicy::default());
    let busy = Fault::Refuse(Refusal::retry_after(429, 7));
    view.fault(Which::all().verbs(&[Verb::Patch]), busy);
    let failed = set.converge(&read(&bed.namespace()), &policy).await;
    let failed = failed.result.unwrap_err();
    assert_eq!(failed.class(), ErrorClass::Transient);
    assert_eq!(
        failed.retry_after(),
        Some(std::time::Duration::from_secs(7))
    );
    view.heal();
    settle(&set, &bed.namespace(), &policy).await;
}
