//! What was acknowledged is there after kill -9.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::process::Stdio;

use evenkeel_ambient::ManualClock;
use evenkeel_model::{Actor, Checksum, NewRevision, SequenceId, StackId};
use evenkeel_store::{Audit, AuditFilter, Deployments};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::world::{World, open};

const WRITERS: usize = 4;
const ENOUGH: usize = 150;

#[tokio::test]
async fn nothing_acknowledged_is_lost_on_disk() {
    kill_a_writer(World::on_disk().await).await;
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_on_postgres() {
    kill_a_writer(World::on_postgres().await).await;
}

async fn kill_a_writer(world: Option<World>) {
    let Some(w) = world else { return };
    let generator = w.generator("ci").await;
    let stack = w.stack(generator, "shop").await;
    w.store.close().await;
    let mut child = spawn(&w.url, stack).await;
    let acknowledged = read_then_kill(&mut child).await;
    assert!(acknowledged.len() >= ENOUGH);

    let store = open(&w.url, &w.clock).await;
    let stored = store
        .deployments_after(SequenceId(0), 1_000_000)
        .await
        .unwrap();
    let stored: BTreeMap<_, _> = stored
        .into_iter()
        .map(|object| (object.sequence_id, object.yaml_checksum))
        .collect();
    for (sequence, checksum) in &acknowledged {
        assert_eq!(
            stored.get(sequence),
            Some(checksum),
            "{sequence} was acknowledged"
        );
        assert!(store.manifest_get(checksum).await.unwrap().is_some());
    }
    // No holes, and every change with its line in the audit log.
    assert!(
        stored
            .keys()
            .copied()
            .eq((1..=stored.len() as i64).map(SequenceId))
    );
    let filter = AuditFilter {
        resource_id: Some(stack.0),
        ..Default::default()
    };
    let audited = store
        .audit_list(filter, evenkeel_model::Paging::ALL)
        .await
        .unwrap();
    assert_eq!(audited.items.len(), stored.len() + 1);
}

/// Runs this program again, as a writer.
async fn spawn(url: &str, stack: StackId) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "crash::writes_until_killed",
            "--ignored",
            "--nocapture",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(format!("{url}\n{stack}\n").as_bytes())
        .await
        .unwrap();
    child
}

/// What the writer says was acknowledged, up to its death in the middle of its work.
async fn read_then_kill(child: &mut Child) -> BTreeMap<SequenceId, Checksum> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = BTreeMap::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let mut words = line
            .strip_prefix("acknowledged ")
            .unwrap_or_default()
            .split(' ');
        if let (Some(Ok(sequence)), Some(Ok(checksum))) =
            (words.next().map(str::parse), words.next().map(str::parse))
        {
            acknowledged.insert(sequence, checksum);
        }
        if acknowledged.len() == ENOUGH {
            child.start_kill().unwrap();
        }
    }
    let status = child.wait().await.unwrap();
    assert!(
        !status.success(),
        "it was killed, it did not finish: {status}"
    );
    acknowledged
}

#[tokio::test]
#[ignore = "the part that is killed; the tests above run it"]
async fn writes_until_killed() {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let (Some(url), Some(stack)) = (lines.next(), lines.next()) else {
        return;
    };
    let store = open(&url, &ManualClock::default()).await;
    let stack: StackId = stack.parse().unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = store.clone();
        writers.spawn(async move {
            for number in 0_u64.. {
                let new = NewRevision::of(stack, format!("writer: {writer}\nnumber: {number}\n"));
                let object = store
                    .deployment_submit(&Actor::SYSTEM, new)
                    .await
                    .unwrap()
                    .object;
                let line = format!(
                    "acknowledged {} {}\n",
                    object.sequence_id, object.yaml_checksum
                );
                std::io::stdout().write_all(line.as_bytes()).unwrap();
                std::io::stdout().flush().unwrap();
            }
        });
    }
    while writers.join_next().await.is_some() {}
}
