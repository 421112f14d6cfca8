//! Writes comparisons as JUnit XML for build servers, with a test for each condition; without
//! conditions, one test has the verdict.

use super::Compared;
use super::text::{change, value};
use crate::printable::printable;
use std::io::{self, Write};

pub(super) fn junit(all: &[Compared], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>")?;
    for compared in all {
        let cases = cases(compared);
        let count = |is: fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
            escaped(compared.pair.name.as_deref().unwrap_or("nettrace diff")),
            cases.len(),
            count(|case| matches!(case.fault, Some((Fault::Failure, _)))),
            count(|case| matches!(case.fault, Some((Fault::Error, _)))),
        )?;
        for case in &cases {
            write!(out, "    <testcase name=\"{}\" classname=\"nettrace\"", escaped(&case.name))?;
            match &case.fault {
                None => writeln!(out, "/>")?,
                Some((fault, text)) => {
                    let word = match fault {
                        Fault::Failure => "failure",
                        Fault::Error => "error",
                    };
                    let text = escaped(text);
                    writeln!(out, "><{word} message=\"{text}\">{text}</{word}></testcase>")?;
                }
            }
        }
        writeln!(
            out,
            "    <system-out>{}</system-out>",
            escaped(&compared.report.verdict.to_string())
        )?;
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

struct Case {
    name: String,
    fault: Option<(Fault, String)>,
}

#[derive(Clone, Copy)]
enum Fault {
    /// A condition of `--fail-if` holds.
    Failure,
    /// The traces do not show whether a condition holds.
    Error,
}

fn cases(compared: &Compared) -> Vec<Case> {
    let conditions = compared.conditions.iter().map(|outcome| {
        let because = || {
            let rows = outcome.because.iter().take(5).map(|row| {
                format!(
                    "{}: {} to {} ({})",
                    row.key,
                    value(row, row.old),
                    value(row, row.new),
                    change(row)
                )
            });
            rows.collect::<Vec<_>>().join("; ")
        };
        let fault = match &outcome.undecided {
            Some(reason) => Some((Fault::Error, reason.to_string())),
            None => outcome.holds.then(|| (Fault::Failure, because())),
        };
        Case { name: outcome.condition.clone(), fault }
    });
    let mut cases: Vec<Case> = conditions.collect();
    if cases.is_empty() {
        cases.push(Case { name: compared.report.verdict.to_string(), fault: None });
    }
    cases
}

/// Escapes text for XML 1.0.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in printable(text).to_string().chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}
