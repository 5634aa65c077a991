//! The store against a model of it: sets and maps that say in a few lines who is served what.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::*;
use evenkeel_store::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::world::{World, event, label};

const GENERATORS: usize = 2;
const AGENTS: usize = 3;
const STACKS: usize = 4;

/// Something that somebody does. Numbers are places in the lists of agents, stacks, generators.
#[derive(Debug, Clone)]
enum Step {
    Register(usize, usize),
    Deregister(usize, usize),
    Target(usize, usize),
    Untarget(usize, usize),
    LabelAgent(usize),
    UnlabelAgent(usize),
    LabelStack(usize),
    UnlabelStack(usize),
    Submit(usize),
    Replace(usize),
    Report(usize, usize, EventStatus),
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let (agent, stack, generator) = (0..AGENTS, 0..STACKS, 0..GENERATORS);
    let status = prop_oneof![Just(EventStatus::Success), Just(EventStatus::Failure)];
    prop_oneof![
        2 => (agent.clone(), generator.clone()).prop_map(|(a, g)| Register(a, g)),
        1 => (agent.clone(), generator).prop_map(|(a, g)| Deregister(a, g)),
        3 => (agent.clone(), stack.clone()).prop_map(|(a, s)| Target(a, s)),
        2 => (agent.clone(), stack.clone()).prop_map(|(a, s)| Untarget(a, s)),
        2 => agent.clone().prop_map(LabelAgent),
        1 => agent.clone().prop_map(UnlabelAgent),
        2 => stack.clone().prop_map(LabelStack),
        1 => stack.clone().prop_map(UnlabelStack),
        3 => stack.clone().prop_map(Submit),
        1 => stack.clone().prop_map(Replace),
        5 => (agent, stack, status).prop_map(|(a, s, r)| Report(a, s, r)),
    ]
}

/// What one agent is told about one stack, and what it said of that.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    order: Order,
    /// It has applied the newest revision.
    done: bool,
    /// It failed at what it is told now.
    failed: bool,
}

#[derive(Debug, Default)]
struct Model {
    registered: BTreeSet<(usize, usize)>,
    targets: BTreeSet<(usize, StackId)>,
    blue_agents: BTreeSet<usize>,
    blue_stacks: BTreeSet<StackId>,
    /// Living stacks: owner, and whether there is a revision.
    stacks: BTreeMap<StackId, (usize, bool)>,
    held: BTreeMap<(usize, StackId), Held>,
}

impl Model {
    fn meant_for(&self, agent: usize, stack: StackId) -> bool {
        let Some((owner, _)) = self.stacks.get(&stack) else {
            return false;
        };
        let labelled = self.blue_agents.contains(&agent) && self.blue_stacks.contains(&stack);
        let targeted = self.targets.contains(&(agent, stack));
        self.registered.contains(&(agent, *owner)) && (labelled || targeted)
    }

    /// Writes down who gains and who loses what.
    fn settle(&mut self) {
        let stacks: Vec<_> = self.stacks.keys().copied().collect();
        for (agent, stack) in (0..AGENTS).flat_map(|a| stacks.iter().map(move |&s| (a, s))) {
            let meant = self.meant_for(agent, stack);
            match self.held.get_mut(&(agent, stack)) {
                None if meant => {
                    let held = Held {
                        order: Order::Serve,
                        done: false,
                        failed: false,
                    };
                    self.held.insert((agent, stack), held);
                }
                Some(held) if held.order == Order::Serve && !meant => held.tell(Order::Release),
                Some(held) if held.order == Order::Release && meant => held.tell(Order::Serve),
                _ => {}
            }
        }
    }

    fn holders(&mut self, stack: StackId) -> impl Iterator<Item = &mut Held> {
        self.held
            .iter_mut()
            .filter(move |((_, s), _)| *s == stack)
            .map(|(_, held)| held)
    }

    fn delete(&mut self, stack: StackId) {
        self.stacks.remove(&stack);
        self.targets.retain(|(_, s)| *s != stack);
        self.holders(stack)
            .for_each(|held| held.tell(Order::Delete));
    }

    fn submit(&mut self, stack: StackId) {
        self.stacks
            .entry(stack)
            .and_modify(|(_, filled)| *filled = true);
        for held in self.holders(stack) {
            held.done = false;
            held.failed &= held.order != Order::Serve;
        }
    }

    fn report(&mut self, agent: usize, stack: StackId, status: EventStatus) {
        let Some(held) = self.held.get_mut(&(agent, stack)) else {
            return;
        };
        match (status, held.order) {
            (EventStatus::Failure, _) => held.failed = true,
            (EventStatus::Success, Order::Serve) => (held.done, held.failed) = (true, false),
            (EventStatus::Success, Order::Release | Order::Delete) => {
                self.held.remove(&(agent, stack));
            }
        }
    }

    fn phase(&self, stack: StackId, held: &Held) -> Phase {
        let serving = held.order == Order::Serve;
        let empty = self.stacks.get(&stack).is_some_and(|(_, filled)| !filled);
        match held {
            _ if serving && empty => Phase::Empty,
            Held { done: true, .. } if serving => Phase::Applied,
            Held { failed: true, .. } => Phase::Failed,
            Held { .. } => Phase::Pending,
        }
    }

    fn expected(&self) -> BTreeMap<(usize, StackId), (Order, Phase)> {
        let told =
            |(&key, held): (&(usize, StackId), &Held)| (key, (held.order, self.phase(key.1, held)));
        self.held.iter().map(told).collect()
    }
}

impl Held {
    fn tell(&mut self, order: Order) {
        (self.order, self.failed) = (order, false);
    }
}

