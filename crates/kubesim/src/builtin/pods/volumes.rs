//! The rules of a pod's volumes.

use std::collections::HashSet;

use super::super::at::At;
use super::super::names;
use super::super::rules::Faults;
use crate::field_error::FieldError;

/// Checks the volumes and returns the names of those that can be mounted.
pub(super) fn check<'a>(volumes: &'a At<'a>, faults: &mut Faults) -> HashSet<&'a str> {
    let mut usable = HashSet::new();
    for volume in volumes.items() {
        let before = faults.0.len();
        check_source(&volume, faults);
        let name = volume.field("name");
        if faults.require(&name, "") {
            faults.name(&name, names::dns1123_label);
        }
        if usable.contains(name.text()) {
            faults.add(name.duplicate());
        }
        if faults.0.len() == before {
            usable.insert(text_of(volume.value));
        }
    }
    usable
}

fn text_of(volume: &serde_json::Value) -> &str {
    volume["name"].as_str().unwrap_or_default()
}

/// The order in which the common sources are looked at: the first one counts.
const SOURCES: [&str; 11] = [
    "emptyDir",
    "hostPath",
    "secret",
    "nfs",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
    "csi",
    "ephemeral",
    "image",
];

fn check_source(volume: &At<'_>, faults: &mut Faults) {
    let object = volume.value.as_object();
    let sources = object
        .into_iter()
        .flatten()
        .filter(|(name, value)| *name != "name" && !value.is_null());
    let place = |name: &str| SOURCES.iter().position(|known| *known == name);
    let mut sources: Vec<_> = sources.collect();
    sources.sort_by_key(|(name, _)| place(name).unwrap_or(SOURCES.len()));
    let mut sources = sources.into_iter();
    let first = sources.next();
    for (extra, _) in sources {
        let words = "may not specify more than 1 volume type";
        faults.add(volume.field(extra).forbidden(words));
    }
    let Some((name, _)) = first else {
        return faults.add(FieldError::required(
            &volume.path,
            "must specify a volume type",
        ));
    };
    check_known(name, &volume.field(name), faults);
}

fn check_known(name: &str, source: &At<'_>, faults: &mut Faults) {
    match name {
        "hostPath" => {
            let path = source.field("path");
            if faults.require(&path, "") && path.text().split('/').any(|part| part == "..") {
                faults.add(path.invalid("must not contain '..'"));
            }
        }
        "secret" => {
            faults.require(&source.field("secretName"), "");
            check_items(source, faults);
        }
        "configMap" => {
            faults.require(&source.field("name"), "");
            check_items(source, faults);
        }
        "persistentVolumeClaim" => {
            faults.require(&source.field("claimName"), "");
        }
        "nfs" => {
            faults.require(&source.field("server"), "");
            faults.require(&source.field("path"), "");
        }
        "csi" => {
            faults.require(&source.field("driver"), "");
        }
        _ => {}
    }
}

fn check_items(source: &At<'_>, faults: &mut Faults) {
    let mode = source.field("defaultMode");
    check_mode(&mode, faults);
    for item in source.field("items").items() {
        faults.require(&item.field("key"), "");
        let path = item.field("path");
        if faults.require(&path, "") {
            check_relative(&path, faults);
        }
        check_mode(&item.field("mode"), faults);
    }
}

fn check_mode(mode: &At<'_>, faults: &mut Faults) {
    if mode
        .integer()
        .is_some_and(|bits| !(0..=0o777).contains(&bits))
    {
        let words = "must be a number between 0 and 0777 (octal), both inclusive";
        faults.add(mode.invalid(words));
    }
}

/// A path below the volume.
pub(super) fn check_relative(path: &At<'_>, faults: &mut Faults) {
    if path.text().starts_with('/') {
        faults.add(path.invalid("must be a relative path"));
    }
    if path.text().split('/').any(|part| part == "..") {
        faults.add(path.invalid("must not contain '..'"));
    }
}
