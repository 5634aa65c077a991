//! Pods of jobs whose pods have indexes, and of those whose pods have none.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::TRACKING;
use super::tally::Tally;
use crate::meta;
use crate::workloads::desk::JOBS;
use crate::workloads::pod;

const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The index of a pod.
pub(super) fn of(pod: &Value) -> Option<i64> {
    meta::annotation(pod, INDEX)?.parse().ok()
}

/// The indexes for so many new pods; nothing in their place when the job has none.
pub(super) fn free(job: &Value, tally: &Tally, count: usize) -> Vec<Option<i64>> {
    if job["spec"]["completionMode"] != "Indexed" {
        return vec![None; count];
    }
    let taken: BTreeSet<i64> = tally.active.iter().filter_map(|pod| of(pod)).collect();
    let all = 0..job["spec"]["completions"].as_i64().unwrap_or(0);
    let free = all.filter(|index| !taken.contains(index) && !tally.indexes.contains(index));
    free.take(count).map(Some).collect()
}

/// A pod of the job.
pub(super) fn draft(job: &Value, index: Option<i64>) -> Value {
    let mut pod = pod::from_template(&job["spec"]["template"], JOBS, job);
    let mut finalizers: Vec<String> = meta::finalizers(&pod)
        .into_iter()
        .map(str::to_owned)
        .collect();
    finalizers.push(TRACKING.to_owned());
    meta::set(&mut pod, "finalizers", finalizers);
    let name = meta::name(job);
    pod["metadata"]["generateName"] = match index {
        Some(index) => format!("{name}-{index}-").into(),
        None => format!("{name}-").into(),
    };
    if let Some(index) = index {
        mark(&mut pod, name, index);
    }
    pod
}

fn mark(pod: &mut Value, job: &str, index: i64) {
    let text = index.to_string();
    meta::annotate(pod, INDEX, &text);
    pod["metadata"]["labels"][INDEX] = text.into();
    pod["spec"]["hostname"] = format!("{job}-{index}").into();
    let path = format!("metadata.labels['{INDEX}']");
    let variable = json!({
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"fieldPath": path}},
    });
    for list in ["containers", "initContainers"] {
        let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let mut variables = container["env"].as_array().cloned().unwrap_or_default();
            variables.push(variable.clone());
            container["env"] = variables.into();
        }
    }
}

/// `0,2-4` as numbers.
pub(super) fn read(text: &str) -> BTreeSet<i64> {
    let parts = text.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<i64>().ok()?..=last.parse::<i64>().ok()?)
    });
    parts.flatten().collect()
}

/// Numbers as `0,2-4`.
pub(super) fn text(indexes: &BTreeSet<i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let range = |(first, last): &(i64, i64)| match first == last {
        true => first.to_string(),
        false if first + 1 == *last => format!("{first},{last}"),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_written_as_ranges() {
        let indexes = BTreeSet::from([0, 2, 3, 4, 7, 8]);
        assert_eq!(text(&indexes), "0,2-4,7,8");
        assert_eq!(read("0,2-4,7,8"), indexes);
        assert_eq!(read(""), BTreeSet::new());
    }
}
