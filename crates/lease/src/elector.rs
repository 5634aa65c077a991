//! Standing for a lease, keeping it, giving it back.

use std::future::Future;

use evenkeel_ambient::{SharedClock, SharedRandom};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::record::{Sighting, Signature};
use crate::term::{Keeper, Term};
use crate::timing::Timing;

/// Which lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What became of standing for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Led<T> {
    /// Told to stop before the lease was ours.
    NeverLed,
    /// The work ended and the lease was given back.
    Finished(T),
    /// The lease was lost and the work was cut off.
    Lost,
}

/// Where an elector stands, for people to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Another holds the lease.
    Waiting {
        /// Who, as the lease says.
        holder: String,
    },
    /// We hold it.
    Leading,
    /// The lease can be neither read nor written.
    Failing {
        /// Why.
        why: String,
    },
}

/// Stands for one lease.
#[derive(Debug)]
pub struct Elector {
    api: Api<Lease>,
    name: String,
    me: String,
    timing: Timing,
    clock: SharedClock,
    dice: SharedRandom,
    standing: watch::Sender<Standing>,
}

/// A lease of ours as the server last answered, and until when that holds.
#[derive(Debug)]
struct Held {
    lease: Lease,
    until: Instant,
}

/// Why a renewal did not succeed.
enum NotRenewed {
    /// Somebody else holds the lease.
    Taken,
    /// Nobody can tell; worth another try.
    Failed(String),
}

impl Elector {
    /// Stands for `lease` under a name that begins with `process` and is like no other's, so that
    /// a process never takes a namesake's lease for its own.
    pub fn new(
        client: Client,
        lease: &LeaseName,
        process: &str,
        clock: SharedClock,
        dice: SharedRandom,
    ) -> Self {
        Self {
            api: Api::namespaced(client, &lease.namespace),
            name: lease.name.clone(),
            me: format!("{process}_{}", dice.uuid()),
            timing: Timing::default(),
            clock,
            dice,
            standing: watch::Sender::new(Standing::Waiting {
                holder: "nobody yet".to_owned(),
            }),
        }
    }

    /// The same with another timing.
    #[must_use]
    pub fn timing(self, timing: Timing) -> Self {
        Self { timing, ..self }
    }

    /// The name under which it stands.
    pub fn identity(&self) -> &str {
        &self.me
    }

    /// Where it stands, now and whenever that changes.
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Waits for the lease, does `work` while it is held, and gives it back.
    ///
    /// `stop` ends only the waiting: work that has begun watches for it itself and is renewed for
    /// until it returns. Work that still runs when the term ends is dropped; what it spawned has to
    /// watch the [`Term`].
    pub async fn lead<T, F>(&self, stop: &CancellationToken, work: impl FnOnce(Term) -> F) -> Led<T>
    where
        F: Future<Output = T>,
    {
        let mut held = tokio::select! {
            () = stop.cancelled() => return Led::NeverLed,
            held = self.acquire() => held,
        };
        info!(lease = self.name, holder = self.me, "leading");
        self.stand(Standing::Leading);
        let keeper = Keeper::new(held.until);
        let done = tokio::select! {
            biased;
            () = self.keep(&mut held, &keeper) => None,
            done = work(keeper.term()) => Some(done),
        };
        drop(keeper);
        self.stand(Standing::Waiting {
            holder: "somebody else".to_owned(),
        });
        match done {
            Some(done) => {
                self.release(held).await;
                Led::Finished(done)
            }
            None => {
                warn!(lease = self.name, holder = self.me, "lost the lease");
                Led::Lost
            }
        }
    }

    async fn acquire(&self) -> Held {
        let mut seen = None;
        loop {
            let attempt = self.try_to_acquire(&mut seen);
            match timeout(self.timing.deadline(), attempt).await {
                Ok(Ok(Some(held))) if Instant::now() < held.until => return held,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => self.failing(&error.to_string()),
                Err(_) => self.failing("no answer in time"),
            }
            sleep(self.timing.pause(&*self.dice)).await;
        }
    }

