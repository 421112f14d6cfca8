//! Writes a comparison as text and as Markdown.

use super::Compared;
use crate::args::DiffArgs;
use crate::context::Context;
use crate::printable::printable;
use crate::table::{left, list, right, wrapped};
use crate::units;
use nettrace_analysis::diff::{DiffReport, DiffRow, DiffSide, StandsOut};
use nettrace_analysis::findings::Finding;
use std::io::{self, Write};

/// Maximum number of rows of the Markdown table, which is read in the summary of a CI job.
const MAX_MARKDOWN_FINDINGS: usize = 30;

pub(super) fn text(
    args: &DiffArgs,
    compared: &Compared,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let report = &compared.report;
    let (strong, width) = (context.style.strong(), context.table_width());
    let out = context.out.buffer();
    let name = compared.pair.name.as_deref().map_or(String::new(), |name| format!("{name}: "));
    let verdict = format!("{}{}", printable(&name), printable(&report.verdict.to_string()));
    writeln!(out, "{}\n", strong.over(wrapped(&verdict, width)))?;
    for (word, side) in [("old", &report.old), ("new", &report.new)] {
        writeln!(out, "{word}  {}", about(side))?;
    }
    let unit = format!("sums are per {}: {}", report.per, report.per_reason);
    writeln!(out, "{}", wrapped(&unit, width))?;
    for note in &report.notes {
        let note = format!("note: {}", printable(&note.to_string()));
        writeln!(out, "{}", wrapped(&note, width))?;
    }
    stands_out(report, width, context)?;
    let shown = shown(report, args.all);
    if !shown.is_empty() {
        writeln!(context.out.buffer())?;
        let has_runs = report.detectable_percent.is_some();
        list(context, &shown, args.rows.number).columns([
            right("OLD", 10, 0).fill(&|row| value(row, row.old).into()),
            right("NEW", 10, 0).fill(&|row| value(row, row.new).into()),
            right("CHANGE", 8, 0).fill(&|row| change(row).into()),
            right(if has_runs { "95 % INTERVAL" } else { "" }, 5, 2)
                .fill(&|row| interval(row).into()),
            right("WEIGHT", 7, 1).fill(&|row| format!("{:.1} %", row.weight_percent).into()),
            left("", 5, 2).fill(&|row| mark(row, has_runs).into()),
            left("WHAT", 30, 0).fill(&|row| row.key.to_string().into()),
        ])?;
    }
    let out = context.out.buffer();
    writeln!(out, "\n{}", wrapped(&looked_at(report), width))
}

/// Writes the findings that only one side's traces have.
fn stands_out(
    report: &DiffReport,
    width: Option<usize>,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let out = context.out.buffer();
    for (title, findings) in sentences(report) {
        writeln!(out, "\n{}", strong.over(title))?;
        for finding in findings {
            let room = width.map(|width| width.saturating_sub(2));
            let lines = wrapped(&printable(&finding.text()).to_string(), room);
            writeln!(out, "  {}", lines.replace('\n', "\n  "))?;
        }
    }
    Ok(())
}

/// Returns the findings that only one side has, under a heading for each side.
fn sentences(report: &DiffReport) -> impl Iterator<Item = (&'static str, &[Finding])> {
    let StandsOut { appeared, gone, .. } = &report.stands_out;
    let both = [
        ("What stands out in NEW only", appeared.as_slice()),
        ("What stood out in OLD only", gone.as_slice()),
    ];
    both.into_iter().filter(|(_, findings)| !findings.is_empty())
}

/// Returns the rows to show: all rows, or those with findings, or with one run each also those that
/// differ and have a weight of at least 1 %.
fn shown(report: &DiffReport, is_all: bool) -> Vec<&DiffRow> {
    let has_runs = report.detectable_percent.is_some();
    let is_shown = |row: &&DiffRow| {
        is_all || row.is_significant || !has_runs && row.weight_percent >= 1.0 && row.old != row.new
    };
    report.rows.iter().filter(is_shown).collect()
}

/// Returns the sentence about the number of values, and the smallest change that is detectable.
fn looked_at(report: &DiffReport) -> String {
    let rows = units::counted(report.rows.len() as u64, "value");
    match report.detectable_percent {
        Some(percent) => format!(
            "Compared: {rows}. {} and {} can show changes of about {percent:.0} % in what matters.",
            units::counted(report.old.runs, "run"),
            units::counted(report.new.runs, "run"),
        ),
        None => format!(
            "Compared: {rows}. One run each: these may be differences between runs. Three runs of \
             each side show changes of about 15 %."
        ),
    }
}

