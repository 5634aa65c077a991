//! Sending one delivery, and what its end means.

use std::time::Duration;

use evenkeel_ambient::{Clock, Random, chain};
use evenkeel_model::{Attempt, Delivery, Webhook};
use evenkeel_store::Claimed;
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use reqwest::RequestBuilder;

use super::sign::signature;
use super::{Sealer, Webhooks};

/// The longest pause between two tries.
const LONGEST_PAUSE: u64 = 3600;

/// How a try ended, before it is decided what that means.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ended {
    status: Option<StatusCode>,
    error: String,
}

impl Webhooks {
    /// Tries a delivery once.
    pub(crate) async fn send(
        &self,
        claimed: &Claimed,
        clock: &dyn Clock,
        random: &dyn Random,
    ) -> Attempt {
        let Claimed { delivery, webhook } = claimed;
        let request = match self.request(delivery, webhook, clock.now()) {
            Ok(request) => request,
            Err(error) => {
                return Attempt::GiveUp {
                    status_code: None,
                    error,
                };
            }
        };
        let ended = match request.send().await {
            Ok(answer) if answer.status().is_success() => {
                return Attempt::Delivered {
                    status_code: i64::from(answer.status().as_u16()),
                };
            }
            Ok(answer) => Ended {
                status: Some(answer.status()),
                error: format!("the receiver answered {}", answer.status()),
            },
            // The address is a secret; reqwest would put it into its words.
            Err(error) => Ended {
                status: None,
                error: chain(&error.without_url()),
            },
        };
        let again_at = clock
            .now()
            .saturating_add(pause(delivery.attempts, random.unit()));
        ended.meaning(delivery, webhook, again_at.unwrap_or(Timestamp::MAX))
    }

    fn request(
        &self,
        delivery: &Delivery,
        webhook: &Webhook,
        now: Timestamp,
    ) -> Result<RequestBuilder, String> {
        let settings = &webhook.settings;
        let sealer = self
            .sealer
            .as_ref()
            .ok_or("this broker has no sealing key")?;
        let url = open(sealer, &settings.sealed_url)?;
        super::check_address(&url, self.allow_private).map_err(|error| error.to_string())?;
        let body = delivery.payload.to_string();
        let (id, timestamp) = (delivery.id.to_string(), now.as_second());
        let timeout = Duration::from_secs(settings.timeout_seconds.max(1).unsigned_abs());
        let mut request = self
            .http
            .post(url)
            .timeout(timeout)
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", timestamp)
            .header("x-brokkr-delivery-id", &id)
            .header("x-brokkr-event-type", delivery.event_type.as_str());
        if let Some(sealed) = &settings.sealed_auth_header {
            request = request.header("authorization", open(sealer, sealed)?);
        }
        if let Some(sealed) = &settings.sealed_secret {
            let secret = open(sealer, sealed)?;
            let signed = signature(&secret, &id, timestamp, body.as_bytes());
            request = request.header("webhook-signature", signed);
        }
        Ok(request.body(body))
    }
}

fn open(sealer: &Sealer, sealed: &[u8]) -> Result<String, String> {
    sealer.open(sealed).map_err(|error| error.to_string())
}

impl Ended {
    /// What may get better is tried again, as often as was asked for; the rest is given up.
    fn meaning(self, delivery: &Delivery, webhook: &Webhook, again_at: Timestamp) -> Attempt {
        let may_get_better = self.status.is_none_or(|status| {
            status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
        });
        let status_code = self.status.map(|status| i64::from(status.as_u16()));
        if may_get_better && delivery.attempts <= webhook.settings.max_retries {
            Attempt::Retry {
                status_code,
                error: self.error,
                at: again_at,
            }
        } else {
            Attempt::GiveUp {
                status_code,
                error: self.error,
            }
        }
    }
}

/// One second, doubling, with up to a quarter more so that many do not come back together.
fn pause(attempts: i64, chance: f64) -> SignedDuration {
    let doublings = attempts.clamp(1, 12) as u32 - 1;
    let seconds = (1_u64 << doublings).min(LONGEST_PAUSE) as f64;
    SignedDuration::from_secs_f64(seconds * chance.mul_add(0.25, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end_at_an_hour() {
        let seconds = |attempts| pause(attempts, 0.0).as_secs();
        assert_eq!([1, 2, 3, 4].map(seconds), [1, 2, 4, 8]);
        assert_eq!(seconds(50), 2048);
        assert!(pause(1, 0.999) < SignedDuration::from_millis(1250));
    }
}
