//! The whole cloud beside all Shapes, every so often: what differs is woken, what nobody declares
//! is a case for the orphanage.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evenkeel_controller::{Key, Leading, Metadata};
use evenkeel_reconcile::runner::Request;
use evenkeel_reconcile::{
    Action, Adopt, Brake, Desired, Naming, Observed, Ownership, Policy, Recorded, RetryPolicy,
    Snapshot, Wanted, compare,
};
use evenkeel_shapes_cloud::{Query, Shape as CloudShape};
use jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};
use tracing::{info, warn};

use crate::checkpoint::Checkpoint;
use crate::cloud::{Cloud, Transport};
use crate::error::Error;
use crate::keeper::Keeper;
use crate::key::ShapeKey;
use crate::marking::{Look, Marking};
use crate::orphans::{Doomed, Orphans};
use crate::resource::{Shape, ShapeRef};
use crate::settings::{OrphanMode, Settings};
use crate::subject::Subject;

/// What a survey found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The Shapes whose cloud shape is missing or differs.
    pub astray: Vec<Key>,
    /// The cloud shapes that nobody declares; `None` when not all of the cloud could be seen.
    pub orphans: Option<Vec<Doomed>>,
    /// The Shapes whose cloud shape is as declared, by uid, with their generation.
    pub settled: BTreeMap<String, i64>,
}

/// Surveys the cloud until told to stop.
pub(crate) async fn run(keeper: Keeper, leading: Leading<Shape>) {
    let mut orphans = Orphans::default();
    let every = RetryPolicy::every(keeper.settings.survey);
    loop {
        if let Err(error) = once(&keeper, &leading, &mut orphans).await {
            let error = evenkeel_ambient::chain(&error);
            warn!(error, "cannot survey the cloud");
            keeper.verified.surveyed(BTreeMap::new());
        }
        tokio::select! {
            () = leading.stop().cancelled() => return,
            () = tokio::time::sleep(every.delay(1, &**leading.dice())) => {}
        }
    }
}

async fn once(
    keeper: &Keeper,
    leading: &Leading<Shape>,
    orphans: &mut Orphans,
) -> Result<(), Error> {
    let cloud = list(&keeper.cloud).await?;
    let declared = Declared::of(leading, &keeper.settings)?;
    let now = leading.clock().now();
    let found = compared(&cloud, &declared, &keeper.settings, now);
    keeper.verified.surveyed(found.settled);
    for key in found.astray {
        leading.wake(key, Request::resync());
    }
    let (Some(seen), mode) = (found.orphans, keeper.settings.orphans.mode) else {
        return Ok(());
    };
    leading.count_orphans(seen.len());
    let ripe = orphans.seen(seen, &keeper.settings.orphans, now);
    if ripe.is_empty() || mode == OrphanMode::Off {
        return Ok(());
    }
    let alive = living(leading).await?;
    for doomed in ripe
        .into_iter()
        .filter(|doomed| !alive.contains(&doomed.uid))
    {
        info!(
            shape = doomed.shape.id,
            why = doomed.why,
            ?mode,
            "an orphan"
        );
        if mode == OrphanMode::Collect {
            keeper.cloud.delete(&doomed.shape).await?;
        }
    }
    Ok(())
}

/// What the orphanage would be given now: what is in the cloud under our mark, or in a cloud of
/// our own, and declared by nobody. Says it and does nothing.
pub async fn would_remove(
    client: Client,
    transport: Transport,
    settings: &Settings,
) -> Result<Vec<Doomed>, Error> {
    let cloud = list(&Cloud::new(transport)).await?;
    let declared = Declared::asked(client, settings).await?;
    let found = compared(&cloud, &declared, settings, Timestamp::MAX);
    let incomplete = || Error::Incomplete(cloud.missed.clone().unwrap_or_default());
    found.orphans.ok_or_else(incomplete)
}

/// The uids of all Shapes, asked of the server itself: a cache may be behind.
async fn living(leading: &Leading<Shape>) -> Result<BTreeSet<Option<String>>, Error> {
    let shapes: Api<Metadata<Shape>> = Api::all(leading.client().clone());
    let listed = shapes.list(&ListParams::default()).await;
    let listed = listed.map_err(evenkeel_controller::Error::kube("list all Shapes"))?;
    let uids = listed
        .items
        .into_iter()
        .filter_map(|shape| shape.metadata.uid);
    Ok(uids.map(Some).collect())
}

