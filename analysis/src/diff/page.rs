//! A comparison as one HTML file: its rows, and a flame graph of both sides.

use super::ConditionOutcome;
use super::facts::TraceFacts;
use super::report::{DiffReport, Per};
use crate::page::columns::{Column, Columns};
use crate::page::write_page;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

/// The page of a comparison.
///
/// ```
/// use nettrace_analysis::diff::{DiffPage, DiffReport, Per};
/// let report = DiffReport::new(&[], &[], Per::Second);
/// let mut html = Vec::new();
/// DiffPage::new(&report, &[], &[]).write("old and new", &mut html).unwrap();
/// assert!(html.starts_with(b"<!doctype html>"));
/// ```
#[derive(Debug)]
#[must_use = "a page is to be written"]
pub struct DiffPage<'d> {
    report: &'d DiffReport,
    old: &'d [TraceFacts],
    new: &'d [TraceFacts],
    names: [Vec<String>; 2],
    conditions: Vec<ConditionOutcome>,
}

#[derive(Serialize)]
struct Document<'d> {
    schema: u32,
    title: &'d str,
    diff: &'d DiffReport,
    old_names: &'d [String],
    new_names: &'d [String],
    conditions: &'d [ConditionOutcome],
    /// Divisors of the nanoseconds of both sides.
    divisors: [f64; 2],
    frames: Value,
    columns: &'d BTreeMap<String, Column>,
}

impl<'d> DiffPage<'d> {
    /// The page of a report, and of the traces it compares.
    pub fn new(
        report: &'d DiffReport,
        old: &'d [TraceFacts],
        new: &'d [TraceFacts],
    ) -> DiffPage<'d> {
        DiffPage { report, old, new, names: [Vec::new(), Vec::new()], conditions: Vec::new() }
    }

    /// Names of the traces, before and after.
    pub fn names(mut self, old: Vec<String>, new: Vec<String>) -> DiffPage<'d> {
        self.names = [old, new];
        self
    }

    /// Conditions, and whether they hold.
    pub fn conditions(mut self, conditions: Vec<ConditionOutcome>) -> DiffPage<'d> {
        self.conditions = conditions;
        self
    }

    /// Writes the page.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let mut tree = Tree::default();
        for (side, facts) in [self.old, self.new].into_iter().enumerate() {
            for (stack, nanos) in facts.iter().flat_map(|facts| &facts.stacks) {
                tree.add(stack, side, *nanos);
            }
        }
        let mut columns = Columns::default();
        columns.add_steps("nodes.parent", tree.rows.iter().map(|row| i64::from(row.parent)));
        columns.add("nodes.frame", tree.rows.iter().map(|row| u64::from(row.frame)));
        for (side, name) in ["nodes.old", "nodes.new"].into_iter().enumerate() {
            let own: Vec<u64> =
                tree.rows.iter().map(|row| row.own.get(side).copied().unwrap_or(0)).collect();
            columns.add(name, own);
        }
        let [old_names, new_names] = &self.names;
        let document = Document {
            schema: 1,
            title,
            diff: self.report,
            old_names,
            new_names,
            conditions: &self.conditions,
            divisors: [self.divisor(self.old), self.divisor(self.new)],
            frames: json!({ "text": tree.texts.iter().map(|text| &**text).collect::<Vec<_>>() }),
            columns: columns.rows(),
        };
        write_page(&serde_json::to_vec(&document)?, columns.bytes(), out)
    }

    fn divisor(&self, facts: &[TraceFacts]) -> f64 {
        let of = |facts: &TraceFacts| match self.report.per {
            Per::Second => facts.duration_ns as f64 / 1e9,
            Per::Request => facts.requests_of.iter().sum(),
            Per::Sample => facts.samples as f64,
        };
        facts.iter().map(of).sum()
    }
}

#[derive(Debug, Default)]
struct Tree {
    rows: Vec<Node>,
    known: HashMap<(u32, u32), u32>,
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// A call, not the root. `parent` is one more than the index of the parent node; 0 is the
/// root.
#[derive(Debug)]
struct Node {
    parent: u32,
    frame: u32,
    own: [u64; 2],
}

impl Tree {
    fn add(&mut self, stack: &[Arc<str>], side: usize, nanos: u64) {
        let mut node = 0_u32;
        for name in stack {
            let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
            let frame = *self.numbers.entry(Arc::clone(name)).or_insert(next);
            if frame == next {
                self.texts.push(Arc::clone(name));
            }
            let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX).saturating_add(1);
            let child = *self.known.entry((node, frame)).or_insert(next);
            if child == next {
                self.rows.push(Node { parent: node, frame, own: [0; 2] });
            }
            node = child;
        }
        let place = (node as usize).checked_sub(1);
        let row = place.and_then(|place| self.rows.get_mut(place));
        if let Some(own) = row.and_then(|row| row.own.get_mut(side)) {
            *own = own.saturating_add(nanos);
        }
    }
}
