//! One rule of a role: which verbs on what.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::attributes::{Attributes, ResourceAct};

/// A rule, as roles hold it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Rule {
    pub(super) verbs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) api_groups: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resources: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub(super) non_resource_urls: Vec<String>,
}

impl Rule {
    /// The rules of a role.
    pub(super) fn all_of(role: &Value) -> Vec<Self> {
        let rules = role["rules"].as_array().into_iter().flatten();
        rules
            .filter_map(|rule| serde_json::from_value(rule.clone()).ok())
            .collect()
    }

    /// Whether the rule allows an act.
    pub(super) fn allows(&self, attributes: &Attributes) -> bool {
        has(&self.verbs, attributes.verb())
            && match attributes {
                Attributes::Resource(act) => self.covers(act),
                Attributes::Path { path, .. } => self
                    .non_resource_urls
                    .iter()
                    .any(|url| url_covers(url, path)),
            }
    }

    fn covers(&self, act: &ResourceAct) -> bool {
        let named = self.resource_names.is_empty() || self.resource_names.contains(&act.name);
        named
            && has(&self.api_groups, &act.group)
            && resource_covers(&self.resources, &act.resource, &act.subresource)
    }

    /// The rule as many rules that each say one thing.
    pub(super) fn broken_down(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        for verb in &self.verbs {
            let verbs = vec![verb.clone()];
            for url in &self.non_resource_urls {
                let non_resource_urls = vec![url.clone()];
                parts.push(Self {
                    verbs: verbs.clone(),
                    non_resource_urls,
                    ..Self::default()
                });
            }
        }
        for (group, resource, verb) in self.triples() {
            let part = Self {
                verbs: vec![verb.clone()],
                api_groups: vec![group.clone()],
                resources: vec![resource.clone()],
                ..Self::default()
            };
            if self.resource_names.is_empty() {
                parts.push(part);
                continue;
            }
            for name in &self.resource_names {
                parts.push(Self {
                    resource_names: vec![name.clone()],
                    ..part.clone()
                });
            }
        }
        parts
    }

    fn triples(&self) -> impl Iterator<Item = (&String, &String, &String)> {
        self.api_groups.iter().flat_map(move |group| {
            self.resources.iter().flat_map(move |resource| {
                self.verbs.iter().map(move |verb| (group, resource, verb))
            })
        })
    }

    /// Whether whoever has this rule has also what `part`, which says one thing, allows.
    pub(super) fn includes(&self, part: &Self) -> bool {
        let names = match part.resource_names.first() {
            None => self.resource_names.is_empty(),
            Some(name) => self.resource_names.is_empty() || self.resource_names.contains(name),
        };
        let resource = part.resources.iter().all(|resource| {
            let (resource, part) = resource.split_once('/').unwrap_or((resource, ""));
            resource_covers(&self.resources, resource, part)
        });
        let urls = part.non_resource_urls.iter();
        names
            && resource
            && part.verbs.iter().all(|verb| has(&self.verbs, verb))
            && part
                .api_groups
                .iter()
                .all(|group| has(&self.api_groups, group))
            && urls.into_iter().all(|url| {
                self.non_resource_urls
                    .iter()
                    .any(|own| url_covers(own, url))
            })
    }

    /// The rule in one line, as refusals show it.
    pub(super) fn text(&self) -> String {
        let fields = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let fields = fields.iter().filter(|(_, values)| !values.is_empty());
        let fields: Vec<String> = fields
            .map(|(name, values)| format!("{name}:{}", quoted(values)))
            .collect();
        format!("{{{}}}", fields.join(", "))
    }
}

/// `["a" "b"]`
pub(super) fn quoted(values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("[{}]", values.join(" "))
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|one| one == "*" || one == wanted)
}

/// Rules name a resource, a part of one (`pods/log`), or a part of all (`*/scale`).
fn resource_covers(list: &[String], resource: &str, part: &str) -> bool {
    let wanted = match part {
        "" => resource.to_owned(),
        part => format!("{resource}/{part}"),
    };
    let of_all = |one: &String| {
        one.strip_prefix("*/")
            .is_some_and(|own| !part.is_empty() && own == part)
    };
    list.iter()
        .any(|one| one == "*" || *one == wanted || of_all(one))
}

fn url_covers(rule: &str, path: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => rule == path,
    }
}
