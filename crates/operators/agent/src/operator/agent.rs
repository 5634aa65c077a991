//! The controller of agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use evenkeel_controller::{
    Context, Controller, Key, Metadata, Outcome, Ran, Reconciler, Status, Told, Verb, Verdict,
    Watch,
};
use evenkeel_kubeset::Converged;
use evenkeel_reconcile::Word;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service, ServiceAccount};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;

use super::children::{Children, MANAGER, inputs_of};
use super::error::OperatorError;
use super::numbers::Numbers;
use super::turns::Turns;
use super::{Options, gather, is_paused, is_watched, secrets, told, verdicts};
use crate::api::status::AgentStatus;
use crate::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};
use crate::translate::{Settings, TranslateError, Translation, translate};

/// Brings about what agents declare.
pub struct Agents {
    settings: Settings,
    children: Arc<Children>,
    turns: Arc<Turns>,
    numbers: Numbers,
    /// The hash of which people were told last, so that nobody is told twice.
    told: Mutex<BTreeMap<Key, String>>,
}

/// What it is for, what wakes it, what it writes.
pub fn controller(options: Options) -> Controller<Agents> {
    let (children, turns) = (Children::new(), Turns::new(options.rollouts));
    let (following, calling) = (Arc::clone(&children), Arc::clone(&turns));
    let agents = Agents {
        settings: options.settings,
        children,
        turns,
        numbers: options.numbers,
        told: Mutex::default(),
    };
    let write = [Verb::Create, Verb::Patch, Verb::Delete];
    Controller::new(MANAGER, agents)
        .owns(Watch::<Deployment>::all().labels("app=kagent"))
        .follows(Watch::<Agent>::all())
        .follows(Watch::<ModelConfig>::all())
        .follows(Watch::<RemoteMCPServer>::all())
        .follows(Watch::<MCPServer>::all())
        .follows(Watch::<Metadata<Service>>::all())
        .follows(Watch::<Metadata<Secret>>::all())
        .follows(Watch::<Metadata<ConfigMap>>::all())
        .follows(Watch::<Metadata<Namespace>>::all())
        .meanwhile(|leading| following.follow(leading))
        .meanwhile(|leading| calling.call(leading))
        .writes::<Deployment>(&write)
        .writes::<Service>(&write)
        .writes::<Secret>(&write)
        .writes::<ConfigMap>(&write)
        .writes::<ServiceAccount>(&[Verb::Get, Verb::List, Verb::Watch])
        .writes::<ServiceAccount>(&write)
        .writes::<PodDisruptionBudget>(&[Verb::Get, Verb::List, Verb::Watch])
        .writes::<PodDisruptionBudget>(&write)
        .writes_part::<Agent>("finalizers", &[Verb::Update])
        .writes_part::<Agent>("status", &[Verb::Update])
}

impl Reconciler for Agents {
    type Kind = Agent;
    type Error = OperatorError;

    async fn reconcile(&self, agent: Arc<Agent>, cx: Context) -> Ran<OperatorError> {
        let leaving = agent.metadata.deletion_timestamp.is_some();
        if leaving || is_paused(&*agent) || !is_watched(self.settings.watched.as_ref(), &*agent) {
            return Ok(Outcome::Done);
        }
        let translated = self.translated(&agent, &cx).await?;
        match translated {
            Ok(translation) => self.bring_about(&agent, &translation, &cx).await,
            Err(error) => self.refuse(&agent, error, &cx).await,
        }
    }

    fn gone(&self, key: &Key) {
        self.children.forget(key);
        self.turns.give_back(key);
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
    }
}

impl Agents {
    async fn translated(
        &self,
        agent: &Agent,
        cx: &Context,
    ) -> Result<Result<Translation, TranslateError>, OperatorError> {
        let mut resources = gather::for_agent(agent, &self.settings, cx).await?;
        let stamped = secrets::stamp(&mut resources);
        Ok(stamped.and_then(|()| translate(agent, &resources, &self.settings)))
    }

    async fn bring_about(
        &self,
        agent: &Agent,
        translation: &Translation,
        cx: &Context,
    ) -> Ran<OperatorError> {
        let before = cx.known::<Deployment>()?.get(cx.key());
        if self.must_wait(agent, before.as_deref(), translation, cx.key()) {
            return Ok(Outcome::wait("its turn to restart pods"));
        }
        let Some(converged) = self.children.converge(agent, translation).await? else {
            return Ok(Outcome::wait("the lease"));
        };
        self.numbers.converged(&converged);
        cx.tell(agent, told::of(&converged)).await;
        self.tell_roll(agent, before.as_deref(), translation, &converged, cx)
            .await;
        let trouble = trouble(&converged);
        if trouble.is_some() {
            self.numbers.failed("NotApplied");
        }
        let live = cx.known::<Deployment>()?.get(cx.key());
        let said = judged(translation, live.as_deref(), trouble.as_deref());
        let serves = said[2].status == Status::True;
        if serves {
            self.is_ready(agent, cx);
        }
        report(agent, said, cx, |status| {
            verdicts::count(live.as_deref(), status);
            status.endpoint = Some(translation.endpoint());
            status.objects = translation.names();
        })
        .await?;
        match (&converged.result, trouble) {
            (Err(interrupted), _) => Ok(Outcome::failed(interrupted.into())),
            (Ok(_), Some(_)) => Ok(Outcome::wait("an object that is in the way")),
            (Ok(_), None) if !serves => Ok(Outcome::wait("the pods")),
            (Ok(_), None) => Ok(Outcome::Done),
        }
    }

