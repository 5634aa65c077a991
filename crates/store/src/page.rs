//! Pages of lists that are ordered by position.

use evenkeel_model::{Cursor, Page, Paging};

use crate::Result;
use crate::database::Database;
use crate::sql::{Query, Row};

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Oldest,
    Newest,
}

/// Binds the place to go on after and how many rows to read: one more than is wanted, to know
/// whether there is more.
pub(crate) fn bind(query: Query, paging: Paging, from: From) -> Query {
    let start = match from {
        From::Oldest => 0,
        From::Newest => i64::MAX,
    };
    let after = paging.after.map_or(start, |cursor| cursor.0);
    let limit = paging.limit.map_or(i64::MAX, |limit| i64::from(limit) + 1);
    query.bind(&after).bind(&limit)
}

impl Database {
    /// The page that a [bound](bind) query gives; each row is placed by its column `place`.
    pub(crate) async fn page<T>(
        &self,
        query: Query,
        paging: Paging,
        place: &str,
        convert: fn(&Row) -> Result<T>,
    ) -> Result<Page<T>> {
        let rows = self.reader().await?.all(query).await?;
        of(rows, paging, place, convert)
    }
}

/// The page that the rows make; each is placed by its column `place`.
pub(crate) fn of<T>(
    mut rows: Vec<Row>,
    paging: Paging,
    place: &str,
    convert: impl Fn(&Row) -> Result<T>,
) -> Result<Page<T>> {
    let limit = paging.limit.map_or(usize::MAX, |limit| limit as usize);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let last = rows.last().filter(|_| more);
    let next = last.map(|row| row.get(place).map(Cursor)).transpose()?;
    Ok(Page {
        items: rows.iter().map(convert).collect::<Result<_>>()?,
        next,
    })
}