/// What the cloud shows: everything, or up to where it failed.
pub(crate) struct Listed {
    shapes: Vec<CloudShape>,
    missed: Option<String>,
}

async fn list(cloud: &Cloud) -> Result<Listed, Error> {
    let mut shapes = Vec::new();
    let mut query = Query::default();
    loop {
        match cloud.page(&query).await {
            Ok(page) => {
                shapes.extend(page.items);
                query.after = page.next;
            }
            Err(error) if query.after.is_none() => return Err(error.into()),
            Err(error) => {
                let missed = Some(evenkeel_ambient::chain(&error));
                return Ok(Listed { shapes, missed });
            }
        }
        if query.after.is_none() {
            return Ok(Listed {
                shapes,
                missed: None,
            });
        }
    }
}

/// All Shapes, and what is on record of their cloud shapes.
pub(crate) struct Declared {
    shapes: Vec<(Arc<Shape>, Subject)>,
    /// Whose a cloud shape is by our own records.
    by_id: BTreeMap<String, (String, Option<String>)>,
    /// Which Shape wants to adopt a cloud shape.
    adopters: BTreeMap<String, ShapeKey>,
    /// The generation of each Shape that is not on its way out, by uid.
    generations: BTreeMap<String, i64>,
}

type Seen = Observed<CloudShape, String>;

impl Declared {
    fn of(leading: &Leading<Shape>, settings: &Settings) -> Result<Self, Error> {
        let refs = match settings.marking {
            Marking::Checkpoint => leading.known::<ShapeRef>()?.all(),
            Marking::Labels(_) | Marking::Prefix(_) => Vec::new(),
        };
        Ok(Self::new(leading.objects()?.all(), &refs))
    }

    /// The same, asked of the server itself.
    async fn asked(client: Client, settings: &Settings) -> Result<Self, Error> {
        let asking = evenkeel_controller::Error::kube;
        let shapes: Api<Shape> = Api::all(client.clone());
        let shapes = shapes
            .list(&ListParams::default())
            .await
            .map_err(asking("list all Shapes"))?;
        let refs = match settings.marking {
            Marking::Checkpoint => {
                let refs: Api<ShapeRef> = Api::all(client);
                let refs = refs.list(&ListParams::default()).await;
                refs.map_err(asking("list all ShapeRefs"))?.items
            }
            Marking::Labels(_) | Marking::Prefix(_) => Vec::new(),
        };
        let refs: Vec<_> = refs.into_iter().map(Arc::new).collect();
        Ok(Self::new(
            shapes.items.into_iter().map(Arc::new).collect(),
            &refs,
        ))
    }

    fn new(shapes: Vec<Arc<Shape>>, refs: &[Arc<ShapeRef>]) -> Self {
        let refs: BTreeMap<_, _> = refs
            .iter()
            .map(|known| (&known.spec.shape.uid, known))
            .collect();
        let mut by_id = BTreeMap::new();
        let mut note = |uid: &str, checkpoint: Option<&Checkpoint>| {
            if let Some((id, known)) = checkpoint.and_then(|known| Some((known.id.clone()?, known)))
            {
                by_id.insert(id, (uid.to_owned(), known.version.clone()));
            }
        };
        for (uid, known) in &refs {
            note(uid, Some(&known.spec.checkpoint));
        }
        let subject = |shape: Arc<Shape>| {
            let uid = shape.metadata.uid.clone().unwrap_or_default();
            let subject = Subject::of(&shape, refs.get(&uid).map(|known| &***known));
            (shape, subject)
        };
        let shapes: Vec<_> = shapes.into_iter().map(subject).collect();
        let (mut adopters, mut generations) = (BTreeMap::new(), BTreeMap::new());
        for (shape, subject) in &shapes {
            note(&subject.uid, subject.checkpoint.as_ref());
            let meta = &shape.metadata;
            let stays = meta
                .generation
                .filter(|_| meta.deletion_timestamp.is_none());
            generations.extend(stays.map(|generation| (subject.uid.clone(), generation)));
            adopters.extend(subject.adopt.clone().map(|id| (id, subject.shape_key())));
        }
        Self {
            shapes,
            by_id,
            adopters,
            generations,
        }
    }

