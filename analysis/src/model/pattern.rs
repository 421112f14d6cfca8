//! Patterns that match the texts of frames.

/// A pattern for texts: literal text or, with the feature `regex`, a regular expression.
///
/// ```
/// use nettrace_analysis::{Folding, Pattern};
/// let mut folding = Folding::default();
/// folding.folds.push(Pattern::words("Json."));
/// # #[cfg(feature = "regex")]
/// folding.folds.push(r"^System\.(Text|Xml)\.".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pattern(Inner);

#[derive(Debug, Clone)]
enum Inner {
    Words(String),
    #[cfg(feature = "regex")]
    Regex(regex::Regex),
}

impl Pattern {
    /// Creates a pattern that matches every text that contains `words` literally.
    pub fn words(words: impl Into<String>) -> Pattern {
        Pattern(Inner::Words(words.into()))
    }

    /// Returns whether the pattern matches anywhere in a text.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match &self.0 {
            Inner::Words(words) => text.contains(&**words),
            #[cfg(feature = "regex")]
            Inner::Regex(regex) => regex.is_match(text),
        }
    }

    /// Returns `name` if the pattern matches a text. A `$1` in the name is replaced by the match of
    /// a regular expression's first group.
    pub(super) fn named(&self, text: &str, name: &str) -> Option<String> {
        match &self.0 {
            Inner::Words(words) => text.contains(&**words).then(|| name.to_owned()),
            #[cfg(feature = "regex")]
            Inner::Regex(regex) => {
                let mut named = String::new();
                regex.captures(text)?.expand(name, &mut named);
                Some(named)
            }
        }
    }
}

/// Compares the texts from which patterns were made. Settings of a `regex::RegexBuilder` are
/// ignored.
impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        match (&self.0, &other.0) {
            (Inner::Words(one), Inner::Words(other)) => one == other,
            #[cfg(feature = "regex")]
            (Inner::Regex(one), Inner::Regex(other)) => one.as_str() == other.as_str(),
            #[cfg(feature = "regex")]
            _ => false,
        }
    }
}

impl Eq for Pattern {}

#[cfg(feature = "regex")]
impl From<regex::Regex> for Pattern {
    fn from(regex: regex::Regex) -> Pattern {
        Pattern(Inner::Regex(regex))
    }
}

/// Parses a regular expression as a pattern.
#[cfg(feature = "regex")]
impl std::str::FromStr for Pattern {
    type Err = regex::Error;

    fn from_str(text: &str) -> Result<Pattern, regex::Error> {
        regex::Regex::new(text).map(Pattern::from)
    }
}
