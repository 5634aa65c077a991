//! Questions about rights that are asked as objects, and never stored.

use serde_json::{Map, Value, json};

use super::User;
use super::attributes::Attributes;
use super::authorize::{self, Decision};
use super::rule::Rule;
use super::{authenticate, token};
use crate::cluster::Cluster;
use crate::field_error::{FieldError, Path};
use crate::meta;
use crate::registry::ResourceType;
use crate::status::ApiError;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Review {
    /// May I?
    OwnAccess,
    /// May somebody?
    Access,
    /// What may I?
    OwnRules,
    /// Who am I?
    Own,
    /// Whose token is this?
    Token,
}

impl Review {
    /// The question that objects of a resource are, if they are one.
    pub(crate) fn of(resource: &ResourceType) -> Option<Self> {
        let known = match (&*resource.id.group, &*resource.id.plural) {
            ("authorization.k8s.io", "selfsubjectaccessreviews") => Self::OwnAccess,
            ("authorization.k8s.io", "subjectaccessreviews" | "localsubjectaccessreviews") => {
                Self::Access
            }
            ("authorization.k8s.io", "selfsubjectrulesreviews") => Self::OwnRules,
            ("authentication.k8s.io", "selfsubjectreviews") => Self::Own,
            ("authentication.k8s.io", "tokenreviews") => Self::Token,
            _ => return None,
        };
        Some(known)
    }

    /// The same object with its answer.
    pub(crate) fn answer(
        self,
        cluster: &Cluster,
        user: &User,
        mut object: Value,
    ) -> Result<Value, ApiError> {
        let spec = &object["spec"];
        object["status"] = match self {
            Self::OwnAccess => access(cluster, user, &object)?,
            Self::Access => {
                check_subject(spec)?;
                access(cluster, &subject(spec), &object)?
            }
            Self::OwnRules => {
                let namespace = spec["namespace"].as_str().unwrap_or_default();
                if namespace.is_empty() {
                    return Err(ApiError::bad_request("no namespace on request"));
                }
                let rules = own_rules(cluster, user, namespace);
                // The question is not repeated in the answer.
                object["spec"] = json!({});
                rules
            }
            Self::Own => json!({"userInfo": user.to_value()}),
            Self::Token => token_status(cluster, spec),
        };
        Ok(object)
    }
}

fn access(cluster: &Cluster, user: &User, object: &Value) -> Result<Value, ApiError> {
    let spec = &object["spec"];
    let Some(attributes) = Attributes::of_review(spec) else {
        let path = Path::field("spec");
        let path = path.child("resourceAttributes");
        let words = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        let error = FieldError::invalid(&path, Value::Null, words);
        return Err(invalid(&error));
    };
    Ok(status(&authorize::decide(cluster, user, &attributes)))
}

/// A real server does not know what kind of object it complains of here.
fn invalid(error: &FieldError) -> ApiError {
    ApiError::invalid("authorization.k8s.io", "", "", std::slice::from_ref(error))
}

fn check_subject(spec: &Value) -> Result<(), ApiError> {
    let named = spec["user"].as_str().is_some_and(|name| !name.is_empty());
    let grouped = spec["groups"]
        .as_array()
        .is_some_and(|groups| !groups.is_empty());
    if named || grouped {
        return Ok(());
    }
    let path = Path::field("spec");
    let path = path.child("user");
    let error = FieldError::invalid(&path, "", "at least one of user or group must be specified");
    Err(invalid(&error))
}

fn subject(spec: &Value) -> User {
    let mut user = User::named(spec["user"].as_str().unwrap_or_default());
    let groups = meta::strings(spec.get("groups"));
    user.groups = groups.into_iter().map(str::to_owned).collect();
    user
}

fn status(decision: &Decision) -> Value {
    let mut status = Map::new();
    status.insert("allowed".into(), decision.allowed.into());
    for (field, text) in [
        ("reason", &decision.reason),
        ("evaluationError", &decision.trouble),
    ] {
        if !text.is_empty() {
            status.insert(field.into(), text.as_str().into());
        }
    }
    status.into()
}

fn own_rules(cluster: &Cluster, user: &User, namespace: &str) -> Value {
    let mut rules = authorize::rules(cluster, user, namespace);
    if user.is_master() || cluster.rights().is_none() {
        let all = || vec!["*".to_owned()];
        rules = vec![
            Rule {
                verbs: all(),
                api_groups: all(),
                resources: all(),
                ..Rule::default()
            },
            Rule {
                verbs: all(),
                non_resource_urls: all(),
                ..Rule::default()
            },
        ];
    }
    let (paths, resources): (Vec<Rule>, Vec<Rule>) = rules
        .into_iter()
        .partition(|rule| !rule.non_resource_urls.is_empty());
    json!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false})
}

fn token_status(cluster: &Cluster, spec: &Value) -> Value {
    let text = spec["token"].as_str().unwrap_or_default();
    let audiences: Vec<String> = meta::strings(spec.get("audiences"))
        .into_iter()
        .map(str::to_owned)
        .collect();
    let user = match audiences.is_empty() {
        true => authenticate::by_token(cluster, text),
        false => token::read(cluster, text, Some(&audiences)),
    };
    match user {
        Some(user) => {
            let audiences = if audiences.is_empty() {
                vec![token::ISSUER.to_owned()]
            } else {
                audiences
            };
            json!({"authenticated": true, "user": user.to_value(), "audiences": audiences})
        }
        None => json!({
            "user": {},
            "error": "[invalid bearer token, token lookup failed]",
        }),
    }
}
