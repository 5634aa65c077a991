//! Deleting an object, or all that are selected.

use serde_json::Value;

use super::present::ListMetadata;
use super::{Call, Removed, Writing};
use crate::meta;
use crate::reply::Reply;
use crate::request::{self, DeleteOptions, ListOptions};
use crate::status::{self, ApiError};
use crate::store::{Key, Object};

impl Call<'_> {
    pub(super) fn delete(&self, name: &str) -> Result<Reply, ApiError> {
        let options = self.delete_options()?;
        let removed = self
            .deleting(options.dry_run)
            .delete(&self.key(name), &options)?;
        Ok(match removed {
            Removed::Pending(object) => self.shown(200, &object),
            Removed::Gone(object, end) if self.resource.answers_deleted_object() => {
                let mut object = Value::clone(&object);
                meta::set(&mut object, "resourceVersion", end.to_string());
                self.shown(200, &object)
            }
            Removed::Gone(object, _) => Reply::ok(&status::deleted(
                &self.resource.id,
                name,
                meta::uid(&object),
            )),
        })
    }

    pub(super) fn delete_collection(&self) -> Result<Reply, ApiError> {
        let options = self.delete_options()?;
        let list = ListOptions::read(&self.request.query, &self.resource.field_labels)?;
        let snapshot = self.cluster.store().snapshot(&self.resource.stored);
        let selected: Vec<(&Key, &Object)> = snapshot
            .in_namespace(self.path.namespace.as_deref())
            .filter(|(_, object)| list.selectors.matches(object))
            .collect();
        for (key, _) in &selected {
            match self.deleting(options.dry_run).delete(key, &options) {
                Ok(_) => {}
                // Gone already is as good.
                Err(error) if error.code == 404 => {}
                Err(error) => return Err(error),
            }
        }
        let metadata = ListMetadata {
            resource_version: snapshot.revision.to_string(),
            ..ListMetadata::default()
        };
        let objects = selected.iter().map(|(_, object)| &***object as &Value);
        Ok(self.shown_list(metadata, objects))
    }

    fn delete_options(&self) -> Result<DeleteOptions, ApiError> {
        let body = if self.request.body.is_empty() {
            None
        } else {
            Some(request::decode(&self.request.content_type, &self.request.body)?.value)
        };
        DeleteOptions::read(&self.request.query, body)
    }

    pub(super) fn deleting(&self, dry_run: bool) -> Writing<'_> {
        Writing {
            cluster: self.cluster,
            resource: &self.stored,
            subresource: "",
            manager: &self.default_manager,
            dry_run,
            actor: self.user,
        }
    }
}
