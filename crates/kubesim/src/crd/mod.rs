//! Custom resources: from a CustomResourceDefinition object to something that can be served.
//!
//! ```text
//! CRD object -> validate (the object's own rules) -> compile -> Definition -> Strategy per version
//! ```
//!
//! `schema` reads an OpenAPI schema into the shared model, `structure` holds the rules that such
//! a schema must keep, `status` keeps the conditions and accepted names. `rule_checks` compiles
//! the rules in CEL, `rules` holds objects to them.

mod definition;
mod field_path;
mod openapi;
#[cfg(test)]
mod recorded;
mod resource;
mod rule_checks;
mod rules;
mod schema;
mod status;
mod structure;
mod validate;

pub use definition::{Definition, Names, Scale, Version, compile};
pub use status::accept;

pub(crate) use validate::{check, check_update};

#[cfg(test)]
mod tests;
