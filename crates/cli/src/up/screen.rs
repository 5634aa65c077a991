//! What `evenkeel up` tells people and programs.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::options::UpOptions;
use super::part::Parts;
use super::progress::Arrival;
use crate::args::Output;
use crate::data_dir::DataDir;
use crate::environment;

/// Says what runs where and what to type next.
pub(super) fn show(
    options: &UpOptions,
    parts: &Parts,
    arrival: &Arrival,
    sample: Option<&str>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match options.output {
        Output::Json => writeln!(out, "{}", as_json(parts, arrival, sample))?,
        Output::Text => write!(out, "{}", as_text(parts, arrival, sample))?,
    }
    out.flush()
}

/// Says that the end has begun, and what stays.
pub(super) fn say_goodbye(options: &UpOptions, data: &DataDir) -> io::Result<()> {
    if options.output == Output::Json {
        return Ok(());
    }
    let what_stays = if options.ephemeral {
        "nothing is kept".to_owned()
    } else {
        format!("everything is kept in {}", data.path().display())
    };
    writeln!(io::stdout(), "\nStopping; {what_stays}.")
}

fn as_json(parts: &Parts, arrival: &Arrival, sample: Option<&str>) -> Value {
    let told = parts
        .iter()
        .map(|part| (part.name().to_owned(), part.told()));
    let mut told: Map<_, _> = told.collect();
    told.insert("stack".to_owned(), json!(sample));
    told.insert("converged".to_owned(), json!(arrival.left.is_empty()));
    told.insert("milliseconds".to_owned(), json!(arrival.took.as_millis()));
    told.into()
}

fn as_text(parts: &Parts, arrival: &Arrival, sample: Option<&str>) -> String {
    let seconds = arrival.took.as_secs_f32();
    let mut text = match arrival.left.as_slice() {
        [] => format!("\nEvenkeel is up, and everything converged, after {seconds:.1} s.\n\n"),
        left => format!(
            "\nEvenkeel is up, but after {seconds:.1} s these are not there yet:\n  {}\n\n",
            left.join("\n  ")
        ),
    };
    for part in parts.iter() {
        text += &part.shown();
    }
    text + &what_to_type(parts, sample) + "\nCtrl-C stops everything.\n"
}

/// A first way around.
fn what_to_type(parts: &Parts, sample: Option<&str>) -> String {
    let me = environment::called_as();
    let mut lines = vec![format!("{me} status"), format!("{me} get agents")];
    if let Some(stack) = sample {
        lines.push(format!("{me} describe stack {stack}"));
        if let Some(kubectl) = kubectl(parts) {
            lines.push(format!("{kubectl} -n {stack} get deployments,pods"));
            lines.push(format!(
                "{kubectl} -n {stack} scale deployment web --replicas=5"
            ));
            lines.push(format!("{me} drift"));
        }
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("\nTry, in another terminal:\n{lines}")
}

/// How kubectl reaches the first cluster.
fn kubectl(parts: &Parts) -> Option<String> {
    let clusters = parts.iter().find(|part| part.name() == "clusters")?.told();
    let first = clusters.get(0)?;
    let file = first["kubeconfig"].as_str()?;
    let context = first["context"]
        .as_str()
        .map(|name| format!(" --context {name}"));
    Some(format!(
        "kubectl --kubeconfig {file}{}",
        context.unwrap_or_default()
    ))
}
