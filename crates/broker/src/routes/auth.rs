//! Who the caller is, and keys.

use axum::Json as Answer;
use axum::extract::State;
use evenkeel_api::{Bearer, Key, MintedKey, NewKey, PakOwner};
use evenkeel_model::KeyId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Result;
use crate::extract::{Json, Path};
use crate::respond::{Created, Done};

/// Who the bearer of the key is.
#[utoipa::path(post, path = "/auth/pak", tag = "auth",
    responses((status = 200, body = Bearer)))]
pub(crate) async fn auth_pak(caller: Caller) -> Answer<Bearer> {
    Answer(caller.role.into())
}

/// Those who write with keys of their own.
#[utoipa::path(get, path = "/paks", tag = "auth",
    responses((status = 200, body = Vec<PakOwner>)))]
pub(crate) async fn pak_list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Answer<Vec<PakOwner>>> {
    app.pak_list(&caller).await.map(Answer)
}

/// The keys that open something, without their secrets.
#[utoipa::path(get, path = "/keys", tag = "auth",
    responses((status = 200, body = Vec<Key>)))]
pub(crate) async fn key_list(State(app): State<App>, caller: Caller) -> Result<Answer<Vec<Key>>> {
    app.key_list(&caller).await.map(Answer)
}

/// Mints a key for a person. It is shown this once.
#[utoipa::path(post, path = "/keys", tag = "auth", request_body = NewKey,
    responses((status = 201, body = MintedKey)))]
pub(crate) async fn key_create(
    State(app): State<App>,
    caller: Caller,
    Json(new): Json<NewKey>,
) -> Result<Created<MintedKey>> {
    app.key_create(&caller, new).await.map(Created)
}

/// Revokes a key, on every broker at once.
#[utoipa::path(delete, path = "/keys/{id}", tag = "auth", params(("id" = KeyId, Path)),
    responses((status = 204)))]
pub(crate) async fn key_revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<KeyId>,
) -> Result<Done> {
    app.key_revoke(&caller, id).await.map(|()| Done)
}