    async fn try_to_acquire(&self, seen: &mut Option<Sighting>) -> kube::Result<Option<Held>> {
        let Some(lease) = self.api.get_opt(&self.name).await? else {
            let new = self.signature().new_lease(&self.name);
            return self
                .write(self.api.create(&PostParams::default(), &new))
                .await;
        };
        let earlier = seen.take();
        let sighting = seen.insert(Sighting::of(lease, earlier));
        if sighting.is_free_for(&self.me, self.timing) {
            return self.sign(sighting.lease.clone()).await;
        }
        let holder = sighting.holder().unwrap_or_default().to_owned();
        self.stand(Standing::Waiting { holder });
        Ok(None)
    }

    /// Writes our name into `lease`, unless somebody changed it since it was read.
    async fn sign(&self, lease: Lease) -> kube::Result<Option<Held>> {
        let signed = self.signature().signed(lease);
        let write = PostParams::default();
        self.write(self.api.replace(&self.name, &write, &signed))
            .await
    }

    /// Counts from before the request is sent.
    async fn write(
        &self,
        request: impl Future<Output = kube::Result<Lease>>,
    ) -> kube::Result<Option<Held>> {
        let until = Instant::now() + self.timing.deadline();
        match request.await {
            Ok(lease) => Ok(Some(Held { lease, until })),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Renews the lease; returns when it is lost.
    async fn keep(&self, held: &mut Held, keeper: &Keeper) {
        loop {
            let attempt = async {
                sleep(self.timing.pause(&*self.dice)).await;
                timeout(self.timing.patience(), self.renew(&held.lease)).await
            };
            match timeout_at(held.until, attempt).await {
                Ok(Ok(Ok(renewed))) => {
                    *held = renewed;
                    keeper.extend(held.until);
                }
                Ok(Ok(Err(NotRenewed::Taken))) | Err(_) => return,
                Ok(Ok(Err(NotRenewed::Failed(why)))) => {
                    warn!(lease = self.name, error = why, "cannot renew the lease");
                }
                Ok(Err(_)) => warn!(lease = self.name, "renewing the lease takes too long"),
            }
        }
    }

    /// Renews once. After a conflict the lease may still be ours: the answer to an earlier renewal
    /// may have been lost, or somebody added a label.
    async fn renew(&self, lease: &Lease) -> Result<Held, NotRenewed> {
        let failed = |error: kube::Error| NotRenewed::Failed(error.to_string());
        if let Some(held) = self.sign(lease.clone()).await.map_err(failed)? {
            return Ok(held);
        }
        let lease = self.api.get(&self.name).await.map_err(failed)?;
        let sighting = Sighting::of(lease, None);
        if sighting.holder() != Some(&*self.me) {
            return Err(NotRenewed::Taken);
        }
        let again = self.sign(sighting.lease).await.map_err(failed)?;
        again.ok_or_else(|| NotRenewed::Failed("it changes all the time".to_owned()))
    }

    /// Gives the lease back; if that fails, it runs out by itself.
    async fn release(&self, held: Held) {
        let released = self.signature().released(held.lease);
        let write = PostParams::default();
        let request = self.api.replace(&self.name, &write, &released);
        match timeout(self.timing.patience(), request).await {
            Ok(Ok(_)) => info!(lease = self.name, "gave the lease back"),
            Ok(Err(error)) => warn!(lease = self.name, %error, "cannot give the lease back"),
            Err(_) => warn!(lease = self.name, "giving the lease back takes too long"),
        }
    }

    fn signature(&self) -> Signature<'_> {
        Signature {
            me: &self.me,
            timing: self.timing,
            now: self.clock.now(),
        }
    }

    fn failing(&self, why: &str) {
        warn!(lease = self.name, error = why, "cannot stand for the lease");
        self.stand(Standing::Failing {
            why: why.to_owned(),
        });
    }

    fn stand(&self, standing: Standing) {
        self.standing.send_if_modified(|known| {
            let changed = *known != standing;
            *known = standing;
            changed
        });
    }
}
