//! The status of a CRD: which names it got, whether it is served, which versions were stored.

use serde_json::{Value, json};

/// Brings a CRD's status up to date: names that no other definition of the group holds are
/// accepted, and a CRD whose names are all accepted is established. `now` is the time that a
/// changed condition gets. Returns whether the CRD is established.
pub fn accept<'a>(crd: &mut Value, others: impl IntoIterator<Item = &'a Value>, now: &str) -> bool {
    let taken = Taken::by(crd, others);
    let wanted = crd["spec"]["names"].clone();
    let mut accepted = crd["status"]["acceptedNames"].clone();
    if !accepted.is_object() {
        accepted = json!({});
    }
    let conflict = take_names(&wanted, &mut accepted, &taken);
    crd["status"]["acceptedNames"] = accepted;
    let (status, reason, message) = match &conflict {
        None => ("True", "NoConflicts", "no conflicts found".to_owned()),
        Some((reason, message)) => ("False", *reason, message.clone()),
    };
    set_condition(crd, "NamesAccepted", status, reason, &message, now);
    establish(crd, conflict.is_none(), now)
}

fn establish(crd: &mut Value, accepted: bool, now: &str) -> bool {
    let was = find_condition(crd, "Established").is_some_and(|c| c["status"] == "True");
    match (was, accepted) {
        (true, _) => {}
        (false, true) => {
            let message = "the initial names have been accepted";
            set_condition(
                crd,
                "Established",
                "True",
                "InitialNamesAccepted",
                message,
                now,
            );
        }
        (false, false) => {
            let message = "not all names are accepted";
            set_condition(crd, "Established", "False", "NotAccepted", message, now);
        }
    }
    was || accepted
}

/// Names that other definitions of the same group hold.
struct Taken {
    resources: Vec<String>,
    kinds: Vec<String>,
}

impl Taken {
    fn by<'a>(crd: &Value, others: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut taken = Self {
            resources: Vec::new(),
            kinds: Vec::new(),
        };
        let same_group = |other: &&Value| {
            other["spec"]["group"] == crd["spec"]["group"]
                && other["metadata"]["name"] != crd["metadata"]["name"]
        };
        for other in others.into_iter().filter(same_group) {
            taken.add(&other["status"]["acceptedNames"]);
        }
        taken
    }

    fn add(&mut self, names: &Value) {
        let text = |name: &str| names[name].as_str().map(str::to_owned);
        let short = names["shortNames"].as_array().into_iter().flatten();
        self.resources.extend(text("plural"));
        self.resources.extend(text("singular"));
        self.resources
            .extend(short.filter_map(Value::as_str).map(str::to_owned));
        self.kinds.extend(text("kind"));
        self.kinds.extend(text("listKind"));
    }
}

/// Takes the names that are free; the last conflict is the one that is reported.
fn take_names(
    wanted: &Value,
    accepted: &mut Value,
    taken: &Taken,
) -> Option<(&'static str, String)> {
    let mut conflict = None;
    let single = [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ];
    for (name, reason, used) in single {
        let asked = wanted[name].as_str().unwrap_or_default();
        if accepted[name] != asked && used.iter().any(|other| other == asked) {
            conflict = Some((reason, in_use(asked)));
        } else {
            accepted[name] = asked.into();
        }
    }
    let short = wanted["shortNames"].as_array().into_iter().flatten();
    let clashes: Vec<String> = short
        .filter_map(Value::as_str)
        .filter(|name| taken.resources.iter().any(|other| other == name))
        .map(in_use)
        .collect();
    match clashes.is_empty() {
        true => copy(wanted, accepted, "shortNames"),
        false => conflict = Some(("ShortNamesConflict", clashes.join(", "))),
    }
    copy(wanted, accepted, "categories");
    conflict
}

fn copy(from: &Value, to: &mut Value, name: &str) {
    if let (Some(value), Some(to)) = (from.get(name), to.as_object_mut()) {
        to.insert(name.to_owned(), value.clone());
    }
}

fn in_use(name: &str) -> String {
    format!("{name:?} is already in use")
}

fn find_condition<'a>(crd: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = crd["status"]["conditions"].as_array()?;
    conditions.iter().find(|c| c["type"] == kind)
}

fn set_condition(
    crd: &mut Value,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: &str,
) {
    let before = find_condition(crd, kind).filter(|c| c["status"] == status);
    let since = before.map_or(json!(now), |c| c["lastTransitionTime"].clone());
    let condition = json!({
        "lastTransitionTime": since,
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    });
    let list = &mut crd["status"]["conditions"];
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else {
        return;
    };
    match list.iter_mut().find(|c| c["type"] == kind) {
        Some(found) => *found = condition,
        None => list.push(condition),
    }
}
