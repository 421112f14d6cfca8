//! Columns, cells and sentences that several reports share.

use crate::context::Context;
use crate::cut::{Caller, Text, callers};
use crate::printable::printable;
use crate::style::Paint;
pub(super) use crate::table::prose;
use crate::table::{Cell, Column, Table, first, left, right};
use crate::units;
use nettrace_analysis::report::{Spread, StuckThread, WaitTotals};
use nettrace_analysis::{Folding, Frame};
use std::io::{self, Write};
use std::sync::Arc;

/// Returns nanoseconds as milliseconds.
pub(super) fn ms(nanos: u64) -> String {
    units::duration_in_ms(nanos)
}

pub(super) fn duration(nanos: u64) -> String {
    units::duration(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// Creates a table with total, median, 95th percentile and maximum in milliseconds, between other
/// columns.
pub(super) fn spread_table<const N: usize>(before: [Column; N], after: &[Column]) -> Table {
    let spread = [
        right("TOTAL ms", 11, 1),
        right("MEDIAN ms", 11, 3),
        right("P95 ms", 11, 4),
        right("MAX ms", 11, 2),
    ];
    Table::new([&before[..], &spread, after].concat())
}

/// Returns a row of [`spread_table`].
pub(super) fn spread_row<const N: usize, const M: usize>(
    before: [Cell; N],
    spread: &Spread,
    after: [Cell; M],
) -> impl Iterator<Item = Cell> {
    let times = [spread.total_ns, spread.p50_ns, spread.p95_ns, spread.max_ns];
    let is_known = spread.count > 0;
    let cells = times.map(|nanos| if is_known { ms(nanos).into() } else { "-".into() });
    before.into_iter().chain(cells).chain(after)
}

/// Returns a cell with a count of errors, coloured unless it is 0.
pub(super) fn errors(count: u64, bad: &Paint) -> Cell {
    let text = units::count(count);
    if count > 0 { Cell::new(text, bad) } else { text.into() }
}

/// Returns the innermost `count` frames, without modules and arguments: `Program.Thrower ←
/// Program.Main`. If none is the user's own code, the first such frame follows.
pub(super) fn innermost(frames: &[Arc<Frame>], count: usize) -> Text {
    if frames.is_empty() {
        return "(no stack)".into();
    }
    let own = Folding::own_at(frames);
    let shown =
        frames.iter().enumerate().filter(|(place, _)| *place < count || own == Some(*place));
    let shown: Vec<Caller<'_>> = shown
        .map(|(place, frame)| {
            let endpoint = (own == Some(place)).then(|| frame.endpoint.as_deref()).flatten();
            Caller {
                place,
                name: endpoint.unwrap_or_else(|| frame.qualified_name()),
                is_endpoint: endpoint.is_some(),
                is_own: own == Some(place) || Folding::is_own(frame),
                line: frame.line.as_ref(),
            }
        })
        .collect();
    callers(&shown)
}

/// Minimum nanoseconds of a wait that is listed although it is not over at the trace's end. In a
/// busy program, some waits have just begun then.
pub(super) const MIN_OPEN_WAIT_NS: u64 = 1_000_000_000;

/// Minimum width in characters of a place with a frame of the user's own code.
pub(super) const MIN_PLACE_COLUMNS: usize = 46;

/// Writes the threads that wait by their samples, although no event shows the wait.
pub(super) fn stuck(
    rows: usize,
    threads: &[StuckThread],
    context: &mut Context<'_>,
) -> io::Result<()> {
    if threads.is_empty() {
        return Ok(());
    }
    first(context, threads, rows).columns([
        right("AT LEAST ms", 11, 0).fill(&|row| ms(row.at_least_ns).into()),
        left("THREAD", 6, 0).fill(&|row| thread(row.thread_id, row.name.as_deref()).into()),
        left("WAITS FOR", 9, 2)
            .fill(&|row| row.waits_for.map_or("?".to_owned(), |what| what.to_string()).into()),
        left("BY ITS STACKS", 14, 0)
            .at_least(MIN_PLACE_COLUMNS)
            .fill(&|row| innermost(&row.frames, 3).into()),
    ])?;
    if threads.iter().any(|row| row.is_from_start) {
        let line = "these waits are older than the session, or what they wait for was not recorded: \
                    the trace does not tell who ends them";
        prose(context, &Paint::default(), line)?;
    }
    writeln!(context.out.buffer())
}

/// Returns a number of assemblies: `1 assembly`, `7 assemblies`.
pub(super) fn assemblies(count: u64) -> String {
    if count == 1 { "1 assembly".to_owned() } else { format!("{} assemblies", units::count(count)) }
}

/// Returns a number, such as a thread's id, or `?`.
pub(super) fn id(id: Option<u64>) -> String {
    id.map_or_else(|| "?".to_owned(), |id| id.to_string())
}

/// Returns a time in milliseconds, or `-`.
pub(super) fn time(nanos: Option<i64>) -> String {
    nanos.map_or_else(|| "-".to_owned(), units::milliseconds)
}

/// Returns a thread with its name: `17180 (.NET ThreadPool)`.
pub(super) fn thread(thread: Option<u64>, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{} ({})", id(thread), printable(name)),
        None => id(thread),
    }
}

/// Writes the number and time of all waits, and the number without a start or stop. `of_what` is
/// text such as ` for 3 locks`.
pub(super) fn wait_totals(
    context: &mut Context<'_>,
    totals: &WaitTotals,
    of_what: &str,
) -> io::Result<()> {
    let summary = format!(
        "{}{of_what}, {} together, longest {}",
        units::counted(totals.stopped, "wait"),
        duration(totals.waits.total_ns),
        duration(totals.waits.max_ns),
    );
    prose(context, &context.style.strong(), &summary)?;
    let unpaired: Vec<String> = [
        (totals.still_waiting, "not over at the end of the trace"),
        (totals.starts_without_stop, "whose stop was lost"),
        (totals.stops_without_start, "whose start is not in the trace"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, text)| format!("{} {text}", units::count(*count)))
    .collect();
    if unpaired.is_empty() {
        Ok(())
    } else {
        prose(context, &Paint::default(), &unpaired.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(methods: &[(&str, &str, &str)]) -> Vec<Arc<Frame>> {
        let frame = |(module, type_name, method): &(&str, &str, &str)| {
            Arc::new(Frame::from_names(module, type_name, method, "void ()"))
        };
        methods.iter().map(frame).collect()
    }

    #[test]
    fn frames_are_shown_without_module_and_arguments() {
        let three = frames(&[("a", "B", "C"), ("a", "D", "E"), ("a", "F", "G")]);
        assert_eq!(innermost(&three, 2).whole(), "B.C ← D.E");
        assert_eq!(innermost(&[Arc::new(Frame::from_address(0x7f00))], 2).whole(), "0x7f00");
        assert_eq!(innermost(&[], 2).whole(), "(no stack)");
    }

    #[test]
    fn ones_own_code_is_shown_however_deep_it_lies() {
        let mut stack = frames(&[("System.Net", "System.A", "B"), ("System.Net", "System.C", "D")]);
        stack.push(Arc::new(Frame::from_address(0x7f00)));
        stack.extend(frames(&[("a", "My", "E")]));
        assert_eq!(innermost(&stack, 2).whole(), "System.A.B ← System.C.D ← … ← My.E");
    }

    #[test]
    fn a_handler_stands_in_for_code_that_was_inlined_into_it() {
        let waits = [("System.Net", "System.A", "B"), ("System.Net", "System.C", "D")];
        let mut handler = Frame::from_names("x", "dynamicClass", "lambda_method7", "void ()");
        handler.is_handler = true;
        let shown = |handler: &Frame| {
            let stack = [frames(&waits), vec![Arc::new(handler.clone())]].concat();
            innermost(&stack, 1).whole()
        };
        assert_eq!(shown(&handler), "System.A.B ← … ← dynamicClass.lambda_method7");
        handler.endpoint = Some("GET /v1.0/a.b".into());
        assert_eq!(shown(&handler), "System.A.B ← … ← GET /v1.0/a.b");
        let mut stack = frames(&waits);
        stack.push(Arc::new(handler));
        assert!(innermost(&stack, 1).cut(30).ends_with("GET /v1.0/a.b"));
    }
}
