//! Recorded replies of a real server, reproduced.
//!
//! `data/probes-1.36.4.txt` holds replies of Kubernetes 1.36.4, some of them cut off;
//! `data/probe-requests.yaml` says what was sent. Every reply must come out the same once uids,
//! times, revisions and generated names are made alike, unless its probe stands in `GAPS.md`.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use evenkeel_kubesim::faults::{Fault, Which};
use evenkeel_kubesim::{Ambient, Cluster, Pace};
use http::Request;
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Answer, Ask};
use crate::likeness::{complete, contains, normal};

const RECORDED: &str = include_str!("data/probes-1.36.4.txt");
const REQUESTS: &str = include_str!("data/probe-requests.yaml");
const GAPS: &str = include_str!("../../GAPS.md");

/// One step of the script.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Step {
    probe: String,
    setup: String,
    compact: bool,
    wait: u64,
    r#type: String,
    accept: String,
    body: Value,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            probe: String::new(),
            setup: String::new(),
            compact: false,
            wait: 0,
            r#type: String::new(),
            accept: "application/json".into(),
            body: Value::Null,
        }
    }
}

/// One recorded reply.
#[derive(Debug)]
struct Recorded {
    method: &'static str,
    path: &'static str,
    code: u16,
    reply: String,
    warning: Option<&'static str>,
}

fn recorded() -> BTreeMap<&'static str, Recorded> {
    RECORDED
        .split("## ")
        .filter(|part| !part.is_empty())
        .filter_map(read_probe)
        .collect()
}

/// A name, a line with method, path and code, then the reply; what else was noted comes last.
fn read_probe(text: &'static str) -> Option<(&'static str, Recorded)> {
    let (name, rest) = text.split_once('\n')?;
    let (head, rest) = rest.split_once('\n')?;
    let (request, code) = head.split_once(" -> ")?;
    let (method, path) = request.split_once(' ')?;
    let noted = |line: &&str| {
        !["Warning header:", "continue meta", "rs ownerRefs"]
            .iter()
            .any(|note| line.starts_with(note))
    };
    let reply: Vec<&str> = rest
        .lines()
        .filter(noted)
        .filter(|line| !line.is_empty())
        .collect();
    let warning = rest
        .lines()
        .find_map(|line| line.strip_prefix("Warning header: "));
    let recorded = Recorded {
        method,
        path,
        code: code.trim().parse().ok()?,
        reply: reply.join("\n"),
        warning: warning.map(str::trim),
    };
    Some((name.trim(), recorded))
}

/// The names of probes that `GAPS.md` excuses.
fn excused() -> Vec<&'static str> {
    GAPS.lines()
        .filter_map(|line| line.strip_prefix("- probe `")?.split('`').next())
        .collect()
}

struct Run {
    cluster: Cluster,
    /// The token that the list gave, for those that continue it.
    token: String,
    /// The revision at which the script began.
    start: u64,
}

impl Run {
    fn new() -> Self {
        let cluster = Cluster::with(Ambient::seeded(1), Pace::default());
        let start = cluster.store().revision();
        Self {
            cluster,
            token: String::new(),
            start,
        }
    }

