//! Regular expressions of options. Without the feature `regex` there are none, and each is refused.

use nettrace_analysis::Pattern;
#[cfg(feature = "regex")]
pub(crate) use regex::Regex;
#[cfg(not(feature = "regex"))]
pub(crate) use without::{Regex, pattern, regex};

/// Parses the value of an option.
///
/// # Errors
/// The text is no regular expression.
#[cfg(feature = "regex")]
pub(crate) fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}

/// Parses the value of an option as a pattern for frames.
///
/// # Errors
/// The text is no regular expression.
#[cfg(feature = "regex")]
pub(crate) fn pattern(text: &str) -> Result<Pattern, String> {
    regex(text).map(Pattern::from)
}

#[cfg(not(feature = "regex"))]
mod without {
    use super::Pattern;
    use crate::failure::not_built;
    use std::convert::Infallible;

    /// A regular expression, of which there is none.
    #[derive(Debug, Clone)]
    pub(crate) struct Regex(Infallible);

    impl Regex {
        pub(crate) fn is_match(&self, _: &str) -> bool {
            match self.0 {}
        }
    }

    pub(crate) fn regex(_: &str) -> Result<Regex, String> {
        Err(not_built("regular expressions", "regex"))
    }

    pub(crate) fn pattern(text: &str) -> Result<Pattern, String> {
        regex(text).map(|none| match none.0 {})
    }
}
