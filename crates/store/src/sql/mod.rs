//! The only part that knows there are two databases.
//!
//! A [`Query`] is one SQL text for both (`$1` works in both) with its values; a [`Connection`]
//! runs it on whichever database is open; a [`Row`] gives the columns back. [`Stored`] says, once
//! for each type, how it is kept in a column.
//!
//! Read [`stored`], then [`query`], then [`pool`], where everything that differs between the two
//! stands side by side.

mod pool;
mod query;
mod stored;

pub(crate) use pool::{Connection, Pools};
pub(crate) use query::{Query, Row, sql};
pub(crate) use stored::Stored;
