//! Deployment objects.

use evenkeel_model::*;
use evenkeel_store::*;

use crate::world::{World, on_every_database};

on_every_database! {
    a_revision_has_checksum_and_sequence,
    the_same_content_again_is_a_new_revision_but_one_text,
    a_submission_on_a_stale_view_is_refused_with_both_ids,
    an_idempotency_key_gives_the_same_object_again,
    objects_are_taken_over_within_the_tenant_only,
}

async fn a_revision_has_checksum_and_sequence(w: World) {
    let (_, _, stack, first) = w.small_fleet().await;
    let text = "kind: Zwei # ä\r\n";
    let second = w.submit(stack, text).await;
    assert_eq!(second.sequence_id, first.sequence_id.next());
    assert_eq!(second.yaml_checksum, Checksum::of(text));
    let whole = w.store.deployment_get(second.id).await.unwrap().unwrap();
    assert_eq!(
        (whole.object, whole.yaml_content.as_str()),
        (second.clone(), text)
    );
    assert_eq!(
        w.store.deployment_newest(stack).await.unwrap().unwrap(),
        second
    );
    let newest = w
        .store
        .stack_get(stack)
        .await
        .unwrap()
        .unwrap()
        .newest_sequence_id;
    assert_eq!(newest, Some(second.sequence_id));
    let refs = w
        .store
        .deployment_refs(stack, Paging::ALL)
        .await
        .unwrap()
        .items;
    assert_eq!(refs, [second, first]);
}

async fn the_same_content_again_is_a_new_revision_but_one_text(w: World) {
    let (_, agent, stack, first) = w.small_fleet().await;
    w.report(agent, &first, EventStatus::Success).await;
    let again = w.submit(stack, "kind: One").await;
    assert!(again.sequence_id > first.sequence_id && again.id != first.id);
    assert_eq!(again.yaml_checksum, first.yaml_checksum);
    let text = w.store.manifest_get(&again.yaml_checksum).await.unwrap();
    assert_eq!(text.as_deref(), Some("kind: One"));
    assert_eq!(w.assignment(agent, stack).await.phase(), Phase::Pending);
}

async fn a_submission_on_a_stale_view_is_refused_with_both_ids(w: World) {
    let (_, _, stack, first) = w.small_fleet().await;
    let second = w.submit(stack, "kind: Two").await;
    let on = |seen| NewRevision {
        if_newest: Some(seen),
        ..NewRevision::of(stack, "kind: Three")
    };
    for seen in [None, Some(first.sequence_id)] {
        let refused = w.store.deployment_submit(&w.by, on(seen)).await;
        let Err(Error::Stale {
            expected, newest, ..
        }) = refused
        else {
            panic!("{refused:?}")
        };
        assert_eq!((expected, newest), (seen, Some(second.sequence_id)));
    }
    w.store
        .deployment_submit(&w.by, on(Some(second.sequence_id)))
        .await
        .unwrap();
}

async fn an_idempotency_key_gives_the_same_object_again(w: World) {
    let (_, _, stack, _) = w.small_fleet().await;
    let keyed = |text: &str| NewRevision {
        idempotency_key: Some("build-7".into()),
        ..NewRevision::of(stack, text)
    };
    let first = w
        .store
        .deployment_submit(&w.by, keyed("kind: Two"))
        .await
        .unwrap();
    w.submit(stack, "kind: Three").await;
    let again = w
        .store
        .deployment_submit(&w.by, keyed("kind: Two"))
        .await
        .unwrap();
    assert_eq!(
        (again.object, again.replayed, first.replayed),
        (first.object, true, false)
    );
    let misused = w.store.deployment_submit(&w.by, keyed("kind: Other")).await;
    assert!(
        matches!(misused, Err(Error::KeyReused { .. })),
        "{misused:?}"
    );
    assert_eq!(
        w.store
            .deployment_refs(stack, Paging::ALL)
            .await
            .unwrap()
            .items
            .len(),
        3
    );
}

async fn objects_are_taken_over_within_the_tenant_only(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    let old = w.stack(generator, "old").await;
    let foreign = w.stack(w.generator("bank").await, "vault").await;
    let taking = |from| NewRevision {
        take_from: vec![from],
        ..NewRevision::of(stack, "kind: Two")
    };
    let taken = w.store.deployment_submit(&w.by, taking(old)).await.unwrap();
    assert_eq!(taken.object.take_from, [old]);
    let served = w.assignment(agent, stack).await.wanted.unwrap();
    assert_eq!(served, taken.object);
    for from in [foreign, stack] {
        let refused = w.store.deployment_submit(&w.by, taking(from)).await;
        assert!(
            matches!(refused, Err(Error::NoTakeover { .. })),
            "{refused:?}"
        );
    }
    w.store.stack_delete(&w.by, old).await.unwrap();
    let gone = w.store.deployment_submit(&w.by, taking(old)).await;
    assert!(
        matches!(gone, Err(Error::MissingReference { .. })),
        "{gone:?}"
    );
}
