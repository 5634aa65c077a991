//! Keys: for people, and revoking anybody's.

use evenkeel_api::{Key, KeyRole, MintedKey, NewKey};
use evenkeel_model::{KeyId, NewKey as New, Role};

use crate::app::Core;
use crate::auth::Caller;
use crate::error::{ApiError, Result};

impl Core {
    pub(crate) async fn key_list(&self, caller: &Caller) -> Result<Vec<Key>> {
        caller.operator()?;
        Ok(self
            .store
            .key_list()
            .await?
            .into_iter()
            .map(Into::into)
            .collect())
    }

    pub(crate) async fn key_create(&self, caller: &Caller, new: NewKey) -> Result<MintedKey> {
        caller.operator()?;
        let minted = self.mint();
        let role = match new.role {
            KeyRole::Admin => Role::Admin,
            KeyRole::Readonly => Role::Readonly,
        };
        let new = New {
            role,
            material: minted.material,
            description: new.description,
            expires_at: new.expires_at,
        };
        let key = self.store.key_create(&caller.actor, new).await?;
        Ok(MintedKey {
            key: key.into(),
            pak: minted.text,
        })
    }

    pub(crate) async fn key_revoke(&self, caller: &Caller, id: KeyId) -> Result<()> {
        caller.operator()?;
        if id == caller.key {
            let text = "a key cannot revoke itself: nobody might be left to mint another";
            return Err(ApiError::unprocessable("own_key", text));
        }
        Ok(self.store.key_revoke(&caller.actor, id).await?)
    }
}
