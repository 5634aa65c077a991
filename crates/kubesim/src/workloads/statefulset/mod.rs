//! StatefulSets: pods with numbers, one after the other, each with its own claims.

mod replica;
mod status;

use serde_json::Value;

use super::desk::{Desk, PODS, STATEFUL_SETS};
use super::revisions::{History, LABEL};
use super::{Again, controlled, pod};
use crate::meta;
use crate::selectors::LabelSelector;
use crate::status::ApiError;
use crate::store::{Key, Object};

pub(super) fn reconcile(desk: &Desk<'_>, key: &Key) -> Again {
    let Some(set) = desk.get(STATEFUL_SETS, key) else {
        return Ok(None);
    };
    let history = History::of(desk, STATEFUL_SETS, &set)?;
    let selector = LabelSelector::of(&set["spec"]["selector"]);
    let pods = controlled::claim(desk, PODS, STATEFUL_SETS, &set, &selector)?;
    let round = Round::of(desk, &set, &history, pods);
    let done = match meta::is_deleting(&set) {
        true => Ok(()),
        false => round.act(),
    };
    status::write(&round, key)?;
    done?;
    round.trim()?;
    let pods = round.pods.iter().map(|pod| &**pod);
    Ok(pod::next_available(pods, round.min_ready, desk.now()))
}

/// One look at a set.
struct Round<'a> {
    desk: &'a Desk<'a>,
    set: &'a Value,
    history: &'a History,
    /// All pods of the set, by number.
    pods: Vec<Object>,
    /// The revision that pods below the partition have.
    current: String,
    /// The revision that all others shall have.
    update: String,
    min_ready: i64,
    in_order: bool,
}

impl<'a> Round<'a> {
    fn of(desk: &'a Desk<'a>, set: &'a Value, history: &'a History, mut pods: Vec<Object>) -> Self {
        pods.sort_by_key(|pod| number_of(pod));
        let update = history.latest().to_owned();
        let current = set["status"]["currentRevision"].as_str();
        let current = current.filter(|name| history.template(name).is_some());
        Self {
            desk,
            set,
            history,
            pods,
            current: current.unwrap_or(&update).to_owned(),
            update,
            min_ready: set["spec"]["minReadySeconds"].as_i64().unwrap_or(0),
            in_order: set["spec"]["podManagementPolicy"] != "Parallel",
        }
    }

    fn numbers(&self) -> std::ops::Range<i64> {
        let start = self.set["spec"]["ordinals"]["start"].as_i64().unwrap_or(0);
        start..start + self.set["spec"]["replicas"].as_i64().unwrap_or(1)
    }

    fn pod(&self, number: i64) -> Option<&Object> {
        self.pods.iter().find(|pod| number_of(pod) == Some(number))
    }

    fn is_available(&self, pod: &Value) -> bool {
        pod::is_available(pod, self.min_ready, self.desk.now())
    }

    fn is_fine(&self, pod: &Value) -> bool {
        pod::phase(pod) == "Running" && !meta::is_deleting(pod) && self.is_available(pod)
    }

    /// Fills the numbers from below, empties those above from the top, then updates from the top.
    fn act(&self) -> Result<(), ApiError> {
        let settled = self.fill()? && self.empty()?;
        match settled && self.set["spec"]["updateStrategy"]["type"] != "OnDelete" {
            true => self.update(),
            false => Ok(()),
        }
    }

    /// Whether all is there.
    fn fill(&self) -> Result<bool, ApiError> {
        for number in self.numbers() {
            let waits = match self.pod(number) {
                None => {
                    self.create(number)?;
                    self.in_order
                }
                Some(pod) if pod::has_ended(pod) => {
                    if !meta::is_deleting(pod) {
                        self.desk.delete(PODS, pod)?;
                    }
                    return Ok(false);
                }
                Some(pod) => {
                    if pod::phase(pod) == "Pending" {
                        self.create_claims(number)?;
                    }
                    self.in_order && !self.is_fine(pod)
                }
            };
            if waits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether nothing is there that is too much.
    fn empty(&self) -> Result<bool, ApiError> {
        let numbers = self.numbers();
        let surplus: Vec<&Object> = self
            .pods
            .iter()
            .filter(|pod| number_of(pod).is_some_and(|number| !numbers.contains(&number)))
            .collect();
        let troubled = self.pods.iter().find(|pod| !self.is_fine(pod));
        let troubled = troubled.map(|pod| meta::uid(pod));
        for pod in surplus.iter().rev() {
            if meta::is_deleting(pod) {
                if self.in_order {
                    return Ok(false);
                }
                continue;
            }
            let blocked = !self.is_fine(pod) && troubled != Some(meta::uid(pod));
            if self.in_order && blocked {
                return Ok(false);
            }
            self.desk.delete(PODS, pod)?;
            if self.in_order {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Replaces one pod of an older revision, from the top, if all above it are fine.
    fn update(&self) -> Result<(), ApiError> {
        let partition = &self.set["spec"]["updateStrategy"]["rollingUpdate"]["partition"];
        let numbers = self.numbers();
        let first = numbers.start + partition.as_i64().unwrap_or(0);
        for number in (first..numbers.end).rev() {
            let Some(pod) = self.pod(number) else {
                return Ok(());
            };
            if revision_of(pod) != self.update && !meta::is_deleting(pod) {
                return self.desk.delete(PODS, pod);
            }
            if !self.is_fine(pod) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Deletes revisions that no pod has, beyond the limit.
    fn trim(&self) -> Result<(), ApiError> {
        let limit = self.set["spec"]["revisionHistoryLimit"]
            .as_i64()
            .unwrap_or(10);
        self.history.trim(self.desk, limit, |revision| {
            let name = meta::name(revision);
            [&self.current, &self.update]
                .iter()
                .any(|used| *used == name)
                || self.pods.iter().any(|pod| revision_of(pod) == name)
        })
    }
}

/// The number in the name of a pod.
fn number_of(pod: &Value) -> Option<i64> {
    meta::name(pod).rsplit_once('-')?.1.parse().ok()
}

fn revision_of(pod: &Value) -> &str {
    pod["metadata"]["labels"][LABEL]
        .as_str()
        .unwrap_or_default()
}
