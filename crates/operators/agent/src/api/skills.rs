//! Skills: folders that are loaded into an agent before it starts.

use k8s_openapi::api::core::v1::{EnvVar, LocalObjectReference, ResourceRequirements};
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use super::quantities;

/// Skills from images, repositories and buckets.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("has(self.refs) || has(self.gitRefs) || has(self.s3Refs)").message("at least one of refs, gitRefs and s3Refs must be specified"))]
#[serde(rename_all = "camelCase")]
pub struct Skills {
    /// Whether registries without a trusted certificate are used.
    pub insecure_skip_verify: Option<bool>,
    /// Images.
    #[schemars(length(min = 1, max = 20))]
    pub refs: Option<Vec<String>>,
    /// Secrets for pulling them.
    #[schemars(length(max = 20))]
    pub image_pull_secrets: Option<Vec<LocalObjectReference>>,
    /// A Secret with a `token` or an `ssh-privatekey`, for all repositories.
    pub git_auth_secret_ref: Option<LocalObjectReference>,
    /// Repositories.
    #[schemars(length(min = 1, max = 20))]
    pub git_refs: Option<Vec<GitRef>>,
    /// Buckets.
    #[schemars(length(min = 1, max = 20))]
    pub s3_refs: Option<Vec<S3Ref>>,
    /// The container that fetches them.
    pub init_container: Option<SkillsContainer>,
}

/// A folder of a repository.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GitRef {
    /// The repository, by HTTPS or SSH.
    pub url: String,
    /// A branch, a tag or a commit.
    #[schemars(extend("default" = "main"))]
    pub r#ref: Option<String>,
    /// The folder in it.
    pub path: Option<String>,
    /// What the folder is called under `/skills`.
    pub name: Option<String>,
}

/// A folder or an archive in a bucket.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct S3Ref {
    /// Where it is.
    #[schemars(extend("pattern" = "^s3://"))]
    pub uri: String,
    /// The region of the bucket.
    pub region: Option<String>,
    /// What the folder is called under `/skills`.
    pub name: Option<String>,
}

/// The container that fetches skills.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillsContainer {
    /// What it may use.
    #[serde(default, deserialize_with = "quantities::as_text")]
    pub resources: Option<ResourceRequirements>,
    /// Its environment variables.
    pub env: Option<Vec<EnvVar>>,
}
