//! The paths of printer columns: `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`.

use serde_json::Value;

/// A path, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    Where {
        path: JsonPath,
        equal: bool,
        wanted: Value,
    },
}

impl JsonPath {
    /// Reads a path; nothing when it uses what printer columns do not.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inner) => bracket(inner)?,
                None => field(rest)?,
            };
            steps.extend(step);
            rest = after;
        }
        Some(Self(steps))
    }

    /// The first value at the path.
    pub(super) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        find(value, &self.0)
    }
}

/// `.name`, in which dots may be escaped; a dot alone is the value itself.
fn field(text: &str) -> Option<(Option<Step>, &str)> {
    let text = text.strip_prefix('.').unwrap_or(text);
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return Some((named(name), &text[at..])),
            c => name.push(c),
        }
    }
    Some((named(name), ""))
}

fn named(name: String) -> Option<Step> {
    match name.as_str() {
        "" => None,
        "*" => Some(Step::All),
        _ => Some(Step::Field(name)),
    }
}

fn bracket(text: &str) -> Option<(Option<Step>, &str)> {
    if let Some(filter) = text.strip_prefix("?(") {
        let (condition, rest) = filter.split_once(")]")?;
        return Some((Some(condition_of(condition)?), rest));
    }
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) {
        let (name, rest) = text[1..].split_once(&format!("{quote}]"))?;
        return Some((Some(Step::Field(name.to_owned())), rest));
    }
    let (index, rest) = text.split_once(']')?;
    let step = match index.trim() {
        "*" => Step::All,
        number => Step::Index(number.parse().ok()?),
    };
    Some((Some(step), rest))
}

fn condition_of(text: &str) -> Option<Step> {
    let (equal, (path, wanted)) = match text.split_once("==") {
        Some(parts) => (true, parts),
        None => (false, text.split_once("!=")?),
    };
    let path = path.trim().strip_prefix('@')?;
    let wanted = wanted.trim().replace('\'', "\"");
    Some(Step::Where {
        path: JsonPath::parse(path)?,
        equal,
        wanted: serde_json::from_str(&wanted).ok()?,
    })
}

fn find<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(value);
    };
    let each = |fits: &dyn Fn(&Value) -> bool| {
        let items = value.as_array().into_iter().flatten();
        let values = value.as_object().into_iter().flat_map(|map| map.values());
        let mut all = items.chain(values).filter(|item| fits(item));
        all.find_map(|item| find(item, rest))
    };
    match step {
        Step::Field(name) => find(value.get(name)?, rest),
        Step::Index(index) => find(at(value, *index)?, rest),
        Step::All => each(&|_| true),
        Step::Where {
            path,
            equal,
            wanted,
        } => each(&|item| (path.find(item) == Some(wanted)) == *equal),
    }
}

/// Negative numbers count from the end.
fn at(list: &Value, index: i64) -> Option<&Value> {
    let list = list.as_array()?;
    let back = || {
        list.len()
            .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    };
    list.get(if index < 0 {
        back()?
    } else {
        usize::try_from(index).ok()?
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found() {
        let object = json!({
            "metadata": {"labels": {"example.com/a": "1"}},
            "spec": {"ports": [{"port": 1}, {"port": 2}]},
            "status": {"conditions": [{"type": "A", "status": "False"}, {"type": "Ready", "status": "True"}]},
        });
        let cases = [
            (".spec.ports[1].port", json!(2)),
            (".spec.ports[-1].port", json!(2)),
            (".spec.ports[*].port", json!(1)),
            (r".metadata.labels.example\.com/a", json!("1")),
            (".metadata.labels['example.com/a']", json!("1")),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!("True"),
            ),
            (
                ".status.conditions[?(@.type=='Ready')].status",
                json!("True"),
            ),
            (".status.nothing", Value::Null),
        ];
        for (path, wanted) in cases {
            let found = JsonPath::parse(path).expect(path).find(&object).cloned();
            assert_eq!(found.unwrap_or_default(), wanted, "{path}");
        }
    }
}
