//! What a fleet stands on in a test: which kind of cluster, which kind of database.

use std::sync::Arc;

use evenkeel_testkit::postgres::PostgresError;
use evenkeel_testkit::real::RealClusterError;
use evenkeel_testkit::{Cluster, Postgres, RealCluster, skip};
use tokio::sync::OnceCell;

use crate::fleet::Fleet;

/// A fleet of its own and a cluster for it. Simulated clusters are fresh; on a real one, which the
/// tests of one ground share, use namespaces and names of your own.
#[derive(Debug)]
pub struct Ground {
    /// A broker with one tenant.
    pub fleet: Fleet,
    /// Where its agent may work.
    pub cluster: Cluster,
}

/// Each is `None`, loudly, where the machine does not have it.
impl Ground {
    /// A simulated cluster, and a broker that keeps everything in memory.
    pub async fn simulated_sqlite() -> Option<Self> {
        Some(Self {
            fleet: Fleet::start().await,
            cluster: Cluster::simulated(),
        })
    }

    /// A simulated cluster, and a broker on PostgreSQL.
    pub async fn simulated_postgres() -> Option<Self> {
        Some(Self {
            fleet: on_postgres().await?,
            cluster: Cluster::simulated(),
        })
    }

    /// A real cluster, and a broker that keeps everything in memory.
    pub async fn real_sqlite() -> Option<Self> {
        Some(Self {
            cluster: Cluster::shared_real_or_skip().await?,
            fleet: Fleet::start().await,
        })
    }

    /// Another real cluster, and a broker on PostgreSQL.
    pub async fn real_postgres() -> Option<Self> {
        Some(Self {
            cluster: another_real().await?,
            fleet: on_postgres().await?,
        })
    }
}

async fn on_postgres() -> Option<Fleet> {
    match Postgres::shared().await {
        Ok(postgres) => Some(Fleet::on(&postgres.database().await.unwrap()).await),
        Err(error @ PostgresError::NotInstalled) => {
            skip(&error);
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// A second real cluster for the process: the same test may run in both at once.
async fn another_real() -> Option<Cluster> {
    static SHARED: OnceCell<Arc<RealCluster>> = OnceCell::const_new();
    let start = async || RealCluster::start().await.map(Arc::new);
    match SHARED.get_or_try_init(start).await {
        // A developer's own cluster is one, and the tests with SQLite have it.
        Ok(cluster) if cluster.directory().is_none() => {
            skip(&"the only real cluster is in use with SQLite");
            None
        }
        Ok(cluster) => Some(Cluster::Real(cluster.clone())),
        Err(RealClusterError::Missing(reason)) => {
            skip(&reason);
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Makes a test of each function on each ground. Those after `simulated` need faults, or count
/// requests, and so run on simulated clusters alone.
#[macro_export]
macro_rules! on_every_ground {
    (everywhere { $($everywhere:ident,)* } $(simulated { $($simulated:ident,)* })?) => {
        $crate::on_every_ground!(@one simulated_sqlite, $($everywhere,)* $($($simulated,)*)?);
        $crate::on_every_ground!(@one simulated_postgres, $($everywhere,)* $($($simulated,)*)?);
        $crate::on_every_ground!(@one real_sqlite, $($everywhere,)*);
        $crate::on_every_ground!(@one real_postgres, $($everywhere,)*);
    };
    (@one $ground:ident, $($test:ident,)*) => {
        mod $ground {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                if let Some(ground) = $crate::Ground::$ground().await {
                    super::$test(ground).await;
                }
            })*
        }
    };
}
