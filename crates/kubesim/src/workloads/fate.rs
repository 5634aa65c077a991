//! What becomes of a pod: what its annotations say, or else the name of its image.

use std::time::Duration;

use serde_json::Value;

use super::Workloads;
use crate::meta;

/// The annotation that decides what becomes of a pod.
const FATE: &str = "kubesim.evenkeel.io/fate";
/// Annotations that say how long things take: `500ms`, `5s`, `2m`.
const READY_AFTER: &str = "kubesim.evenkeel.io/ready-after";
const RUNS_FOR: &str = "kubesim.evenkeel.io/runs-for";
const STOPS_AFTER: &str = "kubesim.evenkeel.io/stops-after";

/// What becomes of a pod's containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// They get ready and stay.
    Run,
    /// They run, but never get ready.
    NeverReady,
    /// They end well.
    Succeed,
    /// They end with an error.
    Fail,
    /// They end with an error again and again, whatever the policy says.
    CrashLoop,
    /// Their image cannot be pulled.
    ImagePull,
    /// They are being created for ever.
    Hang,
}

impl Fate {
    /// The fate of a pod.
    pub(super) fn of(pod: &Value) -> Self {
        let told = meta::annotation(pod, FATE).and_then(Self::parse);
        let images = pod["spec"]["containers"].as_array().into_iter().flatten();
        let images = images.filter_map(|container| container["image"].as_str());
        told.or_else(|| images.filter_map(|image| Self::parse(stem(image))).next())
            .unwrap_or_else(|| Self::by_nature(pod))
    }

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "run" => Self::Run,
            "never-ready" => Self::NeverReady,
            "succeed" => Self::Succeed,
            "fail" => Self::Fail,
            "crash-loop" => Self::CrashLoop,
            "image-pull" => Self::ImagePull,
            "hang" => Self::Hang,
            _ => return None,
        })
    }

    /// Pods of jobs end well; others run.
    fn by_nature(pod: &Value) -> Self {
        match meta::owners(pod).iter().any(|owner| owner["kind"] == "Job") {
            true => Self::Succeed,
            false => Self::Run,
        }
    }
}

/// How long things take for one pod.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) ready_after: Duration,
    pub(super) runs_for: Duration,
    pub(super) stops_after: Duration,
}

impl Times {
    pub(super) fn of(pod: &Value, settings: &Workloads) -> Self {
        let told = |name: &str| meta::annotation(pod, name).and_then(duration);
        Self {
            ready_after: told(READY_AFTER).unwrap_or(settings.ready_after),
            runs_for: told(RUNS_FOR).unwrap_or(settings.runs_for),
            stops_after: told(STOPS_AFTER).unwrap_or(settings.stops_after),
        }
    }
}

/// The last part of an image's name, without its tag or digest.
fn stem(image: &str) -> &str {
    let last = image.rsplit('/').next().unwrap_or(image);
    last.split([':', '@']).next().unwrap_or(last)
}

fn duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * scale).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(image: &str, annotation: Option<&str>) -> Value {
        let mut pod = json!({"metadata": {}, "spec": {"containers": [{"image": image}]}});
        if let Some(fate) = annotation {
            pod["metadata"]["annotations"] = json!({FATE: fate});
        }
        pod
    }

    #[test]
    fn the_image_says_what_becomes_of_a_pod_unless_the_annotation_does() {
        assert_eq!(Fate::of(&pod("nginx:1", None)), Fate::Run);
        assert_eq!(
            Fate::of(&pod("reg:5000/sim/crash-loop:2", None)),
            Fate::CrashLoop
        );
        assert_eq!(Fate::of(&pod("image-pull@sha256:0", None)), Fate::ImagePull);
        assert_eq!(Fate::of(&pod("crash-loop", Some("run"))), Fate::Run);
        assert_eq!(Fate::of(&pod("nginx", Some("fail"))), Fate::Fail);
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("20ms"), Some(Duration::from_millis(20)));
        assert_eq!(duration("5"), None);
    }
}
