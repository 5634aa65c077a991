//! A crash before, after and with a lost reply at every write, old views and lost events.

use std::collections::BTreeMap;
use std::time::Duration;

use evenkeel_kubesim::Cluster;
use evenkeel_kubesim::faults::View;
use evenkeel_shape_operator::{DeletionPolicy, Marking, Progress, ShapeSpec};
use evenkeel_shapes_cloud::{Verb, Vices};
use evenkeel_testkit::faults::{
    Explored, Subject, World, crash_everywhere, lost_events, old_views,
};
use evenkeel_testkit::note;
use futures::future::BoxFuture;
use serde_json::json;

use crate::bed::{Bed, by_labels, by_prefix, seconds, square};

/// What people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tale {
    /// Declare, change, delete.
    Life,
    /// Declare what exists already, then delete it.
    Adoption,
    /// Declare, let a human remove it, declare another, delete with Retain.
    Return,
}

struct Told {
    bed: Bed,
    tale: Tale,
}

/// What is left: shapes in the cloud, Shapes with their condition and progress, ShapeRefs.
#[derive(Debug, PartialEq)]
struct End {
    cloud: Vec<String>,
    shapes: BTreeMap<String, String>,
    refs: usize,
}

impl Subject for Told {
    type End = End;
    const SETTLES_IN: Duration = Duration::from_secs(300);

    fn worlds(&self) -> Vec<&dyn World> {
        vec![&self.bed.view, self.bed.gate()]
    }

    fn cluster(&self) -> (&Cluster, &View) {
        (&self.bed.cluster, &self.bed.view)
    }

    fn operator(&self) -> BoxFuture<'static, ()> {
        self.bed.process()
    }

    async fn story(&self) {
        let bed = &self.bed;
        match self.tale {
            Tale::Life => {
                bed.declare("foo", square("red")).await;
                bed.declare("stays", square("green")).await;
                seconds(120).await;
                bed.amend("foo", json!({"colour": "purple"})).await;
                seconds(120).await;
                bed.delete("foo").await;
            }
            Tale::Adoption => {
                let found = bed.by_hand("found", "Circle", "green");
                bed.by_hand("foreign", "Star", "gold");
                bed.declare(
                    "stays",
                    ShapeSpec {
                        adopt: Some(found.id),
                        ..square("red")
                    },
                )
                .await;
                seconds(120).await;
            }
            Tale::Return => {
                bed.declare("stays", square("red")).await;
                let kept = ShapeSpec {
                    deletion_policy: DeletionPolicy::Retain,
                    ..square("blue")
                };
                bed.declare("kept", kept).await;
                seconds(120).await;
                let all = bed.cloud.shapes();
                let red = all.iter().find(|shape| shape.colour == "red");
                if let Some(red) = red {
                    let _ = bed.cloud.delete(&red.id, None);
                }
                seconds(120).await;
                bed.delete("kept").await;
            }
        }
    }

    async fn end(&self) -> End {
        self.is_safe();
        let mut cloud = self.bed.in_cloud();
        cloud.sort();
        let shapes = self
            .bed
            .shapes()
            .list(&Default::default())
            .await
            .expect("Shapes")
            .items;
        let told = shapes.into_iter().map(|shape| {
            let status = shape.status.unwrap_or_default();
            let made = status.checkpoint.map(|known| known.progress) == Some(Progress::Made);
            let said: Vec<_> = status
                .conditions
                .iter()
                .map(|one| format!("{}={:?}", one.kind, one.status))
                .collect();
            (
                shape.metadata.name.unwrap_or_default(),
                format!("{said:?} made: {made}"),
            )
        });
        let refs = self
            .bed
            .refs()
            .list(&Default::default())
            .await
            .expect("ShapeRefs")
            .items;
        End {
            cloud,
            shapes: told.collect(),
            refs: refs.len(),
        }
    }
}

impl Told {
    /// At no moment were there two shapes for one resource; nothing that a human made was touched,
    /// but for the one to adopt; what is to stay was never removed by us.
    fn is_safe(&self) {
        let mut alive: BTreeMap<String, usize> = BTreeMap::new();
        for deed in self.bed.cloud.history() {
            let shape = &deed.shape;
            assert_ne!(
                (deed.verb, shape.colour.as_str()),
                (Verb::Deleted, "blue"),
                "it was to stay"
            );
            assert_ne!(
                (deed.verb, shape.colour.as_str()),
                (Verb::Deleted, "gold"),
                "it was not ours"
            );
            let Some((uid, _)) = shape.token.as_ref().and_then(|token| token.split_once('.'))
            else {
                continue;
            };
            let count = alive.entry(uid.to_owned()).or_default();
            match deed.verb {
                Verb::Created => *count += 1,
                Verb::Deleted => *count -= 1,
                Verb::Updated => {}
            }
            assert!(*count <= 1, "two shapes for one resource: {shape:?}");
        }
    }
}

async fn begin(marking: Marking, tale: Tale) -> Told {
    let bed = Bed::new(marking).await;
    Told { bed, tale }
}

fn markings() -> [Marking; 3] {
    [by_labels(), by_prefix(), Marking::Checkpoint]
}

async fn crashes(tale: Tale, markings: &[Marking]) -> usize {
    let mut runs = 0;
    for marking in markings {
        let explored = crash_everywhere(async || begin(marking.clone(), tale).await).await;
        assert!(explored.writes >= 4, "{explored:?}");
        runs += explored.runs;
    }
    note(&format_args!("{tale:?}: {runs} runs with a crash"));
    runs
}

#[tokio::test(start_paused = true)]
async fn a_life_survives_a_crash_at_every_write() {
    let runs = crashes(Tale::Life, &[by_labels(), Marking::Checkpoint]).await;
    assert!(runs > 80, "{runs}");
}

#[tokio::test(start_paused = true)]
async fn an_adoption_survives_a_crash_at_every_write() {
    assert!(crashes(Tale::Adoption, &markings()).await > 30);
}

#[tokio::test(start_paused = true)]
async fn a_return_and_a_retained_shape_survive_a_crash_at_every_write() {
    let runs = crashes(Tale::Return, &[by_labels(), by_prefix()]).await;
    assert!(runs > 80, "{runs}");
}

/// The worst cloud: no tokens, and new shapes take twenty seconds to appear.
#[tokio::test(start_paused = true)]
async fn without_tokens_and_with_a_slow_mirror_a_crash_makes_no_second_shape() {
    let explored = crash_everywhere(async || {
        let told = begin(Marking::Checkpoint, Tale::Life).await;
        let vices = Vices {
            appears_after: 20_000,
            no_tokens: true,
            no_labels: true,
            ..Vices::default()
        };
        told.bed.cloud.set_vices(vices);
        told
    });
    assert!(explored.await.runs > 30);
}

#[tokio::test(start_paused = true)]
async fn old_views_of_the_cluster_change_nothing() {
    for marking in markings() {
        let Explored { runs, .. } =
            old_views(async || begin(marking.clone(), Tale::Life).await).await;
        assert!(runs > 20, "{runs}");
    }
}

#[tokio::test(start_paused = true)]
async fn lost_events_change_nothing_in_the_end() {
    for marking in markings() {
        let Explored { runs, .. } =
            lost_events(async || begin(marking.clone(), Tale::Life).await, 6).await;
        assert_eq!(runs, 7);
    }
}
