//! The controller of models: says whether a model can be used, and hashes what it needs.

use std::collections::BTreeSet;
use std::sync::Arc;

use evenkeel_controller::{
    Context, Controller, Metadata, Outcome, Ran, ReasonWord, Reconciler, Status, Verb, Verdict,
    Watch,
};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;

use super::error::OperatorError;
use super::verdicts::ACCEPTED;
use super::{gather, is_paused, is_watched, references, secrets};
use crate::api::ModelConfig;

/// Says whether models can be used.
#[derive(Debug)]
pub struct Models {
    watched: Option<BTreeSet<String>>,
}

/// What it is for, what wakes it, what it writes.
pub fn controller(watched: Option<BTreeSet<String>>) -> Controller<Models> {
    Controller::new("evenkeel-model-config", Models { watched })
        .follows(Watch::<Metadata<Secret>>::all())
        .follows(Watch::<Metadata<ConfigMap>>::all())
        .writes::<Secret>(&[Verb::Get])
        .writes::<ConfigMap>(&[Verb::Get])
        .writes_part::<ModelConfig>("status", &[Verb::Update])
}

impl Reconciler for Models {
    type Kind = ModelConfig;
    type Error = OperatorError;

    async fn reconcile(&self, model: Arc<ModelConfig>, cx: Context) -> Ran<OperatorError> {
        if is_paused(&*model) || !is_watched(self.watched.as_ref(), &*model) {
            return Ok(Outcome::Done);
        }
        let namespace = model.namespace().unwrap_or_default();
        let needed = references::of_model(&model.spec, &namespace);
        let resources = gather::all_of(&needed, &cx).await?;
        let hashed = secrets::of_model(&model, &resources);
        let (status, reason, message) = match &hashed {
            Ok(_) => (
                Status::True,
                ReasonWord::of("ModelConfigReconciled"),
                "Model configuration accepted".to_owned(),
            ),
            Err(error) => (
                Status::False,
                ReasonWord::of("ModelConfigReconcileFailed"),
                error.to_string(),
            ),
        };
        let verdict = Verdict {
            kind: ACCEPTED.into(),
            status,
            reason,
            message,
        };
        let hash = hashed.as_ref().ok().cloned();
        let written = cx.set_status(&*model, [verdict], |status| {
            status.secret_hash = hash.or(status.secret_hash.take());
        });
        written.await?;
        Ok(match hashed {
            Ok(_) => Outcome::Done,
            Err(error) => Outcome::wait(error.to_string()),
        })
    }
}
