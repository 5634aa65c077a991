//! The formats that names and labels have.

use cel::common::types::{CelOptional, CelString};
use cel::{DeclarationError, Env};

use super::{opaque, texts};
use crate::builtin::names;

// Known by its name.
opaque!(Format(&'static str), "kubernetes.NamedFormat");

/// Says what is wrong with a text.
type Check = fn(&str) -> Vec<String>;

const FORMATS: [(&str, Check); 5] = [
    ("dns1123Label", names::dns1123_label),
    ("dns1123Subdomain", names::dns1123_subdomain),
    ("dns1035Label", names::dns1035_label),
    ("qualifiedName", names::qualified_name),
    ("labelValue", names::label_value),
];

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn named: (CelString<'_>) -> CelOptional<'_>, name = "format.named")?;
    cel::add_overload!(env, fn dns1123_label: () -> Format, name = "format.dns1123Label")?;
    cel::add_overload!(env, fn dns1123_subdomain: () -> Format, name = "format.dns1123Subdomain")?;
    cel::add_overload!(env, fn dns1035_label: () -> Format, name = "format.dns1035Label")?;
    cel::add_overload!(env, fn qualified_name: () -> Format, name = "format.qualifiedName")?;
    cel::add_overload!(env, fn label_value: () -> Format, name = "format.labelValue")?;
    cel::add_member_overload!(env, fn validate: (Format, CelString<'_>) -> CelOptional<'_>)
}

fn named(name: &CelString<'_>) -> CelOptional<'static> {
    let known = FORMATS.iter().find(|(known, _)| *known == name.inner());
    known.map_or_else(CelOptional::none, |(known, _)| {
        CelOptional::of(Box::new(Format(known)))
    })
}

fn dns1123_label() -> Format {
    Format("dns1123Label")
}

fn dns1123_subdomain() -> Format {
    Format("dns1123Subdomain")
}

fn dns1035_label() -> Format {
    Format("dns1035Label")
}

fn qualified_name() -> Format {
    Format("qualifiedName")
}

fn label_value() -> Format {
    Format("labelValue")
}

/// Nothing for a text that is right, else what is wrong with it.
fn validate(format: &Format, text: &CelString<'_>) -> CelOptional<'static> {
    let known = FORMATS.iter().find(|(known, _)| *known == format.0);
    let faults = known.map_or_else(Vec::new, |(_, check)| check(text.inner()));
    match faults.is_empty() {
        true => CelOptional::none(),
        false => CelOptional::of(Box::new(texts(faults))),
    }
}
