//! Where manifests come from: files, directories, standard input.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use evenkeel_manifest::{Document, Limits, parse};

use crate::remote::failure::Trouble;

/// The endings of files that hold manifests.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Which manifests are meant.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A file, a directory (its .yaml, .yml and .json files, also in directories below), or - for
    /// standard input; can be given several times.
    #[arg(short, long = "filename", value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
}

/// Manifests that were read and understood.
#[derive(Debug)]
pub(crate) struct Manifests {
    pub(crate) text: String,
    pub(crate) documents: Vec<Document>,
}

impl Source {
    /// Reads everything. What is wrong is said with the file that it is in.
    pub(crate) fn read(&self) -> anyhow::Result<Manifests> {
        let texts = self.texts()?.into_iter();
        let texts = texts.map(|(name, text)| checked(&name, text));
        let text = joined(&texts.collect::<anyhow::Result<Vec<_>>>()?);
        // Two files may each be right and still name the same object.
        let documents =
            parse(&text, Limits::NONE).context("these manifests do not fit together")?;
        Ok(Manifests { text, documents })
    }

    /// The text of every file, with its name.
    pub(crate) fn texts(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut texts = Vec::new();
        for path in &self.files {
            if path == Path::new("-") {
                texts.push(("standard input".to_owned(), from_stdin()?));
                continue;
            }
            for file in files_in(path)? {
                let shown = file.display().to_string();
                let text = fs::read_to_string(&file);
                let text = text.with_context(|| format!("cannot read {shown}"))?;
                texts.push((shown, text));
            }
        }
        Ok(texts)
    }
}

fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    io::stdin()
        .read_to_string(&mut text)
        .context("cannot read standard input")?;
    Ok(text)
}

fn checked(name: &str, text: String) -> anyhow::Result<String> {
    parse(&text, Limits::NONE).with_context(|| format!("cannot use {name}"))?;
    Ok(text)
}

/// One file is kept as it is, byte by byte, so that its checksum is the file's own.
fn joined(texts: &[String]) -> String {
    if let [text] = texts {
        return text.clone();
    }
    let line = |text: &String| format!("---\n{}\n", text.trim_end());
    texts.iter().map(line).collect()
}

/// The file itself, or what is in the directory, in an order that does not change.
fn files_in(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let shown = path.display();
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    gather(path, &mut files).with_context(|| format!("cannot read the directory {shown}"))?;
    if files.is_empty() {
        let text = format!("there is no .yaml, .yml or .json file in {shown}");
        return Err(Trouble::Usage(text).into());
    }
    files.sort();
    Ok(files)
}

fn gather(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if path.is_dir() {
            gather(&path, files)?;
        } else if is_manifest(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_map(name: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
    }

    fn source(dir: &tempfile::TempDir) -> Source {
        Source {
            files: vec![dir.path().to_owned()],
        }
    }

    #[test]
    fn a_directory_is_read_in_order_and_only_its_manifests() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("below")).unwrap();
        fs::write(dir.path().join("b.yaml"), config_map("b")).unwrap();
        fs::write(dir.path().join("a.yml"), config_map("a")).unwrap();
        fs::write(dir.path().join("below/c.yaml"), config_map("c")).unwrap();
        fs::write(dir.path().join("notes.txt"), "not: [a manifest").unwrap();
        fs::write(dir.path().join(".hidden.yaml"), "not: [a manifest").unwrap();
        let read = source(&dir).read().unwrap();
        let names: Vec<_> = read
            .documents
            .iter()
            .map(|one| one.id.name.as_str())
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn one_file_is_kept_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("# mine\n{}\n\n", config_map("a"));
        fs::write(dir.path().join("a.yaml"), &text).unwrap();
        assert_eq!(source(&dir).read().unwrap().text, text);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.yaml"), config_map("a")).unwrap();
        fs::write(dir.path().join("bad.yaml"), "kind: ConfigMap\n").unwrap();
        let error = format!("{:#}", source(&dir).read().unwrap_err());
        assert!(error.contains("bad.yaml"), "{error}");
    }

    #[test]
    fn the_same_object_in_two_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.yaml"), config_map("a")).unwrap();
        fs::write(dir.path().join("b.yaml"), config_map("a")).unwrap();
        let error = format!("{:#}", source(&dir).read().unwrap_err());
        assert!(error.contains("do not fit together"), "{error}");
    }

    #[test]
    fn an_empty_directory_is_no_order_to_remove_everything() {
        let dir = tempfile::tempdir().unwrap();
        assert!(source(&dir).read().is_err());
    }
}
