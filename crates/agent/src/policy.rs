//! What may be done on the way to what a stack is to be.

use evenkeel_kubeset::{Owner, SetPolicy};
use evenkeel_model::DriftMode;
use evenkeel_reconcile::{Adopt, Approval, Brake, Drift, Policy};

use crate::settings::Settings;
use crate::stacks::Order;

/// The annotation that says which revision an object is from.
const CHECKSUM: &str = "brokkr.io/checksum";

/// How a revision is applied. What was asked for anew is restored whatever the drift mode: the
/// mode says what becomes of changes that nobody has answered with a revision.
pub(crate) fn to_apply(settings: &Settings, order: &Order, asked_anew: bool) -> SetPolicy {
    let drift = if asked_anew {
        Drift::Enforce
    } else {
        drift(drift_mode(settings, order))
    };
    let checksum = order.object.yaml_checksum.to_string();
    let owners = order.object.take_from.iter();
    SetPolicy {
        engine: Policy {
            adopt: Adopt::On,
            brake: settings.brake.into(),
            approval: approval(order),
            drift,
            ..Policy::default()
        },
        annotations: [(CHECKSUM.to_owned(), checksum)].into(),
        take_from: owners
            .filter_map(|stack| Owner::new(stack.to_string()).ok())
            .collect(),
        anew: asked_anew,
        ..SetPolicy::default()
    }
}

/// What becomes of what others change: what the stack says, or else the agent's settings.
pub(crate) fn drift_mode(settings: &Settings, order: &Order) -> DriftMode {
    order.object.control.drift.unwrap_or(settings.drift)
}

/// How a stack is removed. That everything goes was the order, so that needs no approval; what a
/// namespace or a definition holds of others still does.
pub(crate) fn to_remove(order: &Order) -> SetPolicy {
    SetPolicy {
        engine: Policy {
            brake: Brake::RELEASED,
            approval: approval(order),
            ..Policy::default()
        },
        ..SetPolicy::default()
    }
}

fn approval(order: &Order) -> Approval {
    match order.object.control.approved {
        true => Approval::Given,
        false => Approval::NotGiven,
    }
}

fn drift(mode: DriftMode) -> Drift {
    match mode {
        DriftMode::Off => Drift::Off,
        DriftMode::Warn => Drift::Warn,
        DriftMode::Enforce => Drift::Enforce,
    }
}