    async fn ask(&self, method: &'static str, path: &str, step: &Step) -> Answer {
        let content_type = match step.r#type.as_str() {
            "json" => "application/json-patch+json",
            "merge" => "application/merge-patch+json",
            "apply" => "application/apply-patch+yaml",
            "text" => "text/plain",
            _ => "application/json",
        };
        let body = if step.body.is_null() {
            String::new()
        } else {
            step.body.to_string()
        };
        let ask = Ask {
            method,
            path: path.to_owned(),
            content_type,
            accept: step.accept.clone(),
            body,
        };
        ask.of(&self.cluster).await
    }

    async fn set_up(&self, step: &'static Step) {
        let (method, path) = step.setup.split_once(' ').expect("method and path");
        let answer = self.ask(method, path, step).await;
        assert!(answer.code < 300, "{}: {}", step.setup, answer.text);
    }

    /// Sends what a probe sent; how the answer differs, if it does.
    async fn probe(&mut self, step: &Step, recorded: &Recorded) -> Option<String> {
        let path = self.path(step, recorded);
        let answer = match step.probe.as_str() {
            "forbidden" => self.ask_without_rights("agent", &path).await,
            "anonymous" => self.ask_without_rights("system:anonymous", &path).await,
            _ => self.ask(recorded.method, &path, step).await,
        };
        if step.probe == "list limit" {
            let token = &answer.json()["metadata"]["continue"];
            self.token = token.as_str().unwrap_or_default().to_owned();
        }
        difference(recorded, &answer)
    }

    /// Rights are not simulated, but their lack is.
    async fn ask_without_rights(&self, user: &str, path: &str) -> Answer {
        let view = self.cluster.view(user);
        view.fault(Which::all(), Fault::Forbid);
        let request = Request::get(path).body(Bytes::new()).expect("a request");
        Answer::read(view.handle(request).await.expect("an answer")).await
    }

    /// Revisions and tokens of the recorded cluster mean nothing here.
    fn path(&self, step: &Step, recorded: &Recorded) -> String {
        let path = recorded.path;
        match (step.probe.as_str(), path.split_once("&continue=")) {
            ("bad continue", _) => path.to_owned(),
            (_, Some((head, _))) => format!("{head}&continue={}", self.token),
            ("watch old rv=1", _) => path.replace(
                "resourceVersion=1&",
                &format!("resourceVersion={}&", self.start),
            ),
            _ => path.to_owned(),
        }
    }
}

fn difference(recorded: &Recorded, answer: &Answer) -> Option<String> {
    if recorded.code != answer.code {
        return Some(format!(
            "code {} instead of {}: {}",
            answer.code, recorded.code, answer.text
        ));
    }
    if recorded.warning != answer.warnings.first().map(String::as_str) {
        return Some(format!("warnings {:?}", answer.warnings));
    }
    let mut lines = answer.text.lines();
    for expected in recorded.reply.lines() {
        let Some(found) = lines.next() else {
            return Some(format!("missing: {expected}"));
        };
        if let Some(difference) = line_difference(expected, found) {
            return Some(difference);
        }
    }
    let cut = recorded
        .reply
        .lines()
        .last()
        .is_some_and(|line| complete(line).1);
    let more: Vec<&str> = lines.collect();
    (!more.is_empty() && !cut).then(|| format!("more: {}", more.join("\n")))
}

fn line_difference(expected: &str, found: &str) -> Option<String> {
    if !expected.starts_with('{') {
        return (expected != found).then(|| format!("{found:?} instead of {expected:?}"));
    }
    let (repaired, cut) = complete(expected);
    let wanted = normal(&serde_json::from_str(&repaired).expect("a recorded reply"));
    let got = normal(&serde_json::from_str(found).unwrap_or_default());
    let same = if cut {
        contains(&got, &wanted)
    } else {
        got == wanted
    };
    (!same).then(|| format!("\n   wanted {wanted}\n      got {got}"))
}

#[tokio::test(start_paused = true)]
async fn every_recorded_reply_is_reproduced() {
    let steps: &'static [Step] = Vec::leak(serde_saphyr::from_str(REQUESTS).expect("the script"));
    let recorded = recorded();
    let excused = excused();
    let mut run = Run::new();
    let mut asked = 0;
    let mut problems = Vec::new();
    for step in steps {
        if step.compact {
            run.cluster.store().compact();
        } else if step.wait > 0 {
            tokio::time::sleep(Duration::from_secs(step.wait)).await;
        } else if step.probe.is_empty() {
            run.set_up(step).await;
        } else {
            asked += 1;
            let probe = recorded.get(step.probe.as_str()).expect(&step.probe);
            let difference = run.probe(step, probe).await;
            match (difference, excused.contains(&step.probe.as_str())) {
                (Some(difference), false) => problems.push(format!("{}: {difference}", step.probe)),
                (None, true) => problems.push(format!("{}: excused, but reproduced", step.probe)),
                _ => {}
            }
        }
    }
    assert_eq!(asked, recorded.len(), "every probe is asked once");
    assert!(
        problems.is_empty(),
        "{} of {asked} differ:\n{}",
        problems.len(),
        problems.join("\n")
    );
}
