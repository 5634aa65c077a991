//! How the pretended machines behave.

use std::time::Duration;

/// The machines that pods pretend to run on, and how long things take there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workloads {
    /// How many nodes there are from the start. Nodes that clients create join them.
    pub nodes: usize,
    /// From the moment a pod is on a node until its containers are ready.
    pub ready_after: Duration,
    /// How long a container runs whose fate it is to end.
    pub runs_for: Duration,
    /// How long a container takes to stop when its pod is deleted; never longer than its grace.
    pub stops_after: Duration,
}

impl Default for Workloads {
    /// Three nodes on which pods are ready after a second.
    fn default() -> Self {
        Self {
            nodes: 3,
            ready_after: Duration::from_secs(1),
            runs_for: Duration::from_secs(1),
            stops_after: Duration::from_millis(500),
        }
    }
}

impl Workloads {
    /// Everything happens at once: what a test sees is always the end state.
    pub fn instant() -> Self {
        Self {
            ready_after: Duration::ZERO,
            runs_for: Duration::ZERO,
            stops_after: Duration::ZERO,
            ..Self::default()
        }
    }

    /// The same with this many nodes.
    #[must_use]
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// The same with pods that are ready this long after they have got a node.
    #[must_use]
    pub fn ready_after(mut self, delay: Duration) -> Self {
        self.ready_after = delay;
        self
    }
}
