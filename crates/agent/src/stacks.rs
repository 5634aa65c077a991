//! The stacks that the agent holds: what each is to be, its objects, and what was last said of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_api::DeploymentObject;
use evenkeel_kubeset::{Owner, Set};
use evenkeel_model::{
    DeploymentId, DriftRecord, ObjectChange, ObjectKey, ReconcileToken, SequenceId, StackId,
};
use evenkeel_reconcile::runner::{Handle, Request};
use tokio_util::task::AbortOnDropHandle;

use crate::health::Sightings;
use crate::memory::Texts;
use crate::target::Target;

/// What a stack is to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    pub(crate) object: DeploymentObject,
    /// Its manifests, once they were fetched.
    pub(crate) text: Option<Arc<str>>,
}

impl Order {
    /// What has to be looked at anew when it changes.
    pub(crate) fn call(&self) -> Call {
        (self.object.sequence_id, self.object.control.reconcile_token)
    }
}

/// Which revision was asked for, and how often it was asked to look at it anew.
pub(crate) type Call = (SequenceId, ReconcileToken);

/// One stack.
#[derive(Debug)]
pub(crate) struct Stack {
    pub(crate) set: Set,
    state: Mutex<State>,
    _listener: AbortOnDropHandle<()>,
}

/// What is known of a stack beside its objects.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) order: Arc<Order>,
    /// Grows with every order.
    generation: u64,
    /// The call that was last answered by a complete pass.
    pub(crate) answered: Option<Call>,
    /// The object of which success was last reported, and that nothing was wrong since.
    pub(crate) settled: Option<DeploymentId>,
    /// What was done in attempts that ended neither well nor badly, and is still to be told.
    pub(crate) untold: BTreeMap<ObjectKey, ObjectChange>,
    /// Why it is not done, if it waits.
    pub(crate) waiting: Option<String>,
    /// What others changed and was left so.
    pub(crate) drifted: Option<String>,
    /// What others changed since the last report.
    pub(crate) findings: Vec<DriftRecord>,
    /// What others changed and was left so, when last looked at.
    left: Vec<DriftRecord>,
    /// How its objects were doing when last looked at.
    pub(crate) sightings: Sightings,
}

impl State {
    /// Notes what others changed. What is left so is found again in every pass, and told once.
    pub(crate) fn found(&mut self, found: Vec<DriftRecord>) {
        let same = |one: &DriftRecord, other: &DriftRecord| {
            (&one.object, &one.fields, &one.manager)
                == (&other.object, &other.fields, &other.manager)
        };
        let known = |found: &DriftRecord| self.left.iter().any(|left| same(left, found));
        let new = found.iter().filter(|found| found.repaired || !known(found));
        self.findings.extend(new.cloned());
        self.left = found.into_iter().filter(|found| !found.repaired).collect();
    }
}

impl Stack {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn order(&self) -> Arc<Order> {
        self.state().order.clone()
    }
}

/// All stacks of the agent.
#[derive(Debug)]
pub(crate) struct Stacks {
    cluster: evenkeel_kubeset::Cluster,
    runs: Handle<StackId>,
    looks: Handle<StackId>,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    active: bool,
    stacks: BTreeMap<StackId, Arc<Stack>>,
}

impl Stacks {
    pub(crate) fn new(
        cluster: evenkeel_kubeset::Cluster,
        runs: Handle<StackId>,
        looks: Handle<StackId>,
    ) -> Self {
        Self {
            cluster,
            runs,
            looks,
            held: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, id: StackId) -> Option<Arc<Stack>> {
        self.held().stacks.get(&id).cloned()
    }

    pub(crate) fn is_active(&self) -> bool {
        self.held().active
    }

    pub(crate) fn len(&self) -> usize {
        self.held().stacks.len()
    }

    /// Takes up what is to be held. Of what is new to this process, `answered` says which was
    /// answered before a restart.
    pub(crate) fn hold(&self, target: &Target, texts: &Texts, answered: &BTreeMap<StackId, Call>) {
        let mut held = self.held();
        let woken = target.active && !held.active;
        held.active = target.active;
        let gone: Vec<_> = held.stacks.keys().copied().collect();
        for id in gone.iter().filter(|id| !target.orders.contains_key(*id)) {
            held.stacks.remove(id);
            self.runs.forget(id);
            self.looks.forget(id);
        }
        for (id, object) in &target.orders {
            let text = texts.get(&object.yaml_checksum).cloned();
            let object = object.clone();
            let order = Order { object, text };
            let request = match held.stacks.get(id) {
                Some(stack) => stack.ordered(order),
                None => {
                    let answered = answered.get(id).copied();
                    let Some(stack) = self.stack(*id, order, answered) else {
                        continue;
                    };
                    held.stacks.insert(*id, Arc::new(stack));
                    Some(Request::listed())
                }
            };
            match request {
                Some(request) => self.runs.add(*id, request),
                None if woken => self.runs.add(*id, Request::listed()),
                None => {}
            }
        }
    }

    fn stack(&self, id: StackId, order: Order, answered: Option<Call>) -> Option<Stack> {
        // A UUID fits into a label.
        let owner = Owner::new(id.to_string()).ok()?;
        let set = self.cluster.set(owner);
        let listener = tokio::spawn(listen(
            set.rings(),
            id,
            self.runs.clone(),
            self.looks.clone(),
        ));
        Some(Stack {
            set,
            state: Mutex::new(State {
                order: Arc::new(order),
                generation: 1,
                answered,
                settled: None,
                untold: BTreeMap::new(),
                waiting: None,
                drifted: None,
                findings: Vec::new(),
                left: Vec::new(),
                sightings: Sightings::default(),
            }),
            _listener: AbortOnDropHandle::new(listener),
        })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stack {
    /// Takes a new order; `None` if it is the one that is known.
    fn ordered(&self, order: Order) -> Option<Request> {
        let mut state = self.state();
        if *state.order == order {
            return None;
        }
        state.order = Arc::new(order);
        state.generation += 1;
        Some(Request::changed().generation(state.generation))
    }
}

/// Asks for a run when somebody else changed an object, and for a look when anything happened.
async fn listen(
    mut rings: tokio::sync::watch::Receiver<evenkeel_kubeset::Rings>,
    id: StackId,
    runs: Handle<StackId>,
    looks: Handle<StackId>,
) {
    let mut heard = *rings.borrow_and_update();
    while rings.changed().await.is_ok() {
        let rung = *rings.borrow_and_update();
        if rung.touched != heard.touched {
            runs.add(id, Request::owned());
        }
        looks.add(id, Request::owned());
        heard = rung;
    }
}
