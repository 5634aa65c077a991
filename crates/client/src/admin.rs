//! Keys, the audit log and background work.

use evenkeel_api::{AuditPage, Bearer, Key, MintedKey, NewKey, PakOwner, TaskStatus};
use evenkeel_model::{Action, KeyId};
use reqwest::Method;

use crate::client::read;
use crate::{Client, Result};

impl Client {
    /// Who the bearer of this client's key is.
    pub async fn auth_pak(&self) -> Result<Bearer> {
        self.post(&["auth", "pak"], &()).await
    }

    /// Those who write with keys of their own.
    pub async fn pak_list(&self) -> Result<Vec<PakOwner>> {
        self.get(&["paks"]).await
    }

    /// The keys that open something.
    pub async fn key_list(&self) -> Result<Vec<Key>> {
        self.get(&["keys"]).await
    }

    /// Mints a key for a person.
    pub async fn key_create(&self, new: &NewKey) -> Result<MintedKey> {
        self.post(&["keys"], new).await
    }

    /// Revokes a key.
    pub async fn key_revoke(&self, id: KeyId) -> Result<()> {
        self.delete(&["keys", &id.to_string()]).await
    }

    /// The newest lines of the audit log, of one action or of all.
    pub async fn audit_list(&self, action: Option<Action>, limit: u32) -> Result<AuditPage> {
        let request = self.request(Method::GET, &["admin", "audit-logs"]);
        read(
            request
                .query(&[("limit", limit)])
                .query(&action.map(|action| ("action", action.as_str())).as_slice()),
        )
        .await
    }

    /// Background work of the broker and how it last went.
    pub async fn task_list(&self) -> Result<Vec<TaskStatus>> {
        self.get(&["admin", "tasks"]).await
    }
}
