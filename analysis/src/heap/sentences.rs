//! What a person would say first of a heap, or of how it grew, in sentences.

use super::diff::{HeapDiff, HeapHolderGrowth, HeapTypeDiff, LEAST_GROWTH_PERCENT};
use super::holders::{HeapHolder, LEAST_PERCENT, is_own};
use super::report::{HeapReport, HeapTypeRow};
use crate::model::Folding;
use crate::sorted::SortFew;
use nettrace_export::units::{bytes, count, counted};
use std::collections::BTreeSet;

/// Maximum number of the program's own types that a sentence names.
const MAX_OWN_TYPES: usize = 3;
/// Maximum number of sentences about types that grew.
const MAX_GROWN_TYPES: usize = 3;

impl HeapReport {
    /// Returns what a person would say first: what holds most, and which of the program's own types keep
    /// most alive. Each sentence with the bytes that it is about.
    pub fn sentences(&self) -> Vec<(u64, String)> {
        let held = self.holders.iter();
        let held = held.map(|held| (held.retained_bytes, held.text(self.reachable_bytes)));
        held.chain(own_types(&self.types, self.reachable_bytes)).collect()
    }
}

impl HeapDiff {
    /// Returns what a person would say first: what holds more, and of which of the program's own types
    /// there is more.
    pub fn sentences(&self) -> Vec<String> {
        let grown = self.types.iter().filter(|row| {
            row.count_growth > 0 && row.bytes_growth > 0 && is_own(&row.name, &row.module)
        });
        let mut grown: Vec<&HeapTypeDiff> = grown.collect();
        grown.sort_by_key(|row| std::cmp::Reverse(row.retained_bytes_growth.max(row.bytes_growth)));
        let least = self.new.bytes as f64 * LEAST_GROWTH_PERCENT / 100.0;
        let texts = grown
            .into_iter()
            .filter(|row| row.retained_bytes_growth as f64 >= least)
            .take(MAX_GROWN_TYPES)
            .map(|row| {
                format!(
                    "{} more {}, which keep {} alive",
                    count(row.count_growth.unsigned_abs()),
                    short(&row.name),
                    bytes(row.retained_bytes_growth.unsigned_abs())
                )
            });
        self.holders.iter().map(HeapHolderGrowth::text).chain(texts).collect()
    }
}

impl HeapHolder {
    /// Returns what is held, such as `a Dictionary<string, Order> of 20,000 entries`.
    fn what(&self) -> String {
        let through =
            self.through.as_ref().map_or_else(String::new, |own| format!("{}, in it ", short(own)));
        let type_name = short(&self.type_name);
        let what = match self.elements {
            0 if type_name.is_empty() => return String::new(),
            0 => a(&type_name),
            elements if self.is_event => {
                let all = if self.element_type_count == elements { "all" } else { "most" };
                format!(
                    "an event with {}, {all} {} ({})",
                    counted(elements, "subscriber"),
                    short(&self.element_type),
                    bytes(self.element_bytes)
                )
            }
            elements if self.type_name == self.element_type => {
                format!("{} {type_name}", count(elements))
            }
            elements => format!("{} of {} entries", a(&type_name), count(elements)),
        };
        format!("{through}{what}")
    }

    /// Returns a sentence such as `15.7 MiB of 22.1 MiB (71 %) are held by static ByKey: a Dictionary<string, Order> of
    /// 20,000 entries`.
    fn text(&self, reachable_bytes: u64) -> String {
        let what = Some(self.what()).filter(|what| !what.is_empty());
        format!(
            "{} of {} ({:.0} %) are held by {}{}",
            bytes(self.retained_bytes),
            bytes(reachable_bytes),
            self.percent,
            self.held_by,
            what.map_or_else(String::new, |what| format!(": {what}"))
        )
    }
}

impl HeapHolderGrowth {
    /// Returns a sentence such as `2.1 MiB more are held by static All: a List<LeakedSession> of 3,000 entries, 1,000 before`.
    fn text(&self) -> String {
        let what = Some(self.holder.what()).filter(|what| !what.is_empty());
        let before = self.elements_before.filter(|before| *before != self.holder.elements);
        format!(
            "{} more are held by {}{}{}",
            bytes(self.retained_bytes_growth),
            self.holder.held_by,
            what.map_or_else(String::new, |what| format!(": {what}")),
            before.map_or_else(String::new, |before| format!(", {} before", count(before)))
        )
    }
}

/// Returns the sentence about the program's own types that keep most alive: `of your types 20,000 Order
/// keep 13.9 MiB alive, 3,000 View 5.9 MiB`; `None` if there are none.
fn own_types(rows: &[HeapTypeRow], reachable: u64) -> Option<(u64, String)> {
    let least = (reachable as f64 * LEAST_PERCENT / 100.0).max(1.0);
    // A nested type may have no namespace, and a module no name.
    let framework: BTreeSet<&str> = rows
        .iter()
        .filter(|row| Folding::is_framework(&row.name))
        .map(|row| &*row.module)
        .collect();
    let mut own: Vec<_> = rows
        .iter()
        .filter(|row| is_own(&row.name, &row.module) && row.retained_bytes as f64 >= least)
        .filter(|row| !framework.contains(&*row.module))
        .collect();
    own.sort_few_by(|a, b| {
        b.retained_bytes.cmp(&a.retained_bytes).then_with(|| a.name.cmp(&b.name))
    });
    own.truncate(MAX_OWN_TYPES);
    let most = own.first()?.retained_bytes;
    let mut texts = own.iter().enumerate().map(|(at, row)| {
        let alive = if at == 0 { " alive" } else { "" };
        let keep = match (at, row.count) {
            (0, 1) => "keeps ",
            (0, _) => "keep ",
            _ => "",
        };
        format!(
            "{} {} {keep}{}{alive}",
            count(row.count),
            short(&row.name),
            bytes(row.retained_bytes)
        )
    });
    let first = texts.next()?;
    let rest: String = texts.map(|text| format!(", {text}")).collect();
    Some((most, format!("of your types {first}{rest}")))
}

/// Returns a type's name with its article.
fn a(name: &str) -> String {
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Returns a type's name without namespaces: `Dictionary<string, Order>`.
fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut word = String::new();
    for letter in name.chars() {
        match letter {
            '<' | '>' | ',' | '[' | ']' => {
                out.push_str(word.rsplit('.').next().unwrap_or(&word));
                word.clear();
                out.push(letter);
                if letter == ',' {
                    out.push(' ');
                }
            }
            _ => word.push(letter),
        }
    }
    out.push_str(word.rsplit('.').next().unwrap_or(&word));
    out
}
