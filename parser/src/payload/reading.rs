//! Which of several readings of a payload is meant (format.md Q1, Q9 to Q12).
//!
//! Some writers store other bytes than their description says, and nothing but the payload's size
//! tells. The usual reading stands if it ends exactly at the payload's end; else another is taken
//! if it does; else the usual one stands after all, with surplus or missing bytes.

use super::VALUE_LIMIT;
use super::extent::{Place, Walk};
use crate::schema::{Ambiguity, Field, FieldType, Schema};

/// How many bytes the ambiguous types take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(super) pointer_size: u8,
    /// 4, or 1: self-describing events under code 3 (Q9).
    pub(super) boolean_bytes: u8,
    /// 16, or 8: a double (Q10).
    pub(super) decimal_bytes: u8,
    /// 8, or 16 in version 6: eight i16 (Q1).
    pub(super) date_bytes: u8,
    /// Whether a bare UTF-8 code unit is a counted text: old one-collect (Q12).
    pub(super) counts_utf8: bool,
}

impl Reading {
    pub(super) fn usual(pointer_size: u8) -> Reading {
        Reading { pointer_size, boolean_bytes: 4, decimal_bytes: 16, date_bytes: 8, counts_utf8: false }
    }

    fn other(pointer_size: u8, ambiguity: Ambiguity) -> Reading {
        let usual = Reading::usual(pointer_size);
        Reading {
            boolean_bytes: if ambiguity.contains(Ambiguity::BOOLEAN) { 1 } else { usual.boolean_bytes },
            decimal_bytes: if ambiguity.contains(Ambiguity::DECIMAL) { 8 } else { usual.decimal_bytes },
            date_bytes: if ambiguity.contains(Ambiguity::DATE) { 16 } else { usual.date_bytes },
            counts_utf8: ambiguity.contains(Ambiguity::UTF8_UNIT),
            ..usual
        }
    }
}

/// The reading of a payload, and the top-level fields that its writer left out.
#[inline]
pub(super) fn of(schema: &Schema, payload: &[u8], pointer_size: u8) -> (Reading, u64) {
    let usual = Reading::usual(pointer_size);
    if schema.ambiguity == Ambiguity::NONE || ends_exactly(&schema.fields, payload, usual, 0) {
        return (usual, 0);
    }
    unusual(schema, payload, pointer_size).unwrap_or((usual, 0))
}

/// Whether all fields are there and nothing is behind them.
fn ends_exactly(fields: &[Field], payload: &[u8], reading: Reading, omitted: u64) -> bool {
    let walk = Walk::new(payload, reading);
    let mut budget = VALUE_LIMIT;
    if omitted == 0 {
        let end = walk.record(fields, payload, Place::Record, &mut budget);
        return end == Ok((payload.len(), true)) && no_text_is_cut(fields, payload);
    }
    let present = fields.iter().enumerate().filter(|(place, _)| omitted >> (place & 63) & 1 == 0);
    let present: Vec<Field> = present.map(|(_, field)| field.clone()).collect();
    walk.record(&present, payload, Place::Record, &mut budget) == Ok((payload.len(), true))
        && no_text_is_cut(&present, payload)
}

/// A text that runs to the payload's end without its zero unit does not end "exactly".
fn no_text_is_cut(fields: &[Field], payload: &[u8]) -> bool {
    match fields.last().map(|field| &field.kind) {
        Some(FieldType::Utf16Text) => payload.ends_with(&[0, 0]),
        _ => true,
    }
}

#[cold]
fn unusual(schema: &Schema, payload: &[u8], pointer_size: u8) -> Option<(Reading, u64)> {
    for ambiguity in schema.ambiguity.subsets() {
        let reading = Reading::other(pointer_size, ambiguity);
        if ends_exactly(&schema.fields, payload, reading, 0) {
            return Some((reading, 0));
        }
    }
    if schema.ambiguity.contains(Ambiguity::NULL_TEXT) {
        let reading = Reading::usual(pointer_size);
        return without_texts(&schema.fields, payload, reading).map(|omitted| (reading, omitted));
    }
    None
}

/// Texts of native events that may be missing together.
const MISSING_TEXTS: usize = 6;

/// Runtimes before .NET 6 write no bytes at all for a null text, not even its terminator (Q11):
/// leave out one text at a time, then two, and take the only way that ends exactly. Reading on to
/// a character above some limit instead would break every message that is not Latin.
fn without_texts(fields: &[Field], payload: &[u8], reading: Reading) -> Option<u64> {
    let texts: Vec<usize> = fields
        .iter()
        .enumerate()
        .filter(|(place, field)| *place < 64 && field.kind == FieldType::Utf16Text)
        .map(|(place, _)| place)
        .take(MISSING_TEXTS)
        .collect();
    for count in 1..=texts.len() {
        let mut found = None;
        for choice in (0u32..1 << texts.len()).filter(|choice| choice.count_ones() as usize == count) {
            let omitted = texts
                .iter()
                .enumerate()
                .filter(|(index, _)| choice >> index & 1 == 1)
                .fold(0u64, |omitted, (_, place)| omitted | 1 << place);
            if ends_exactly(fields, payload, reading, omitted) {
                if found.is_some() {
                    // Two ways: which text is missing cannot be known.
                    return None;
                }
                found = Some(omitted);
            }
        }
        if found.is_some() {
            return found;
        }
    }
    None
}
