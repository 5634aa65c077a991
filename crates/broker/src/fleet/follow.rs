//! Keeping the fleet in memory true to the store.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use evenkeel_ambient::chain;
use evenkeel_model::{AgentId, Assignment, Change, KeyId, Paging, Subject};
use evenkeel_store::{AgentFilter, Places, Result, Since, Store};

use super::{AgentCell, Fleet};

/// How many changes are read at once.
const STEP: u32 = 1024;
/// How long to leave a database alone that does not answer.
const PAUSE: Duration = Duration::from_millis(500);

/// Follows the store's changes until it is dropped.
pub(crate) async fn follow(store: Arc<dyn Store>, fleet: Arc<Fleet>) {
    let mut newest = store.change_newest();
    loop {
        match catch_up(store.as_ref(), &fleet).await {
            Ok(true) => {}
            Ok(false) => {
                if newest
                    .wait_for(|number| *number > fleet.applied())
                    .await
                    .is_err()
                {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(error = %chain(&error), "could not follow the store's changes");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Takes in the next changes; whether there were any.
async fn catch_up(store: &dyn Store, fleet: &Fleet) -> Result<bool> {
    match store.changes_since(fleet.applied(), STEP).await? {
        Since::Changes(changes) => {
            let Some(last) = changes.last().map(|change| change.number) else {
                return Ok(false);
            };
            apply(store, fleet, &changes).await?;
            fleet.applied.send_replace(last);
        }
        Since::TooLongAgo => load(store, fleet).await?,
    }
    Ok(true)
}

/// Reads everything. Whatever changes meanwhile is read again by the next catch-up.
pub(crate) async fn load(store: &dyn Store, fleet: &Fleet) -> Result<()> {
    let snapshot = store.assignment_snapshot().await?;
    let agents = store
        .agent_list(AgentFilter::default(), Paging::ALL)
        .await?
        .items;
    let generators = store.generator_list(None, Paging::ALL).await?.items;
    fleet.keys.replace(store.key_list().await?);
    let generators = generators
        .into_iter()
        .map(|one| (one.id, one.is_active))
        .collect();
    *fleet
        .generators
        .write()
        .unwrap_or_else(PoisonError::into_inner) = generators;
    let mut assignments: HashMap<AgentId, Vec<Assignment>> = HashMap::new();
    for assignment in snapshot.assignments {
        assignments
            .entry(assignment.agent_id)
            .or_default()
            .push(assignment);
    }
    let known: HashSet<_> = agents.iter().map(|agent| agent.id).collect();
    for agent in agents {
        let its = assignments.remove(&agent.id).unwrap_or_default();
        fleet.put_agent(agent, its);
    }
    fleet.retain_agents(|id| known.contains(id));
    fleet.applied.send_replace(snapshot.at);
    Ok(())
}

/// What to look at again, each once however often it changed.
#[derive(Default)]
struct Changed {
    places: Places,
    keys: HashSet<KeyId>,
    generators: bool,
}

impl Changed {
    fn of(changes: &[Change]) -> Self {
        let mut changed = Self::default();
        let places = &mut changed.places;
        for change in changes {
            match change.subject {
                Subject::Agent { id } => drop(places.agents.insert(id)),
                Subject::Stack { id } => drop(places.stacks.insert(id)),
                Subject::Assignment { agent_id, stack_id } => {
                    places.pairs.insert((agent_id, stack_id));
                }
                Subject::Key { id } => drop(changed.keys.insert(id)),
                Subject::Generator { .. } => changed.generators = true,
                Subject::Webhook { .. } => {}
            }
        }
        changed
    }
}

async fn apply(store: &dyn Store, fleet: &Fleet, changes: &[Change]) -> Result<()> {
    let changed = Changed::of(changes);
    // Keys first: what was revoked must not be served what follows.
    for id in changed.keys {
        if let Some(key) = store.key_get(id).await? {
            fleet.keys.put(key);
        }
    }
    if changed.generators {
        let all = store.generator_list(None, Paging::ALL).await?.items;
        let all = all.into_iter().map(|one| (one.id, one.is_active)).collect();
        *fleet
            .generators
            .write()
            .unwrap_or_else(PoisonError::into_inner) = all;
    }
    // All at one moment, and to each agent at once: none sees a later revision before an earlier.
    let look = store.assignments_look(&changed.places).await?;
    for (id, assignments) in look.of_agents {
        match store.agent_get(id).await? {
            Some(agent) => fleet.put_agent(agent, assignments),
            None => fleet.retain_agents(|known| *known != id),
        }
    }
    for (agent, changes) in look.others {
        if let Some(cell) = fleet.agent(agent) {
            cell.update_assignments(changes);
        }
    }
    Ok(())
}

impl Fleet {
    fn put_agent(&self, agent: evenkeel_model::Agent, assignments: Vec<Assignment>) {
        match self.agent(agent.id) {
            Some(cell) => {
                cell.set_agent(agent);
                cell.set_assignments(assignments);
            }
            None => {
                let cell = Arc::new(AgentCell::new(agent, assignments));
                self.agents
                    .write()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(cell.id, cell);
            }
        }
    }

    fn retain_agents(&self, keep: impl Fn(&AgentId) -> bool) {
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        agents.retain(|id, _| keep(id));
    }
}
