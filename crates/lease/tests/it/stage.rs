//! Electors on a stage, each with a connection of its own, and a record of who led when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use evenkeel_ambient::{ManualClock, SeededRandom};
use evenkeel_kubesim::faults::View;
use evenkeel_kubesim::{Ambient, Cluster, Pace};
use evenkeel_lease::{Elector, LeaseName, Led, Term};
use jiff::SignedDuration;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One term as somebody saw it from inside.
#[derive(Debug, Clone)]
pub(crate) struct Reign {
    pub(crate) who: &'static str,
    pub(crate) from: Instant,
    pub(crate) to: Option<Instant>,
}

#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    history: Arc<Mutex<Vec<Reign>>>,
}

/// Somebody who stands for the lease.
pub(crate) struct Candidate {
    pub(crate) view: View,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            cluster: Cluster::with(Ambient::seeded(1), Pace::default()),
            history: Arc::default(),
        }
    }

    /// Stands again and again, and works until told to stop.
    pub(crate) fn stands(&self, who: &'static str) -> Candidate {
        self.stands_with_clock(who, SignedDuration::ZERO)
    }

    /// The same with a clock that is wrong.
    pub(crate) fn stands_with_clock(&self, who: &'static str, wrong: SignedDuration) -> Candidate {
        let view = self.cluster.view(who);
        let elector = elector(Client::new(view.clone(), "default"), who, wrong);
        let stop = CancellationToken::new();
        let task = tokio::spawn(stand(elector, who, self.history.clone(), stop.clone()));
        Candidate { view, stop, task }
    }

    pub(crate) fn history(&self) -> Vec<Reign> {
        self.history.lock().expect("not poisoned").clone()
    }

    /// Who leads now.
    pub(crate) fn leaders(&self) -> Vec<&'static str> {
        let open = self.history().into_iter().filter(|term| term.to.is_none());
        open.map(|term| term.who).collect()
    }

    /// Whether no two terms ever overlapped.
    pub(crate) fn was_never_led_by_two(&self) -> bool {
        let history = self.history();
        let ends_before = |one: &Reign, other: &Reign| one.to.is_some_and(|end| end <= other.from);
        history.iter().enumerate().all(|(at, one)| {
            let later = &history[at + 1..];
            later.iter().all(|other| ends_before(one, other))
        })
    }

    pub(crate) async fn lease(&self) -> Lease {
        let client = Client::new(self.cluster.view("admin"), "default");
        let api: Api<Lease> = Api::namespaced(client, "default");
        api.get("leader").await.expect("a lease")
    }
}

pub(crate) fn elector(client: Client, who: &'static str, wrong: SignedDuration) -> Elector {
    let clock = ManualClock::default();
    clock.advance(SignedDuration::from_hours(24 * 365) + wrong);
    let seed = who.bytes().map(u64::from).sum();
    let lease = LeaseName {
        namespace: "default".to_owned(),
        name: "leader".to_owned(),
    };
    let dice = Arc::new(SeededRandom::new(seed));
    Elector::new(client, &lease, who, Arc::new(clock), dice)
}

async fn stand(
    elector: Elector,
    who: &'static str,
    history: Arc<Mutex<Vec<Reign>>>,
    stop: CancellationToken,
) {
    loop {
        let work = |term: Term| work(who, term, &history, &stop);
        match elector.lead(&stop, work).await {
            Led::Lost => {}
            Led::NeverLed | Led::Finished(()) => return,
        }
    }
}

async fn work(
    who: &'static str,
    _term: Term,
    history: &Mutex<Vec<Reign>>,
    stop: &CancellationToken,
) {
    /// Notes the end also when the work is cut off.
    struct Ends<'a>(&'a Mutex<Vec<Reign>>, usize);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.lock().expect("not poisoned")[self.1].to = Some(Instant::now());
        }
    }
    let at = {
        let mut history = history.lock().expect("not poisoned");
        history.push(Reign {
            who,
            from: Instant::now(),
            to: None,
        });
        history.len() - 1
    };
    let _ends = Ends(history, at);
    stop.cancelled().await;
}

pub(crate) async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}
