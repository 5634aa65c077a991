//! Who may refer to a resource from another namespace.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// The namespaces that may refer to a resource.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!(self.from == 'Selector' && !has(self.selector))").message("selector must be specified when from is Selector"))]
pub struct AllowedNamespaces {
    /// All of them, its own only, or those with certain labels.
    #[schemars(extend("enum" = ["All", "Same", "Selector"], "default" = "Same"))]
    pub from: Option<String>,
    /// Which labels.
    pub selector: Option<LabelSelector>,
}
