//! The operator as a whole: two controllers and a survey.

use std::sync::Arc;

use evenkeel_controller::{Controller, Key, Manager, Verb, Watch};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

use crate::cloud::{Cloud, Transport};
use crate::dangling::{Dangling, shape_of};
use crate::keeper::Keeper;
use crate::marking::Marking;
use crate::resource::{Shape, ShapeRef};
use crate::settings::Settings;
use crate::survey;

/// The definitions of the resources that the operator serves.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Shape::crd(), ShapeRef::crd()]
}

/// Adds the operator to `manager`.
pub fn add_to(manager: Manager, transport: Transport, settings: Settings) -> Manager {
    let by_checkpoint = matches!(settings.marking, Marking::Checkpoint);
    let keeper = Keeper {
        cloud: Cloud::new(transport),
        settings: Arc::new(settings),
        verified: Arc::default(),
    };
    let manager = manager.with(shapes(keeper.clone(), by_checkpoint));
    match by_checkpoint {
        true => manager.with(dangling(keeper)),
        false => manager,
    }
}

/// The survey looks at everything, so that runs need no resync of their own.
fn shapes(keeper: Keeper, by_checkpoint: bool) -> Controller<Keeper> {
    let surveyor = keeper.clone();
    let controller = Controller::new("shape", keeper)
        .settings(|settings| settings.delays.done = None)
        .meanwhile(move |leading| survey::run(surveyor, leading))
        .writes::<Shape>(&[Verb::Patch])
        .writes_part::<Shape>("status", &[Verb::Update]);
    if !by_checkpoint {
        return controller;
    }
    let own = |shape: &Shape| {
        let uid = shape.metadata.uid.as_ref();
        uid.map(|uid| Key::of(shape).beside(uid))
            .into_iter()
            .collect()
    };
    controller
        .watches(
            Watch::<ShapeRef>::all().when(|_, after| after.is_none()),
            own,
        )
        .writes::<ShapeRef>(&[Verb::Create, Verb::Update, Verb::Delete])
}

fn dangling(keeper: Keeper) -> Controller<Dangling> {
    let gone = Watch::<Shape>::all().when(|_, after| after.is_none());
    Controller::new("shape-ref", Dangling(keeper))
        .watches(gone, |known: &ShapeRef| vec![shape_of(known)])
        .writes::<ShapeRef>(&[Verb::Update, Verb::Delete])
}
