//! Writes JSON documents. Characters that must not reach a terminal are escaped, so that `jq` and
//! people see them.

use nettrace_export::hidden::is_hidden;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// Writes a document, indented, without a newline after it.
pub(crate) fn pretty(out: impl Write, document: &impl Serialize) -> io::Result<()> {
    write(out, document, PrettyFormatter::new())
}

/// Writes a document in one line, without a newline after it.
pub(crate) fn line(out: impl Write, document: &impl Serialize) -> io::Result<()> {
    write(out, document, CompactFormatter)
}

fn write(out: impl Write, document: &impl Serialize, inner: impl Formatter) -> io::Result<()> {
    Ok(document.serialize(&mut Serializer::with_formatter(out, Escaping(inner)))?)
}

/// Formatter that writes as `F` does, and escapes such characters in strings.
struct Escaping<F>(F);

macro_rules! as_inner {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(out $(, $argument)*)
        }
    )*};
}

impl<F: Formatter> Formatter for Escaping<F> {
    as_inner! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        // A fragment has none of the characters that `serde_json` escapes by itself.
        while let Some((at, hidden)) = rest.char_indices().find(|(_, c)| is_hidden(*c)) {
            out.write_all(rest.get(..at).unwrap_or_default().as_bytes())?;
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = rest.get(at + hidden.len_utf8()..).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hidden_characters_are_escaped_and_all_else_is_as_before() {
        let plain = json!({ "a": [1, "ä日🎉\n\"", null, {}], "b": { "c": [] } });
        let mut out = Vec::new();
        pretty(&mut out, &plain).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string_pretty(&plain).unwrap());
        let hostile = json!({ "\u{202e}x": "\u{9b}31m\u{7f}\u{2028}\u{2066}\u{200b}" });
        let mut out = Vec::new();
        line(&mut out, &hostile).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, r#"{"\u202ex":"\u009b31m\u007f\u2028\u2066\u200b"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), hostile);
    }
}
