//! Chooses the interpretation of a payload whose types are ambiguous.
//!
//! Some writers store values in another way than described, which only the payload's size
//! reveals. An interpretation fits if all fields are present and the last one ends with the
//! payload. The usual interpretation is used if it fits, or if no other fits.
//!
//! | quirk | type | usual | alternative |
//! |---|---|---|---|
//! | Q1 | DateTime, version 6 only | 8 bytes, FILETIME | 16 bytes, eight i16 |
//! | Q9 | Boolean32 | 4 bytes | 1 byte: self-describing events |
//! | Q10 | Decimal | 16 bytes | 8 bytes, a double: self-describing events |
//! | Q11 | text of a native event | a zero unit ends it | nothing at all: a null text before .NET 6 |
//! | Q12 | bare UTF-8 code unit, version 6 only | 1 byte | u16 length and UTF-8: old one-collect |
//!
//! An alternative applies to all fields of its type in the payload, except for Q11. Payloads with
//! an incomplete description, or with `RelLoc` or `DataLoc`, have no predictable end, and
//! always get the usual interpretation.

use super::extent::{Budget, Payload, Role, ValueExtent};
use crate::bytes::utf16_end;
use crate::schema::{Ambiguity, FieldType, FixedSize, Schema};
use std::cmp::Ordering;
use std::fmt;

/// Interpretation of the ambiguous types, and the pointer size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading(u8);

impl Reading {
    const POINTERS_OF_4: u8 = 1;
    const BOOLEANS_OF_1: u8 = 2;
    const DECIMALS_OF_8: u8 = 4;
    const DATES_OF_16: u8 = 8;
    const COUNTED_UTF8: u8 = 16;

    #[inline]
    pub(super) fn usual(pointer_size: u8) -> Reading {
        Reading(if pointer_size == 4 { Reading::POINTERS_OF_4 } else { 0 })
    }

    fn other(pointer_size: u8, ambiguity: Ambiguity) -> Reading {
        let flag = |what, flag| if ambiguity.contains(what) { flag } else { 0 };
        let Reading(usual) = Reading::usual(pointer_size);
        Reading(
            usual
                | flag(Ambiguity::BOOLEAN, Reading::BOOLEANS_OF_1)
                | flag(Ambiguity::DECIMAL, Reading::DECIMALS_OF_8)
                | flag(Ambiguity::DATE, Reading::DATES_OF_16)
                | flag(Ambiguity::UTF8_UNIT, Reading::COUNTED_UTF8),
        )
    }

    #[inline]
    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    #[inline]
    pub(super) fn is_usual(self) -> bool {
        self.0 & !Reading::POINTERS_OF_4 == 0
    }

    #[inline]
    pub(super) fn pointer_size(self) -> u8 {
        if self.has(Reading::POINTERS_OF_4) { 4 } else { 8 }
    }

    #[inline]
    pub(super) fn boolean_size(self) -> usize {
        if self.has(Reading::BOOLEANS_OF_1) { 1 } else { 4 }
    }

    #[inline]
    pub(super) fn decimal_size(self) -> usize {
        if self.has(Reading::DECIMALS_OF_8) { 8 } else { 16 }
    }

    #[inline]
    pub(super) fn date_size(self) -> usize {
        if self.has(Reading::DATES_OF_16) { 16 } else { 8 }
    }

    /// Returns whether a bare UTF-8 code unit is read as a counted text.
    #[inline]
    pub(super) fn counts_utf8(self) -> bool {
        self.has(Reading::COUNTED_UTF8)
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("pointer_size", &self.pointer_size())
            .field("boolean_size", &self.boolean_size())
            .field("decimal_size", &self.decimal_size())
            .field("date_size", &self.date_size())
            .field("counts_utf8", &self.counts_utf8())
            .finish()
    }
}

/// Interpretation of a payload with an ambiguous schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    pub(super) reading: Reading,
    /// Bit set of the top-level fields that the writer omitted.
    pub(super) omitted: u64,
    pub(super) text_ends: TextEnds,
}

/// Positions of the ends of a payload's first texts. The check whether the usual interpretation
/// fits finds them, so they need not be searched again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextEnds {
    ends: [u32; 4],
    known: u8,
    next: u8,
}

impl TextEnds {
    fn push(&mut self, end: usize) {
        if let (Some(place), Ok(end)) =
            (self.ends.get_mut(usize::from(self.known)), u32::try_from(end))
        {
            *place = end;
            self.known = self.known.saturating_add(1);
        }
    }

    /// Returns the position of the end of the next text, if it is known.
    #[inline]
    pub(super) fn take(&mut self) -> Option<usize> {
        if self.next >= self.known {
            return None;
        }
        let end = self.ends.get(usize::from(self.next)).copied();
        self.next = self.next.saturating_add(1);
        end.map(|end| end as usize)
    }
}

impl Verdict {
    fn usual(pointer_size: u8) -> Verdict {
        Verdict {
            reading: Reading::usual(pointer_size),
            omitted: 0,
            text_ends: TextEnds::default(),
        }
    }
}

/// Returns whether the usual interpretation of a payload with an ambiguous schema fits. If it
/// does, records the ends of the texts. `false` if [`decide`] must find out.
#[inline(always)]
pub(super) fn is_usual(
    schema: &Schema,
    bytes: &[u8],
    pointer_size: u8,
    text_ends: &mut TextEnds,
) -> bool {
    schema
        .runs
        .as_ref()
        .is_some_and(|runs| fit_of_runs(runs, bytes, pointer_size, text_ends) == Fit::Exact)
}

