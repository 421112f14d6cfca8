//! A comparison as one HTML file: its rows, and a flame graph of both sides.

use super::calls::NamedFrame;
use super::calls_of_both::{BothSides, CallOfBoth};
use super::condition::ConditionOutcome;
use super::measured::MeasuredTrace;
use super::report::DiffReport;
use super::row::DiffRow;
use crate::fact::comparison::Subject;
use crate::html::{ColumnPlace, Columns, write_html};
use crate::model::Call;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The page of a comparison.
///
/// ```
/// use nettrace_analysis::diff::{DiffPage, DiffReport, Per};
/// let report = DiffReport::new(&[], &[], Per::Second);
/// let mut html = Vec::new();
/// let page = DiffPage {
///     report: &report,
///     old: &[],
///     new: &[],
///     names: [vec!["a.nettrace".into()], vec!["b.nettrace".into()]],
///     conditions: &[],
/// };
/// page.write("old and new", &mut html).unwrap();
/// assert!(html.starts_with(b"<!doctype html>"));
/// ```
#[derive(Debug)]
#[must_use = "a page is to be written"]
pub struct DiffPage<'d> {
    /// Comparison that the page shows.
    pub report: &'d DiffReport,
    /// Old traces, for the flame graph.
    pub old: &'d [MeasuredTrace],
    /// New traces, for the flame graph.
    pub new: &'d [MeasuredTrace],
    /// Names of the old traces, and of the new ones.
    pub names: [Vec<String>; 2],
    /// Results of the conditions; may be empty.
    pub conditions: &'d [ConditionOutcome],
}

#[derive(Serialize)]
struct DiffPageDocument<'d> {
    schema: u32,
    title: &'d str,
    diff: &'d DiffReport,
    old_names: &'d [String],
    new_names: &'d [String],
    conditions: &'d [ConditionOutcome],
    /// Numbers by which the nanoseconds of the old and the new side are divided.
    divisors: [f64; 2],
    frames: Value,
    columns: &'d BTreeMap<String, ColumnPlace>,
}

impl DiffPage<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let sides = [self.old, self.new].map(|traces| traces.iter().map(|trace| &trace.calls));
        let tree = BothSides::new(sides);
        let mut columns = Columns::default();
        columns.add_steps("nodes.parent", tree.nodes.iter().map(|node| i64::from(node.parent)));
        columns.add("nodes.frame", tree.nodes.iter().map(|node| u64::from(node.name)));
        for (side, name) in ["nodes.old", "nodes.new"].into_iter().enumerate() {
            let own = |node: &CallOfBoth| node.own.get(side).copied().unwrap_or(0);
            columns.add(name, tree.nodes.iter().map(own));
        }
        let is_changed_method = |row: &&DiffRow| {
            row.is_significant && matches!(row.key.subject, Subject::Method | Subject::MethodTotal)
        };
        let findings: BTreeSet<&str> =
            self.report.rows.iter().filter(is_changed_method).map(|row| &*row.key.name).collect();
        let [old_names, new_names] = &self.names;
        let document = DiffPageDocument {
            schema: 1,
            title,
            diff: self.report,
            old_names,
            new_names,
            conditions: self.conditions,
            divisors: [self.divisor(self.old), self.divisor(self.new)],
            frames: frames(&tree.frames, &findings),
            columns: columns.rows(),
        };
        write_html(&[&serde_json::to_vec(&document)?], &columns, out)
    }

    fn divisor(&self, traces: &[MeasuredTrace]) -> f64 {
        traces.iter().map(|trace| trace.divisor(self.report.per)).sum()
    }
}

/// Returns the frames as JSON, with one list for each column. A handler that is named after its
/// endpoint has no type.
fn frames(frames: &[Option<&NamedFrame>], findings: &BTreeSet<&str>) -> Value {
    let texts = |deeper: &'static str, part: fn(&NamedFrame) -> &str| -> Vec<&str> {
        frames.iter().map(|frame| frame.map_or(deeper, part)).collect()
    };
    let is_finding =
        |frame: &Option<&NamedFrame>| frame.is_some_and(|it| findings.contains(&*it.name));
    json!({
        "text": texts(Call::DEEPER, |named| &named.name),
        "type": texts("", |named| if is_renamed(named) { "" } else { &named.frame.type_name }),
        "method": texts("", |named| if is_renamed(named) { &named.name } else { &named.frame.method }),
        "is_finding": frames.iter().map(is_finding).collect::<Vec<_>>(),
    })
}

/// Returns whether the name is not the frame's own, because the method handles an endpoint.
fn is_renamed(named: &NamedFrame) -> bool {
    named.name != named.frame.text
}