    /// Whether another agent restarts its pods first. What people changed never waits.
    fn must_wait(
        &self,
        agent: &Agent,
        before: Option<&Deployment>,
        translation: &Translation,
        key: &Key,
    ) -> bool {
        let told = agent.status.as_ref();
        let seen = told.and_then(|status| status.observed_generation) == agent.metadata.generation;
        let before = before.and_then(inputs_of).filter(|_| seen);
        before.is_some_and(|before| translation.inputs().differ_by_operator(&before))
            && !self.turns.take(key)
    }

    /// Ends the agent's turn, and notes how long it was not ready.
    fn is_ready(&self, agent: &Agent, cx: &Context) {
        self.turns.give_back(cx.key());
        let known = agent.status.iter().flat_map(|status| &status.conditions);
        let ready = known.filter(|known| known.kind == verdicts::READY);
        for known in ready.filter(|known| known.status != Status::True) {
            let since = cx.clock().now().duration_since(known.last_transition_time);
            self.numbers
                .became_ready(since.try_into().unwrap_or_default());
        }
    }

    /// Says why an agent cannot run, and leaves what runs alone.
    async fn refuse(
        &self,
        agent: &Agent,
        error: TranslateError,
        cx: &Context,
    ) -> Ran<OperatorError> {
        self.turns.give_back(cx.key());
        self.numbers.failed(error.reason());
        let live = cx.known::<Deployment>()?.get(cx.key());
        let [accepted, resolved] = verdicts::refused(&error);
        let ready = verdicts::not_ready(live.as_deref());
        let said = [accepted, resolved, ready, verdicts::not_progressing()];
        report(agent, said, cx, |status| {
            verdicts::count(live.as_deref(), status);
        })
        .await?;
        // Whatever is wrong may be wrong in what the agent refers to, and mended there.
        Ok(Outcome::wait(error.to_string()))
    }

    /// Tells people, once, which input changed when pods are restarted.
    async fn tell_roll(
        &self,
        agent: &Agent,
        before: Option<&Deployment>,
        translation: &Translation,
        converged: &Converged,
        cx: &Context,
    ) {
        let written = converged
            .changes()
            .iter()
            .any(|change| change.key.kind.kind == "Deployment" && change.word == Word::Updated);
        let Some(before) = before.and_then(inputs_of).filter(|_| written) else {
            return;
        };
        let changed = translation.inputs().changed_since(&before);
        if changed.is_empty() || !self.is_news(cx.key(), translation.hash()) {
            return;
        }
        self.numbers.restarted();
        let told = Told {
            warning: false,
            reason: "PodsRestarted".to_owned(),
            action: "Roll".to_owned(),
            note: format!(
                "pods are restarted because these changed: {}",
                changed.join(", ")
            ),
        };
        cx.tell(agent, [told]).await;
    }

    fn is_news(&self, key: &Key, hash: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(key.clone(), hash.to_owned()).as_deref() != Some(hash)
    }
}

/// What keeps the objects from being as they should, in words.
fn trouble(converged: &Converged) -> Option<String> {
    if let Err(interrupted) = &converged.result {
        return Some(OperatorError::from(interrupted).to_string());
    }
    let unsettled = converged
        .changes()
        .iter()
        .filter(|change| matches!(change.word, Word::Refused | Word::Contended | Word::Unseen));
    let texts: Vec<_> = unsettled
        .map(|change| format!("{}: {}", change.key, change.text))
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// What is said of an agent whose text makes sense.
fn judged(
    translation: &Translation,
    live: Option<&Deployment>,
    trouble: Option<&str>,
) -> [Verdict; 4] {
    let inputs = translation.inputs();
    [
        trouble.map_or_else(verdicts::accepted, verdicts::failed),
        verdicts::resolved(),
        verdicts::ready(live, &inputs),
        verdicts::progressing(live, &inputs),
    ]
}

/// Writes all conditions together, so that each speaks of the same generation.
async fn report(
    agent: &Agent,
    said: [Verdict; 4],
    cx: &Context,
    edit: impl FnOnce(&mut AgentStatus),
) -> Result<(), OperatorError> {
    let unsupported = verdicts::unsupported(agent);
    let is_clear = unsupported.is_none();
    let said = said.into_iter().chain(unsupported);
    let written = cx.set_status(agent, said, |status| {
        edit(status);
        if is_clear {
            status
                .conditions
                .retain(|known| known.kind != verdicts::UNSUPPORTED);
        }
    });
    written.await?;
    Ok(())
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agents").finish_non_exhaustive()
    }
}
