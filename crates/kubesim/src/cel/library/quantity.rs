//! Quantities of resources.

use cel::common::types::{CelBool, CelDouble, CelInt, CelString};
use cel::{DeclarationError, Env, ExecutionError};

use super::{failed, opaque};
use crate::quantity;

opaque!(Quantity(quantity::Quantity), "kubernetes.Quantity");

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    cel::add_overload!(env, fn is_quantity: (CelString<'_>) -> CelBool)?;
    cel::add_overload!(env, fn parse: (CelString<'_>) -> Result<Quantity>, name = "quantity")?;
    cel::add_member_overload!(env, fn sign: (Quantity) -> CelInt)?;
    cel::add_member_overload!(env, fn is_integer: (Quantity) -> CelBool)?;
    cel::add_member_overload!(env, fn as_integer: (Quantity) -> Result<CelInt>)?;
    cel::add_member_overload!(env, fn as_approximate_float: (Quantity) -> CelDouble)?;
    cel::add_member_overload!(env, fn add: (Quantity, Quantity) -> Quantity)?;
    cel::add_member_overload!(env, fn add_number: (Quantity, CelInt) -> Quantity, name = "add")?;
    cel::add_member_overload!(env, fn sub: (Quantity, Quantity) -> Quantity)?;
    cel::add_member_overload!(env, fn sub_number: (Quantity, CelInt) -> Quantity, name = "sub")?;
    cel::add_member_overload!(env, fn is_greater_than: (Quantity, Quantity) -> CelBool)?;
    cel::add_member_overload!(env, fn is_less_than: (Quantity, Quantity) -> CelBool)?;
    cel::add_member_overload!(env, fn compare_to: (Quantity, Quantity) -> CelInt)
}

fn is_quantity(text: &CelString<'_>) -> CelBool {
    quantity::Quantity::parse(text.inner()).is_some().into()
}

fn parse(text: &CelString<'_>) -> Result<Quantity, ExecutionError> {
    let found = quantity::Quantity::parse(text.inner());
    found
        .map(Quantity)
        .ok_or_else(|| failed("quantity", quantity::FORM))
}

fn sign(of: &Quantity) -> CelInt {
    of.0.sign().into()
}

fn is_integer(of: &Quantity) -> CelBool {
    of.0.whole().is_some().into()
}

fn as_integer(of: &Quantity) -> Result<CelInt, ExecutionError> {
    let whole = of.0.whole().map(CelInt::from);
    whole.ok_or_else(|| failed("asInteger", "cannot convert value to integer"))
}

fn as_approximate_float(of: &Quantity) -> CelDouble {
    of.0.approximate().into()
}

fn number(count: &CelInt) -> quantity::Quantity {
    quantity::Quantity::whole_number(*count.inner())
}

fn add(one: &Quantity, two: &Quantity) -> Quantity {
    Quantity(one.0.plus(two.0))
}

fn add_number(one: &Quantity, two: &CelInt) -> Quantity {
    Quantity(one.0.plus(number(two)))
}

fn sub(one: &Quantity, two: &Quantity) -> Quantity {
    Quantity(one.0.minus(two.0))
}

fn sub_number(one: &Quantity, two: &CelInt) -> Quantity {
    Quantity(one.0.minus(number(two)))
}

fn is_greater_than(one: &Quantity, two: &Quantity) -> CelBool {
    (one.0 > two.0).into()
}

fn is_less_than(one: &Quantity, two: &Quantity) -> CelBool {
    (one.0 < two.0).into()
}

fn compare_to(one: &Quantity, two: &Quantity) -> CelInt {
    one.0.minus(two.0).sign().into()
}
