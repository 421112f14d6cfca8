//! `report summary`, which `nettrace FILE` prints too.

use super::pass::{Asked, Steps, show_in_steps};
use super::words::{duration, prose};
use crate::context::Context;
use crate::cut::cut;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::printable::printable;
use crate::recommended::shell_word;
use crate::style::Paint;
use crate::table::wrapped;
use crate::units;
use nettrace_analysis::findings::{Summary, SummaryReport};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) fn run(asked: Asked<'_>, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let complete = |report: &mut SummaryReport, trace: &Ended| {
        let lost = trace.losses.total();
        if lost > 0 {
            report.add_lost_events(lost);
        }
        true
    };
    let steps = Steps { each: None, complete, text: &text };
    show_in_steps(Summary::default(), asked, &steps, context)
}

fn text(file: &str, report: &SummaryReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint, name) =
        (context.style.strong(), context.style.faint(), context.style.name());
    let width = context.table_width();
    let out = context.out.buffer();
    writeln!(out, "{}", strong.over(printable(file)))?;
    writeln!(out, "{}", strong.over(wrapped(&report.kind, width)))?;
    let process = report
        .process
        .as_deref()
        .map_or_else(String::new, |process| format!(" of {}", printable(process)));
    let line = format!(
        "{}{process}, {}, {}",
        duration(report.duration_ns),
        units::counted(report.events, "event"),
        units::counted(report.threads, "thread"),
    );
    prose(context, &Paint::default(), &line)?;
    let out = context.out.buffer();
    let file = if file == "standard input" { "-".to_owned() } else { shell_word(file) };
    if !report.findings.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", strong.over("What stands out"))?;
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(2));
        for finding in &report.findings {
            writeln!(out, "  {}", fitted(&printable(&finding.text), room))?;
            writeln!(out, "    {}", name.over(format!("nettrace {} {file}", finding.command)))?;
        }
    }
    if report.has_heap_dump {
        writeln!(out)?;
        writeln!(out, "{}", strong.over("The objects of its heap"))?;
        writeln!(out, "    {}", name.over(format!("nettrace heap {file}")))?;
    }
    if !report.answers.is_empty() {
        writeln!(out)?;
        writeln!(
            out,
            "{}",
            strong.over("What it can answer, from how many events: nettrace report NAME FILE")
        )?;
        for answer in &report.answers {
            let count = faint.over(format!("{:>10}", units::count(answer.events)));
            writeln!(
                out,
                "  {}{count}  {}",
                name.over(format!("{:<12}", answer.report)),
                answer.about
            )?;
        }
    }
    Ok(())
}

/// Where less room is left for the name at a sentence's end, the sentence is cut as a
/// whole.
const LEAST_NAME_COLUMNS: usize = 8;

/// A sentence that fits a line: its last word is a name, which is cut in its middle.
fn fitted(text: &str, width: usize) -> String {
    let (start, name) = text.rsplit_once(' ').unwrap_or(("", text));
    match width.checked_sub(start.width() + 1) {
        Some(room) if room >= LEAST_NAME_COLUMNS => {
            format!("{start} {}", cut(name, room)).trim_start().to_owned()
        }
        _ => cut(text, width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_at_a_sentences_end_is_cut_in_its_middle() {
        assert_eq!(fitted("most in A.B", 11), "most in A.B");
        let cut = fitted("most in Namespace.Type.Method", 22);
        assert_eq!((cut.as_str(), cut.chars().count()), ("most in Name…pe.Method", 22));
        assert_eq!(fitted("no room for VeryLongName", 14), "no r…yLongName");
    }
}
