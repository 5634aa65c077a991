//! `RemoteMCPServer`: a server of tools at some address.

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::namespaces::AllowedNamespaces;
use super::status::RemoteMCPServerStatus;
use super::tls::TlsConfig;
use super::values::ValueRef;

/// The desired state of a remote MCP server.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "kagent.dev",
    version = "v1alpha2",
    kind = "RemoteMCPServer",
    plural = "remotemcpservers",
    namespaced,
    shortname = "rmcps",
    category = "kagent",
    status = "RemoteMCPServerStatus",
    derive = "PartialEq",
    doc = "A server of tools at some address.",
    printcolumn = r#"{"name":"Protocol","type":"string","jsonPath":".spec.protocol"}"#,
    printcolumn = r#"{"name":"URL","type":"string","jsonPath":".spec.url"}"#,
    printcolumn = r#"{"name":"Accepted","type":"string","jsonPath":".status.conditions[?(@.type=='Accepted')].status"}"#
)]
#[x_kube(
    validation = Rule::new("!(self.url.startsWith('http://') && has(self.tls))").message("tls may not be set for an http:// url"),
    validation = Rule::new("!(has(self.allowedNamespaces) && has(self.allowedNamespaces.from) && self.allowedNamespaces.from != 'Same' && has(self.tls) && has(self.tls.caCertSecretRef) && size(self.tls.caCertSecretRef) > 0)").message("tls.caCertSecretRef may not be set if allowedNamespaces lets in other namespaces"),
)]
#[serde(rename_all = "camelCase")]
pub struct RemoteMCPServerSpec {
    /// What it is for.
    pub description: String,
    /// How it is spoken to.
    #[schemars(extend("enum" = ["SSE", "STREAMABLE_HTTP"], "default" = "STREAMABLE_HTTP"))]
    pub protocol: Option<String>,
    /// Where it is.
    #[schemars(length(min = 1))]
    pub url: String,
    /// Headers of the requests to it, from its own namespace.
    pub headers_from: Option<Vec<ValueRef>>,
    /// How long a request may take.
    #[schemars(extend("default" = "30s"))]
    pub timeout: Option<String>,
    /// How long a stream may be silent.
    pub sse_read_timeout: Option<String>,
    /// Whether the session is ended when the connection closes.
    #[schemars(extend("default" = true))]
    pub terminate_on_close: Option<bool>,
    /// Which namespaces may use it.
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// How its certificate is checked.
    pub tls: Option<TlsConfig>,
}
