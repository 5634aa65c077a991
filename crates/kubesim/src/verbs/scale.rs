//! The `scale` subresource: how many replicas, as an object of its own.

use serde_json::{Map, Value, json};

use super::Call;
use super::patch::Kind;
use super::writing::Change;
use crate::meta;
use crate::registry::Verb;
use crate::reply::Reply;
use crate::request::{self, WriteOptions};
use crate::selectors::selector_text;
use crate::status::ApiError;

/// Where a resource keeps what its scale shows.
struct Places {
    spec: String,
    status: String,
    selector: Option<String>,
}

impl Call<'_> {
    pub(super) fn scale(&self, name: &str, verb: Verb) -> Result<Reply, ApiError> {
        let places = self.places();
        if verb == Verb::Get {
            return Ok(self.shown_scale(&places.show(&*self.read(name)?)));
        }
        let kind = if verb == Verb::Update {
            "UpdateOptions"
        } else {
            "PatchOptions"
        };
        let options = WriteOptions::read(&self.request.query, kind)?;
        let written = self
            .writing("scale", &options)
            .update(&self.key(name), |live| {
                let live = live.ok_or_else(|| ApiError::not_found(&self.resource.id, name))?;
                let scale = self.wanted_scale(verb, &places.show(live))?;
                self.check_scale(live, &scale)?;
                let mut object = live.clone();
                let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
                set_at(&mut object, &places.spec, replicas.into());
                Ok(Change::Replaced(object))
            })?;
        Ok(self.shown_scale(&places.show(&written.object)))
    }

    fn shown_scale(&self, scale: &Value) -> Reply {
        match &self.printer {
            Some(printer) => Reply::ok(&printer.scale(scale)),
            None => Reply::ok(scale),
        }
    }

    fn wanted_scale(&self, verb: Verb, current: &Value) -> Result<Value, ApiError> {
        if verb == Verb::Update {
            return Ok(request::decode(&self.request.content_type, &self.request.body)?.value);
        }
        self.patched(Kind::of(&self.request.content_type)?, current)
    }

    fn check_scale(&self, live: &Value, scale: &Value) -> Result<(), ApiError> {
        self.check_uid(live, scale)?;
        let revision = meta::text(scale, "resourceVersion");
        if !revision.is_empty() && revision != meta::text(live, "resourceVersion") {
            return Err(ApiError::stale(&self.resource.id, meta::name(live)));
        }
        match scale["spec"]["replicas"].as_i64() {
            Some(replicas) if replicas < 0 => Err(negative(meta::name(live), replicas)),
            _ => Ok(()),
        }
    }

    fn places(&self) -> Places {
        match self.resource.custom_scale() {
            Some(scale) => Places {
                spec: scale.spec_replicas.clone(),
                status: scale.status_replicas.clone(),
                selector: scale.label_selector.clone(),
            },
            None => Places {
                spec: "spec.replicas".into(),
                status: "status.replicas".into(),
                selector: None,
            },
        }
    }
}

impl Places {
    fn show(&self, object: &Value) -> Value {
        let mut metadata = Map::new();
        for field in [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
        ] {
            if let Some(value) = object["metadata"].get(field) {
                metadata.insert(field.into(), value.clone());
            }
        }
        let mut spec = Map::new();
        if let Some(replicas) = at(object, &self.spec)
            .and_then(Value::as_i64)
            .filter(|n| *n != 0)
        {
            spec.insert("replicas".into(), replicas.into());
        }
        let mut status =
            json!({"replicas": at(object, &self.status).and_then(Value::as_i64).unwrap_or(0)});
        if let Some(selector) = self
            .selector(object)
            .filter(|selector| !selector.is_empty())
        {
            status["selector"] = selector.into();
        }
        json!({
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": metadata,
            "spec": spec,
            "status": status,
        })
    }

    fn selector(&self, object: &Value) -> Option<String> {
        match &self.selector {
            Some(path) => at(object, path)?.as_str().map(str::to_owned),
            None => Some(selector_text(&object["spec"]["selector"])),
        }
    }
}

fn negative(name: &str, replicas: i64) -> ApiError {
    use crate::field_error::{FieldError, Path};
    let spec = Path::field("spec");
    let detail = "must be greater than or equal to 0";
    let error = FieldError::invalid(&spec.child("replicas"), replicas, detail);
    ApiError::invalid("autoscaling", "Scale", name, &[error])
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .try_fold(object, |value, step| value.get(step))
}

fn set_at(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for step in path.split('.') {
        if !place.is_object() {
            *place = Map::new().into();
        }
        place = &mut place[step];
    }
    *place = value;
}
