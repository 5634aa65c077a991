//! The controller of agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use evenkeel_controller::{
    Context, Controller, Key, Metadata, Outcome, Ran, Reconciler, Told, Verb, Verdict, Watch,
};
use evenkeel_kubeset::Converged;
use evenkeel_reconcile::Word;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, Service, ServiceAccount};

use super::children::{Children, MANAGER, inputs_of};
use super::error::OperatorError;
use super::{gather, is_paused, is_watched, secrets, verdicts};
use crate::api::{Agent, MCPServer, ModelConfig, RemoteMCPServer};
use crate::translate::{Settings, TranslateError, Translation, translate};

/// Brings about what agents declare.
pub struct Agents {
    settings: Settings,
    children: Arc<Children>,
    /// The hash of which people were told last, so that nobody is told twice.
    told: Mutex<BTreeMap<Key, String>>,
}

/// What it is for, what wakes it, what it writes.
pub fn controller(settings: Settings) -> Controller<Agents> {
    let children = Children::new();
    let following = Arc::clone(&children);
    let agents = Agents {
        settings,
        children,
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
        .writes::<Deployment>(&write)
        .writes::<Service>(&write)
        .writes::<Secret>(&write)
        .writes::<ConfigMap>(&write)
        .writes::<ServiceAccount>(&[Verb::Get, Verb::List, Verb::Watch])
        .writes::<ServiceAccount>(&write)
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
            Err(error) => refuse(&agent, error, &cx).await,
        }
    }

    fn gone(&self, key: &Key) {
        self.children.forget(key);
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
        let Some(converged) = self.children.converge(agent, translation).await? else {
            return Ok(Outcome::wait("the lease"));
        };
        self.tell_roll(agent, before.as_deref(), translation, &converged, cx)
            .await;
        let trouble = trouble(&converged);
        let live = cx.known::<Deployment>()?.get(cx.key());
        let ready = verdicts::ready(live.as_deref(), translation.hash());
        let serves = ready.status == evenkeel_controller::Status::True;
        let accepted = match &trouble {
            None => verdicts::accepted(),
            Some(why) => verdicts::failed(why),
        };
        report(agent, [accepted, verdicts::resolved(), ready], cx).await?;
        match (&converged.result, trouble) {
            (Err(interrupted), _) => Ok(Outcome::failed(interrupted.into())),
            (Ok(_), Some(_)) => Ok(Outcome::wait("an object that is in the way")),
            (Ok(_), None) if !serves => Ok(Outcome::wait("the pods")),
            (Ok(_), None) => Ok(Outcome::Done),
        }
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

/// Says why an agent cannot run, and leaves what runs alone.
async fn refuse(agent: &Agent, error: TranslateError, cx: &Context) -> Ran<OperatorError> {
    let live = cx.known::<Deployment>()?.get(cx.key());
    let [accepted, resolved] = verdicts::refused(&error);
    report(
        agent,
        [accepted, resolved, verdicts::not_ready(live.as_deref())],
        cx,
    )
    .await?;
    Ok(match error.waits_for() {
        Some(reference) => Outcome::wait(reference.to_string()),
        None => Outcome::Terminal(error.into()),
    })
}

/// Writes all conditions together, so that each speaks of the same generation.
async fn report(agent: &Agent, said: [Verdict; 3], cx: &Context) -> Result<(), OperatorError> {
    let unsupported = verdicts::unsupported(agent);
    let is_clear = unsupported.is_none();
    let said = said.into_iter().chain(unsupported);
    let written = cx.set_status(agent, said, |status| {
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
