//! The options of each verb, read from the query (deletions: from the body) and checked in the
//! words of a real server.

use serde::Deserialize;
use serde_json::Value;

use super::Query;
use crate::field_error::{FieldError, Path};
use crate::selectors::{FieldLabels, FieldSelector, LabelSelector, Selectors};
use crate::status::ApiError;

/// Options of a get.
#[derive(Debug, Clone, Default)]
pub(crate) struct GetOptions {
    /// The oldest revision that will do.
    pub(crate) not_older_than: Option<u64>,
}

impl GetOptions {
    pub(crate) fn read(query: &Query) -> Result<Self, ApiError> {
        Ok(Self {
            not_older_than: revision(query)?,
        })
    }
}

/// How the revision of a list is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RevisionMatch {
    Exact,
    NotOlderThan,
}

/// Options of a list, and of the deletion of a collection.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListOptions {
    pub(crate) selectors: Selectors,
    pub(crate) limit: Option<usize>,
    pub(crate) continue_token: Option<String>,
    pub(crate) revision: Option<u64>,
    pub(crate) revision_match: Option<RevisionMatch>,
}

impl ListOptions {
    pub(crate) fn read(query: &Query, labels: &FieldLabels) -> Result<Self, ApiError> {
        refuse("ListOptions", &list_errors(query))?;
        let limit = query.number("limit")?.filter(|limit| *limit > 0);
        Ok(Self {
            selectors: selectors(query, labels)?,
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            continue_token: query.text("continue").map(str::to_owned),
            revision: list_revision(query)?,
            revision_match: match query.text("resourceVersionMatch") {
                Some("Exact") => Some(RevisionMatch::Exact),
                Some(_) => Some(RevisionMatch::NotOlderThan),
                None => None,
            },
        })
    }
}

fn list_errors(query: &Query) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let at = Path::field("resourceVersionMatch");
    if let Some(wanted) = query.text("resourceVersionMatch") {
        let mut forbid = |text: &str| errors.push(FieldError::forbidden(&at, text));
        if query.text("resourceVersion").is_none() {
            forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
        }
        if query.text("continue").is_some() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if wanted == "Exact" && query.text("resourceVersion") == Some("0") {
            forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
        }
        if !["Exact", "NotOlderThan"].contains(&wanted) {
            errors.push(FieldError::not_supported(
                &at,
                wanted,
                &["Exact", "NotOlderThan", ""],
            ));
        }
    }
    if query.switch("sendInitialEvents").is_some() {
        let at = Path::field("sendInitialEvents");
        errors.push(FieldError::forbidden(
            &at,
            "sendInitialEvents is forbidden for list",
        ));
    }
    errors
}

/// Options of a watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchOptions {
    pub(crate) selectors: Selectors,
    pub(crate) revision: Option<u64>,
    pub(crate) bookmarks: bool,
    pub(crate) initial_events: Option<bool>,
    pub(crate) timeout_seconds: Option<u64>,
}

impl WatchOptions {
    pub(crate) fn read(query: &Query, labels: &FieldLabels) -> Result<Self, ApiError> {
        refuse("ListOptions", &watch_errors(query))?;
        Ok(Self {
            selectors: selectors(query, labels)?,
            revision: revision(query)?,
            bookmarks: query.switch("allowWatchBookmarks").unwrap_or(false),
            initial_events: query.switch("sendInitialEvents"),
            timeout_seconds: query
                .number("timeoutSeconds")?
                .and_then(|n| u64::try_from(n).ok()),
        })
    }
}

fn watch_errors(query: &Query) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let at = Path::field("resourceVersionMatch");
    let wanted = query.text("resourceVersionMatch");
    let initial = query.switch("sendInitialEvents");
    let mut forbid = |text: &str| errors.push(FieldError::forbidden(&at, text));
    if initial.is_some() && wanted != Some("NotOlderThan") {
        forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if let Some(wanted) = wanted {
        if initial.is_none() {
            forbid(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        if query.text("continue").is_some() {
            forbid("resourceVersionMatch is forbidden when continue is provided");
        }
        if wanted != "NotOlderThan" {
            errors.push(FieldError::not_supported(&at, wanted, &["NotOlderThan"]));
        }
    }
    errors
}

/// What to do with fields that nobody knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Strict,
    #[default]
    Warn,
    Ignore,
}

/// Options of a create, an update or a patch.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) manager: Option<String>,
    pub(crate) validation: FieldValidation,
    pub(crate) force: bool,
}

impl WriteOptions {
    /// Options of a create or update, by the name of their type.
    pub(crate) fn read(query: &Query, kind: &str) -> Result<Self, ApiError> {
        refuse(kind, &write_errors(query))?;
        Ok(Self::unchecked(query))
    }

    /// Options of a patch.
    pub(crate) fn read_patch(query: &Query, is_apply: bool) -> Result<Self, ApiError> {
        let mut errors = Vec::new();
        if is_apply && query.text("fieldManager").is_none() {
            let at = Path::field("fieldManager");
            errors.push(FieldError::required(&at, "is required for apply patch"));
        }
        if !is_apply && query.switch("force").is_some() {
            let at = Path::field("force");
            errors.push(FieldError::forbidden(
                &at,
                "may not be specified for non-apply patch",
            ));
        }
        errors.extend(write_errors(query));
        refuse("PatchOptions", &errors)?;
        Ok(Self::unchecked(query))
    }

