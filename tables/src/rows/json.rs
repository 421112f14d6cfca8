//! Writes JSON texts that are values of columns.

use nettrace_analysis::model::{Argument, MarkText};
use nettrace_export::json::Json;

/// Writes pairs of texts as an object.
pub(crate) fn write_texts<'t>(
    out: &mut Vec<u8>,
    pairs: impl IntoIterator<Item = (&'t str, &'t str)>,
) {
    write_object(out, pairs, |out, value| out.string(value));
}

/// Writes the arguments of a span as an object.
pub(crate) fn write_arguments(out: &mut Vec<u8>, arguments: &[(MarkText, Argument)]) {
    let pairs = arguments.iter().map(|(name, value)| (&**name, value));
    write_object(out, pairs, |out, value| match value {
        Argument::Number(number) => out.number(*number),
        Argument::Real(real) => out.float(*real),
        Argument::Address(address) => out.hex_string(*address),
        Argument::Text(text) => out.string(text),
        _ => out.raw("null"),
    });
}

/// Writes a list of texts as an array.
pub(crate) fn write_list<'t>(out: &mut Vec<u8>, texts: impl IntoIterator<Item = &'t str>) {
    out.clear();
    out.push(b'[');
    for (at, text) in texts.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.string(text);
    }
    out.push(b']');
}

fn write_object<'t, T>(
    out: &mut Vec<u8>,
    pairs: impl IntoIterator<Item = (&'t str, T)>,
    write: impl Fn(&mut Vec<u8>, T),
) {
    out.clear();
    out.push(b'{');
    for (at, (name, value)) in pairs.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.string(name);
        out.push(b':');
        write(out, value);
    }
    out.push(b'}');
}
