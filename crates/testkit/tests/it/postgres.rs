//! A private PostgreSQL that answers, keeps databases apart, and leaves nothing behind.

use std::path::Path;
use std::process::Command;

use evenkeel_testkit::postgres::{Durability, PostgresError};
use evenkeel_testkit::{Postgres, skip};

async fn postgres_or_skip() -> Option<Postgres> {
    match Postgres::start_private(Durability::Process).await {
        Ok(server) => Some(server),
        Err(reason @ PostgresError::NotInstalled) => {
            skip(&reason);
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn query(url: &str, sql: &str) -> String {
    let output = Command::new("psql")
        .args(["-X", "-A", "-t", "-d", url, "-c", sql])
        .output()
        .expect("run psql");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[tokio::test]
async fn databases_of_one_server_are_apart() {
    let Some(server) = postgres_or_skip().await else {
        return;
    };
    let one = server.database().await.unwrap();
    let two = server.database().await.unwrap();
    query(&one, "CREATE TABLE t (x int)");
    query(&two, "CREATE TABLE t (y text)");
    assert_eq!(query(&one, "SELECT count(*) FROM t"), "0");
    assert_ne!(one, two);
}

#[tokio::test]
async fn a_stopped_server_leaves_nothing_behind() {
    let Some(server) = postgres_or_skip().await else {
        return;
    };
    let data = query(server.url(), "SHOW data_directory");
    let pid = query(server.url(), "SELECT pg_backend_pid()");
    let postmaster = std::fs::read_to_string(Path::new(&data).join("postmaster.pid")).unwrap();
    let postmaster = postmaster.lines().next().unwrap().to_owned();
    drop(server);
    assert!(!Path::new(&data).exists());
    for process in [pid, postmaster] {
        assert!(!Path::new("/proc").join(process).exists());
    }
}
