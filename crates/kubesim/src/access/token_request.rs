//! Asking for a token of a service account.

use serde_json::{Value, json};

use super::token::{self, Claims, ISSUER};
use crate::cluster::Cluster;
use crate::field_error::{FieldError, Path};
use crate::meta;
use crate::status::ApiError;

const SHORTEST: i64 = 600;
const DEFAULT: i64 = 3600;

/// Answers a TokenRequest for an account.
pub(crate) fn answer(
    cluster: &Cluster,
    account: &Value,
    mut request: Value,
) -> Result<Value, ApiError> {
    let spec = &request["spec"];
    let seconds = spec["expirationSeconds"].as_i64().unwrap_or(DEFAULT);
    if seconds < SHORTEST {
        let path = Path::field("spec");
        let path = path.child("expirationSeconds");
        let error = FieldError::invalid(
            &path,
            seconds,
            "may not specify a duration less than 10 minutes",
        );
        let kind = "TokenRequest";
        return Err(ApiError::invalid(
            "authentication.k8s.io",
            kind,
            "",
            &[error],
        ));
    }
    let mut audiences = meta::strings(spec.get("audiences"));
    if audiences.is_empty() {
        audiences.push(ISSUER);
    }
    let audiences: Vec<String> = audiences.into_iter().map(str::to_owned).collect();
    let bound = spec
        .get("boundObjectRef")
        .filter(|bound| bound.is_object())
        .cloned();
    let claims = Claims {
        account,
        audiences: audiences.clone(),
        seconds,
        bound: bound.as_ref(),
    };
    let (token, end) = token::issue(cluster, &claims);
    request["apiVersion"] = "authentication.k8s.io/v1".into();
    request["kind"] = "TokenRequest".into();
    request["metadata"] = json!({
        "name": meta::name(account),
        "namespace": meta::namespace(account),
        "creationTimestamp": cluster.timestamp(),
    });
    request["spec"]["audiences"] = json!(audiences);
    request["spec"]["expirationSeconds"] = seconds.into();
    request["spec"]["boundObjectRef"] = bound.unwrap_or(Value::Null);
    let end = end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    request["status"] = json!({"token": token, "expirationTimestamp": end});
    Ok(request)
}
