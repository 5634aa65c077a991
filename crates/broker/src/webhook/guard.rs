//! Where webhooks may go: not to the broker's own neighbourhood, unless that is allowed.
//!
//! A name is checked when it is resolved for the very connection that is made, so a name that
//! changes its address between the check and the call gains nothing. Redirects are not followed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Url, redirect};

/// Why an address was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusedAddress {
    /// It is not an address for webhooks.
    #[error("a webhook needs an http or https address")]
    NotHttp,
    /// It is in the broker's own neighbourhood.
    #[error("{0} is a loopback, link-local or private address, which this broker does not call")]
    Private(String),
}

/// Refuses what can be seen to be private without asking anybody.
pub(crate) fn check_address(url: &str, allow_private: bool) -> Result<(), RefusedAddress> {
    let url = Url::parse(url).map_err(|_| RefusedAddress::NotHttp)?;
    let host = url
        .host_str()
        .filter(|_| matches!(url.scheme(), "http" | "https"));
    let host = host.ok_or(RefusedAddress::NotHttp)?;
    let literal = host.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let local = host.eq_ignore_ascii_case("localhost") || host.ends_with(".localhost");
    if !allow_private && (local || literal.is_some_and(|ip| !is_public(ip))) {
        return Err(RefusedAddress::Private(host.to_owned()));
    }
    Ok(())
}

/// A client that calls only where it may.
pub(crate) fn client(allow_private: bool) -> Result<reqwest::Client, reqwest::Error> {
    // Whoever came first chose a provider for the whole process; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("evenkeel/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .no_proxy()
        .dns_resolver(Arc::new(Guarded { allow_private }))
        .build()
}

struct Guarded {
    allow_private: bool,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found
                .filter(|address| allow_private || is_public(address.ip()))
                .collect();
            if allowed.is_empty() {
                return Err(RefusedAddress::Private(host).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Whether an address belongs to the world at large.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(mapped) => is_public_v4(mapped),
            None => is_public_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, ..] = ip.octets();
    let shared = first == 100 && (64..128).contains(&second);
    let benchmarking = first == 198 && (18..20).contains(&second);
    !(first == 0
        || first >= 240
        || shared
        || benchmarking
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation())
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let first = ip.segments()[0];
    // 2000::/3 is all that is routed; translations of IPv4 inside it are not looked into.
    (0x2000..0x4000).contains(&first) && first != 0x2002 && !ip.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neighbourhood_is_refused() {
        for url in [
            "http://127.0.0.1/",
            "http://localhost:8080/x",
            "http://10.1.2.3/",
            "http://192.168.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://0.0.0.0/",
            "http://[::1]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://2130706433/",
        ] {
            let refused = check_address(url, false);
            assert!(
                matches!(refused, Err(RefusedAddress::Private(_))),
                "{url}: {refused:?}"
            );
            assert_eq!(check_address(url, true), Ok(()), "{url}");
        }
    }

    #[test]
    fn the_world_is_allowed_and_other_schemes_are_not() {
        assert_eq!(check_address("https://example.org/hook", false), Ok(()));
        assert_eq!(check_address("http://8.8.8.8/", false), Ok(()));
        for url in [
            "",
            "example.org",
            "ftp://example.org/",
            "file:///etc/passwd",
            "http://",
        ] {
            assert_eq!(
                check_address(url, false),
                Err(RefusedAddress::NotHttp),
                "{url}"
            );
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_home_is_refused_when_it_is_resolved() {
        let resolve = Guarded {
            allow_private: false,
        }
        .resolve("localhost".parse().unwrap());
        assert!(resolve.await.is_err());
        let resolve = Guarded {
            allow_private: true,
        }
        .resolve("localhost".parse().unwrap());
        assert!(resolve.await.is_ok());
    }
}
