//! Addresses and ranges of addresses.

use std::net::IpAddr;

use cel::common::types::{CelBool, CelInt, CelString};
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, opaque};

opaque!(Ip(IpAddr), "net.IP");
opaque!(Cidr(Range), "net.CIDR");

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    address: IpAddr,
    bits: u8,
}

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_ip: (CelString<'_>) -> CelBool, name = "isIP")?;
    cel::add_overload!(env, fn ip: (CelString<'_>) -> Result<Ip>)?;
    cel::add_overload!(env, fn is_canonical: (CelString<'_>) -> Result<CelBool>, name = "ip.isCanonical")?;
    cel::add_overload!(env, fn ip_text: (Ip) -> CelString<'_>, name = "string")?;
    cel::add_member_overload!(env, fn family: (Ip) -> CelInt)?;
    cel::add_member_overload!(env, fn is_unspecified: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_loopback: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_link_local_multicast: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_link_local_unicast: (Ip) -> CelBool)?;
    cel::add_member_overload!(env, fn is_global_unicast: (Ip) -> CelBool)?;
    cel::add_overload!(env, fn is_cidr: (CelString<'_>) -> CelBool, name = "isCIDR")?;
    cel::add_overload!(env, fn cidr: (CelString<'_>) -> Result<Cidr>)?;
    cel::add_overload!(env, fn cidr_text: (Cidr) -> CelString<'_>, name = "string")?;
    cel::add_member_overload!(env, fn contains_text: (Cidr, CelString<'_>) -> Result<CelBool>, name = "containsIP")?;
    cel::add_member_overload!(env, fn contains_ip: (Cidr, Ip) -> CelBool, name = "containsIP")?;
    cel::add_member_overload!(env, fn contains_range_text: (Cidr, CelString<'_>) -> Result<CelBool>, name = "containsCIDR")?;
    cel::add_member_overload!(env, fn contains_range: (Cidr, Cidr) -> CelBool, name = "containsCIDR")?;
    cel::add_member_overload!(env, fn cidr_ip: (Cidr) -> Ip, name = "ip")?;
    cel::add_member_overload!(env, fn masked: (Cidr) -> Cidr)?;
    cel::add_member_overload!(env, fn prefix_length: (Cidr) -> CelInt)
}

/// Addresses of one family inside of the other are refused, as are zones.
fn read(text: &str) -> Result<IpAddr, String> {
    let found: IpAddr = text
        .parse()
        .map_err(|_| format!("IP Address {text:?} parse error during conversion from string: ParseAddr({text:?}): unable to parse IP"))?;
    match found {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
        }
        found => Ok(found),
    }
}

impl Range {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!(
                "network address parse error during conversion from string: netip.ParsePrefix({text:?}): {why}"
            )
        };
        let (address, bits) = text.split_once('/').ok_or_else(|| wrong("no '/'"))?;
        let address = read(address)?;
        let bits: u8 = bits.parse().map_err(|_| wrong("bad bits after slash"))?;
        match bits <= width(address) {
            true => Ok(Self { address, bits }),
            false => Err(wrong("prefix length out of range")),
        }
    }

    fn contains(self, address: IpAddr) -> bool {
        width(address) == width(self.address)
            && masked_bits(address, self.bits) == masked_bits(self.address, self.bits)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The first bits of an address.
fn masked_bits(address: IpAddr, bits: u8) -> u128 {
    let number = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let rest = u32::from(width(address) - bits);
    number.checked_shr(rest).unwrap_or(0)
}

fn is_ip(text: &CelString<'_>) -> CelBool {
    read(text.inner()).is_ok().into()
}

fn ip(text: &CelString<'_>) -> Result<Ip, ExecutionError> {
    read(text.inner()).map(Ip).map_err(|why| failed("ip", why))
}

fn is_canonical(text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    let address = ip(text)?;
    Ok((address.0.to_string() == text.inner()).into())
}

fn ip_text(ip: &Ip) -> CelString<'static> {
    CelString::from(ip.0.to_string())
}

fn family(ip: &Ip) -> CelInt {
    let family = if ip.0.is_ipv4() { 4 } else { 6 };
    CelInt::from(family)
}

fn is_unspecified(ip: &Ip) -> CelBool {
    ip.0.is_unspecified().into()
}

fn is_loopback(ip: &Ip) -> CelBool {
    ip.0.is_loopback().into()
}

fn is_link_local_multicast(ip: &Ip) -> CelBool {
    match ip.0 {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
    .into()
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_link_local_unicast(ip: &Ip) -> CelBool {
    is_link_local(ip.0).into()
}

fn is_global_unicast(ip: &Ip) -> CelBool {
    let broadcast = matches!(ip.0, IpAddr::V4(address) if address.is_broadcast());
    let special = ip.0.is_unspecified() || ip.0.is_loopback() || ip.0.is_multicast();
    (!broadcast && !special && !is_link_local(ip.0)).into()
}

fn is_cidr(text: &CelString<'_>) -> CelBool {
    Range::read(text.inner()).is_ok().into()
}

fn cidr(text: &CelString<'_>) -> Result<Cidr, ExecutionError> {
    Range::read(text.inner())
        .map(Cidr)
        .map_err(|why| failed("cidr", why))
}

fn cidr_text(cidr: &Cidr) -> CelString<'static> {
    CelString::from(format!("{}/{}", cidr.0.address, cidr.0.bits))
}

fn contains_text(range: &Cidr, text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok(range.0.contains(ip(text)?.0).into())
}

fn contains_ip(range: &Cidr, ip: &Ip) -> CelBool {
    range.0.contains(ip.0).into()
}

fn contains_range_text(range: &Cidr, text: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok(contains_range(range, &cidr(text)?))
}

fn contains_range(range: &Cidr, inner: &Cidr) -> CelBool {
    (range.0.bits <= inner.0.bits && range.0.contains(inner.0.address)).into()
}

fn cidr_ip(cidr: &Cidr) -> Ip {
    Ip(cidr.0.address)
}

fn masked(cidr: &Cidr) -> Cidr {
    let Range { address, bits } = cidr.0;
    let rest = u32::from(width(address) - bits);
    let number = masked_bits(address, bits).checked_shl(rest).unwrap_or(0);
    let address = match address {
        IpAddr::V4(_) => IpAddr::V4(u32::try_from(number).unwrap_or_default().into()),
        IpAddr::V6(_) => IpAddr::V6(number.into()),
    };
    Cidr(Range { address, bits })
}

fn prefix_length(cidr: &Cidr) -> CelInt {
    i64::from(cidr.0.bits).into()
}
