//! Values of `--where`: conditions, whose errors point at their place.

use nettrace_export::Predicate;

/// Parses a condition.
///
/// # Errors
/// The text is no condition. The message repeats it, with a caret under the place of the error.
pub(crate) fn condition(text: &str) -> Result<Predicate, String> {
    text.parse().map_err(|error: nettrace_export::PredicateError| {
        if text.contains(char::is_control) {
            return error.to_string();
        }
        let before: String = text.chars().take(error.column().saturating_sub(1)).collect();
        let caret = " ".repeat(unicode_width::UnicodeWidthStr::width(before.as_str()));
        format!("{error}\n  {text}\n  {caret}^")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_stands_under_the_place_of_the_error() {
        let error = condition("Count>3 and").unwrap_err();
        assert!(error.ends_with("\n  Count>3 and\n             ^"), "{error}");
    }
}
