//! What a schema does to a value: drop what it does not know, fill in what is absent, judge the
//! rest.
//!
//! ```text
//! value -> prune -> canonicalise (built-in), or drop_nulls and default (custom) -> validate
//! ```
//!
//! Start with [`prune()`], the plainest walk; [`canonicalise`] is the one that only built-in types
//! have; [`validate()`] is where the words of the real server come from.

mod canonical;
mod decode;
mod default;
mod embedded;
mod formats;
mod lists;
mod nulls;
mod prune;
mod validate;

pub use canonical::canonicalise;
pub(crate) use canonical::is_empty;
pub use decode::type_mismatch;
pub use default::default;
pub use nulls::drop_nulls;
pub use prune::prune;
pub use validate::validate;

#[cfg(test)]
mod tests;
