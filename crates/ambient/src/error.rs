//! Errors as people read them.

use std::error::Error;
use std::iter;

/// An error and its causes, each after a colon. Errors keep their cause to themselves until
/// somebody tells them.
pub fn chain(error: &dyn Error) -> String {
    let causes = iter::successors(Some(error), |&error| error.source());
    let texts: Vec<_> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Trouble(&'static str, Option<Box<Trouble>>);

    impl fmt::Display for Trouble {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Trouble {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn causes_follow_what_they_caused() {
        let cause = Trouble("no route", None);
        let error = Trouble("cannot ask the broker", Some(Box::new(cause)));
        assert_eq!(chain(&error), "cannot ask the broker: no route");
    }
}
