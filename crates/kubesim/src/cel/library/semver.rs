//! Semantic versions.

use std::cmp::Ordering;

use cel::common::types::{CelBool, CelInt, CelString};
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, opaque};

opaque!(Semver(Version), "kubernetes.Semver");

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Version {
    numbers: [i64; 3],
    /// What stands behind the hyphen; builds behind a plus do not count.
    pre_release: Vec<String>,
}

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_semver: (CelString<'_>) -> CelBool)?;
    cel::add_overload!(env, fn semver: (CelString<'_>) -> Result<Semver>)?;
    cel::add_member_overload!(env, fn major: (Semver) -> CelInt)?;
    cel::add_member_overload!(env, fn minor: (Semver) -> CelInt)?;
    cel::add_member_overload!(env, fn patch: (Semver) -> CelInt)?;
    cel::add_member_overload!(env, fn compare_to: (Semver, Semver) -> CelInt)?;
    cel::add_member_overload!(env, fn is_greater_than: (Semver, Semver) -> CelBool)?;
    cel::add_member_overload!(env, fn is_less_than: (Semver, Semver) -> CelBool)
}

impl Version {
    fn read(text: &str) -> Option<Self> {
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (numbers, pre) = text.split_once('-').unwrap_or((text, ""));
        let numbers: Vec<i64> = numbers.split('.').map(number).collect::<Option<_>>()?;
        let pre_release = pre.split('.').filter(|part| !part.is_empty());
        Some(Self {
            numbers: numbers.try_into().ok()?,
            pre_release: pre_release.map(str::to_owned).collect(),
        })
    }

    fn compare(&self, other: &Self) -> Ordering {
        let pre = match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let order =
                    |list: &[String]| list.iter().map(|part| rank(part)).collect::<Vec<_>>();
                order(&self.pre_release).cmp(&order(&other.pre_release))
            }
        };
        self.numbers.cmp(&other.numbers).then(pre)
    }
}

/// Numbers come before words.
fn rank(part: &str) -> (bool, i64, String) {
    match number(part) {
        Some(number) => (false, number, String::new()),
        None => (true, 0, part.to_owned()),
    }
}

/// A number without zeros in front.
fn number(text: &str) -> Option<i64> {
    let plain = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|number| plain && *number >= 0)
}

fn is_semver(text: &CelString<'_>) -> CelBool {
    Version::read(text.inner()).is_some().into()
}

fn semver(text: &CelString<'_>) -> Result<Semver, ExecutionError> {
    let found = Version::read(text.inner()).map(Semver);
    found.ok_or_else(|| failed("semver", "No Major.Minor.Patch elements found"))
}

fn major(version: &Semver) -> CelInt {
    version.0.numbers[0].into()
}

fn minor(version: &Semver) -> CelInt {
    version.0.numbers[1].into()
}

fn patch(version: &Semver) -> CelInt {
    version.0.numbers[2].into()
}

fn compare_to(one: &Semver, two: &Semver) -> CelInt {
    CelInt::from(one.0.compare(&two.0) as i64)
}

fn is_greater_than(one: &Semver, two: &Semver) -> CelBool {
    one.0.compare(&two.0).is_gt().into()
}

fn is_less_than(one: &Semver, two: &Semver) -> CelBool {
    one.0.compare(&two.0).is_lt().into()
}
