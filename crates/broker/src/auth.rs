//! Who is calling, and what they may do.
//!
//! One middleware finds out who the caller is; handlers then say, in a word, who may go on. A
//! read-only key reads what an administrator reads, so no handler needs to know of it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use evenkeel_model::{Action, Actor, ActorKind, AgentId, GeneratorId, KeyId, Role, Stack};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};

use crate::app::App;
use crate::bucket::Rate;
use crate::error::{ApiError, Result};
use crate::fleet::KnownKey;
use crate::pak::Presented;
use crate::server::Resumed;

/// Whoever makes a request, once they have proved who they are.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) role: Role,
    pub(crate) key: KeyId,
    pub(crate) short_token: String,
    pub(crate) actor: Actor,
}

impl Caller {
    fn new(known: &KnownKey, from: From<'_>) -> Self {
        let key = &known.key;
        let who = match key.role {
            Role::Admin | Role::Readonly => Actor::of(ActorKind::Admin, Some(key.id.0)),
            Role::Agent(id) => Actor::agent(id),
            Role::Generator(id) => Actor::generator(id),
        };
        Self {
            role: key.role,
            key: key.id,
            short_token: key.short_token.clone(),
            actor: from.mark(who),
        }
    }

    /// Whether they speak for no tenant and no agent. A read-only key that came this far reads.
    pub(crate) const fn is_operator(&self) -> bool {
        matches!(self.role, Role::Admin | Role::Readonly)
    }

    /// Operators may go on.
    pub(crate) fn operator(&self) -> Result<()> {
        self.allow(
            self.is_operator(),
            "admin_required",
            "only an administrator may do this",
        )
    }

    /// Operators and this agent may go on.
    pub(crate) fn agent(&self, id: AgentId) -> Result<()> {
        let allowed = self.is_operator() || self.role == Role::Agent(id);
        self.allow(allowed, "agent_required", "only this agent may do this")
    }

    /// Only this agent may go on.
    pub(crate) fn agent_itself(&self, id: AgentId) -> Result<()> {
        self.allow(
            self.role == Role::Agent(id),
            "agent_required",
            "only this agent may do this",
        )
    }

    /// Operators and this generator may go on.
    pub(crate) fn generator(&self, id: GeneratorId) -> Result<()> {
        let allowed = self.is_operator() || self.role == Role::Generator(id);
        self.allow(
            allowed,
            "generator_required",
            "only this generator may do this",
        )
    }

    /// Operators and the owner of the stack may go on.
    pub(crate) fn owner(&self, stack: &Stack) -> Result<()> {
        self.generator(stack.generator_id)
    }

    /// Everybody but agents may go on; generators see only what is theirs.
    pub(crate) fn tenant(&self) -> Result<Option<GeneratorId>> {
        match self.role {
            Role::Admin | Role::Readonly => Ok(None),
            Role::Generator(id) => Ok(Some(id)),
            Role::Agent(_) => Err(ApiError::forbidden(
                "generator_required",
                "agents may not do this",
            )),
        }
    }

    fn allow(&self, allowed: bool, code: &'static str, message: &str) -> Result<()> {
        if allowed {
            Ok(())
        } else {
            Err(ApiError::forbidden(code, message))
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(unauthenticated)
    }
}

/// Where a request comes from.
#[derive(Clone, Copy)]
struct From<'a> {
    address: Option<IpAddr>,
    program: Option<&'a str>,
}

impl<'a> From<'a> {
    fn of(request: &'a Parts) -> Self {
        let peer = request.extensions.get::<ConnectInfo<SocketAddr>>();
        let program = request.headers.get(header::USER_AGENT);
        Self {
            address: peer.map(|peer| peer.0.ip()),
            program: program.and_then(|value| value.to_str().ok()),
        }
    }

    fn mark(self, mut actor: Actor) -> Actor {
        actor.ip_address = self.address.map(|address| address.to_string());
        actor.user_agent = self.program.map(str::to_owned);
        actor
    }
}

/// Lets through who can prove who they are, within their share, and within what their key is for.
pub(crate) async fn authenticate(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match identify(&app, &parts).await {
        Ok(caller) => {
            let role = caller.role;
            parts.extensions.insert(caller);
            let mut response = next.run(Request::from_parts(parts, body)).await;
            response.extensions_mut().insert(role);
            response
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn identify(app: &App, request: &Parts) -> Result<Caller> {
    let from = From::of(request);
    let Some(known) = open(app, &request.headers).await? else {
        return Err(refuse(app, from).await);
    };
    let limits = &app.config.limits;
    let rate = Rate {
        per_second: limits.requests_per_second,
        burst: limits.burst,
    };
    // A poll that goes on after its wait was counted when it came.
    if request.extensions.get::<Resumed>().is_none() {
        known.take(rate).map_err(too_many)?;
    }
    let caller = Caller::new(&known, from);
    check_use(app, &caller, request)?;
    Ok(caller)
}

/// The key that the request presents, if it opens anything.
async fn open(app: &App, headers: &HeaderMap) -> Result<Option<Arc<KnownKey>>> {
    let Some(presented) = bearer(headers).and_then(Presented::parse) else {
        return Ok(None);
    };
    let now = app.clock.now();
    if let Some(known) = app.fleet.keys.find(&presented, now) {
        return Ok(Some(known));
    }
    // Another broker may have minted it a moment ago.
    let kept = app.store.key_find(&presented.hash).await?;
    let valid = kept.filter(|key| key.is_valid_at(now) && presented.opens(key));
    Ok(valid.map(|key| app.fleet.keys.put(key)))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Some(key.trim()),
        _ => Some(value),
    }
}

/// What the key is for: a read-only one reads, an inactive generator's does not write.
fn check_use(app: &App, caller: &Caller, request: &Parts) -> Result<()> {
    let reads = matches!(request.method, Method::GET | Method::HEAD)
        || request.uri.path().ends_with("/auth/pak");
    match caller.role {
        _ if reads => Ok(()),
        Role::Readonly => Err(ApiError::forbidden("read_only", "this key only reads")),
        Role::Generator(id) if !app.fleet.may_write(id) => Err(ApiError::forbidden(
            "generator_inactive",
            "this generator is not active",
        )),
        Role::Admin | Role::Agent(_) | Role::Generator(_) => {
            app.seen(caller);
            Ok(())
        }
    }
}

/// Says no, notes it in the audit log, and slows down an address that keeps trying.
async fn refuse(app: &App, from: From<'_>) -> ApiError {
    if let Some(Err(seconds)) = from.address.map(|address| app.refusals.take(address)) {
        return too_many(seconds);
    }
    let nobody = from.mark(Actor::of(ActorKind::Anonymous, None));
    if let Err(error) = app
        .store
        .audit_record(&nobody, Action::AuthFailed, None, None)
        .await
    {
        tracing::warn!(%error, "could not note a refused key in the audit log");
    }
    unauthenticated()
}

fn unauthenticated() -> ApiError {
    let text = "a valid key is needed: Authorization: Bearer <key>";
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", text)
}

fn too_many(seconds: u64) -> ApiError {
    let text = format!("too many requests; come again in {seconds} s");
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", text).retry_after(seconds)
}