    fn unchecked(query: &Query) -> Self {
        Self {
            dry_run: query.text("dryRun").is_some(),
            manager: query.text("fieldManager").map(str::to_owned),
            validation: match query.text("fieldValidation") {
                Some("Strict") => FieldValidation::Strict,
                Some("Ignore") => FieldValidation::Ignore,
                _ => FieldValidation::Warn,
            },
            force: query.switch("force").unwrap_or(false),
        }
    }
}

fn write_errors(query: &Query) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(
        query
            .text("fieldManager")
            .map(manager_errors)
            .into_iter()
            .flatten(),
    );
    let dry_run: Vec<&str> = query
        .all("dryRun")
        .filter(|value| !value.is_empty())
        .collect();
    errors.extend(dry_run_error(&dry_run));
    if let Some(wanted) = query.text("fieldValidation") {
        let at = Path::field("fieldValidation");
        let known = ["", "Ignore", "Strict", "Warn"];
        if !known.contains(&wanted) {
            errors.push(FieldError::not_supported(&at, wanted, &known));
        }
    }
    errors
}

fn manager_errors(manager: &str) -> Vec<FieldError> {
    let at = Path::field("fieldManager");
    let mut errors = Vec::new();
    if manager.len() > 128 {
        errors.push(FieldError::too_long(&at, 128));
    }
    for (position, c) in manager.char_indices().filter(|(_, c)| c.is_control()) {
        let code = u32::from(c);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        errors.push(FieldError::invalid(&at, manager, detail));
    }
    errors
}

fn dry_run_error(values: &[&str]) -> Option<FieldError> {
    let wrong = values.iter().any(|value| *value != "All");
    wrong.then(|| FieldError::not_supported(&Path::field("dryRun"), values.to_vec(), &["All"]))
}

/// What becomes of the objects that a deleted one owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    Foreground,
    Background,
    Orphan,
}

/// Options of a deletion.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    pub(crate) grace_seconds: Option<i64>,
    pub(crate) preconditions: Preconditions,
    pub(crate) propagation: Option<Propagation>,
}

/// What must be true of an object for its deletion.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct DeleteBody {
    grace_period_seconds: Option<i64>,
    preconditions: Option<Preconditions>,
    orphan_dependents: Option<bool>,
    propagation_policy: Option<String>,
    dry_run: Option<Vec<String>>,
}

impl DeleteOptions {
    /// Reads the body if there is one, else the query.
    pub(crate) fn read(query: &Query, body: Option<Value>) -> Result<Self, ApiError> {
        let raw = match body {
            Some(body) => serde_json::from_value(body)
                .map_err(|why| ApiError::bad_request(format!("json: {why}")))?,
            None => DeleteBody::from_query(query)?,
        };
        refuse("DeleteOptions", &raw.errors())?;
        Ok(Self {
            dry_run: raw
                .dry_run
                .as_ref()
                .is_some_and(|values| !values.is_empty()),
            grace_seconds: raw.grace_period_seconds,
            propagation: raw.propagation(),
            preconditions: raw.preconditions.unwrap_or_default(),
        })
    }
}

impl DeleteBody {
    fn from_query(query: &Query) -> Result<Self, ApiError> {
        let dry_run = query
            .all("dryRun")
            .filter(|v| !v.is_empty())
            .map(str::to_owned)
            .collect();
        Ok(Self {
            grace_period_seconds: query.number("gracePeriodSeconds")?,
            preconditions: None,
            orphan_dependents: query.switch("orphanDependents"),
            propagation_policy: query.text("propagationPolicy").map(str::to_owned),
            dry_run: Some(dry_run),
        })
    }

    fn errors(&self) -> Vec<FieldError> {
        let at = Path::field("propagationPolicy");
        let mut errors = Vec::new();
        if let Some(policy) = &self.propagation_policy {
            if self.orphan_dependents.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid(&at, policy.as_str(), detail));
            }
            let known = ["Foreground", "Background", "Orphan", "nil"];
            if !known[..3].contains(&policy.as_str()) {
                errors.push(FieldError::not_supported(&at, policy.as_str(), &known));
            }
        }
        let dry_run: Vec<&str> = self.dry_run.iter().flatten().map(String::as_str).collect();
        errors.extend(dry_run_error(&dry_run));
        errors
    }

    fn propagation(&self) -> Option<Propagation> {
        match (self.propagation_policy.as_deref(), self.orphan_dependents) {
            (Some("Foreground"), _) => Some(Propagation::Foreground),
            (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
            (Some(_), _) | (None, Some(false)) => Some(Propagation::Background),
            (None, None) => None,
        }
    }
}

fn selectors(query: &Query, labels: &FieldLabels) -> Result<Selectors, ApiError> {
    Ok(Selectors {
        labels: LabelSelector::parse(query.text("labelSelector").unwrap_or_default())?,
        fields: FieldSelector::parse(query.text("fieldSelector").unwrap_or_default(), labels)?,
    })
}

/// The revision of a read: none, or at least this one (0 is any).
fn revision(query: &Query) -> Result<Option<u64>, ApiError> {
    let Some(text) = query.text("resourceVersion") else {
        return Ok(None);
    };
    let wrong = |_| {
        let syntax = format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
        let at = Path::field("resourceVersion");
        ApiError::internal(FieldError::invalid(&at, text, syntax).to_string())
    };
    text.parse().map(Some).map_err(wrong)
}

/// The same for a list, which takes a bad revision for the client's fault.
fn list_revision(query: &Query) -> Result<Option<u64>, ApiError> {
    revision(query)
        .map_err(|why| ApiError::bad_request(format!("invalid resource version: {}", why.message)))
}

fn refuse(kind: &str, errors: &[FieldError]) -> Result<(), ApiError> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid("meta.k8s.io", kind, "", errors))
}
