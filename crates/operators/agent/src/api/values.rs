//! Values that are written down elsewhere.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

/// A named value, here or elsewhere.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("(has(self.value) && !has(self.valueFrom)) || (!has(self.value) && has(self.valueFrom))").message("Exactly one of value or valueFrom must be specified"))]
#[serde(rename_all = "camelCase")]
pub struct ValueRef {
    /// Its name.
    pub name: String,
    /// The value itself.
    pub value: Option<String>,
    /// Where the value is.
    pub value_from: Option<ValueSource>,
}

/// One entry of a ConfigMap or Secret.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueSource {
    /// Which of the two.
    #[schemars(extend("enum" = ["ConfigMap", "Secret"]))]
    pub r#type: String,
    /// Its name.
    #[schemars(length(max = 253))]
    pub name: String,
    /// The entry.
    #[schemars(length(max = 253))]
    pub key: String,
}
