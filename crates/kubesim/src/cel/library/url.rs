//! Addresses of pages.

use std::collections::HashMap;

use cel::common::types::{CelBool, CelMap, CelMapKey, CelString};
use cel::common::value::Val;
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, opaque, texts};

opaque!(Url(Parts), "kubernetes.URL");

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Parts {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_url: (CelString<'_>) -> CelBool, name = "isURL")?;
    cel::add_overload!(env, fn parse: (CelString<'_>) -> Result<Url>, name = "url")?;
    cel::add_member_overload!(env, fn get_scheme: (Url) -> CelString<'_>)?;
    cel::add_member_overload!(env, fn get_host: (Url) -> CelString<'_>)?;
    cel::add_member_overload!(env, fn get_hostname: (Url) -> CelString<'_>)?;
    cel::add_member_overload!(env, fn get_port: (Url) -> CelString<'_>)?;
    cel::add_member_overload!(env, fn get_escaped_path: (Url) -> CelString<'_>)?;
    cel::add_member_overload!(env, fn get_query: (Url) -> CelMap<'_>)
}

impl Parts {
    /// An absolute address, or an absolute path.
    fn read(text: &str) -> Option<Self> {
        let clean = !text.is_empty() && !text.contains([' ', '\n', '\t', '#']);
        let (before, query) = text.split_once('?').unwrap_or((text, ""));
        let query = query.to_owned();
        if !clean {
            return None;
        }
        if before.starts_with('/') {
            return Some(Self {
                path: before.to_owned(),
                query,
                ..Self::default()
            });
        }
        let (scheme, rest) = before.split_once("://")?;
        let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = host.rsplit('@').next().unwrap_or(host);
        named.then(|| Self {
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.to_owned(),
            query,
        })
    }

    fn host_and_port(&self) -> (&str, &str) {
        let bracketed = self
            .host
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        match bracketed {
            Some((host, port)) => (host, port.trim_start_matches(':')),
            None => self.host.rsplit_once(':').unwrap_or((&self.host, "")),
        }
    }
}

fn is_url(text: &CelString<'_>) -> CelBool {
    Parts::read(text.inner()).is_some().into()
}

fn parse(text: &CelString<'_>) -> Result<Url, ExecutionError> {
    let text = text.inner();
    let wrong = || {
        failed(
            "url",
            format!(
                "URL parse error during conversion from string: parse {text:?}: invalid URI for request"
            ),
        )
    };
    Parts::read(text).map(Url).ok_or_else(wrong)
}

fn text(text: &str) -> CelString<'static> {
    CelString::from(text.to_owned())
}

fn get_scheme(url: &Url) -> CelString<'static> {
    text(&url.0.scheme)
}

fn get_host(url: &Url) -> CelString<'static> {
    text(&url.0.host)
}

fn get_hostname(url: &Url) -> CelString<'static> {
    text(url.0.host_and_port().0)
}

fn get_port(url: &Url) -> CelString<'static> {
    text(url.0.host_and_port().1)
}

fn get_escaped_path(url: &Url) -> CelString<'static> {
    text(&url.0.path)
}

fn get_query(url: &Url) -> CelMap<'static> {
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for (key, value) in form_urlencoded::parse(url.0.query.as_bytes()) {
        found
            .entry(key.into_owned())
            .or_default()
            .push(value.into_owned());
    }
    let entries = found.into_iter().map(|(key, values)| {
        let values = Box::new(texts(values)) as Box<dyn Val>;
        (CelMapKey::from(key), values)
    });
    entries.collect::<HashMap<_, _>>().into()
}
