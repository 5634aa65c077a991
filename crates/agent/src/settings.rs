//! Everything about an agent that can be set.

use std::time::Duration;

use evenkeel_lease::Timing;
use evenkeel_model::DriftMode;
use evenkeel_reconcile::{Brake, RetryPolicy};
use serde::{Deserialize, Serialize};

/// The settings of an agent. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Names the lease and the Secrets that the agent keeps; one for each agent of a namespace.
    pub name: String,
    /// The namespace of the agent's own things. It is made if it does not exist.
    pub namespace: String,
    /// The namespaces that the agent may work in, and in no other; all if none is named.
    pub namespaces: Vec<String>,
    /// How long a question to the broker waits for news, and how often it is asked if it cannot
    /// wait.
    #[serde(with = "seconds")]
    pub polling_interval: Duration,
    /// How often objects that are not well are looked at, if nothing happens to them.
    #[serde(with = "seconds")]
    pub health_interval: Duration,
    /// How often every stack is compared with the cluster although nothing happened. This costs no
    /// request.
    #[serde(with = "seconds")]
    pub resync_interval: Duration,
    /// What becomes of objects that somebody else changed, where the stack does not say.
    pub drift: DriftMode,
    /// How many deletes of one revision need approval.
    pub brake: BrakeSettings,
    /// How requests to Kubernetes are repeated.
    pub retry: Retry,
    /// How long the lease lasts without a sign of life.
    pub lease_seconds: u16,
    /// How many stacks may be worked on side by side. One that waits for its turn to try again
    /// counts, so this is generous.
    pub stacks_at_once: usize,
    /// How many requests to Kubernetes may be under way at once, watches left out.
    pub requests_at_once: usize,
    /// How long one attempt at a stack may take.
    #[serde(with = "seconds")]
    pub attempt_timeout: Duration,
    /// How long attempts may still take when the agent is told to stop.
    #[serde(with = "seconds")]
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "evenkeel-agent".to_owned(),
            namespace: "evenkeel-system".to_owned(),
            namespaces: Vec::new(),
            polling_interval: Duration::from_secs(30),
            health_interval: Duration::from_secs(30),
            resync_interval: Duration::from_secs(600),
            drift: DriftMode::Enforce,
            brake: BrakeSettings::default(),
            retry: Retry::default(),
            lease_seconds: 15,
            stacks_at_once: 256,
            requests_at_once: 32,
            attempt_timeout: Duration::from_secs(900),
            grace: Duration::from_secs(20),
        }
    }
}

impl Settings {
    pub(crate) fn timing(&self) -> Timing {
        Timing::seconds(self.lease_seconds)
    }

    /// How a stack that failed is tried again: at the next cycle, then less and less often.
    pub(crate) fn retry_of_stacks(&self) -> RetryPolicy {
        RetryPolicy::doubling(self.polling_interval, self.polling_interval * 10)
    }

    /// How the broker is asked again while it does not answer.
    pub(crate) fn retry_of_broker(&self) -> RetryPolicy {
        let longest = Duration::from_secs(60).min(self.polling_interval * 2);
        RetryPolicy {
            jitter: 0.5,
            ..RetryPolicy::doubling(Duration::from_secs(1).min(longest), longest)
        }
    }
}

/// More deletes than `count` **and** more than `percent` of a stack's objects need approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrakeSettings {
    /// Up to this many deletes always pass.
    pub count: usize,
    /// Up to this share always passes.
    pub percent: u8,
}

impl Default for BrakeSettings {
    fn default() -> Self {
        let Brake { count, percent } = Brake::default();
        Self { count, percent }
    }
}

impl From<BrakeSettings> for Brake {
    fn from(BrakeSettings { count, percent }: BrakeSettings) -> Self {
        Self { count, percent }
    }
}

/// How a request that the server was too busy for is repeated: doubling from `first` to `longest`,
/// given up after `total`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// The first delay.
    #[serde(with = "seconds")]
    pub first: Duration,
    /// The longest delay.
    #[serde(with = "seconds")]
    pub longest: Duration,
    /// When to give up.
    #[serde(with = "seconds")]
    pub total: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            total: Duration::from_secs(300),
        }
    }
}

impl From<Retry> for RetryPolicy {
    fn from(retry: Retry) -> Self {
        Self {
            first: retry.first,
            cap: retry.longest,
            total: Some(retry.total),
            ..Self::CALLS
        }
    }
}

/// A length of time as a number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        match time.subsec_nanos() {
            0 => to.serialize_u64(time.as_secs()),
            _ => to.serialize_f64(time.as_secs_f64()),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(from)?;
        Duration::try_from_secs_f64(seconds).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_specification() {
        let settings = Settings::default();
        assert_eq!(settings.polling_interval, Duration::from_secs(30));
        assert_eq!(RetryPolicy::from(settings.retry), RetryPolicy::CALLS);
    }

    #[test]
    fn times_are_seconds() {
        let settings: Settings = serde_json::from_str(r#"{"polling_interval": 0.5}"#).unwrap();
        assert_eq!(settings.polling_interval, Duration::from_millis(500));
        let shown = serde_json::to_value(Settings::default()).unwrap();
        assert_eq!(shown["polling_interval"], 30);
    }

    #[test]
    fn a_broker_that_is_away_is_asked_at_least_once_a_minute() {
        let policy = Settings::default().retry_of_broker();
        assert_eq!(policy.cap, Duration::from_secs(60));
        assert_eq!(policy.total, None);
    }
}