/// Chooses the interpretation of a payload with an ambiguous schema.
pub(super) fn decide(schema: &Schema, bytes: &[u8], pointer_size: u8) -> Verdict {
    let mut usual = Verdict::usual(pointer_size);
    let fit = match &schema.runs {
        Some(runs) => fit_of_runs(runs, bytes, pointer_size, &mut usual.text_ends),
        None => fit(schema, bytes, usual.reading, 0),
    };
    match fit {
        Fit::Exact => usual,
        fit => unusual(schema, bytes, pointer_size, fit).unwrap_or(usual),
    }
}

/// Result of comparing a payload with an interpretation of its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// All fields are present, and nothing follows them.
    Exact,
    /// All fields are present, and bytes follow them.
    Surplus,
    /// Bytes are missing.
    Short,
}

impl Fit {
    fn compare(end: usize, bytes: &[u8]) -> Fit {
        match end.cmp(&bytes.len()) {
            Ordering::Less => Fit::Surplus,
            Ordering::Equal => Fit::Exact,
            Ordering::Greater => Fit::Short,
        }
    }
}

/// Returns the fit of the usual interpretation, for schemas of texts and values of fixed size.
/// Also records the ends of the texts, unless bytes are missing.
#[inline(never)]
fn fit_of_runs(
    runs: &[FixedSize],
    bytes: &[u8],
    pointer_size: u8,
    text_ends: &mut TextEnds,
) -> Fit {
    let Some((last, runs)) = runs.split_last() else { return Fit::Short };
    let mut at = 0usize;
    for run in runs {
        at = at.saturating_add(run.bytes(pointer_size));
        let Some(size) = bytes.get(at..).and_then(utf16_end) else {
            *text_ends = TextEnds::default();
            return Fit::Short;
        };
        // The position is within the payload.
        at = at.wrapping_add(size);
        text_ends.push(at);
        at = at.wrapping_add(2);
    }
    let fit = Fit::compare(at.saturating_add(last.bytes(pointer_size)), bytes);
    if fit == Fit::Short {
        *text_ends = TextEnds::default();
    }
    fit
}

/// Returns the fit of an interpretation in which some fields are omitted.
fn fit(schema: &Schema, bytes: &[u8], reading: Reading, omitted: u64) -> Fit {
    let mut budget = Budget::FULL;
    let payload = Payload { bytes, reading };
    match payload.record(schema.payload_fields(), 0, omitted, Role::Record, &mut budget) {
        Ok(ValueExtent { size, is_whole: true }) => Fit::compare(size, bytes),
        _ => Fit::Short,
    }
}

#[cold]
fn unusual(schema: &Schema, bytes: &[u8], pointer_size: u8, usual_fit: Fit) -> Option<Verdict> {
    let usual = Verdict::usual(pointer_size);
    // Tries sets of quirks, because an old writer has several at once.
    for ambiguity in schema.ambiguity.subsets() {
        let reading = Reading::other(pointer_size, ambiguity);
        if fit(schema, bytes, reading, 0) == Fit::Exact {
            return Some(Verdict { reading, ..usual });
        }
    }
    // A payload with an omitted text is too short. A payload that is too long belongs to a later
    // version of the event.
    if schema.ambiguity.contains(Ambiguity::NULL_TEXT) && usual_fit == Fit::Short {
        let omitted = without_texts(schema, bytes, usual.reading)?;
        return Some(Verdict { omitted, ..usual });
    }
    None
}

/// Maximum number of texts of an event that are tried as omitted.
const MAX_MISSING_TEXTS: usize = 6;

/// Returns a bit set of the texts of a payload that were omitted.
///
/// Before .NET 6, runtimes write nothing at all for a null text, not even its terminator. So this
/// function omits one text, then two, and so on, and chooses the only combination that fits.
/// (Other readers end a text at a character above some limit, which breaks every message that
/// is not in Latin script.)
///
/// If one of several adjacent texts is omitted, all other fields have the same values whichever it
/// is, so the last one is chosen. This is right for ExceptionThrown, whose message follows the
/// type's name. `None` if several combinations fit that differ in more than adjacent texts.
fn without_texts(schema: &Schema, bytes: &[u8], reading: Reading) -> Option<u64> {
    let mut texts = [(0usize, 0usize); MAX_MISSING_TEXTS];
    let mut count = 0;
    let (mut group, mut was_text) = (0usize, false);
    for (place, field) in schema.payload_fields().iter().enumerate().take(64) {
        let is_text = matches!(field.kind, FieldType::Utf16Text | FieldType::AnsiText);
        group = group.saturating_add(usize::from(is_text && !was_text));
        was_text = is_text;
        if is_text && let Some(text) = texts.get_mut(count) {
            *text = (place, group);
            count = count.saturating_add(1);
        }
    }
    let texts = texts.get(..count).unwrap_or_default();
    let chosen = |choice: u32| {
        texts
            .iter()
            .enumerate()
            .filter(move |(index, _)| choice >> index & 1 == 1)
            .map(|(_, text)| *text)
    };
    // The smallest number of omitted texts that fits is the likeliest.
    for missing in 1..=count {
        let mut found: Option<u32> = None;
        for choice in (0u32..1 << count).filter(|choice| choice.count_ones() as usize == missing) {
            let omitted = chosen(choice).fold(0u64, |places, (place, _)| places | 1 << place);
            if fit(schema, bytes, reading, omitted) != Fit::Exact {
                continue;
            }
            let groups = |choice| chosen(choice).map(|(_, group)| group);
            if found.is_some_and(|found| !groups(found).eq(groups(choice))) {
                return None;
            }
            // Of equal combinations the last is kept, which omits the last texts.
            found = Some(choice);
        }
        if let Some(found) = found {
            return Some(chosen(found).fold(0u64, |places, (place, _)| places | 1 << place));
        }
    }
    None
}
