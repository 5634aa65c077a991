//! ValidatingAdmissionPolicies: rules in CEL about any resource, put in force by bindings.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Act, matching, params, question};
use crate::cel::{Declared, Expression, Variable};
use crate::meta;
use crate::status::{ApiError, Cause};
use crate::store::{Key, ResourceId};

const GROUP: &str = "admissionregistration.k8s.io";
const VARIABLES: [&str; 6] = [
    "object",
    "oldObject",
    "request",
    "params",
    "namespaceObject",
    "variables",
];

/// Refuses what a policy that is in force denies.
pub(super) fn check(act: &Act<'_>, new: Option<&Value>) -> Result<(), ApiError> {
    if &*act.resource.id.group == GROUP {
        return Ok(());
    }
    for binding in objects(act, "validatingadmissionpolicybindings") {
        let name = binding["spec"]["policyName"].as_str().unwrap_or_default();
        let key = Key::cluster(name);
        let policies = ResourceId::new(GROUP, "validatingadmissionpolicies");
        if let Some(policy) = act.cluster.store().get(&policies, &key) {
            enforce(act, &policy, &binding, new)?;
        }
    }
    Ok(())
}

fn objects(act: &Act<'_>, plural: &str) -> Vec<Arc<Value>> {
    let snapshot = act
        .cluster
        .store()
        .snapshot(&ResourceId::new(GROUP, plural));
    snapshot.objects.values().cloned().collect()
}

fn enforce(
    act: &Act<'_>,
    policy: &Value,
    binding: &Value,
    new: Option<&Value>,
) -> Result<(), ApiError> {
    let constraints = &policy["spec"]["matchConstraints"];
    let narrowed = &binding["spec"]["matchResources"];
    let all = json!([{"operations": ["*"], "apiGroups": ["*"], "resources": ["*", "*/*"]}]);
    let rules = narrowed.get("resourceRules").unwrap_or(&all);
    let concerned = matching::concerns(act, &constraints["resourceRules"], constraints, new)
        && matching::concerns(act, rules, narrowed, new);
    let denies = meta::strings(binding["spec"].get("validationActions")).contains(&"Deny");
    if !concerned || !denies {
        return Ok(());
    }
    let object = new.or(act.old).unwrap_or(&Value::Null);
    let objection = match params::of(act.cluster, &policy["spec"], &binding["spec"], object) {
        Ok(all) => all.into_iter().find_map(|params| {
            Scene::new(act, &policy["spec"], params, new).objection(&policy["spec"])
        }),
        Err(_) if policy["spec"]["failurePolicy"] == "Ignore" => None,
        Err(trouble) => Some(Objection::to_binding(&trouble)),
    };
    match objection {
        Some(objection) => Err(objection.refusal(act, policy, binding, new)),
        None => Ok(()),
    }
}

/// What a policy has against a write.
struct Objection {
    message: String,
    reason: &'static str,
}

impl Objection {
    /// A binding that cannot be followed denies everything.
    fn to_binding(trouble: &str) -> Self {
        Self {
            message: format!("failed to configure binding: {trouble}"),
            reason: "Invalid",
        }
    }

    fn refusal(
        &self,
        act: &Act<'_>,
        policy: &Value,
        binding: &Value,
        new: Option<&Value>,
    ) -> ApiError {
        let (policy, binding) = (meta::name(policy), meta::name(binding));
        let why = format!(
            "ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {}",
            self.message
        );
        let object = new.or(act.old).unwrap_or(&Value::Null);
        let mut error = ApiError::forbidden(&act.resource.id, meta::name(object), &why);
        error.reason = self.reason;
        error.code = match self.reason {
            "Unauthorized" => 401,
            "Forbidden" => 403,
            "RequestEntityTooLarge" => 413,
            _ => 422,
        };
        if let Some(details) = &mut error.details {
            details.causes.push(Cause {
                reason: "",
                message: why,
                field: String::new(),
            });
        }
        error
    }
}

/// The variables that a policy's expressions see.
struct Scene {
    values: Vec<(&'static str, Value)>,
}

impl Scene {
    fn new(act: &Act<'_>, spec: &Value, params: Value, new: Option<&Value>) -> Self {
        let object = new.or(act.old).unwrap_or(&Value::Null);
        let mut request = question::of(act, new);
        for field in ["object", "oldObject"] {
            drop(request.as_object_mut().map(|request| request.remove(field)));
        }
        let value = |value: Option<&Value>| value.cloned().unwrap_or(Value::Null);
        let mut scene = Self {
            values: vec![
                ("object", value(new)),
                ("oldObject", value(act.old)),
                ("request", request),
                ("params", params),
                ("namespaceObject", matching::namespace_of(act, object)),
                ("variables", Map::new().into()),
            ],
        };
        for variable in spec["variables"].as_array().into_iter().flatten() {
            let name = variable["name"].as_str().unwrap_or_default();
            // One that cannot be worked out is missed where it is used.
            if let Ok(value) = scene.evaluate(&variable["expression"]) {
                scene.set_variable(name, value);
            }
        }
        scene
    }

    fn set_variable(&mut self, name: &str, value: Value) {
        if let Some((_, variables)) = self.values.last_mut() {
            variables[name] = value;
        }
    }

    fn evaluate(&self, expression: &Value) -> Result<Value, String> {
        let text = expression.as_str().unwrap_or_default();
        let declared: Vec<(&str, Declared)> = VARIABLES
            .iter()
            .map(|name| (*name, Declared::any()))
            .collect();
        let expression = Expression::compile(text, &declared)?;
        let values: Vec<(&str, Variable<'_>)> = self
            .values
            .iter()
            .map(|(name, value)| (*name, Variable::Plain(value, None)))
            .collect();
        expression.evaluate(&values)
    }

    /// The first thing that a policy has against the write.
    fn objection(&self, spec: &Value) -> Option<Objection> {
        let conditions = spec["matchConditions"].as_array().into_iter().flatten();
        for condition in conditions {
            if self.evaluate(&condition["expression"]) != Ok(Value::Bool(true)) {
                return None;
            }
        }
        let ignores = spec["failurePolicy"] == "Ignore";
        let validations = spec["validations"].as_array().into_iter().flatten();
        let mut objections =
            validations.filter_map(
                |validation| match self.evaluate(&validation["expression"]) {
                    Ok(Value::Bool(true)) => None,
                    Ok(_) => Some(self.words(validation)),
                    Err(_) if ignores => None,
                    Err(trouble) => {
                        let expression = validation["expression"].as_str().unwrap_or_default();
                        let message =
                            format!("expression '{expression}' resulted in error: {trouble}");
                        Some(Objection {
                            message,
                            reason: "Invalid",
                        })
                    }
                },
            );
        objections.next()
    }

    fn words(&self, validation: &Value) -> Objection {
        let made = validation
            .get("messageExpression")
            .and_then(|expression| self.evaluate(expression).ok())
            .and_then(|message| message.as_str().map(|message| message.trim().to_owned()))
            .filter(|message| !message.is_empty());
        let expression = validation["expression"].as_str().unwrap_or_default().trim();
        let plain = || match validation["message"].as_str() {
            Some(message) if !message.is_empty() => message.trim().to_owned(),
            _ => format!("failed expression: {expression}"),
        };
        let reason = match validation["reason"].as_str() {
            Some("Unauthorized") => "Unauthorized",
            Some("Forbidden") => "Forbidden",
            Some("RequestEntityTooLarge") => "RequestEntityTooLarge",
            _ => "Invalid",
        };
        Objection {
            message: made.unwrap_or_else(plain),
            reason,
        }
    }
}
