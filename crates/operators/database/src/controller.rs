//! The controller: what wakes it, what it writes.

use std::sync::Arc;
use std::time::Duration;

use evenkeel_children::Children as Owned;
use evenkeel_controller::{Controller, Key, Metadata, Verb, Watch};
use evenkeel_kubeset::{GroupKind, Settings};
use evenkeel_reconcile::RetryPolicy;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{
    ConfigMap, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::storage::v1::StorageClass;

use crate::names::{DATABASE, MANAGER, Names};
use crate::observe::claim_keys;
use crate::operator::DatabaseOperator;
use crate::passwords::Passwords;
use crate::resource::Database;

/// The label by which the children of a Database are found.
const PARENT: &str = "evenkeel.io/database-uid";

/// A request that fails is soon given up: the run is repeated anyhow, and what people ask for
/// meanwhile, a deletion above all, must not wait for it.
const BRIEFLY: RetryPolicy = RetryPolicy {
    total: Some(Duration::from_secs(5)),
    ..RetryPolicy::CALLS
};

/// A controller for Databases that changes passwords through `passwords`.
pub fn controller<P: Passwords>(passwords: P) -> Controller<DatabaseOperator<P>> {
    let owned = Owned::new(child_settings());
    let children = Arc::clone(&owned);
    let controller = Controller::new("database", DatabaseOperator { owned, passwords })
        .owns(Watch::<StatefulSet>::all().labels(DATABASE))
        .watches(Watch::<Pod>::all().labels(DATABASE), pods)
        .watches(
            Watch::<PersistentVolumeClaim>::all().labels(DATABASE),
            claims,
        )
        .watches(Watch::<Secret>::all().labels(DATABASE), own_secret)
        .watches(Watch::<Metadata<Secret>>::all(), given_secret)
        .knows(Watch::<StorageClass>::all())
        .meanwhile(|leading| children.lead(leading));
    writes(controller)
}

/// Everything that the controller may write, for the rights that it needs and no more.
fn writes<P: Passwords>(
    controller: Controller<DatabaseOperator<P>>,
) -> Controller<DatabaseOperator<P>> {
    // They are followed by kubeset, which the controller does not see.
    const CHILD: [Verb; 6] = [
        Verb::Get,
        Verb::List,
        Verb::Watch,
        Verb::Create,
        Verb::Patch,
        Verb::Delete,
    ];
    controller
        .writes::<ServiceAccount>(&CHILD)
        .writes::<ConfigMap>(&CHILD)
        .writes::<Service>(&CHILD)
        .writes::<StatefulSet>(&CHILD)
        .writes::<PodDisruptionBudget>(&CHILD)
        .writes::<Secret>(&[Verb::Create, Verb::Update, Verb::Delete])
        .writes::<PersistentVolumeClaim>(&[Verb::Patch, Verb::Delete])
        .writes::<Pod>(&[Verb::Patch, Verb::Delete])
        .writes::<Database>(&[Verb::Patch])
        .writes_part::<Database>("status", &[Verb::Update])
        .writes_part::<Database>("finalizers", &[Verb::Update])
}

fn child_settings() -> Settings {
    let kinds = [
        ("", "ServiceAccount"),
        ("", "ConfigMap"),
        ("", "Service"),
        ("apps", "StatefulSet"),
        ("policy", "PodDisruptionBudget"),
    ];
    Settings {
        manager: MANAGER.to_owned(),
        owner_key: PARENT.to_owned(),
        child_kinds: kinds
            .into_iter()
            .map(|(group, kind)| GroupKind::new(group, kind))
            .collect(),
        retry: BRIEFLY,
        ..Settings::default()
    }
}

fn pods(database: &Database) -> Vec<Key> {
    let (key, names) = (Key::of(database), Names::of(database));
    let ordinals = 0..database.spec.replicas;
    ordinals
        .map(|ordinal| key.beside(names.pod(ordinal)))
        .collect()
}

fn claims(database: &Database) -> Vec<Key> {
    claim_keys(Names::of(database), &Key::of(database))
}

fn own_secret(database: &Database) -> Vec<Key> {
    vec![Key::of(database).beside(Names::of(database).secret())]
}

fn given_secret(database: &Database) -> Vec<Key> {
    let wanted = database.spec.password_secret_ref.iter();
    wanted
        .map(|secret| Key::of(database).beside(&secret.name))
        .collect()
}
