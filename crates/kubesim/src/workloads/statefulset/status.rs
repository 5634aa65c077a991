//! The status of a stateful set.

use serde_json::{Value, json};

use super::{Round, number_of, revision_of};
use crate::meta;
use crate::status::ApiError;
use crate::store::{Key, Object};
use crate::workloads::desk::{PODS, STATEFUL_SETS};
use crate::workloads::{controlled, pod};

pub(super) fn write(round: &Round<'_>, key: &Key) -> Result<(), ApiError> {
    // What this round created and deleted counts, too.
    let pods = round.desk.list(PODS, key.namespace());
    let mine = |pod: &&Object| controlled::is_controlled_by(pod, round.set);
    let pods: Vec<Object> = pods.iter().filter(mine).cloned().collect();
    round.desk.update_status(STATEFUL_SETS, key, |set| {
        let mut status = count(round, &pods);
        status["observedGeneration"] = set["metadata"]["generation"].clone();
        status["collisionCount"] = set["status"]["collisionCount"].as_i64().unwrap_or(0).into();
        complete(set, &mut status);
        set["status"] = status;
    })
}

fn count(round: &Round<'_>, pods: &[Object]) -> Value {
    let created: Vec<&Object> = pods.iter().filter(|pod| number_of(pod).is_some()).collect();
    let count = |fits: &dyn Fn(&Value) -> bool| created.iter().filter(|pod| fits(pod)).count();
    let running = |pod: &Value| pod::phase(pod) == "Running" && pod::is_ready(pod);
    let of = |revision: &str, pod: &Value| revision_of(pod) == revision && !meta::is_deleting(pod);
    json!({
        "replicas": created.len(),
        "readyReplicas": count(&running),
        "availableReplicas": count(&|pod| running(pod) && round.is_available(pod)),
        "currentReplicas": count(&|pod| of(&round.current, pod)),
        "updatedReplicas": count(&|pod| of(&round.update, pod)),
        "currentRevision": round.current,
        "updateRevision": round.update,
    })
}

/// When every pod has the new revision, it is the current one.
fn complete(set: &Value, status: &mut Value) {
    let rolling = set["spec"]["updateStrategy"]["type"] == "RollingUpdate";
    let wanted = set["spec"]["replicas"].as_u64().unwrap_or(1);
    let fields = ["updatedReplicas", "readyReplicas", "replicas"];
    if rolling
        && fields
            .iter()
            .all(|field| status[field].as_u64() == Some(wanted))
    {
        status["currentReplicas"] = status["updatedReplicas"].clone();
        status["currentRevision"] = status["updateRevision"].clone();
    }
}
