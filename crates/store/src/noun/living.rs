//! What generators, agents and stacks have in common: a row lives until it is deleted, is found
//! only while it lives, and is remembered after, because history refers to it.

use std::fmt::Display;

use evenkeel_model::{Agent, AgentId, Generator, GeneratorId, Stack, StackId};

use super::{agents, generators, stacks};
use crate::database::Database;
use crate::sql::{Row, Stored, sql};
use crate::transaction::Transaction;
use crate::{Error, Result};

/// A noun whose rows live until they are deleted.
pub(super) trait Living: Sized {
    /// What names one.
    type Id: Stored + Display + Copy + Sync;
    /// What people call it.
    const NOUN: &'static str;
    /// The row, while it lives.
    const FIND: &'static str;
    /// The end of its life.
    const END: &'static str;

    /// From its row.
    fn read(row: &Row) -> Result<Self>;
}

macro_rules! living {
    ($($type:ident, $id:ident, $noun:literal in $table:literal, $read:path;)+) => {$(
        impl Living for $type {
            type Id = $id;
            const NOUN: &'static str = $noun;
            const FIND: &'static str =
                concat!("SELECT * FROM ", $table, " WHERE id = $1 AND deleted_at IS NULL");
            const END: &'static str =
                concat!("UPDATE ", $table, " SET deleted_at = $2 WHERE id = $1");

            fn read(row: &Row) -> Result<Self> {
                $read(row)
            }
        }
    )+};
}

living! {
    Generator, GeneratorId, "generator" in "generators", generators::generator;
    Agent, AgentId, "agent" in "agents", agents::agent;
    Stack, StackId, "stack" in "stacks", stacks::stack;
}

impl Database {
    /// The one with this id, if it lives.
    pub(super) async fn alive<T: Living>(&self, id: T::Id) -> Result<Option<T>> {
        self.one(sql(T::FIND).bind(&id), T::read).await
    }
}

/// The one with this id as this write sees it, which must live.
pub(super) async fn require<T: Living>(tx: &mut Transaction, id: T::Id) -> Result<T> {
    let found = find(tx, id).await?;
    found.ok_or_else(|| Error::not_found(T::NOUN, &id))
}

/// The one that something new refers to with `constraint`.
pub(super) async fn refer<T: Living>(
    tx: &mut Transaction,
    id: T::Id,
    constraint: &str,
) -> Result<T> {
    let found = find(tx, id).await?;
    found.ok_or_else(|| Error::missing(constraint))
}

async fn find<T: Living>(tx: &mut Transaction, id: T::Id) -> Result<Option<T>> {
    let row = tx.one(sql(T::FIND).bind(&id)).await?;
    row.as_ref().map(T::read).transpose()
}

/// Ends its life.
pub(super) async fn end<T: Living>(tx: &mut Transaction, id: T::Id) -> Result<()> {
    let query = sql(T::END).bind(&id).bind(&tx.now());
    tx.run(query).await.map(drop)
}
