//! Plays the scenario suite and says what differs.
//!
//! ```text
//! scenarios record [FILTER]   play on the real control plane and keep its replies
//! scenarios compare [FILTER]  play on the simulator and show where it differs from the record
//! ```
#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::error::Error;

use evenkeel_testkit::scenario::{Clients, Library, Recording, Scenario, play_all};
use evenkeel_testkit::{RealCluster, scenario};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let filter = arguments.next().unwrap_or_default();
    let library = Library::open()?;
    let chosen: Vec<Scenario> = library
        .scenarios
        .iter()
        .filter(|story| story.id().contains(&filter))
        .cloned()
        .collect();
    match command.as_str() {
        "record" => record(&library, &chosen).await,
        "compare" => compare(&library, &chosen).await,
        _ => Err("want `record` or `compare`".into()),
    }
}

async fn record(library: &Library, chosen: &[Scenario]) -> Result<(), Box<dyn Error>> {
    let played = play_on_real(library, chosen).await?;
    let mut recording = library.recording()?;
    let known = |id: &String| library.scenarios.iter().any(|story| story.id() == *id);
    recording.retain(|id, _| known(id));
    println!("recorded {} scenarios", played.len());
    recording.extend(played);
    library.record(&recording)?;
    Ok(())
}

/// Plays each scenario on the control plane that it takes.
async fn play_on_real(library: &Library, chosen: &[Scenario]) -> Result<Recording, Box<dyn Error>> {
    let mut played = Recording::new();
    for workloads in [false, true] {
        let stories: Vec<Scenario> = chosen
            .iter()
            .filter(|story| story.workloads == workloads)
            .cloned()
            .collect();
        if stories.is_empty() {
            continue;
        }
        let cluster = match workloads {
            true => RealCluster::with_workloads().start().await?,
            false => RealCluster::start().await?,
        };
        let clients = Clients::of_real(&cluster).await?;
        let play = play_all(&stories, &library.definitions, 6, async |_| clients.clone());
        played.extend(play.await);
    }
    Ok(played)
}

async fn compare(library: &Library, chosen: &[Scenario]) -> Result<(), Box<dyn Error>> {
    let recording = library.recording()?;
    let played: Recording = play_all(chosen, &library.definitions, 2, async |story| {
        Clients::for_scenario(story)
    })
    .await;
    let mut agreeing = 0;
    for (id, replies) in &played {
        let expected = recording.get(id).map(Vec::as_slice).unwrap_or_default();
        let differences = scenario::differences(expected, replies);
        agreeing += usize::from(differences.is_empty());
        for difference in differences {
            println!("{id}: {difference}");
        }
    }
    println!("{agreeing} of {} scenarios agree", played.len());
    Ok(())
}
