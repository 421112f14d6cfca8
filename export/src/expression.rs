//! Regular expressions. They are an optional feature, because building the regex engine
//! takes as long as building everything else.

/// A regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    #[cfg(feature = "regex")]
    regex: regex::Regex,
    #[cfg(not(feature = "regex"))]
    never: std::convert::Infallible,
}

impl Expression {
    #[cfg(feature = "regex")]
    pub(crate) fn new(text: &str) -> Result<Expression, String> {
        // The last line of the error contains the reason.
        let last_line = |error: regex::Error| {
            let text = error.to_string();
            let line = text.lines().last().unwrap_or_default().trim();
            format!("no regular expression: {}", line.strip_prefix("error: ").unwrap_or(line))
        };
        regex::Regex::new(text).map(|regex| Expression { regex }).map_err(last_line)
    }

    /// Returns an error, because this build does not support regular expressions.
    #[cfg(not(feature = "regex"))]
    pub(crate) fn new(_: &str) -> Result<Expression, String> {
        Err("this build has no regular expressions: build with `--features regex`".to_owned())
    }

    /// Returns whether the expression matches anywhere in the text.
    #[cfg(feature = "regex")]
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    #[cfg(not(feature = "regex"))]
    pub(crate) fn is_match(&self, _: &str) -> bool {
        match self.never {}
    }
}
