//! One of two brokers on one PostgreSQL is a process of its own, and is killed (-9) under load.

use std::io::{BufRead, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use evenkeel_api::NewDeployment;
use evenkeel_client::{Client, Poll, Submit};
use evenkeel_model::{SequenceId, StackId};
use evenkeel_store::Deployments as _;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::replicas::{database, shared_config};
use crate::world::{Scene, TestAgent, World, manifest, open, start};

const STACKS: usize = 120;
const ENOUGH: usize = 15;

/// A broker that can be killed, and where it answers.
struct Victim {
    process: Child,
    address: String,
}

impl Victim {
    /// Runs this program again, as a broker.
    async fn start(url: &str) -> Self {
        let part = [
            "--exact",
            "killed::serves_until_killed",
            "--ignored",
            "--nocapture",
        ];
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(part)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut stdin = process.stdin.take().unwrap();
        stdin
            .write_all(format!("{url}\n").as_bytes())
            .await
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = loop {
            let line = lines.next_line().await.unwrap().expect("it serves");
            if let Some((_, address)) = line.split_once("serving ") {
                break address.to_owned();
            }
        };
        Self { process, address }
    }
}

#[tokio::test]
#[ignore = "the part that is killed; the test below runs it"]
async fn serves_until_killed() {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let Some(url) = lines.next() else { return };
    let (broker, _stop) = start(&open(&url).await, shared_config()).await;
    let line = format!("serving http://{}\n", broker.address());
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    broker.stopped().await;
}

/// Submits one revision to each stack until the broker is gone; what was acknowledged.
async fn write(client: Client, stacks: Vec<StackId>) -> Vec<i64> {
    let mut acknowledged = Vec::new();
    for stack in stacks {
        let new = NewDeployment::of(manifest(&stack.to_string()));
        match client
            .deployment_create(stack, &new, &Submit::default())
            .await
        {
            Ok(object) => acknowledged.push(object.sequence_id.0),
            Err(_) => break,
        }
    }
    acknowledged
}

/// Follows the agent's target state, at the victim while it answers and then at the other, until
/// `all` are there and seen; every sequence id in the order in which it was first seen.
async fn follow(
    agent: &TestAgent,
    victim: &Client,
    all: impl AsyncFn() -> Option<usize>,
) -> Vec<i64> {
    let (mut seen, mut known, mut at) = (Vec::new(), None, victim);
    loop {
        let poll = Poll {
            known: known.clone(),
            wait: Some(Duration::from_millis(200)),
            without_bodies: true,
        };
        match at.target_state(agent.id, &poll).await {
            Ok(Some(state)) => {
                known = Some(state.version);
                let served = state.objects.iter().map(|object| object.sequence_id.0);
                let news: Vec<_> = served.filter(|one| !seen.contains(one)).collect();
                seen.extend(news);
            }
            Ok(None) if all().await == Some(seen.len()) => return seen,
            Ok(None) => {}
            Err(_) => at = &agent.client,
        }
    }
}

impl Scene {
    /// So many more stacks for the agent.
    async fn stacks(&self, count: usize) -> Vec<StackId> {
        let mut stacks = Vec::new();
        for number in 0..count {
            let stack = self.shop.stack(&format!("s{number}")).await.id;
            let client = &self.shop.client;
            client.target_create(self.agent.id, stack).await.unwrap();
            stacks.push(stack);
        }
        stacks
    }

    /// Every sequence id that is stored.
    async fn stored(&self) -> Vec<i64> {
        let all = self.world.database.deployments_after(SequenceId(0), 1000);
        all.await
            .unwrap()
            .iter()
            .map(|one| one.sequence_id.0)
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_when_a_broker_is_killed_under_load() {
    let Some(url) = database().await else { return };
    let it = Scene::of(World::on(open(&url).await, shared_config()).await).await;
    let mut stacks = it.stacks(STACKS).await;
    let mut victim = Victim::start(&url).await;
    let at_victim = |key: &str| Client::new(&victim.address, key).unwrap();
    let (shop, agent) = (at_victim(&it.shop.key), at_victim(&it.agent.key));
    let theirs = stacks.split_off(STACKS / 2);
    let here = tokio::spawn(write(it.shop.client.clone(), stacks));
    let there = tokio::spawn(write(shop, theirs));
    let written = OnceLock::new();
    let all = async || written.get().map(Vec::len);
    let (seen, acknowledged) = tokio::join!(follow(&it.agent, &agent, all), async {
        while it.stored().await.len() < ENOUGH {
            tokio::task::yield_now().await;
        }
        victim.process.start_kill().unwrap();
        let (here, there) = (here.await.unwrap(), there.await.unwrap());
        assert_eq!(
            here.len(),
            STACKS / 2,
            "the broker that lives takes everything"
        );
        assert!(
            there.len() < STACKS / 2,
            "the other died in the middle of its work"
        );
        written.set(it.stored().await).unwrap();
        [here, there].concat()
    });
    let stored = it.stored().await;
    assert!(
        stored.iter().copied().eq(1..=stored.len() as i64),
        "no holes: {stored:?}"
    );
    for sequence in acknowledged {
        assert!(stored.contains(&sequence), "{sequence} was acknowledged");
    }
    assert_eq!(
        seen, stored,
        "the agent saw every one, in order, across the death"
    );
    let status = victim.process.wait().await.unwrap();
    assert_eq!(status.signal(), Some(9));
}
