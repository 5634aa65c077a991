//! The headers by which somebody acts as somebody else.

use std::collections::BTreeMap;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

const EXTRA: &str = "impersonate-extra-";

/// Who a request is to be taken for; empty when nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Impersonation {
    pub(crate) user: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let all = |name: &str| -> Vec<String> {
            let values = headers.get_all(name).iter();
            values
                .filter_map(|value| value.to_str().ok().map(str::to_owned))
                .collect()
        };
        let one = |name: &str| all(name).into_iter().next().unwrap_or_default();
        let extra = headers.keys().filter_map(|name| {
            let key = name.as_str().strip_prefix(EXTRA)?;
            let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
            Some((key, all(name.as_str())))
        });
        Self {
            user: one("impersonate-user"),
            uid: one("impersonate-uid"),
            groups: all("impersonate-group"),
            extra: extra.collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
