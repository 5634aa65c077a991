//! Lists as sets.

use cel::common::types::{CelBool, CelList};
use cel::{DeclarationError, Env};

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn contains: (CelList<'_>, CelList<'_>) -> CelBool, name = "sets.contains")?;
    cel::add_overload!(env, fn equivalent: (CelList<'_>, CelList<'_>) -> CelBool, name = "sets.equivalent")?;
    cel::add_overload!(env, fn intersects: (CelList<'_>, CelList<'_>) -> CelBool, name = "sets.intersects")
}

fn is_in(list: &CelList<'_>, item: &dyn cel::common::value::Val) -> bool {
    list.inner().iter().any(|known| known.equals(item))
}

fn contains_all(list: &CelList<'_>, items: &CelList<'_>) -> bool {
    items.inner().iter().all(|item| is_in(list, item.as_ref()))
}

fn contains(list: &CelList<'_>, items: &CelList<'_>) -> CelBool {
    contains_all(list, items).into()
}

fn equivalent(one: &CelList<'_>, two: &CelList<'_>) -> CelBool {
    (contains_all(one, two) && contains_all(two, one)).into()
}

fn intersects(one: &CelList<'_>, two: &CelList<'_>) -> CelBool {
    one.inner()
        .iter()
        .any(|item| is_in(two, item.as_ref()))
        .into()
}
