//! A store kept in a file: a journal of changes, one JSON line each, behind a header line.
//!
//! A line that the process could not finish is the last one and has no end; it was never
//! acknowledged and is cut off on opening. When most lines are history, the journal is written
//! anew beside the old one and put in its place in one step.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Key, Object, ResourceId, Revision};

/// The newest format that this code reads, and the one it writes.
const FORMAT: u32 = 1;

/// Short journals are not worth rewriting.
const SHORT: usize = 1_000;

/// Why a store's file cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FileError {
    #[error("open the store's file {path}")]
    Io { path: PathBuf, source: io::Error },
    #[error("the store's file {path} is in use by another process")]
    InUse { path: PathBuf },
    #[error("{path} is not a kubesim store: its first line is no header")]
    Foreign { path: PathBuf },
    #[error(
        "the store's file {path} has format {found}, this program reads up to {FORMAT}: use a newer program"
    )]
    Newer { path: PathBuf, found: u32 },
    #[error("line {line} of the store's file {path} is damaged")]
    Damaged {
        path: PathBuf,
        line: usize,
        source: serde_json::Error,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    kubesim: u32,
    revision: Revision,
}

/// One change: the object at a key from a revision on.
#[derive(Serialize, Deserialize)]
struct Record<'a, V> {
    revision: Revision,
    #[serde(borrow)]
    group: Cow<'a, str>,
    #[serde(borrow)]
    resource: Cow<'a, str>,
    #[serde(borrow)]
    key: Cow<'a, str>,
    object: Option<V>,
}

/// What a file held.
pub(super) struct Loaded {
    pub(super) revision: Revision,
    pub(super) objects: BTreeMap<(ResourceId, Key), Object>,
    pub(super) journal: Journal,
}

/// What the whole lines of a file say, and how far they reach.
#[derive(Default)]
struct Contents {
    revision: Revision,
    objects: BTreeMap<(ResourceId, Key), Object>,
    length: u64,
    lines: usize,
}

/// The open file. It is locked, so that two processes never write one.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The length up to which every line is whole.
    length: u64,
    lines: usize,
}

impl Journal {
    /// Opens the file at `path`, making it when there is none, and reads what it keeps.
    pub(super) fn open(path: &Path) -> Result<Loaded, FileError> {
        let failed = |source| FileError::Io {
            path: path.into(),
            source,
        };
        let file = open_locked(path)?;
        let empty = file.metadata().map_err(failed)?.len() == 0;
        let contents = if empty {
            Contents::default()
        } else {
            read(path, &file)?
        };
        let mut journal = Self {
            path: path.into(),
            file,
            length: contents.length,
            lines: contents.lines,
        };
        if empty {
            journal.rewrite(0, std::iter::empty())
        } else {
            journal.cut_torn_line()
        }
        .map_err(failed)?;
        Ok(Loaded {
            revision: contents.revision,
            objects: contents.objects,
            journal,
        })
    }

    /// Writes one change. It is with the operating system, and so survives this process, when
    /// this returns.
    pub(super) fn append(
        &mut self,
        resource: &ResourceId,
        key: &Key,
        revision: Revision,
        object: Option<&Value>,
    ) -> io::Result<()> {
        let line = line(resource, key, revision, object)?;
        if let Err(error) = self.file.write_all(&line) {
            self.cut_torn_line()?;
            return Err(error);
        }
        self.length += line.len() as u64;
        self.lines += 1;
        Ok(())
    }

    /// Whether a rewrite would make the file much shorter, given how many objects live.
    pub(super) fn is_mostly_history(&self, live: usize) -> bool {
        self.lines > SHORT + 2 * live
    }

    /// Puts a file with only the living `objects` in place of this one.
    pub(super) fn rewrite<'a>(
        &mut self,
        revision: Revision,
        objects: impl Iterator<Item = (&'a ResourceId, &'a Key, &'a Value)>,
    ) -> io::Result<()> {
        let draft = self.path.with_added_extension("new");
        let written = write_whole(&draft, revision, objects);
        let (file, lines) = written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
        fs::rename(&draft, &self.path)?;
        self.length = file.metadata()?.len();
        (self.file, self.lines) = (file, lines);
        Ok(())
    }

    /// Ends the file after the last whole line.
    fn cut_torn_line(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        Ok(())
    }
}

fn open_locked(path: &Path) -> Result<File, FileError> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path);
    let file = opened.map_err(|source| FileError::Io {
        path: path.into(),
        source,
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FileError::InUse { path: path.into() }),
        Err(TryLockError::Error(source)) => Err(FileError::Io {
            path: path.into(),
            source,
        }),
    }
}

fn read(path: &Path, file: &File) -> Result<Contents, FileError> {
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    let mut contents = Contents::default();
    while next_line(&mut lines, &mut line).map_err(|source| FileError::Io {
        path: path.into(),
        source,
    })? {
        if contents.length == 0 {
            contents.revision = read_header(path, &line)?;
        } else {
            contents.lines += 1;
            let damaged = |source| FileError::Damaged {
                path: path.into(),
                line: contents.lines + 1,
                source,
            };
            let record = serde_json::from_slice(&line).map_err(damaged)?;
            contents.take(record);
        }
        contents.length += line.len() as u64;
    }
    match contents.length {
        0 => Err(FileError::Foreign { path: path.into() }),
        _ => Ok(contents),
    }
}

/// Reads a line with its end; `false` at the end of the file or at a line without one.
fn next_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    lines.read_until(b'\n', line)?;
    Ok(line.ends_with(b"\n"))
}

fn read_header(path: &Path, line: &[u8]) -> Result<Revision, FileError> {
    let header: Header =
        serde_json::from_slice(line).map_err(|_| FileError::Foreign { path: path.into() })?;
    if header.kubesim > FORMAT {
        return Err(FileError::Newer {
            path: path.into(),
            found: header.kubesim,
        });
    }
    Ok(header.revision)
}

impl Contents {
    fn take(&mut self, record: Record<'_, Value>) {
        self.revision = self.revision.max(record.revision);
        let place = (
            ResourceId::new(&record.group, &record.resource),
            Key::from(&*record.key),
        );
        match record.object {
            Some(object) => self.objects.insert(place, Arc::new(object)),
            None => self.objects.remove(&place),
        };
    }
}

fn write_whole<'a>(
    path: &Path,
    revision: Revision,
    objects: impl Iterator<Item = (&'a ResourceId, &'a Key, &'a Value)>,
) -> io::Result<(File, usize)> {
    let file = File::create(path)?;
    file.try_lock()?;
    let mut writer = BufWriter::new(file);
    serde_json::to_writer(
        &mut writer,
        &Header {
            kubesim: FORMAT,
            revision,
        },
    )?;
    writer.write_all(b"\n")?;
    let mut lines = 0;
    for (resource, key, object) in objects {
        // Older objects keep their own revision inside; the header carries the cluster's.
        writer.write_all(&line(resource, key, 0, Some(object))?)?;
        lines += 1;
    }
    let file = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok((file, lines))
}

fn line(
    resource: &ResourceId,
    key: &Key,
    revision: Revision,
    object: Option<&Value>,
) -> io::Result<Vec<u8>> {
    let record = Record {
        revision,
        group: Cow::Borrowed(&resource.group),
        resource: Cow::Borrowed(&resource.plural),
        key: Cow::Borrowed(key.as_str()),
        object,
    };
    let mut line = serde_json::to_vec(&record)?;
    line.push(b'\n');
    Ok(line)
}
