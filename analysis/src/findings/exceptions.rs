//! The finding about exceptions: how many were thrown, and how many again.

use super::finding::{Finding, LEAST_METHOD, short_name, without_arguments};
use super::own::OwnModules;
use crate::model::rounded;
use crate::report::{ExceptionsReport, StackRow};
use nettrace_export::units::{count, counted};
use std::collections::BTreeMap;

/// Exceptions per second.
const LEAST_EXCEPTIONS: f64 = 1.0;
/// Percentage of the time that an exception a second takes at least: 10 µs,
const EXCEPTION_PERCENT: f64 = 0.001;
/// and the weight of exceptions that take none.
const LEAST_WEIGHT: f64 = 14.5;
/// Methods that throw what was caught before.
const RETHROWS: [&str; 4] = [
    "System.Runtime.CompilerServices.TaskAwaiter",
    "System.Runtime.CompilerServices.Configured",
    "System.Runtime.CompilerServices.ValueTaskAwaiter",
    "System.Runtime.ExceptionServices.ExceptionDispatchInfo",
];
impl Finding {
    /// `throwing`: the percentage of the running time that throwing and catching takes.
    pub(super) fn exceptions(
        report: &ExceptionsReport,
        own: &OwnModules,
        throwing: f64,
        trace_ns: u64,
    ) -> Option<Finding> {
        let first = report.types.first()?;
        let rate = report.count as f64 / (trace_ns as f64 / 1e9).max(0.001);
        let again = report.types.iter().fold(0_u64, |sum, row| {
            sum.saturating_add(row.rethrown).saturating_add(thrown_again(&row.stacks))
        });
        let rethrows = match again {
            0 => String::new(),
            _ => format!(
                " ({} thrown, {} rethrown)",
                count(report.count.saturating_sub(again)),
                count(again)
            ),
        };
        let cost = match throwing >= LEAST_METHOD {
            true => format!(", throwing and catching is {throwing:.0} % of what ran"),
            false => String::new(),
        };
        let types = match first.count == report.count {
            true => format!("all {}", first.type_name),
            false => format!("{} of them {}", count(first.count), first.type_name),
        };
        let per_second = match rate {
            10.0.. => format!(", {} a second", count(rounded(rate))),
            _ => String::new(),
        };
        let text = format!(
            "{}{rethrows}{per_second}{cost}, {types}{}",
            counted(report.count, "exception"),
            thrown_by(&first.stacks, own).unwrap_or_default()
        );
        // Samples do not tell where the runtime throws in native code.
        let cost = throwing.max(rate * EXCEPTION_PERCENT);
        let weight = LEAST_WEIGHT + 0.8 * cost.min(100.0);
        (rate >= LEAST_EXCEPTIONS).then(|| {
            Finding::new(
                "exceptions",
                weight,
                (report.count, "exceptions"),
                text,
                "report exceptions",
            )
        })
    }
}

/// How many were thrown before: an awaiting method throws what its task has caught.
fn thrown_again(stacks: &[StackRow]) -> u64 {
    let is_again = |stack: &&StackRow| {
        stack.frames.first().is_some_and(|frame| RETHROWS.iter().any(|word| frame.contains(word)))
    };
    stacks.iter().filter(is_again).fold(0, |sum, stack| sum.saturating_add(stack.count))
}

/// `, most thrown by Int32.Parse in Input.Read`. Where the compiler has put the call into its
/// caller, the call is that of the other stacks.
fn thrown_by(stacks: &[StackRow], own: &OwnModules) -> Option<String> {
    let mut methods: BTreeMap<&str, (u64, BTreeMap<String, u64>)> = BTreeMap::new();
    let mut all = 0_u64;
    for stack in stacks {
        all = all.saturating_add(stack.count);
        let Some((at, frame)) = own.frame(&stack.frames) else { continue };
        let (sum, calls) = methods.entry(frame).or_default();
        *sum = sum.saturating_add(stack.count);
        if let Some(call) = at.checked_sub(1).and_then(|at| stack.frames.get(at)) {
            let is_await = RETHROWS.iter().any(|word| call.contains(word));
            let call = if is_await { "an await".to_owned() } else { short_name(call) };
            let sum = calls.entry(call).or_default();
            *sum = sum.saturating_add(stack.count);
        }
    }
    let (method, (sum, calls)) = methods.into_iter().max_by_key(|(_, (sum, _))| *sum)?;
    let most = if sum == all { "" } else { "most " };
    let call = calls.into_iter().max_by_key(|(_, sum)| *sum);
    let by = call.map_or_else(String::new, |(call, _)| format!(" by {call}"));
    Some(format!(", {most}thrown{by} in {}", without_arguments(method)))
}
