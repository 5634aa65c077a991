//! The fleet in memory: who is meant to hold what, and whose key opens what.
//!
//! Polls are answered from here, without a question to the database. The store's change feed
//! keeps it true: a change says where to look again, [`mod@follow`] looks, and only what differs
//! wakes those who wait.
//!
//! ```text
//! change feed ──▶ follow ──▶ Fleet { agents ─▶ AgentCell ─▶ TargetState, keys, generators }
//!                                                  └──▶ long polls wake
//! ```
//!
//! Read [`state`] (what an agent is served), then [`cell`], [`keys`] and [`mod@follow`].

mod cell;
mod follow;
mod keys;
mod state;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use evenkeel_model::{AgentId, ChangeNumber, GeneratorId};
use tokio::sync::watch;

pub(crate) use cell::{AgentCell, WaitingPoll};
pub(crate) use follow::{follow, load};
pub(crate) use keys::{KeyRing, KnownKey};
pub(crate) use state::{Served, TargetState};

/// The fleet, as far as polls and authentication need it.
#[derive(Debug)]
pub(crate) struct Fleet {
    agents: RwLock<HashMap<AgentId, Arc<AgentCell>>>,
    /// Whether each generator may write.
    generators: RwLock<HashMap<GeneratorId, bool>>,
    pub(crate) keys: KeyRing,
    applied: watch::Sender<ChangeNumber>,
}

impl Fleet {
    pub(crate) fn new(keys: KeyRing) -> Self {
        Self {
            agents: RwLock::default(),
            generators: RwLock::default(),
            keys,
            applied: watch::channel(ChangeNumber(0)).0,
        }
    }

    /// One agent.
    pub(crate) fn agent(&self, id: AgentId) -> Option<Arc<AgentCell>> {
        self.agents
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned()
    }

    /// Every agent.
    pub(crate) fn agents(&self) -> Vec<Arc<AgentCell>> {
        self.agents
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }

    /// Whether the generator may write.
    pub(crate) fn may_write(&self, id: GeneratorId) -> bool {
        let generators = self
            .generators
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        generators.get(&id).copied().unwrap_or(false)
    }

    /// The newest change that is contained.
    pub(crate) fn applied(&self) -> ChangeNumber {
        *self.applied.borrow()
    }

    /// Waits until the change is contained, so that whoever made it finds it here.
    pub(crate) async fn contains(&self, change: ChangeNumber) {
        let mut applied = self.applied.subscribe();
        // The sender is ours and cannot be gone.
        let _ = applied.wait_for(|number| *number >= change).await;
    }
}