/// The store and the model, side by side.
struct Pair<'w> {
    w: &'w World,
    model: Model,
    generators: Vec<GeneratorId>,
    agents: Vec<AgentId>,
    stacks: Vec<StackId>,
    case: String,
}

impl<'w> Pair<'w> {
    async fn new(w: &'w World, case: &str) -> Self {
        let mut pair = Self {
            w,
            model: Model::default(),
            generators: vec![],
            agents: vec![],
            stacks: vec![],
            case: case.to_owned(),
        };
        for number in 0..GENERATORS {
            pair.generators
                .push(w.generator(&format!("{case}-g{number}")).await);
        }
        for number in 0..AGENTS {
            pair.agents
                .push(w.agent(&format!("{case}-a{number}"), &[]).await);
        }
        for place in 0..STACKS {
            let stack = pair.new_stack(place).await;
            pair.stacks.push(stack);
        }
        pair
    }

    async fn new_stack(&mut self, place: usize) -> StackId {
        let owner = place % GENERATORS;
        let text = format!("{}-s{place}", self.case);
        let stack = self.w.stack(self.generators[owner], &text).await;
        self.model.stacks.insert(stack, (owner, false));
        stack
    }

    async fn take(&mut self, step: Step) {
        let (store, by) = (&self.w.store, &self.w.by);
        let model = &mut self.model;
        let blue = || label("blue");
        match step {
            Step::Register(a, g) => {
                let done = store
                    .registration_create(by, self.agents[a], self.generators[g])
                    .await;
                assert_eq!(done.is_ok(), model.registered.insert((a, g)));
            }
            Step::Deregister(a, g) => {
                let done = store
                    .registration_delete(by, self.agents[a], self.generators[g])
                    .await;
                assert_eq!(done.is_ok(), model.registered.remove(&(a, g)));
                let stacks = &model.stacks;
                model
                    .targets
                    .retain(|(agent, s)| *agent != a || stacks[s].0 != g);
            }
            Step::Target(a, s) => {
                let stack = self.stacks[s];
                let done = store.target_create(by, self.agents[a], stack).await;
                let allowed = model.registered.contains(&(a, s % GENERATORS));
                assert_eq!(done.is_ok(), allowed && model.targets.insert((a, stack)));
            }
            Step::Untarget(a, s) => {
                let done = store
                    .target_delete(by, self.agents[a], self.stacks[s])
                    .await;
                assert_eq!(done.is_ok(), model.targets.remove(&(a, self.stacks[s])));
            }
            Step::LabelAgent(a) => {
                let done = store
                    .label_add(by, Owner::Agent(self.agents[a]), blue())
                    .await;
                assert_eq!(done.is_ok(), model.blue_agents.insert(a));
            }
            Step::UnlabelAgent(a) => {
                let done = store
                    .label_remove(by, Owner::Agent(self.agents[a]), blue())
                    .await;
                assert_eq!(done.is_ok(), model.blue_agents.remove(&a));
            }
            Step::LabelStack(s) => {
                let done = store
                    .label_add(by, Owner::Stack(self.stacks[s]), blue())
                    .await;
                assert_eq!(done.is_ok(), model.blue_stacks.insert(self.stacks[s]));
            }
            Step::UnlabelStack(s) => {
                let done = store
                    .label_remove(by, Owner::Stack(self.stacks[s]), blue())
                    .await;
                assert_eq!(done.is_ok(), model.blue_stacks.remove(&self.stacks[s]));
            }
            Step::Submit(s) => {
                self.w.submit(self.stacks[s], "kind: Thing").await;
                model.submit(self.stacks[s]);
            }
            Step::Replace(s) => {
                store.stack_delete(by, self.stacks[s]).await.unwrap();
                model.delete(self.stacks[s]);
                self.stacks[s] = self.new_stack(s).await;
            }
            Step::Report(a, s, status) => self.report(a, self.stacks[s], status).await,
        }
        self.model.settle();
    }

    async fn report(&mut self, agent: usize, stack: StackId, status: EventStatus) {
        let id = self.agents[agent];
        let assignment = self.w.store.assignment_get(id, stack).await.unwrap();
        if let Some(object) = assignment.and_then(|assignment| assignment.wanted) {
            self.w
                .store
                .event_record(event(id, &object, status))
                .await
                .unwrap();
            self.model.report(agent, stack, status);
        }
    }

    async fn agree(&self) {
        let mut held = BTreeMap::new();
        for (place, &agent) in self.agents.iter().enumerate() {
            for a in self.w.store.assignments_of_agent(agent).await.unwrap() {
                held.insert((place, a.stack_id), (a.order, a.phase()));
            }
        }
        assert_eq!(held, self.model.expected());
    }
}

fn check(world: &World, runtime: &tokio::runtime::Runtime, cases: u32) {
    let number = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    });
    let steps = prop::collection::vec(step(), 1..40);
    let result = runner.run(&steps, |steps| {
        number.set(number.get() + 1);
        let case = format!("case{}", number.get());
        runtime.block_on(async {
            let mut pair = Pair::new(world, &case).await;
            for step in steps {
                pair.take(step).await;
                pair.agree().await;
            }
        });
        Ok(())
    });
    result.unwrap();
}

#[test]
fn the_store_does_what_the_model_says_in_memory() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::in_memory()).unwrap();
    check(&world, &runtime, 96);
}

#[test]
fn the_store_does_what_the_model_says_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    if let Some(world) = runtime.block_on(World::on_postgres()) {
        check(&world, &runtime, 12);
    }
}
