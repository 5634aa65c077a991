//! Agents that die at any of their writes: before it is done, before they hear of it, and after.
//!
//! The broker answers over a socket, so time cannot be paused as it is for the operators. Each
//! story is told to an agent and a cluster of its own instead, many side by side, and whatever it
//! waits for it waits for by its signs.

use evenkeel_kubesim::faults::Moment;
use evenkeel_testfleet::{Fleet, Site, Stack, map, maps, space};
use evenkeel_testkit::{Cluster, note};
use futures::{StreamExt, stream};

const MOMENTS: [Moment; 3] = [
    Moment::BeforeCommit,
    Moment::BeforeReply,
    Moment::AfterReply,
];
/// How many stories are told side by side.
const AT_ONCE: usize = 8;

/// What is left in a cluster.
#[derive(Debug, PartialEq)]
struct End {
    namespaces: Vec<String>,
    memory: Vec<String>,
    inventory: Vec<String>,
}

/// A stack, and an agent that is started again whenever it dies.
struct Told {
    site: Site,
    stack: Stack,
}

impl Told {
    async fn begin(fleet: &Fleet, name: &str) -> Self {
        let (site, stack) = (
            fleet.quiet_site(name, &Cluster::simulated()).await,
            fleet.stack(name).await,
        );
        {
            let mut settings = site.settings.lock().await;
            (settings.name, settings.namespace) = ("agent".to_owned(), "home".to_owned());
            // Longer than any story: renewals would be writes at no particular place.
            settings.lease_seconds = 600;
        }
        site.serves(&stack).await;
        Self { site, stack }
    }

    /// A revision, one that changes and prunes, and the end of the stack.
    async fn tell(&self) {
        tokio::select! {
            () = self.story() => {}
            () = self.supervised() => {}
        }
    }

    async fn story(&self) {
        let one = self.stack.submit(&maps("told", 3)).await;
        self.site.reaches(&one).await;
        let next = space("told") + &map("told", "m0", "2");
        let two = self.stack.submit(&next).await;
        self.site.reaches(&two).await;
        let maps = self.site.maps("told");
        assert_eq!(maps.names().await, ["kube-root-ca.crt", "m0"]);
        assert_eq!(maps.at("m0", "/data/value").await.unwrap(), "2");
        self.stack.delete().await;
        self.site.confirms_removal(&self.stack).await;
        self.site.goes_on().await;
    }

    async fn supervised(&self) {
        loop {
            self.site.start().await;
            self.site.view().crashed().await;
            self.site.kill().await;
            self.site.view().heal();
            self.bury().await;
        }
    }

    /// The dead do not give their lease back. That it runs out is told elsewhere.
    async fn bury(&self) {
        let leases = self.site.objects("coordination.k8s.io/v1", "Lease", "home");
        if leases.get("agent").await.is_some() {
            leases.delete("agent").await;
        }
    }

    /// A further start writes nothing.
    async fn rests(&self, after: &str) {
        self.site.stop().await;
        self.site.writes();
        self.site.start().await;
        self.site.goes_on().await;
        assert_eq!(self.site.writes(), 0, "writes at rest, after {after}");
        self.site.stop().await;
    }

    async fn end(&self) -> End {
        End {
            namespaces: self.site.spaces().names().await,
            memory: self.site.objects("v1", "Secret", "home").names().await,
            inventory: self.site.maps("home").names().await,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_killed_at_any_write_arrives_and_leaves_nothing_behind() {
    let fleet = Fleet::start().await;
    let undisturbed = Told::begin(&fleet, "undisturbed").await;
    undisturbed.tell().await;
    let (end, writes) = (
        undisturbed.end().await,
        undisturbed.site.view().log().writes(),
    );
    undisturbed.rests("the undisturbed story").await;
    let cases = (1..=writes).flat_map(|write| MOMENTS.map(|moment| (write, moment)));
    let tell = async |(write, moment): (u64, Moment)| {
        let what = format!("a crash {moment:?} at write {write}");
        let name = format!("killed-{write}-{moment:?}").to_lowercase();
        let told = Told::begin(&fleet, &name).await;
        told.site.view().crash_at(write, moment);
        told.tell().await;
        assert_eq!(told.end().await, end, "after {what}");
        told.rests(&what).await;
    };
    let stories = stream::iter(cases).map(tell).buffer_unordered(AT_ONCE);
    let told = stories.count().await;
    assert!(writes > 15, "{writes}");
    note(&format_args!(
        "Agent: {told} stories with a crash, at each of {writes} writes"
    ));
}
