//! OpenAI, and all who speak its protocol.

use k8s_openapi::api::core::v1::{SecretVolumeSource, Volume, VolumeMount};
use serde::Serialize;

use super::{Model, Own, base, number, positive, set_key};
use crate::api::ModelConfigSpec;
use crate::translate::parts::PodParts;

const CREDENTIALS: &str = "gdch-creds";
const CREDENTIALS_PATH: &str = "/gdch-creds";
const GDCH: &str = "GDCHServiceAccount";

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Fields {
    /// Written even when empty.
    pub(super) base_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_exchange: Option<TokenExchange>,
}

#[derive(Debug, Clone, Serialize)]
struct TokenExchange {
    r#type: &'static str,
    gdch_service_account: GdchServiceAccount,
}

#[derive(Debug, Clone, Serialize)]
struct GdchServiceAccount {
    service_account_path: String,
    audience: String,
}

pub(super) fn translate(spec: &ModelConfigSpec, parts: &mut PodParts) -> Model {
    let exchange = spec
        .open_ai
        .as_ref()
        .and_then(|own| own.token_exchange.as_ref());
    if exchange.is_none() {
        set_key("OPENAI_API_KEY", spec, parts);
    }
    let token_exchange = exchange
        .filter(|exchange| exchange.r#type == GDCH)
        .and_then(|exchange| exchange.gdch_service_account.as_ref())
        .map(|account| exchanged(spec, account.audience.clone(), parts));
    let own = Fields {
        token_exchange,
        ..fields(spec)
    };
    set_organization(spec, parts);
    base("openai", spec, Own::OpenAi(Box::new(own)))
}

fn fields(spec: &ModelConfigSpec) -> Fields {
    let Some(own) = &spec.open_ai else {
        return Fields::default();
    };
    Fields {
        base_url: own.base_url.clone().unwrap_or_default(),
        frequency_penalty: number(own.frequency_penalty.as_ref()),
        max_tokens: positive(own.max_tokens),
        max_completion_tokens: positive(own.max_completion_tokens),
        n: own.n,
        presence_penalty: number(own.presence_penalty.as_ref()),
        reasoning_effort: own.reasoning_effort.clone(),
        seed: own.seed,
        temperature: number(own.temperature.as_ref()),
        timeout: own.timeout,
        top_p: number(own.top_p.as_ref()),
        token_exchange: None,
    }
}

fn set_organization(spec: &ModelConfigSpec, parts: &mut PodParts) {
    let organization = spec
        .open_ai
        .as_ref()
        .and_then(|own| own.organization.as_deref());
    if let Some(organization) = organization.filter(|name| !name.is_empty()) {
        parts.set("OPENAI_ORGANIZATION", organization);
    }
}

/// The Secret with the key holds a service account, which pods read as a file.
fn exchanged(spec: &ModelConfigSpec, audience: String, parts: &mut PodParts) -> TokenExchange {
    let key = spec.api_key_secret_key.as_deref().unwrap_or_default();
    let source = SecretVolumeSource {
        secret_name: spec.api_key_secret.clone(),
        default_mode: Some(0o444),
        ..SecretVolumeSource::default()
    };
    parts.add_volume(Volume {
        name: CREDENTIALS.to_owned(),
        secret: Some(source),
        ..Volume::default()
    });
    parts.add_mount(VolumeMount {
        name: CREDENTIALS.to_owned(),
        mount_path: CREDENTIALS_PATH.to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    });
    TokenExchange {
        r#type: GDCH,
        gdch_service_account: GdchServiceAccount {
            service_account_path: format!("{CREDENTIALS_PATH}/{key}"),
            audience,
        },
    }
}
