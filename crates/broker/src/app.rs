//! What every request and every task shares.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_ambient::{SharedClock, SharedRandom};
use evenkeel_model::{AgentId, GeneratorId, Heartbeat, Role};
use evenkeel_store::Store;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::auth::Caller;
use crate::config::Config;
use crate::fleet::Fleet;
use crate::metrics::Metrics;
use crate::pak::{self, Minted};
use crate::refusals::Refusals;
use crate::tasks::Board;
use crate::texts::Texts;
use crate::webhook::Webhooks;

/// The shared part of a broker, as handlers hold it.
pub(crate) type App = Arc<Core>;

/// What every request and every task shares. Each noun adds what can be done with it, in
/// `service/<noun>.rs`.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) random: SharedRandom,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) texts: Texts,
    pub(crate) refusals: Refusals,
    pub(crate) metrics: Metrics,
    pub(crate) webhooks: Webhooks,
    pub(crate) board: Board,
    /// Belongs to the broker itself; every agent serves it.
    pub(crate) system: GeneratorId,
    /// Cancelled when the broker is to stop; polls that wait then answer.
    pub(crate) stopping: CancellationToken,
    pub(crate) signs: Mutex<Signs>,
}

/// Signs of life that are not yet written down.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    pub(crate) agents: HashMap<AgentId, Heartbeat>,
    pub(crate) generators: HashMap<GeneratorId, Timestamp>,
}

impl Core {
    /// Mints a key.
    pub(crate) fn mint(&self) -> Minted {
        pak::mint(self.random.as_ref())
    }

    /// Notes that a generator wrote something.
    pub(crate) fn seen(&self, caller: &Caller) {
        if let Role::Generator(id) = caller.role {
            self.signs().generators.insert(id, self.clock.now());
        }
    }

    /// Notes that an agent lives.
    pub(crate) fn beat(&self, beat: Heartbeat) {
        if let Some(cell) = self.fleet.agent(beat.agent_id) {
            cell.take_beat(beat.clone());
        }
        self.signs().agents.insert(beat.agent_id, beat);
    }

    /// Takes the signs of life that are to be written down.
    pub(crate) fn take_signs(&self) -> Signs {
        mem::take(&mut *self.signs())
    }

    fn signs(&self) -> MutexGuard<'_, Signs> {
        self.signs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
