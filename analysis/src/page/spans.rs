//! Spans of a page: waits for locks and handles, and compilations.

use super::sums::Sums;
use crate::model::{Argument, Arguments, Category, Span, Texts};
use crate::sorted::SortFew;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Categories that views show as spans. Other categories have only reports.
const SHOWN: [Category; 3] = [Category::Contention, Category::Wait, Category::Jit];
/// Maximum number of spans of a category.
const MAX_ROWS: usize = 60_000;
/// Maximum number of sums of a category's further spans.
const MAX_SUMS: usize = 1 << 15;
/// Maximum number of bytes of all details.
const MAX_DETAIL_BYTES: usize = 12 << 20;
/// Maximum number of bytes of the details of one span.
const MAX_SPAN_DETAIL_BYTES: usize = 400;

/// A span.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanRow {
    pub(crate) start_nanos: i64,
    pub(crate) nanos: u64,
    pub(crate) thread: u32,
    /// Index of the name in the texts.
    pub(crate) name: u32,
    /// Index of the text by which rows are grouped, such as the lock of a wait.
    pub(crate) key: u32,
    /// Index of the details in the texts.
    pub(crate) detail: u32,
    /// Id of the thread that held the lock when the wait began; 0 if it is not known.
    pub(crate) owner: u64,
}

/// Spans of a category.
#[derive(Debug)]
pub(crate) struct SpansOf {
    pub(crate) rows: Vec<SpanRow>,
    /// Duration in nanoseconds below which spans have no row.
    pub(crate) least_nanos: u64,
    /// Sums of spans without a row, by key.
    pub(super) others: Sums<1>,
    pub(crate) left_out: u64,
}

impl Default for SpansOf {
    fn default() -> SpansOf {
        SpansOf { rows: Vec::new(), least_nanos: 0, others: Sums::new(MAX_SUMS), left_out: 0 }
    }
}

/// Spans of all categories, and their texts.
#[derive(Debug, Default)]
pub(crate) struct PageSpans {
    by_category: BTreeMap<Category, SpansOf>,
    pub(crate) texts: Texts,
    detail_bytes: usize,
}

impl PageSpans {
    pub(crate) fn add(&mut self, span: &Span) {
        if !SHOWN.contains(&span.category) {
            return;
        }
        let of = self.by_category.entry(span.category).or_default();
        let key = key_of(span);
        if span.nanos < of.least_nanos {
            let key = self.texts.intern(&key).0;
            of.leave_out(span.start_nanos, key, span.nanos);
            return;
        }
        let mut detail = details(&span.arguments, span.ends.note());
        if self.detail_bytes > MAX_DETAIL_BYTES {
            detail.clear();
        }
        let mut text = |text: &str| self.texts.intern(text).0;
        let (name, key) = (text(&span.name), text(&key));
        let known = self.texts.len();
        let detail_text = self.texts.intern(&detail).0;
        if self.texts.len() > known {
            self.detail_bytes = self.detail_bytes.saturating_add(detail.len());
        }
        of.rows.push(SpanRow {
            start_nanos: span.start_nanos,
            nanos: span.nanos,
            thread: span.thread.0,
            name,
            key,
            detail: detail_text,
            owner: owner_of(span),
        });
        if of.rows.len() > MAX_ROWS {
            of.thin_out(MAX_ROWS / 2);
        }
    }

    pub(crate) fn finish(&mut self) -> BTreeMap<Category, SpansOf> {
        let mut by_category = std::mem::take(&mut self.by_category);
        for of in by_category.values_mut() {
            of.rows.sort_by_key(|row| row.start_nanos);
        }
        by_category
    }
}

impl SpansOf {
    /// Keeps the rows of the `most` longest spans.
    fn thin_out(&mut self, most: usize) {
        self.rows.sort_few_by_key(|row| std::cmp::Reverse(row.nanos));
        self.least_nanos = self.rows.get(most).map_or(0, |row| row.nanos.saturating_add(1));
        for row in self.rows.split_off(most.min(self.rows.len())) {
            self.leave_out(row.start_nanos, row.key, row.nanos);
        }
    }

    fn leave_out(&mut self, start_nanos: i64, key: u32, nanos: u64) {
        self.left_out = self.left_out.saturating_add(1);
        self.others.add(start_nanos, [key], nanos);
    }
}

fn key_of(span: &Span) -> String {
    let key = match span.category {
        Category::Contention => argument(span, "lock"),
        Category::Wait => argument(span, "source"),
        _ => None,
    };
    let mut text = String::new();
    if let Some(value) = key {
        value_text(&mut text, value);
    }
    text
}

fn owner_of(span: &Span) -> u64 {
    match argument(span, "owner_thread") {
        Some(Argument::Number(owner)) => *owner,
        _ => 0,
    }
}

/// Returns an argument of a span by its name.
fn argument<'s>(span: &'s Span, name: &str) -> Option<&'s Argument> {
    span.arguments.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

fn value_text(text: &mut String, value: &Argument) {
    // Writing to a `String` cannot fail.
    let _ = match value {
        Argument::Number(number) => write!(text, "{number}"),
        Argument::Real(real) => write!(text, "{real}"),
        Argument::Address(address) => write!(text, "{address:#x}"),
        Argument::Text(value) => write!(text, "{value}"),
    };
}

/// Returns arguments as text: `number: 3, reason: AllocSmall`.
fn details(arguments: &Arguments, note: Option<&str>) -> String {
    let mut text = String::new();
    for (name, value) in arguments {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push_str(": ");
        value_text(&mut text, value);
    }
    if let Some(note) = note {
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}{note}");
    }
    cut(text)
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_SPAN_DETAIL_BYTES {
        let end =
            (0..=MAX_SPAN_DETAIL_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}
