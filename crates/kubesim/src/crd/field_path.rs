//! The path by which a rule says which field is at fault: `.spec.ports['a.b']`.

use crate::schema::{Schema, Shape};

/// The path as errors write it; nothing when the schema has no such field.
pub(super) fn normal(path: &str, schema: &Schema) -> Option<String> {
    let mut shown = String::new();
    let mut at = schema;
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = step(rest)?;
        match &at.shape {
            Shape::Struct(known) => {
                at = known.fields.get(name.as_str())?;
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(&name);
            }
            Shape::Map { values, .. } => {
                at = values;
                shown.push_str(&format!("[{name}]"));
            }
            _ => return None,
        }
        rest = after;
    }
    Some(shown)
}

/// One step, and what follows it.
fn step(path: &str) -> Option<(String, &str)> {
    if let Some(quoted) = path.strip_prefix("['") {
        let (name, rest) = quoted.split_once("']")?;
        return Some((name.replace("\\'", "'").replace("\\\\", "\\"), rest));
    }
    let path = path.strip_prefix('.')?;
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    (!name.is_empty()).then(|| (name.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::crd::schema;

    #[test]
    fn paths_lead_through_fields_and_maps() {
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let node = json!({"type": "object", "properties": {"a.b": map}});
        let node = schema::read(&json!({"type": "object", "properties": {"spec": node}}));
        let normal = |path| normal(path, &node);
        assert_eq!(normal(".spec['a.b'].c").as_deref(), Some("spec.a.b[c]"));
        assert_eq!(normal(".spec").as_deref(), Some("spec"));
        assert_eq!(normal(".nope"), None);
        assert_eq!(normal("spec"), None);
    }
}
