//! Lists of what can be compared and added.
#![expect(
    clippy::needless_pass_by_value,
    reason = "the language hands arguments over"
)]

use std::cmp::Ordering;

use cel::common::types::{CelBool, CelInt, CelList, DYN_TYPE, LIST_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};

use super::failed;

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_member_overload!(env, fn is_sorted: (CelList<'_>) -> Result<CelBool>)?;
    env.add_member_overload("sum", "list_sum", LIST_TYPE, vec![], sum)?;
    env.add_member_overload("min", "list_min", LIST_TYPE, vec![], min)?;
    env.add_member_overload("max", "list_max", LIST_TYPE, vec![], max)?;
    env.add_member_overload(
        "indexOf",
        "list_index_of",
        LIST_TYPE,
        vec![DYN_TYPE],
        index_of,
    )?;
    env.add_member_overload(
        "lastIndexOf",
        "list_last_index_of",
        LIST_TYPE,
        vec![DYN_TYPE],
        last_index_of,
    )
}

fn compare(one: &dyn Val, two: &dyn Val) -> Result<Ordering, ExecutionError> {
    let comparer = one
        .as_comparer()
        .ok_or_else(|| failed("compare", "no such overload"))?;
    comparer.compare(two)
}

fn is_sorted(list: &CelList<'_>) -> Result<CelBool, ExecutionError> {
    for pair in list.inner().windows(2) {
        if compare(pair[0].as_ref(), pair[1].as_ref())? == Ordering::Greater {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

fn items<'v>(arguments: &[CowVal<'_, 'v>]) -> Vec<Box<dyn Val + 'v>> {
    let list = arguments
        .first()
        .and_then(|list| list.downcast_ref::<CelList<'_>>());
    let items = list.into_iter().flat_map(|list| list.inner());
    items.map(|item| item.clone_as_boxed()).collect()
}

/// An empty list adds up to nothing.
fn sum<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let mut sum: Option<Box<dyn Val + 'v>> = None;
    for item in items(&arguments) {
        sum = Some(match &sum {
            None => item,
            Some(sum) => {
                let adder = sum
                    .as_adder()
                    .ok_or_else(|| failed("sum", "no such overload"))?;
                adder.add(item.as_ref())?.into_owned()
            }
        });
    }
    Ok(sum.map_or_else(|| CowVal::owned(CelInt::from(0)), CowVal::Owned))
}

fn extreme<'b, 'v>(
    name: &str,
    arguments: &[CowVal<'b, 'v>],
    wanted: Ordering,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let mut items = items(arguments).into_iter();
    let empty = || failed(name, format!("{name} called on empty list"));
    let mut found = items.next().ok_or_else(empty)?;
    for item in items {
        if compare(item.as_ref(), found.as_ref())? == wanted {
            found = item;
        }
    }
    Ok(CowVal::Owned(found))
}

fn min<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    extreme("min", &arguments, Ordering::Less)
}

fn max<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    extreme("max", &arguments, Ordering::Greater)
}

fn place(found: Option<usize>) -> CelInt {
    found
        .and_then(|place| i64::try_from(place).ok())
        .unwrap_or(-1)
        .into()
}

fn index_of<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let found = items(&arguments)
        .iter()
        .position(|item| item.equals(arguments[1].as_ref()));
    Ok(CowVal::owned(place(found)))
}

fn last_index_of<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let found = items(&arguments)
        .iter()
        .rposition(|item| item.equals(arguments[1].as_ref()));
    Ok(CowVal::owned(place(found)))
}
