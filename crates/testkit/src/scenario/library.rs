//! The files: scenarios, the definitions that they use, recorded replies, listed gaps.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use super::model::{Action, Details, RequestLine, Scenario, Step, Until};
use super::reply::Reply;

/// A file of the suite cannot be used.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// Reading or writing.
    #[error("use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Its content.
    #[error("understand {path}: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Replies by scenario.
pub type Recording = BTreeMap<String, Vec<Reply>>;

/// Everything under `scenarios/` and `recorded/`.
#[derive(Debug)]
pub struct Library {
    root: PathBuf,
    /// All scenarios, ordered by area and file.
    pub scenarios: Vec<Scenario>,
    /// The custom resource definitions that they use.
    pub definitions: Definitions,
}

impl Library {
    /// Reads the suite of this crate.
    pub fn open() -> Result<Self, LibraryError> {
        Self::open_at(Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    fn open_at(root: &Path) -> Result<Self, LibraryError> {
        let mut scenarios = Vec::new();
        let mut definitions = Definitions::default();
        for path in files_below(&root.join("scenarios"))? {
            let text = read(&path)?;
            let bad = |reason: String| LibraryError::Content {
                path: path.clone(),
                reason,
            };
            let area = name_of(path.parent().unwrap_or(root));
            if area == "definitions" {
                let definition = parse(&text).map_err(bad)?;
                definitions
                    .0
                    .insert(name_of(&path.with_extension("")), definition);
                continue;
            }
            let stories: Vec<Scenario> = parse(&text).map_err(bad)?;
            scenarios.extend(stories.into_iter().map(|story| Scenario {
                area: area.clone(),
                ..story
            }));
        }
        Ok(Self {
            root: root.to_owned(),
            scenarios,
            definitions,
        })
    }

    fn recorded_file(&self, area: &str) -> PathBuf {
        self.root.join("recorded").join(area).with_extension("json")
    }

    /// What the real server said.
    pub fn recording(&self) -> Result<Recording, LibraryError> {
        let mut recording = Recording::new();
        let areas: BTreeSet<&String> = self.scenarios.iter().map(|story| &story.area).collect();
        for path in areas.into_iter().map(|area| self.recorded_file(area)) {
            if !path.exists() {
                continue;
            }
            let part: Recording =
                serde_json::from_str(&read(&path)?).map_err(|error| LibraryError::Content {
                    path,
                    reason: error.to_string(),
                })?;
            recording.extend(part);
        }
        Ok(recording)
    }

    /// Keeps what the real server said, a line for each reply so that changes can be read.
    pub fn record(&self, recording: &Recording) -> Result<(), LibraryError> {
        let mut areas: BTreeMap<&str, Vec<(&String, &Vec<Reply>)>> = BTreeMap::new();
        for (id, replies) in recording {
            let area = id.split_once('/').map_or("", |(area, _)| area);
            areas.entry(area).or_default().push((id, replies));
        }
        for (area, stories) in areas {
            let path = self.recorded_file(area);
            write(&path, &lines(&stories))?;
        }
        Ok(())
    }

    /// Scenarios that `GAPS.md` of the simulator lists.
    pub fn gaps(&self) -> Result<BTreeSet<String>, LibraryError> {
        let path = self.root.join("../kubesim/GAPS.md");
        if !path.exists() {
            return Ok(BTreeSet::new());
        }
        let ids: BTreeSet<String> = self.scenarios.iter().map(Scenario::id).collect();
        let text = read(&path)?;
        let quoted = text.split('`').skip(1).step_by(2).map(str::to_owned);
        Ok(quoted.filter(|name| ids.contains(name)).collect())
    }
}

fn lines(stories: &[(&String, &Vec<Reply>)]) -> String {
    let story = |(id, replies): &(&String, &Vec<Reply>)| {
        let replies: Vec<String> = replies
            .iter()
            .map(|reply| json!(reply).to_string())
            .collect();
        format!("{}: [\n{}\n]", json!(id), replies.join(",\n"))
    };
    let stories: Vec<String> = stories.iter().map(story).collect();
    format!("{{\n{}\n}}\n", stories.join(",\n"))
}

/// Custom resource definitions by the name of their file.
#[derive(Debug, Default)]
pub struct Definitions(BTreeMap<String, Value>);

impl Definitions {
    /// What to do so that these definitions are served.
    pub(super) fn steps_to_serve(&self, names: &[String]) -> Vec<Step> {
        let mut steps = Vec::new();
        for definition in names.iter().filter_map(|name| self.0.get(name)) {
            let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
            let name = text("/metadata/name").unwrap_or_default();
            steps.push(Step::quiet("POST crd", Some(definition.clone())));
            let established =
                BTreeMap::from([("/status/conditions/1/status".into(), json!("True"))]);
            steps.push(Step::wait(
                &format!("crd/{name}"),
                Until::Values(established),
            ));
            let versions = definition
                .pointer("/spec/versions")
                .and_then(Value::as_array);
            for version in versions
                .into_iter()
                .flatten()
                .filter_map(|v| v["name"].as_str())
            {
                let group = text("/spec/group").unwrap_or_default();
                let plural = text("/spec/names/plural").unwrap_or_default();
                steps.push(Step::wait(
                    &format!("/apis/{group}/{version}/{plural}"),
                    Until::Code(200),
                ));
            }
        }
        steps
    }
}

impl Step {
    /// A request whose reply does not matter.
    pub(super) fn quiet(line: &str, body: Option<Value>) -> Self {
        let (method, target) = line.split_once(' ').unwrap_or(("GET", line));
        let method = method.parse().unwrap_or(http::Method::GET);
        let request = RequestLine {
            method,
            target: target.to_owned(),
        };
        let details = Details {
            body,
            quiet: true,
            ..Details::default()
        };
        Self {
            action: Action::Do,
            request,
            details,
        }
    }

    /// A wait whose last reply does not matter.
    pub(super) fn wait(target: &str, until: Until) -> Self {
        Self {
            action: Action::Wait(until),
            ..Self::quiet(&format!("GET {target}"), None)
        }
    }
}

/// YAML 1.2, in which `n` is a letter and not a boolean.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

fn read(path: &Path) -> Result<String, LibraryError> {
    std::fs::read_to_string(path).map_err(|source| LibraryError::File {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &str) -> Result<(), LibraryError> {
    let directory = path.parent().unwrap_or(path);
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|source| LibraryError::File {
            path: path.to_owned(),
            source,
        })
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// All YAML files, one directory deep, in the order of their names.
fn files_below(directory: &Path) -> Result<Vec<PathBuf>, LibraryError> {
    let list = |path: &Path| -> Result<Vec<PathBuf>, LibraryError> {
        let error = |source| LibraryError::File {
            path: path.to_owned(),
            source,
        };
        let entries = std::fs::read_dir(path).map_err(error)?;
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.map(|e| e.path()))
            .collect::<Result<_, _>>()
            .map_err(error)?;
        paths.sort();
        Ok(paths)
    };
    let mut files = Vec::new();
    for area in list(directory)?.iter().filter(|path| path.is_dir()) {
        files.extend(
            list(area)?
                .into_iter()
                .filter(|p| p.extension().is_some_and(|e| e == "yaml")),
        );
    }
    Ok(files)
}
