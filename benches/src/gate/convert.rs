//! Conversions: what they cost above reading, and memory, which is bounded by what is
//! different in a trace and not by its length.

use std::io;
use std::path::Path;

use nettrace_analysis::convert::Format;

use super::child::{self, Child};
use super::report::{GateReport, Limit};
use super::{MIB, instructions_per_event};
use crate::cases::Case;
use crate::pass::{Input, Mode};
use crate::{convert, memory, reports};

/// First argument of the gate when it is to convert a file.
pub const FLAG: &str = "--one-conversion";

/// Most memory that a conversion may hold, in MiB: the program, the window, what waits
/// for its turn.
const MOST: f64 = 32.0;

/// Instructions, as a multiple of those of raw iteration: the goal, which is one in time,
/// and the limit, a few percent above what was reached.
const OVER_RAW: [(Case, &str, f64, f64); 6] = [
    (Case::Samples, "folded", 1.15, 3.4),
    (Case::Samples, "speedscope", 1.5, 5.15),
    (Case::Samples, "pprof", 1.5, 3.4),
    (Case::Clr, "folded", 1.15, 3.05),
    (Case::Clr, "speedscope", 1.5, 7.3),
    (Case::Clr, "pprof", 1.5, 3.05),
];

/// Whether it is a format's name, or one of reports, and not a mode's.
pub fn is_format(name: &str) -> bool {
    Format::by_name(name).is_some() || name.starts_with(reports::PREFIX)
}

/// Converts the file that the arguments after [`FLAG`] name, and prints what [`Child`]
/// reads.
///
/// # Errors
/// What the conversion reports.
pub fn serve(arguments: &[String]) -> io::Result<()> {
    let (file, format, input) = match arguments {
        [file, format] => (file, format, "read"),
        [file, format, input] => (file, format, input.as_str()),
        _ => return Err(io::Error::other("a file, a format and how to read it")),
    };
    let input = if input == child::READ { Input::Read } else { Input::Mapped };
    let events = match format.strip_prefix(reports::PREFIX) {
        Some(reports) => reports::file(file.as_ref(), reports)?,
        None => convert::file(file.as_ref(), format, input)?,
    };
    println!("{events} {} 0", memory::peak_bytes().unwrap_or(0));
    Ok(())
}

/// Counts instructions.
pub(super) fn instructions(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    for case in Case::CONVERTED {
        let raw = instructions_per_event(folder, case, Mode::Raw.name())?;
        for (_, format, goal, limit) in OVER_RAW.into_iter().filter(|(of, ..)| *of == case) {
            let ratio = instructions_per_event(folder, case, format)? / raw;
            let what = format!("{format} over raw, {}", case.name());
            report.add_with_goal(what, goal, limit, ratio, "times the Ir");
        }
    }
    for [one, other, both] in reports::PAIRS {
        let cost = |name: &str| {
            instructions_per_event(folder, Case::Net10, &format!("{}{name}", reports::PREFIX))
        };
        let ratio = cost(both)? / cost(one)?.max(cost(other)?);
        report.add(
            format!("{both} over the dearer one"),
            Limit::AtMost(1.3),
            ratio,
            "times the Ir",
        );
    }
    Ok(())
}

/// Measures formats whose size does not grow with the trace's length.
pub(super) fn limits(folder: &Path, report: &mut GateReport) -> io::Result<()> {
    for case in [Case::Net10, Case::Net31, Case::Samples] {
        let file = case.file(folder, 200_000_000)?;
        for format in ["folded", "pprof", "svg"] {
            let peak = Child::plain(&file, format, Input::Read)?.peak;
            let what = format!("memory, {format}, {}", case.name());
            report.add(what, Limit::AtMost(MOST), peak as f64 / MIB, "MiB");
        }
        std::fs::remove_file(file)?;
    }
    Ok(())
}
