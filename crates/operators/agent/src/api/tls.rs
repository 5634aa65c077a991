//! How the certificate of another server is checked.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// How the certificate of another server is checked.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(
    validation = Rule::new("!(has(self.caCertSecretKey) && size(self.caCertSecretKey) > 0 && (!has(self.caCertSecretRef) || size(self.caCertSecretRef) == 0))").message("caCertSecretKey requires caCertSecretRef"),
    validation = Rule::new("!(has(self.caCertSecretRef) && size(self.caCertSecretRef) > 0 && (!has(self.caCertSecretKey) || size(self.caCertSecretKey) == 0))").message("caCertSecretRef requires caCertSecretKey"),
    validation = Rule::new("!(has(self.disableSystemCAs) && self.disableSystemCAs && (!has(self.disableVerify) || !self.disableVerify) && (!has(self.caCertSecretRef) || size(self.caCertSecretRef) == 0))").message("disableSystemCAs requires caCertSecretRef or disableVerify (trust-nothing config rejects every upstream)"),
)]
#[serde(rename_all = "camelCase")]
pub struct TlsConfig {
    /// Not at all.
    #[schemars(extend("default" = false))]
    pub disable_verify: Option<bool>,
    /// By the certificates in this Secret.
    pub ca_cert_secret_ref: Option<String>,
    /// Under this key.
    pub ca_cert_secret_key: Option<String>,
    /// And by no others.
    #[serde(rename = "disableSystemCAs")]
    #[schemars(extend("default" = false))]
    pub disable_system_cas: Option<bool>,
}
