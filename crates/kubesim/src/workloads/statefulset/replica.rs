//! One numbered pod of a stateful set, and its claims.

use serde_json::{Value, json};

use super::Round;
use crate::meta;
use crate::status::ApiError;
use crate::store::Key;
use crate::workloads::desk::{CLAIMS, PODS, STATEFUL_SETS};
use crate::workloads::pod;
use crate::workloads::revisions::LABEL;

impl Round<'_> {
    pub(super) fn create(&self, number: i64) -> Result<(), ApiError> {
        self.create_claims(number)?;
        let name = self.name(number);
        let created = self.desk.create(PODS, self.draft(number));
        let (reason, message) = match &created {
            Ok(_) => ("SuccessfulCreate", "successful".to_owned()),
            Err(error) => ("FailedCreate", format!("failed error: {error}")),
        };
        let set = meta::name(self.set);
        let message = format!("create Pod {name} in StatefulSet {set} {message}");
        match created {
            Ok(_) => self.desk.event(STATEFUL_SETS, self.set, reason, &message),
            Err(_) => self.desk.warn(STATEFUL_SETS, self.set, reason, &message),
        }
        created.map(drop)
    }

    fn name(&self, number: i64) -> String {
        format!("{}-{number}", meta::name(self.set))
    }

    fn draft(&self, number: i64) -> Value {
        let revision = self.revision_for(number);
        let template = self.history.template(revision);
        let template = template.unwrap_or_else(|| self.set["spec"]["template"].clone());
        let name = self.name(number);
        let mut pod = pod::from_template(&template, STATEFUL_SETS, self.set);
        pod["metadata"]["name"] = name.as_str().into();
        let labels = &mut pod["metadata"]["labels"];
        labels["statefulset.kubernetes.io/pod-name"] = name.as_str().into();
        labels["apps.kubernetes.io/pod-index"] = number.to_string().into();
        labels[LABEL] = revision.into();
        pod["spec"]["hostname"] = name.into();
        if let Some(service) = self.set["spec"].get("serviceName") {
            pod["spec"]["subdomain"] = service.clone();
        }
        self.mount(&mut pod, number);
        pod
    }

    /// Pods below the partition keep the older template.
    fn revision_for(&self, number: i64) -> &str {
        let rolling = &self.set["spec"]["updateStrategy"]["rollingUpdate"];
        let partition = rolling["partition"].as_i64().unwrap_or(0);
        match number < self.numbers().start + partition {
            true => &self.current,
            false => &self.update,
        }
    }

    fn templates(&self) -> impl Iterator<Item = &Value> {
        let templates = self.set["spec"]["volumeClaimTemplates"].as_array();
        templates.into_iter().flatten()
    }

    fn claim_name(&self, template: &Value, number: i64) -> String {
        format!("{}-{}", meta::name(template), self.name(number))
    }

    fn mount(&self, pod: &mut Value, number: i64) {
        let claimed = |template: &Value| {
            json!({
                "name": meta::name(template),
                "persistentVolumeClaim": {"claimName": self.claim_name(template, number)},
            })
        };
        let mut volumes: Vec<Value> = self.templates().map(claimed).collect();
        let others = pod["spec"]["volumes"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let is_new = |other: &Value| volumes.iter().all(|known| known["name"] != other["name"]);
        let others: Vec<Value> = others.into_iter().filter(is_new).collect();
        volumes.extend(others);
        if !volumes.is_empty() {
            pod["spec"]["volumes"] = volumes.into();
        }
    }

    /// Creates the claims of a pod that are not there. They outlive the pod.
    pub(super) fn create_claims(&self, number: i64) -> Result<(), ApiError> {
        let namespace = meta::namespace(self.set);
        for template in self.templates() {
            let name = self.claim_name(template, number);
            if self
                .desk
                .get(CLAIMS, &Key::namespaced(namespace, &name))
                .is_some()
            {
                continue;
            }
            let mut claim = json!({"metadata": template["metadata"], "spec": template["spec"]});
            claim["metadata"]["name"] = name.into();
            claim["metadata"]["namespace"] = namespace.into();
            let labels = self.set["spec"]["selector"]["matchLabels"].as_object();
            for (key, value) in labels.into_iter().flatten() {
                claim["metadata"]["labels"][key] = value.clone();
            }
            self.desk.create(CLAIMS, claim)?;
        }
        Ok(())
    }
}
