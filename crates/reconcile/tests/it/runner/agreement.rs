//! The queue and its model take the same steps and must agree after each.

use evenkeel_reconcile::runner::{
    Ended, Failure, FailureKind, Item, Moment, Queue, Reason, Request, Slot, Trouble as ItemTrouble,
};
use evenkeel_reconcile::{Delays, RetryPolicy};
use proptest::prelude::*;

use super::model::{Model, Plan};
use super::*;

#[derive(Debug, Clone)]
enum Step {
    Add {
        key: u32,
        reason: Reason,
        after: u64,
        generation: u64,
    },
    Forget(u32),
    Pass(u64),
    Next,
    Finish {
        which: usize,
        ended: Ended,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Reason::{Asked, Changed, Listed, Owned, Related, Resync};
    let reason = prop::sample::select(vec![Changed, Owned, Related, Asked, Listed, Resync]);
    let add = (
        0_u32..6,
        reason,
        prop_oneof![Just(0_u64), 1..100_u64],
        0_u64..3,
    )
        .prop_map(|(key, reason, after, generation)| Step::Add {
            key,
            reason,
            after,
            generation,
        });
    let finish = (0_usize..4, ended()).prop_map(|(which, ended)| Step::Finish { which, ended });
    let step = prop_oneof![
        4 => add,
        3 => Just(Step::Next),
        3 => finish,
        2 => (1_u64..120).prop_map(Step::Pass),
        1 => (0_u32..6).prop_map(Step::Forget),
    ];
    prop::collection::vec(step, 1..120)
}

fn ended() -> impl Strategy<Value = Ended> {
    let failed = |kind| {
        Ended::Failed(Failure {
            kind,
            text: "no".into(),
        })
    };
    prop::sample::select(vec![
        Ended::Done,
        Ended::Wait("it".into()),
        failed(FailureKind::Error(ErrorClass::Transient)),
        failed(FailureKind::Timeout),
        failed(FailureKind::Panic),
        failed(FailureKind::Error(ErrorClass::Permanent)),
    ])
}

fn view(items: &[Item<u32>]) -> BTreeMap<u32, String> {
    let line = |item: &Item<u32>| {
        let (failures, waiting) = match &item.trouble {
            None => (0, false),
            Some(ItemTrouble::Waiting(_)) => (0, true),
            Some(ItemTrouble::Failed { attempts, .. }) => (*attempts, false),
        };
        format!("{:?} {failures} {waiting}", item.state)
    };
    items.iter().map(|item| (item.key, line(item))).collect()
}

fn request(reason: Reason) -> Request {
    match reason {
        Reason::Changed => Request::changed(),
        Reason::Owned => Request::owned(),
        Reason::Related => Request::related(),
        Reason::Asked => Request::asked(),
        Reason::Listed => Request::listed(),
        Reason::Retry | Reason::Recheck | Reason::Resync => Request::resync(),
    }
}

fn without_jitter() -> Delays {
    let calm = |policy: Option<RetryPolicy>| {
        policy.map(|policy| RetryPolicy {
            jitter: 0.0,
            ..policy
        })
    };
    let Delays {
        done,
        wait,
        transient,
        permanent,
        unknown,
    } = Delays::default();
    Delays {
        done: calm(done),
        wait: calm(wait),
        transient: calm(transient),
        permanent: calm(permanent),
        unknown: calm(unknown),
    }
}

/// The queue and the model, side by side.
struct Pair {
    queue: Queue<u32>,
    model: Model,
    running: Vec<(u32, Slot)>,
    now: Moment,
}

impl Pair {
    fn new() -> Self {
        let queue = Queue::new(without_jitter(), None, Arc::new(SeededRandom::new(1)));
        Self {
            queue,
            model: Model::default(),
            running: Vec::new(),
            now: Moment::START,
        }
    }

    fn take(&mut self, step: Step) {
        // A nanosecond for each step, so that no two timers are due at the same moment.
        self.now = self.now + Duration::from_nanos(1);
        let now = self.now;
        match step {
            Step::Add {
                key,
                reason,
                after,
                generation,
            } => {
                let request = request(reason).after(secs(after)).generation(generation);
                self.queue.add(key, request, now);
                self.model.add(
                    key,
                    Plan {
                        due: now + secs(after),
                        reason,
                    },
                    generation,
                    now,
                );
            }
            Step::Forget(key) => {
                self.queue.forget(&key);
                self.model.forget(key);
            }
            Step::Pass(seconds) => self.now = now + secs(seconds),
            Step::Next => self.next(),
            Step::Finish { which, ended } if which < self.running.len() => {
                let (key, slot) = self.running.remove(which);
                self.model.finish(key, &ended, now);
                self.queue.finish(slot, ended, now);
            }
            Step::Finish { .. } => {}
        }
    }

    fn next(&mut self) {
        let started = self.queue.next(self.now);
        assert_eq!(
            started.as_ref().map(|run| run.key),
            self.model.next(self.now)
        );
        if let Some(run) = started {
            assert!(
                self.running.iter().all(|(key, _)| *key != run.key),
                "twice at once"
            );
            self.running.push((run.key, run.slot));
        }
    }

    fn agree(&self) {
        assert_eq!(view(&self.queue.list(self.now)), self.model.view(self.now));
        assert_eq!(self.queue.load(self.now).running, self.running.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn the_queue_does_what_the_model_does(steps in steps()) {
        let mut pair = Pair::new();
        for step in steps {
            pair.take(step);
            pair.agree();
        }
    }
}
