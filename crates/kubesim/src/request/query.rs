//! The query of a request: parameters by name, read as the types that options have.

use crate::status::ApiError;

/// The parameters of a request, decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self(
            form_urlencoded::parse(text.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a parameter; an empty one counts as absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Every value of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A switch: anything but `false` and `0` is on.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        let value = self
            .0
            .iter()
            .find(|(key, _)| key == name)?
            .1
            .to_ascii_lowercase();
        Some(!["false", "0"].contains(&value.as_str()))
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let wrong = |_| {
            ApiError::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        };
        text.parse().map(Some).map_err(wrong)
    }
}
