//! Writes the labels of an event as a JSON object.

use crate::json::Json;
use crate::long::{MAX_NAME_CHARACTERS, cut_bytes};
use crate::payload::PayloadWriter;
use nettrace_parser::{Label, Labels};
use std::io::Write;

/// Value of a label that the event's other keys do not show.
enum Said<'r> {
    Text(&'r [u8]),
    Number(i64),
    Trace(nettrace_parser::TraceId),
    Span(u64),
}

/// Returns the key and value of a label, if the event's other keys do not show it.
fn said(label: Label<'_>) -> Option<(&[u8], Said<'_>)> {
    match label {
        Label::Text { key, value } => Some((key, Said::Text(value))),
        Label::Number { key, value, .. } => Some((key, Said::Number(value))),
        Label::TraceId(id) => Some((&b"trace_id"[..], Said::Trace(id))),
        Label::SpanId(id) => Some((&b"span_id"[..], Said::Span(id))),
        _ => None,
    }
}

/// Writes `before` and the labels as a JSON object. A key that occurs several times gets an array
/// of its values. Labels that other keys of the event show (activities, level, version, keywords,
/// opcode) are left out. Writes nothing if no label remains.
pub(crate) fn write_labels(
    out: &mut Vec<u8>,
    labels: Labels<'_>,
    before: &str,
    numbers: &PayloadWriter,
) {
    let mut all = labels.iter().filter_map(said);
    let Some(first) = all.next() else { return };
    let Some(second) = all.next() else {
        // There is usually only one, which needs no list.
        out.raw(before);
        out.push(b'{');
        label_text(out, first.0);
        out.push(b':');
        label_value(out, &first.1, numbers);
        return out.push(b'}');
    };
    let mut said: Vec<(&[u8], Said<'_>)> = [first, second].into_iter().chain(all).collect();
    // In a JSON object each key occurs once. Few events have several labels, so sorting
    // costs nothing; values of one key keep their order.
    said.sort_by_key(|(key, _)| *key);
    out.raw(before);
    out.push(b'{');
    for (at, group) in said.chunk_by(|a, b| a.0 == b.0).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if let Some((key, _)) = group.first() {
            label_text(out, key);
        }
        out.raw(if group.len() > 1 { ":[" } else { ":" });
        for (at, (_, value)) in group.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            label_value(out, value, numbers);
        }
        if group.len() > 1 {
            out.push(b']');
        }
    }
    out.push(b'}');
}

fn label_text(out: &mut Vec<u8>, text: &[u8]) {
    match text.len() > MAX_NAME_CHARACTERS {
        true => out.string(&cut_bytes(text)),
        false => out.lossy_string(text),
    }
}

fn label_value(out: &mut Vec<u8>, value: &Said<'_>, numbers: &PayloadWriter) {
    // Writing to a vector cannot fail.
    let _ = match value {
        Said::Text(text) => {
            label_text(out, text);
            Ok(())
        }
        Said::Number(number) => {
            numbers.write_signed(out, *number);
            Ok(())
        }
        Said::Trace(id) => write!(out, "\"{id}\""),
        Said::Span(id) => write!(out, "\"{id:016x}\""),
    };
}
