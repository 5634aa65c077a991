//! Lists: pages and filters.

use evenkeel_model::*;
use evenkeel_store::*;

use crate::world::{World, label, name, on_every_database};

on_every_database! {
    lists_are_paged_without_gap_or_repetition,
    lists_are_filtered,
}

async fn lists_are_paged_without_gap_or_repetition(w: World) {
    let generator = w.generator("ci").await;
    let mut stacks = Vec::new();
    for number in 0..7 {
        stacks.push(w.stack(generator, &format!("s{number}")).await);
    }
    let first = w
        .store
        .stack_list(StackFilter::default(), Paging::first(3))
        .await
        .unwrap();
    // Rows that come and go between pages disturb nothing.
    w.store.stack_delete(&w.by, stacks[0]).await.unwrap();
    w.store.stack_delete(&w.by, stacks[2]).await.unwrap();
    w.stack(generator, "late").await;
    let mut seen: Vec<_> = first.items.iter().map(|stack| stack.id).collect();
    let mut next = first.next;
    while let Some(cursor) = next {
        let paging = Paging::first(3).after(cursor);
        let page = w
            .store
            .stack_list(StackFilter::default(), paging)
            .await
            .unwrap();
        seen.extend(page.items.iter().map(|stack| stack.id));
        next = page.next;
    }
    assert_eq!(seen[..7], stacks[..]);
    assert_eq!(seen.len(), 8);
    let all = w
        .store
        .stack_list(StackFilter::default(), Paging::ALL)
        .await
        .unwrap();
    assert_eq!((all.items.len(), all.next), (6, None));
}

async fn lists_are_filtered(w: World) {
    let (generator, agent, stack, _) = w.small_fleet().await;
    let other = w.generator("other").await;
    let foreign = w.stack(other, "shop").await;
    w.store
        .label_add(&w.by, Owner::Stack(foreign), label("blue"))
        .await
        .unwrap();
    let ids = async |filter: StackFilter| {
        let page = w.store.stack_list(filter, Paging::ALL).await.unwrap();
        page.items
            .into_iter()
            .map(|stack| stack.id)
            .collect::<Vec<_>>()
    };
    let by_name = StackFilter {
        name: Some(name("shop")),
        ..Default::default()
    };
    assert_eq!(ids(by_name).await, [stack, foreign]);
    let by_label = StackFilter {
        label: Some(label("blue")),
        ..Default::default()
    };
    assert_eq!(ids(by_label).await, [foreign]);
    let by_owner = StackFilter {
        generator: Some(generator),
        ..Default::default()
    };
    assert_eq!(ids(by_owner).await, [stack]);
    let agents = AgentFilter {
        generator: Some(other),
        ..Default::default()
    };
    assert!(
        w.store
            .agent_list(agents, Paging::ALL)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let agents = AgentFilter {
        generator: Some(generator),
        ..Default::default()
    };
    assert_eq!(
        w.store.agent_list(agents, Paging::ALL).await.unwrap().items[0].id,
        agent
    );
    let found = w
        .store
        .agent_find(&name("east"), &name("cluster"))
        .await
        .unwrap();
    assert_eq!(found.unwrap().id, agent);
    assert_eq!(
        w.store
            .generator_list(Some("ci"), Paging::ALL)
            .await
            .unwrap()
            .items
            .len(),
        1
    );
}
