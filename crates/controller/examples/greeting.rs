//! A whole controller: for each `Greeting` it keeps a ConfigMap of the same name that greets, with
//! words from another ConfigMap that the Greeting refers to.
//!
//! Copy it, rename it, and change `reconcile`. Run it against your current cluster with
//! `cargo run -p evenkeel-controller --example greeting`; `tests/it/example.rs` runs it too.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_ambient::{SystemClock, SystemRandom};
use evenkeel_controller::{
    Condition, Conditions, Context, Controller, Ended, Error, Key, Manager, Outcome, Ran,
    ReasonWord, Reconciler, Status, Verb, Verdict, Watch, conditions_schema, connect,
};
use evenkeel_lease::LeaseName;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ObjectMeta, Patch, PatchParams};
use kube::{Api, CustomResource, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// What people declare.
#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "example.evenkeel.io",
    version = "v1",
    kind = "Greeting",
    namespaced
)]
#[kube(
    status = "GreetingStatus",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#
)]
#[serde(rename_all = "camelCase")]
pub struct GreetingSpec {
    /// Who is greeted.
    pub whom: String,
    /// The ConfigMap whose key `words` says how.
    pub words_from: String,
}

/// What the controller reports.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct GreetingStatus {
    /// What the controller says of it.
    #[serde(default)]
    #[schemars(schema_with = "conditions_schema")]
    pub conditions: Vec<Condition>,
}

impl Conditions for GreetingStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

/// The controller.
#[derive(Debug)]
pub struct Greeter;

impl Reconciler for Greeter {
    type Kind = Greeting;
    type Error = Error;

    async fn reconcile(&self, greeting: Arc<Greeting>, cx: Context) -> Ran<Error> {
        let (key, maps) = (cx.key().clone(), cx.known::<ConfigMap>()?);
        let words = maps.get(&key.beside(&greeting.spec.words_from));
        let Some(words) = words.and_then(|map| map.data.as_ref()?.get("words").cloned()) else {
            let why = ready(
                Status::False,
                ReasonWord::of("WordsMissing"),
                "nobody said how to greet",
            );
            cx.set_status(&*greeting, [why], |_| {}).await?;
            return Ok(Outcome::wait("the words"));
        };
        let card = card(&greeting, &words);
        if maps.get(&key).is_none_or(|live| live.data != card.data) {
            let api: Api<ConfigMap> = Api::namespaced(
                cx.client().clone(),
                key.namespace.as_deref().unwrap_or_default(),
            );
            let apply = PatchParams::apply(cx.manager()).force();
            let applied = api.patch(&key.name, &apply, &Patch::Apply(&card)).await;
            applied.map_err(Error::kube(format!("apply the card of {key}")))?;
        }
        let fine = ready(Status::True, ReasonWord::of("Greeted"), "the card is there");
        cx.set_status(&*greeting, [fine], |_| {}).await?;
        Ok(Outcome::Done)
    }
}

fn card(greeting: &Greeting, words: &str) -> ConfigMap {
    let text = format!("{words}, {}!", greeting.spec.whom);
    ConfigMap {
        metadata: ObjectMeta {
            name: greeting.meta().name.clone(),
            owner_references: greeting.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("greeting".to_owned(), text)])),
        ..ConfigMap::default()
    }
}

fn ready(status: Status, reason: ReasonWord, message: &str) -> Verdict {
    let (kind, message) = ("Ready".into(), message.to_owned());
    Verdict {
        kind,
        status,
        reason,
        message,
    }
}

/// What it is for, what wakes it, what it writes.
pub fn controller() -> Controller<Greeter> {
    Controller::new("greeter", Greeter)
        .owns(Watch::<ConfigMap>::all())
        .watches(Watch::<ConfigMap>::all(), |greeting: &Greeting| {
            vec![Key::of(greeting).beside(&greeting.spec.words_from)]
        })
        .writes::<ConfigMap>(&[Verb::Create, Verb::Patch])
        .writes_part::<Greeting>("status", &[Verb::Update])
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = connect(kube::Config::infer().await?)?;
    let lease = LeaseName {
        namespace: "default".to_owned(),
        name: "greeter".to_owned(),
    };
    let (clock, dice) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let manager = Manager::new(client, clock, dice, &mut Default::default()).with(controller());
    let stop = CancellationToken::new();
    let on_signal = stop.clone();
    tokio::spawn(async move { tokio::signal::ctrl_c().await.map(|()| on_signal.cancel()) });
    match manager.under_lease(&lease, "greeter").run(stop).await {
        Ended::Stopped => Ok(()),
        Ended::LeaseLost => Err("another process leads now".into()),
    }
}