pub(super) fn markdown(compared: &Compared, out: &mut dyn Write) -> io::Result<()> {
    let report = &compared.report;
    let name = compared.pair.name.as_deref().unwrap_or("nettrace diff");
    writeln!(out, "### {}\n\n**{}**\n", escaped(name), escaped(&report.verdict.to_string()))?;
    writeln!(
        out,
        "old: {}; new: {}; sums are per {}\n",
        about(&report.old),
        about(&report.new),
        report.per
    )?;
    let shown = shown(report, false);
    if !shown.is_empty() {
        writeln!(
            out,
            "| | old | new | change | 95 % interval | what |\n|---|--:|--:|--:|--:|---|"
        )?;
        for row in shown.iter().take(MAX_MARKDOWN_FINDINGS) {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} |",
                if row.is_significant { "**!**" } else { "" },
                value(row, row.old),
                value(row, row.new),
                change(row),
                interval(row),
                escaped(&row.key.to_string()),
            )?;
        }
        let more = shown.len().saturating_sub(MAX_MARKDOWN_FINDINGS);
        if more > 0 {
            writeln!(out, "\n… and {} more", units::count(more as u64))?;
        }
        writeln!(out)?;
    }
    for (title, findings) in sentences(report) {
        writeln!(out, "{title}:\n")?;
        for finding in findings {
            writeln!(out, "- {}", escaped(&finding.text()))?;
        }
        writeln!(out)?;
    }
    for condition in &compared.conditions {
        let says = match (&condition.undecided, condition.holds) {
            (Some(reason), _) => format!("cannot be decided: {reason}"),
            (None, true) => "holds".to_owned(),
            (None, false) => "does not hold".to_owned(),
        };
        writeln!(out, "- `{}`: {}", condition.condition, escaped(&says))?;
    }
    let notes = report.notes.iter().map(ToString::to_string);
    for text in notes.chain(report.not_compared.iter().map(ToString::to_string)) {
        writeln!(out, "- {}", escaped(&text))?;
    }
    writeln!(out, "\n{}\n", looked_at(report))
}

/// Escapes text so that nothing in it is Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in printable(text).to_string().chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '#' => {
                out.push('\\');
                out.push(letter);
            }
            _ => out.push(letter),
        }
    }
    out
}

fn mark(row: &DiffRow, has_runs: bool) -> &'static str {
    match (row.is_significant, row.doubt.is_some()) {
        (true, _) if !has_runs => "large",
        (true, _) => "",
        (false, true) => "doubt",
        (false, false) if has_runs => "noise",
        (false, false) => "",
    }
}

/// Describes the traces of a side: `2 traces, 8.017 s, 81,554 samples, 11,841 requests`.
fn about(side: &DiffSide) -> String {
    let mut text = units::counted(side.traces, "trace");
    let duration = units::duration(i64::try_from(side.duration_ns).unwrap_or(i64::MAX));
    text.push_str(&format!(", {duration}"));
    for (count, word) in [(side.samples, "sample"), (side.requests, "request")] {
        if count > 0 {
            text.push_str(&format!(", {}", units::counted(count, word)));
        }
    }
    if side.operations > 0.0 {
        text.push_str(&format!(", {} operations", units::decimal(side.operations, 0)));
    }
    if side.lost > 0 {
        text.push_str(&format!(", {} lost", units::counted(side.lost, "event")));
    }
    text
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cut off at the ends"
)]
pub(super) fn value(row: &DiffRow, value: f64) -> String {
    match &*row.unit {
        "ns" if value >= 1000.0 => units::duration(value.round() as i64),
        "ns" => format!("{value:.1} ns"),
        "bytes" => units::bytes(value.round() as u64),
        _ if value.abs() >= 1000.0 => units::decimal(value, 0),
        _ => units::decimal(value, 2),
    }
}

pub(super) fn change(row: &DiffRow) -> String {
    match row.change_percent {
        Some(change) => format!("{change:+.1} %"),
        None if row.new != 0.0 => "new".to_owned(),
        None => String::new(),
    }
}

/// Returns the 95 % interval of a change: `+25 to +52 %`.
fn interval(row: &DiffRow) -> String {
    let Some([low, high]) = row.interval.filter(|_| row.old > 0.0) else { return String::new() };
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    if percent(high) > 9999.0 {
        return format!("{:+.0} % and more", percent(low));
    }
    format!("{:+.0} to {:+.0} %", percent(low), percent(high))
}
