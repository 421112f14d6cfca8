//! Texts of marks, which many marks share.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A text of a mark. Marks have the same few names and values again and again, so a copy shares the
/// memory of the original.
#[derive(Clone)]
pub struct MarkText(Text);

#[derive(Clone)]
enum Text {
    Static(&'static str),
    Shared(Arc<str>),
}

impl MarkText {
    /// Copies a text.
    pub(super) fn copied(text: &str) -> MarkText {
        MarkText(Text::Shared(text.into()))
    }
}

impl Deref for MarkText {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Text::Static(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl From<&'static str> for MarkText {
    fn from(text: &'static str) -> MarkText {
        MarkText(Text::Static(text))
    }
}

impl From<String> for MarkText {
    fn from(text: String) -> MarkText {
        MarkText(Text::Shared(text.into()))
    }
}

impl PartialEq for MarkText {
    fn eq(&self, other: &MarkText) -> bool {
        **self == **other
    }
}

impl Eq for MarkText {}

impl PartialEq<str> for MarkText {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for MarkText {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl std::hash::Hash for MarkText {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        str::hash(self, state);
    }
}

impl fmt::Debug for MarkText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for MarkText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_their_memory_and_equal_texts_are_equal_wherever_they_lie() {
        let made = MarkText::from("catch".to_owned());
        assert_eq!(made.as_ptr(), made.clone().as_ptr());
        assert_eq!((&made, format!("{made:?}")), (&MarkText::from("catch"), "\"catch\"".into()));
        assert!(made == "catch" && made != "finally");
    }
}
