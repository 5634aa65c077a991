//! Objects of a cluster, seen and changed by somebody who is no agent.

use kube::api::{
    ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    PostParams,
};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::wait::until;

/// One ConfigMap with one value.
pub fn map(namespace: &str, name: &str, value: &str) -> String {
    let head = format!("metadata: {{name: {name}, namespace: {namespace}}}");
    format!("---\napiVersion: v1\nkind: ConfigMap\n{head}\ndata: {{value: {value:?}}}\n")
}

/// A namespace and so many ConfigMaps in it, `m0` and on.
pub fn maps(namespace: &str, count: usize) -> String {
    let maps = (0..count).map(|number| map(namespace, &format!("m{number}"), "1"));
    space(namespace) + &maps.collect::<String>()
}

/// A namespace.
pub fn space(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
}

/// The objects of one kind in one place.
#[derive(Clone)]
pub struct Objects {
    api: Api<DynamicObject>,
    resource: ApiResource,
    namespace: Option<String>,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects")
            .field("kind", &self.resource.kind)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl Objects {
    pub(crate) fn new(client: Client, version: &str, kind: &str, namespace: Option<&str>) -> Self {
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let api = match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        };
        let namespace = namespace.map(str::to_owned);
        Self {
            api,
            resource,
            namespace,
        }
    }

    /// One object, if it exists.
    pub async fn get(&self, name: &str) -> Option<Value> {
        match self.api.get(name).await {
            Ok(object) => Some(serde_json::to_value(object).unwrap()),
            // Its kind may be gone too.
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("get {name}: {error}"),
        }
    }

    /// What a pointer finds in one object.
    pub async fn at(&self, name: &str, pointer: &str) -> Option<Value> {
        self.get(name).await?.pointer(pointer).cloned()
    }

    /// The names of all.
    pub async fn names(&self) -> Vec<String> {
        let all = self.api.list(&ListParams::default()).await.unwrap();
        let mut names: Vec<_> = all
            .into_iter()
            .filter_map(|one| one.metadata.name)
            .collect();
        names.sort();
        names
    }

    /// Makes one by hand.
    pub async fn make(&self, name: &str, content: Value) {
        let mut object = content;
        object["apiVersion"] = self.resource.api_version.clone().into();
        object["kind"] = self.resource.kind.clone().into();
        object["metadata"]["name"] = name.into();
        let object: DynamicObject = serde_json::from_value(object).unwrap();
        let by_hand = PostParams {
            field_manager: Some("by-hand".to_owned()),
            ..PostParams::default()
        };
        self.api.create(&by_hand, &object).await.unwrap();
    }

    /// Merges something in, as somebody called `by-hand`.
    pub async fn merge(&self, name: &str, content: Value) {
        let by_hand = PatchParams {
            field_manager: Some("by-hand".to_owned()),
            ..PatchParams::default()
        };
        self.api
            .patch(name, &by_hand, &Patch::Merge(content))
            .await
            .unwrap();
    }

    /// Merges something into its status, as its controller would.
    pub async fn merge_status(&self, name: &str, content: Value) {
        let (params, content) = (PatchParams::default(), Patch::Merge(content));
        let patched = self.api.patch_status(name, &params, &content).await;
        patched.unwrap();
    }

    /// Deletes one by hand.
    pub async fn delete(&self, name: &str) {
        self.api
            .delete(name, &DeleteParams::default())
            .await
            .unwrap();
    }

    /// Waits until a pointer finds this value.
    pub async fn becomes(&self, name: &str, pointer: &str, value: &str) {
        let what = format!("{pointer} of {} {name} to be {value}", self.resource.kind);
        let wanted = json!(value);
        until(&what, async || {
            (self.at(name, pointer).await.as_ref() == Some(&wanted)).then_some(())
        })
        .await;
    }

    /// Waits until it does not exist.
    pub async fn is_gone(&self, name: &str) {
        let what = format!("{} {name} to be gone", self.resource.kind);
        until(&what, async || self.get(name).await.is_none().then_some(())).await;
    }
}
