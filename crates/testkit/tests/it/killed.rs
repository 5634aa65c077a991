//! A test that is killed cannot clean up; what it started must do so itself.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use evenkeel_testkit::postgres::{Durability, PostgresError};
use evenkeel_testkit::{Postgres, skip};

/// The test that gets killed: it starts a server, says where, and waits for the end.
#[tokio::test]
#[ignore = "started and killed by the test below"]
async fn holds_a_server() {
    match Postgres::start_private(Durability::Process).await {
        Ok(server) => {
            println!(
                "directory={}",
                server.directory().expect("it is private").display()
            );
            std::future::pending::<()>().await;
        }
        Err(PostgresError::NotInstalled) => println!("directory="),
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_killed_test_leaves_no_server_behind() {
    let mut victim = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "killed::holds_a_server",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("start the victim");
    let output = BufReader::new(victim.stdout.take().expect("its output"));
    let lines = output.lines().map_while(Result::ok);
    let directory = lines
        .filter_map(|line| Some(line.split_once("directory=")?.1.to_owned()))
        .next();
    let directory = PathBuf::from(directory.expect("the victim said where"));
    let there = directory.exists();
    victim.kill().expect("kill it");
    victim.wait().expect("bury it");
    if directory.as_os_str().is_empty() {
        return skip(&PostgresError::NotInstalled);
    }
    assert!(there);
    for _ in 0..300 {
        if !directory.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{} is still there", directory.display());
}
