//! Lines of source files.

use std::fmt;
use std::sync::Arc;

/// Line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SourceLine {
    /// Path of the file that the compiler had.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_text"))]
    pub file: Arc<str>,
    /// Line, counted from 1.
    pub line: u32,
    /// Address of the file on the web, by Source Link of the PDB; begins with `https://` or `http://`.
    #[cfg_attr(
        feature = "serde",
        serde(
            rename = "source_url",
            serialize_with = "url",
            skip_serializing_if = "Option::is_none"
        )
    )]
    pub url: Option<Arc<str>>,
    /// Whether the line is the first one of the method, because the trace does not tell which of
    /// the method's lines it is: precompiled code has no map to its IL.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "first_line", skip_serializing_if = "crate::document::is_false")
    )]
    pub is_first: bool,
}

#[cfg(feature = "serde")]
fn url<S: serde::Serializer>(url: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&url.as_deref(), to)
}

impl SourceLine {
    /// Returns the length of its texts, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.file.len().saturating_add(self.url.as_ref().map_or(0, |url| url.len()))
    }
}

/// Writes the line as frames show it: `Program.cs:33`, or `Program.cs:31+` for the first line of a
/// method.
impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.rsplit(['/', '\\']).next().unwrap_or(&self.file);
        write!(f, "{file}:{}{}", self.line, if self.is_first { "+" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_with_the_name_of_its_file() {
        let line = |file: &str, line, is_first| SourceLine {
            file: file.into(),
            line,
            url: None,
            is_first,
        };
        assert_eq!(line("/src/a b/Program.cs", 33, false).to_string(), "Program.cs:33");
        assert_eq!(line("C:\\src\\Program.cs", 7, true).to_string(), "Program.cs:7+");
    }
}
