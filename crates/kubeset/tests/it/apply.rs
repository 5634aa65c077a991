//! Applying: marked, ordered, validated first, and not again.

use evenkeel_kubeset::{Error, SetPolicy};
use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::faults::View;
use evenkeel_reconcile::{Policy, Word};
use evenkeel_testkit::on_each_cluster;
use serde_json::json;

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
