//! Writes `report tree --method` as text: the callers of a method above it, what it calls below.

use super::samples::{self, MIN_NAME_COLUMNS};
use super::words::{duration, ms, prose};
use crate::context::Context;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Cell, Table, layout_of, left, right};
use crate::units;
use nettrace_analysis::report::{MethodCalls, Neighbours};
use std::io::{self, Write};

/// Maximum number of methods that are named if several match.
const MAX_NAMED: usize = 5;

pub(super) fn text(calls: &MethodCalls, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    if calls.method_samples == 0 {
        prose(context, &strong, "no counted sample has a method that matches")?;
        return samples::told(&calls.counted, context);
    }
    let whole = calls.method_ns;
    let callers = table(&calls.callers, (calls.callers.none_ns, "(outermost frame)"), whole);
    let callees = table(&calls.callees, (calls.self_ns, "(itself)"), whole);
    let layout = layout_of(&[callers, callees], context);
    writeln!(context.out.buffer(), "{}", strong.over("Called by"))?;
    table(&calls.callers, (calls.callers.none_ns, "(outermost frame)"), whole)
        .write_in(&layout, context)?;
    writeln!(context.out.buffer())?;
    for row in calls.methods.iter().take(MAX_NAMED) {
        let line = match calls.methods.len() {
            1 => printable(row.shown()).to_string(),
            _ => format!("{} ({} ms)", printable(row.shown()), ms(row.total_ns)),
        };
        prose(context, &strong, &line)?;
    }
    let named = calls.methods.len().min(MAX_NAMED) as u64;
    let more = calls.methods_left_out.saturating_add(calls.methods.len() as u64) - named;
    if more > 0 {
        prose(
            context,
            &Paint::default(),
            &format!("and {}", units::counted(more, "other method")),
        )?;
    }
    let line = format!(
        "{} in it and in what it calls ({}), {:.2} % of all; {} in itself",
        duration(calls.method_ns),
        units::counted(calls.method_samples, "sample"),
        calls.method_percent,
        duration(calls.self_ns),
    );
    prose(context, &Paint::default(), &line)?;
    writeln!(context.out.buffer(), "\n{}", strong.over("Calls"))?;
    table(&calls.callees, (calls.self_ns, "(itself)"), whole).write_in(&layout, context)?;
    writeln!(context.out.buffer())?;
    samples::told(&calls.counted, context)
}

/// Returns a row for each caller or callee, for what has none, and for those that are left out.
fn table(neighbours: &Neighbours, none: (u64, &str), whole: u64) -> Table {
    let mut table = Table::new([
        right("TIME %", 7, 0),
        right("TIME ms", 11, 1),
        right("SAMPLES", 7, 2),
        left("NAME", 4, 0).at_least(MIN_NAME_COLUMNS),
    ]);
    let share = |nanos: u64| match whole {
        0 => 0.0,
        _ => nanos as f64 * 100.0 / whole as f64,
    };
    let mut add = |nanos: u64, samples: Cell, name: Cell| {
        let percent = format!("{:.2}", share(nanos)).into();
        table.add_row([percent, ms(nanos).into(), samples, name]);
    };
    for row in &neighbours.rows {
        add(row.time_ns, units::count(row.samples).into(), printable(row.shown()).into());
    }
    if neighbours.left_out > 0 {
        let name = format!("({} more)", units::count(neighbours.left_out));
        add(neighbours.left_out_ns, "".into(), name.into());
    }
    if none.0 > 0 {
        add(none.0, "".into(), none.1.into());
    }
    table
}
