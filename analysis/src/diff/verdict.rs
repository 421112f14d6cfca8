//! The first sentence of a comparison.

use super::per::Per;
use super::report::{DiffReport, DiffRow};
use super::subject::Subject;

/// The result in one sentence.
pub(super) fn verdict(report: &DiffReport) -> String {
    let has_runs = report.old.runs >= 2 && report.new.runs >= 2;
    let findings: Vec<&DiffRow> = report.rows.iter().filter(|row| row.is_significant).collect();
    let found = match findings.as_slice() {
        [] if !has_runs => {
            let elapsed = report.rows.iter().find(|row| row.subject == Subject::Elapsed);
            let elapsed = elapsed
                .map_or(String::new(), |row| format!("The program takes {}, but ", change(row)));
            let text = "with one run each these may be differences between runs, and none is large";
            return if elapsed.is_empty() { capitalised(text) } else { elapsed + text };
        }
        [] if report.rows.is_empty() => return "Nothing could be compared".to_owned(),
        [] => {
            return match report.detectable_percent {
                Some(percent) => format!(
                    "Nothing changed by more than about {percent:.0} %, which {} would show",
                    runs(report)
                ),
                None => "Nothing that was compared changed".to_owned(),
            };
        }
        all => all,
    };
    let elapsed = found.iter().find(|row| row.subject == Subject::Elapsed);
    let first = elapsed.or_else(|| found.first());
    let Some(first) = first else { return String::new() };
    let mut text = match (first.subject, report.per) {
        (Subject::Elapsed, Per::Operation) => format!("The operation takes {}", change(first)),
        (Subject::Elapsed, _) => format!("The program takes {}", change(first)),
        _ => format!("{}: {}", first.what, amount(first)),
    };
    if let Some(row) = report.rows.iter().find(|row| row.subject == Subject::Elapsed)
        && !row.is_significant
        && row.change_percent.is_some_and(|change| change.abs() >= 1.0)
    {
        text.push_str(&format!("; it takes {}, which may be chance", change(row)));
    }
    match found.len().saturating_sub(1) {
        0 => {}
        1 => text.push_str("; one more finding"),
        more => text.push_str(&format!("; {more} more findings")),
    }
    if !has_runs {
        text.push_str(" (one run each: only what is large by experience is a finding)");
    }
    text
}

fn runs(report: &DiffReport) -> String {
    match (report.old.runs, report.new.runs) {
        (old, new) if report.old.traces == 1 && report.per == Per::Operation => {
            format!("{old} and {new} iterations")
        }
        (old, new) if old == new => format!("{old} runs each"),
        (old, new) => format!("{old} and {new} runs"),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// `13 % longer`.
fn change(row: &DiffRow) -> String {
    match row.change_percent {
        Some(change) if change >= 0.0 => format!("{change:.1} % longer"),
        Some(change) => format!("{:.1} % less time", -change),
        None => "longer".to_owned(),
    }
}

/// `+38.2 %`.
fn amount(row: &DiffRow) -> String {
    match row.change_percent {
        Some(change) => format!("{change:+.1} %"),
        None => "new".to_owned(),
    }
}
