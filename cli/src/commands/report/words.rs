//! Words that the reports have in common.

use crate::commands::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Cell, Column, right, wrapped};
use crate::units;
use nettrace_analysis::report::Spread;
use std::io::{self, Write};
use std::sync::Arc;

/// Nanoseconds as milliseconds.
pub(super) fn ms(nanos: u64) -> String {
    units::milliseconds(i64::try_from(nanos).unwrap_or(i64::MAX))
}

pub(super) fn duration(nanos: u64) -> String {
    units::duration(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// Total, median, 95 %, longest, in milliseconds: the columns of [`spread_cells`].
pub(super) const SPREAD: [Column; 4] =
    [right("TOTAL ms", 11, 1), right("MEDIAN ms", 11, 3), right("P95 ms", 11, 4), right("MAX ms", 11, 2)];

/// Total, median, 95 %, longest, in milliseconds.
pub(super) fn spread_cells(spread: &Spread) -> [Cell; 4] {
    if spread.count == 0 {
        return ["-"; 4].map(Cell::from);
    }
    [spread.total_ns, spread.p50_ns, spread.p95_ns, spread.max_ns].map(|nanos| Cell::from(ms(nanos)))
}

/// The innermost frames, without modules and arguments: `Program.Thrower ← Program.Main`.
pub(super) fn innermost(frames: &[Arc<str>], count: usize) -> String {
    if frames.is_empty() {
        return "(no stack)".to_owned();
    }
    let shown: Vec<String> = frames.iter().take(count).map(|frame| printable(short(frame))).collect();
    shown.join(" ← ")
}

/// A thread for reading: `17180 (.NET ThreadPool)`.
pub(super) fn thread(id: Option<u64>, name: Option<&str>) -> String {
    let id = id.map_or_else(|| "?".to_owned(), |id| id.to_string());
    match name {
        Some(name) => format!("{id} ({})", printable(name)),
        None => id,
    }
}

/// `Program.Main` of `app!Program.Main(string[])`.
pub(super) fn short(frame: &str) -> &str {
    let without_arguments = frame.split_once('(').map_or(frame, |(name, _)| name);
    let name = without_arguments.split_once('!').map_or(without_arguments, |(_, name)| name);
    if name.is_empty() { frame } else { name }
}

/// Writes a line of prose, broken between words where the terminal is narrow.
pub(super) fn prose(context: &mut Context<'_>, paint: &Paint, text: &str) -> io::Result<()> {
    let text = wrapped(text, context.table_width());
    writeln!(context.out.buffer(), "{}", paint.over(text))
}

/// Says how many rows were left out, and how to see them.
pub(super) fn left_out(context: &mut Context<'_>, all: usize, shown: usize) -> io::Result<()> {
    if all <= shown {
        return Ok(());
    }
    let faint = context.style.faint();
    let text = format!("… {} more; --top N shows more", units::count((all - shown) as u64));
    writeln!(context.out.buffer(), "{}", faint.over(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_shown_without_module_and_arguments() {
        for (frame, name) in [
            ("app!N.Program.Main(string[])", "N.Program.Main"),
            ("app!N.T<a>.M<b>()", "N.T<a>.M<b>"),
            ("0x7f00", "0x7f00"),
            ("libc.so.6!read", "read"),
            ("(unknown)", "(unknown)"),
        ] {
            assert_eq!(short(frame), name);
        }
        let frames = ["a!B.C()", "a!D.E()", "a!F.G()"].map(Arc::from);
        assert_eq!(innermost(&frames, 2), "B.C ← D.E");
        assert_eq!(innermost(&[], 2), "(no stack)");
    }
}
