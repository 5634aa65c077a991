//! The heads of the columns of each resource.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use super::custom;
use crate::registry::ResourceType;

/// Columns of a real server, recorded by `data/record_columns.py`.
const RECORDED: &str = include_str!("../../data/columns.jsonl");

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(RECORDED));

/// The heads of a resource's columns.
pub(super) fn of(resource: &ResourceType) -> Value {
    match resource.custom_columns() {
        Some(columns) => custom::heads(columns),
        None => TABLE.columns(&resource.id.group, &resource.id.plural),
    }
}

/// The heads of a scale's columns.
pub(super) fn of_scale() -> Value {
    let mut name = shared("Name");
    name["format"] = "".into();
    let count = |name: &str, description: &str| {
        let (name, description) = (name.to_owned(), description.to_owned());
        Row(name, "integer".into(), String::new(), description, 0).head()
    };
    let desired = "replicas is the desired number of instances for the scaled object.";
    let available = "replicas is the actual number of observed instances of the scaled object.";
    json!([
        name,
        count("Desired", desired),
        count("Available", available),
        shared("Age")
    ])
}

/// A head that most resources have.
pub(super) fn shared(name: &str) -> Value {
    TABLE.shared.get(name).cloned().unwrap_or_default()
}

struct Table {
    shared: HashMap<String, Value>,
    resources: HashMap<(String, String), Value>,
}

#[derive(Deserialize)]
struct Line {
    group: String,
    plural: String,
    columns: Vec<Column>,
}

/// A column of its own, or the name of one that is written elsewhere.
#[derive(Deserialize)]
#[serde(untagged)]
enum Column {
    Shared(String),
    Own(Row),
}

#[derive(Deserialize)]
struct Row(String, String, String, String, i64);

impl Table {
    fn read(text: &str) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or_default();
        let shared: Vec<Row> = serde_json::from_str(first).unwrap_or_default();
        let shared = shared.iter().map(|row| (row.0.clone(), row.head()));
        let mut table = Self {
            shared: shared.collect(),
            resources: HashMap::new(),
        };
        for line in rest
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
        {
            table.add(line);
        }
        table
    }

    fn add(&mut self, line: Line) {
        let columns = line.columns.iter().map(|column| match column {
            Column::Shared(name) => self.shared.get(name).cloned().unwrap_or_default(),
            Column::Own(row) => row.head(),
        });
        let columns = columns.collect();
        self.resources.insert((line.group, line.plural), columns);
    }

    fn columns(&self, group: &str, plural: &str) -> Value {
        let key = (group.to_owned(), plural.to_owned());
        self.resources
            .get(&key)
            .cloned()
            .unwrap_or_else(|| json!([self.shared["Name"], self.shared["Created At"]]))
    }
}

impl Row {
    fn head(&self) -> Value {
        let Self(name, kind, format, description, priority) = self;
        json!({
            "name": name,
            "type": kind,
            "format": format,
            "description": description,
            "priority": priority,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_record_is_read() {
        assert_eq!(TABLE.resources.len(), RECORDED.lines().count() - 1);
        assert_eq!(TABLE.shared.len(), 3);
        let pods = TABLE.columns("", "pods");
        assert_eq!(pods[0], shared("Name"));
        assert_eq!(pods[5]["priority"], 1);
        assert_eq!(TABLE.columns("", "limitranges")[1]["name"], "Created At");
    }
}
