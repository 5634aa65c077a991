//! The functions that Kubernetes has beside the language's own.

mod format;
mod lists;
mod net;
mod quantity;
mod regex;
mod semver;
mod sets;
mod url;

use cel::common::types::{CelList, CelString};
use cel::common::value::Val;
use cel::{DeclarationError, Env, ExecutionError, extensions};

/// A value that only its own functions look into.
macro_rules! opaque {
    ($name:ident($inner:ty), $cel:literal) => {
        #[derive(Debug, Clone, PartialEq)]
        pub(super) struct $name(pub(super) $inner);

        impl cel::common::value::Val for $name {
            fn get_type(&self) -> &cel::common::types::Type {
                <Self as cel::common::value::Val>::cel_type()
            }

            fn cel_type() -> &'static cel::common::types::Type {
                static TYPE: cel::common::types::Type =
                    cel::common::types::Type::new_unspecified_type($cel);
                &TYPE
            }

            fn equals(&self, other: &dyn cel::common::value::Val) -> bool {
                other
                    .downcast_ref::<Self>()
                    .is_some_and(|other| other == self)
            }

            fn clone_as_boxed<'v>(&self) -> Box<dyn cel::common::value::Val + 'v> {
                Box::new(self.clone())
            }

            fn as_any(&self) -> Option<&dyn std::any::Any> {
                Some(self)
            }
        }

        impl cel::common::value::StaticVal for $name {}
    };
}
use opaque;

type Extension = fn(&mut Env) -> Result<(), DeclarationError>;

/// Everything that expressions can use.
pub(super) fn environment() -> Env {
    let mut env = Env::stdlib().with_optional_support(true);
    let libraries: [Extension; 12] = [
        extensions::strings,
        extensions::lists,
        extensions::math,
        extensions::encoders,
        format::extension,
        lists::extension,
        net::extension,
        quantity::extension,
        regex::extension,
        semver::extension,
        sets::extension,
        url::extension,
    ];
    for library in libraries {
        // A clash of names is a mistake in the libraries, which the tests find.
        if let Err(error) = env.add_extension(library) {
            tracing::error!(%error, "a CEL library is incomplete");
        }
    }
    env
}

fn failed(function: &str, why: impl ToString) -> ExecutionError {
    ExecutionError::function_error(function, why)
}

fn texts(found: impl IntoIterator<Item = String>) -> CelList<'static> {
    let texts = found.into_iter();
    let texts = texts.map(|text| Box::new(CelString::from(text)) as Box<dyn Val>);
    texts.collect::<Vec<_>>().into()
}
