//! Volumes, claims and their classes.

use serde_json::{Value, json};

use super::{Cells, name_and_creation};
use crate::meta;
use crate::tables::Seen;
use crate::tables::text::{NONE, UNSET, count, items, joined, or, text};

pub(super) fn cells(plural: &str) -> Cells {
    match plural {
        "persistentvolumes" => volume,
        "persistentvolumeclaims" => claim,
        "storageclasses" => storage_class,
        "volumeattributesclasses" => attributes_class,
        "volumeattachments" => attachment,
        "csidrivers" => driver,
        "csinodes" => driver_node,
        _ => name_and_creation,
    }
}

/// The short names of access modes, in their usual order.
fn access_modes(modes: &Value) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let modes = items(modes);
    let known = SHORT
        .iter()
        .filter(|(mode, _)| modes.iter().any(|found| found == mode));
    known.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

fn phase(seen: Seen<'_>) -> &str {
    match meta::is_deleting(seen.object) {
        true => "Terminating",
        false => text(&seen.status()["phase"]),
    }
}

/// The class that older objects name in an annotation.
fn class(seen: Seen<'_>) -> &str {
    let marks = &seen.object["metadata"]["annotations"];
    let older = &marks["volume.beta.kubernetes.io/storage-class"];
    or(older, text(&seen.spec()["storageClassName"]))
}

fn volume(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let claim = match &spec["claimRef"] {
        Value::Null => String::new(),
        claim => format!("{}/{}", text(&claim["namespace"]), text(&claim["name"])),
    };
    vec![
        json!(seen.name()),
        json!(or(&spec["capacity"]["storage"], "0")),
        json!(access_modes(&spec["accessModes"])),
        json!(text(&spec["persistentVolumeReclaimPolicy"])),
        json!(phase(seen)),
        json!(claim),
        json!(class(seen)),
        json!(or(&spec["volumeAttributesClassName"], UNSET)),
        json!(text(&status["reason"])),
        json!(seen.age()),
        json!(or(&spec["volumeMode"], UNSET)),
    ]
}

fn claim(seen: Seen<'_>) -> Vec<Value> {
    let (spec, status) = (seen.spec(), seen.status());
    let volume = text(&spec["volumeName"]);
    let (capacity, modes) = match volume {
        "" => (String::new(), String::new()),
        _ => (
            or(&status["capacity"]["storage"], "0").to_owned(),
            access_modes(&status["accessModes"]),
        ),
    };
    vec![
        json!(seen.name()),
        json!(phase(seen)),
        json!(volume),
        json!(capacity),
        json!(modes),
        json!(class(seen)),
        json!(or(&spec["volumeAttributesClassName"], UNSET)),
        json!(seen.age()),
        json!(or(&spec["volumeMode"], UNSET)),
    ]
}

fn storage_class(seen: Seen<'_>) -> Vec<Value> {
    let (object, marks) = (seen.object, &seen.object["metadata"]["annotations"]);
    let keys = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    let default = keys.iter().any(|key| marks[key] == "true");
    let mark = if default { " (default)" } else { "" };
    vec![
        json!(format!("{}{mark}", seen.name())),
        json!(text(&object["provisioner"])),
        json!(or(&object["reclaimPolicy"], "Delete")),
        json!(or(&object["volumeBindingMode"], "Immediate")),
        json!(object["allowVolumeExpansion"] == true),
        json!(seen.age()),
    ]
}

fn attributes_class(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(text(&seen.object["driverName"])),
        json!(seen.age()),
    ]
}

fn attachment(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    vec![
        json!(seen.name()),
        json!(text(&spec["attacher"])),
        json!(text(&spec["source"]["persistentVolumeName"])),
        json!(text(&spec["nodeName"])),
        json!(seen.status()["attached"] == true),
        json!(seen.age()),
    ]
}

fn driver(seen: Seen<'_>) -> Vec<Value> {
    let spec = seen.spec();
    let tokens = match &spec["tokenRequests"] {
        Value::Null => UNSET.to_owned(),
        tokens => joined(tokens, |token| text(&token["audience"])),
    };
    let modes = joined(&spec["volumeLifecycleModes"], text);
    vec![
        json!(seen.name()),
        json!(spec["attachRequired"] != false),
        json!(spec["podInfoOnMount"] == true),
        json!(spec["storageCapacity"] == true),
        json!(tokens),
        json!(spec["requiresRepublish"] == true),
        json!(if modes.is_empty() { NONE } else { &modes }),
        json!(seen.age()),
    ]
}

fn driver_node(seen: Seen<'_>) -> Vec<Value> {
    vec![
        json!(seen.name()),
        json!(count(&seen.spec()["drivers"])),
        json!(seen.age()),
    ]
}