    fn desired(&self, settings: &Settings) -> Desired<ShapeKey, Look, String> {
        let wanted = self.shapes.iter().map(|(shape, subject)| {
            let spec = &shape.spec;
            let look = settings
                .marking
                .look(subject, spec.form.as_str(), &spec.colour);
            let version = look.version();
            (subject.shape_key(), Wanted::new(look, version))
        });
        match Desired::things(wanted) {
            Ok(things) if !things.is_empty() => things,
            // Every uid is there once; and that there is no Shape was told by a complete list.
            _ => Desired::nothing("there is no Shape"),
        }
    }

    /// Whose a cloud shape is, and for which Shape it was made: by its mark, by our records, or
    /// because it shall be adopted.
    fn placed(&self, shape: CloudShape, settings: &Settings) -> (ShapeKey, Seen) {
        let whose = settings.marking.ownership(&shape);
        if whose != Ownership::Nobody {
            return (settings.marking.key(&shape), Observed::new(shape, whose));
        }
        if let Some((uid, version)) = self.by_id.get(&shape.id) {
            let key = ShapeKey::of_resource(uid, shape.id.clone());
            let version = version.clone();
            return (key, Observed::new(shape, Ownership::Mine { version }));
        }
        let adopter = self.adopters.get(&shape.id).cloned();
        let key = adopter.unwrap_or_else(|| settings.marking.key(&shape));
        (key, Observed::new(shape, whose))
    }

    fn record(&self, settings: &Settings, now: Timestamp) -> Vec<(ShapeKey, Recorded<String>)> {
        let recorded = |(_, subject): &(Arc<Shape>, Subject)| {
            let known = subject.checkpoint.as_ref()?;
            known.recorded(&subject.shape_key(), now, settings.window)
        };
        self.shapes.iter().filter_map(recorded).collect()
    }

    /// A Shape that is as declared, with its generation, if its own record names what was seen.
    fn settled(
        &self,
        key: &ShapeKey,
        seen: &Snapshot<ShapeKey, CloudShape, String>,
    ) -> Option<(String, i64)> {
        let uid = key.uid()?;
        let (recorded, _) = self.by_id.get(&seen.get(key)?.live.id)?;
        let generation = self.generations.get(uid)?;
        (recorded == uid).then(|| (uid.to_owned(), *generation))
    }

    /// The Shapes that wait for their end.
    fn deleting(&self) -> impl Iterator<Item = &Key> {
        let deleting = |shape: &Shape| shape.metadata.deletion_timestamp.is_some();
        let shapes = self.shapes.iter().filter(move |(shape, _)| deleting(shape));
        shapes.map(|(_, subject)| &subject.key)
    }
}

/// The whole cloud beside all Shapes.
fn compared(cloud: &Listed, declared: &Declared, settings: &Settings, now: Timestamp) -> Found {
    let desired = declared.desired(settings);
    let shapes = cloud.shapes.iter().cloned();
    let mut snapshot = Snapshot::of(shapes.map(|shape| declared.placed(shape, settings)));
    if let Some(why) = &cloud.missed {
        snapshot.missed("the rest of the cloud", why);
    }
    let snapshot = snapshot.with_record(declared.record(settings, now));
    let plan = compare(&desired, &snapshot, &policy(settings), now);
    let of_shape = |(shape, subject): &(Arc<Shape>, Subject)| {
        (
            subject.shape_key(),
            (subject.key.clone(), shape.spec.paused),
        )
    };
    let known: BTreeMap<_, _> = declared.shapes.iter().map(of_shape).collect();
    let mut astray: Vec<_> = declared.deleting().cloned().collect();
    let mut orphans = Vec::new();
    let settled = plan
        .steps
        .iter()
        .filter(|step| matches!(step.action, Action::Keep(_)));
    let settled = settled
        .filter_map(|step| declared.settled(step.key, &snapshot))
        .collect();
    for step in plan.writes() {
        match (&step.action, known.get(step.key)) {
            (_, Some((key, paused))) => astray.extend((!paused).then(|| key.clone())),
            (Action::Delete { observed, why }, None) => {
                orphans.push(Doomed::new(&observed.live, step.key, why.to_string()));
            }
            _ => {}
        }
    }
    Found {
        astray,
        orphans: cloud.missed.is_none().then_some(orphans),
        settled,
    }
}

fn policy(settings: &Settings) -> Policy<ShapeKey> {
    Policy {
        adopt: Adopt::On,
        naming: Naming::ByServer,
        tenancy: settings.tenancy,
        brake: Brake::RELEASED,
        ..Policy::default()
    }
}
