//! Many clusters, an agent in each, and one stack for all of them.

use std::time::Duration;

use evenkeel_testkit::Cluster;
use futures::{StreamExt, stream};
use serde_json::json;
use tokio::time::Instant;

use crate::fleet::Fleet;
use crate::site::Site;
use crate::stack::Stack;
use crate::wait::Patience;

/// How many agents are made or asked at once.
const AT_ONCE: usize = 16;
/// A look at all agents is a large answer: it is asked for seldom, so as not to be measured itself.
const PATIENCE: Patience = Patience {
    longest: Duration::from_secs(900),
    pause: Duration::from_millis(100),
};

/// Many simulated clusters with agents that all serve one stack. What it does, it does
/// everywhere, and it tells how long that took.
#[derive(Debug)]
pub struct Crowd {
    /// The clusters.
    pub sites: Vec<Site>,
    /// The stack.
    pub stack: Stack,
    fleet: Fleet,
}

impl Crowd {
    /// Starts a broker and so many agents.
    pub async fn start(clusters: usize) -> Self {
        let fleet = Fleet::start().await;
        let stack = fleet.stack("crowd").await;
        let start = async |number: usize| {
            let name = format!("site-{number}");
            let site = fleet.quiet_site(&name, &Cluster::simulated()).await;
            // As in production: news comes by waiting, not by asking often.
            site.settings.lock().await.polling_interval = Duration::from_secs(30);
            site.serves(&stack).await;
            site.start().await;
            site
        };
        let starts = stream::iter(0..clusters).map(start);
        Self {
            sites: starts.buffer_unordered(AT_ONCE).collect().await,
            stack,
            fleet,
        }
    }

    /// Submits a revision, until every agent has reported success.
    pub async fn delivers(&self, text: &str) -> Duration {
        let begun = Instant::now();
        self.stack.submit(text).await;
        let everywhere = async || self.is_everywhere().await.then_some(());
        PATIENCE
            .until("the revision to be everywhere", everywhere)
            .await;
        begun.elapsed()
    }

    /// Changes a value of one object by hand in each cluster, until it is again what it was.
    pub async fn repairs(&self, namespace: &str, name: &str, value: &str) -> Duration {
        let begun = Instant::now();
        self.each(async |site| {
            let maps = site.maps(namespace);
            maps.merge(name, json!({"data": {"value": "theirs"}})).await;
            maps.becomes(name, "/data/value", value).await;
        })
        .await;
        begun.elapsed()
    }

    /// Deletes the stack, until every agent has confirmed it.
    pub async fn removes(&self) -> Duration {
        let begun = Instant::now();
        self.stack.delete().await;
        self.each(async |site| site.confirms_removal(&self.stack).await)
            .await;
        begun.elapsed()
    }

    /// Stops every agent.
    pub async fn stop(&self) {
        self.each(Site::stop).await;
    }

    /// Whether every agent has done what is wanted. The broker answers from memory, which holds
    /// a revision before its submission is answered.
    async fn is_everywhere(&self) -> bool {
        let agents = self.fleet.admin.fleet().await.unwrap();
        agents.iter().all(|agent| agent.pending_object_count == 0)
    }

    async fn each(&self, work: impl AsyncFn(&Site)) {
        let works = stream::iter(&self.sites).map(|site| work(site));
        works.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    }
}
