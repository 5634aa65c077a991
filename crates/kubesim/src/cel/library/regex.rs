//! What a pattern finds in a text.

use cel::common::types::{CelInt, CelList, CelString};
use cel::{DeclarationError, Env, ExecutionError};
use regex::Regex;

use super::{failed, texts};

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_member_overload!(env, fn find: (CelString<'_>, CelString<'_>) -> Result<CelString<'_>>)?;
    cel::add_member_overload!(env, fn find_all: (CelString<'_>, CelString<'_>) -> Result<CelList<'_>>)?;
    cel::add_member_overload!(env, fn find_some: (CelString<'_>, CelString<'_>, CelInt) -> Result<CelList<'_>>,
        name = "findAll")
}

fn compile(pattern: &CelString<'_>) -> Result<Regex, ExecutionError> {
    let illegal = |why| failed("find", format!("Illegal regex: {why}"));
    Regex::new(pattern.inner()).map_err(illegal)
}

fn find(
    text: &CelString<'_>,
    pattern: &CelString<'_>,
) -> Result<CelString<'static>, ExecutionError> {
    let pattern = compile(pattern)?;
    let found = pattern.find(text.inner()).map(|found| found.as_str());
    Ok(CelString::from(found.unwrap_or_default().to_owned()))
}

fn find_all(
    text: &CelString<'_>,
    pattern: &CelString<'_>,
) -> Result<CelList<'static>, ExecutionError> {
    find_some(text, pattern, &CelInt::from(-1))
}

fn find_some(
    text: &CelString<'_>,
    pattern: &CelString<'_>,
    limit: &CelInt,
) -> Result<CelList<'static>, ExecutionError> {
    let pattern = compile(pattern)?;
    let limit = usize::try_from(*limit.inner()).unwrap_or(usize::MAX);
    let found = pattern.find_iter(text.inner()).take(limit);
    Ok(texts(found.map(|found| found.as_str().to_owned())))
}
