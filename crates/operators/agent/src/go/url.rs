//! Addresses, taken apart as `url.Parse` does.

use percent_encoding::percent_decode_str;

/// The parts of an address that matter here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    /// Host and port.
    pub(crate) authority: String,
    /// Without its escapes.
    pub(crate) path: String,
}

impl Url {
    /// `None` for what Go's parser refuses.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.chars().any(|c| c.is_ascii_control()) {
            return None;
        }
        let text = text.split('#').next()?;
        let (scheme, rest) = split_scheme(text)?;
        let rest = rest.split('?').next()?;
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let host = authority.rsplit('@').next()?;
        if scheme.is_empty() && path.split('/').next()?.contains(':') {
            return None;
        }
        Some(Self {
            scheme: scheme.to_ascii_lowercase(),
            authority: plain_host(host)?.to_owned(),
            path: percent_decode_str(path).decode_utf8().ok()?.into_owned(),
        })
    }

    /// The host without its port.
    pub(crate) fn host(&self) -> &str {
        match self.authority.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or(v6),
            None => self.authority.split(':').next().unwrap_or_default(),
        }
    }

    /// The port, empty when it is not written.
    pub(crate) fn port(&self) -> &str {
        let behind = self.authority.rsplit(']').next().unwrap_or_default();
        behind.split_once(':').map_or("", |(_, port)| port)
    }
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let Some((head, rest)) = text.split_once(':') else {
        return Some(("", text));
    };
    let starts_well = head.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    match (head.is_empty(), starts_well && head.chars().all(is_scheme)) {
        (true, _) => None,
        (false, true) => Some((head, rest)),
        (false, false) => Some(("", text)),
    }
}

/// Refuses what Go's parser refuses in a host.
fn plain_host(host: &str) -> Option<&str> {
    let odd = |c: char| c.is_whitespace() || "\"<>\\^`{|}".contains(c);
    (!host.contains(odd)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::Url;

    fn parts(text: &str) -> Option<(String, String, String, String)> {
        let url = Url::parse(text)?;
        let (host, port) = (url.host().to_owned(), url.port().to_owned());
        Some((url.scheme, host, port, url.path))
    }

    #[test]
    fn the_parts_of_addresses() {
        let of = |text| parts(text).expect(text);
        let owned = |a: &str, b: &str, c: &str, d: &str| {
            (a.to_owned(), b.to_owned(), c.to_owned(), d.to_owned())
        };
        assert_eq!(
            of("http://a.b:8080/mcp?x=1#y"),
            owned("http", "a.b", "8080", "/mcp")
        );
        assert_eq!(of("ssh://git@h/o/r.git"), owned("ssh", "h", "", "/o/r.git"));
        assert_eq!(
            of("http://[::1]:80/a%20b"),
            owned("http", "::1", "80", "/a b")
        );
        assert_eq!(of("http://only"), owned("http", "only", "", ""));
    }

    #[test]
    fn what_go_refuses() {
        assert_eq!(parts("git@github.com:org/repo.git"), None);
        assert_eq!(parts(":nothing"), None);
        assert_eq!(parts("http://a b/"), None);
    }
}
