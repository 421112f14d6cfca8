//! The finding about exceptions: how many were thrown, and how many of these were rethrown.

use super::finding::{Finding, is_worth_naming};
use super::own::OwnModules;
use super::running::MIN_METHOD_PERCENT;
use crate::document::percent;
use crate::fact::{Base, Fact, Number, Place, ThrowCall, ThrownBy, Unit};
use crate::model::{Frame, public_call};
use crate::report::{ExceptionsReport, StackRow};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minimum number of exceptions a second for a finding.
const MIN_PER_SECOND: f64 = 1.0;
/// Minimum number of exceptions a second for the finding to state the rate.
const MIN_SHOWN_PER_SECOND: f64 = 10.0;
/// Minimum cost of one exception a second in percent of the time: 10 µs.
const EXCEPTION_PERCENT: f64 = 0.001;
/// Weight of exceptions that take no time.
const MIN_WEIGHT: f64 = 14.5;
/// Beginnings of the names of awaiter types, which rethrow the exception of their task.
const AWAITERS: [&str; 3] = ["TaskAwaiter", "Configured", "ValueTaskAwaiter"];
/// Part of the names of methods that implement `IValueTaskSource`. Such a source backs a
/// `ValueTask` instead of a task, and throws its exception for the first time.
const SOURCE: &str = ".IValueTaskSource";
/// Namespace of the methods between the awaiting method and the task.
const SERVICES: &str = "System.Runtime.CompilerServices";

/// Returns the finding about exceptions. `throwing` is the time of throwing and catching, in
/// percent of the running time.
pub(super) fn exceptions(
    report: &ExceptionsReport,
    own: &OwnModules,
    throwing: f64,
    trace_ns: u64,
) -> Option<Finding> {
    let first = report.types.first()?;
    // A trace of one moment counts as a millisecond, so that the rate is finite.
    let rate = report.count as f64 / (trace_ns as f64 / 1e9).max(0.001);
    if rate < MIN_PER_SECOND {
        return None;
    }
    let again = report.types.iter().fold(0_u64, |sum, row| {
        sum.saturating_add(row.rethrown).saturating_add(thrown_again(&row.stacks))
    });
    let unseen =
        report.types.iter().fold(0_u64, |sum, row| sum.saturating_add(row.rethrown_without_event));
    let of_events = percent(until_caught(report), trace_ns);
    let fact = Fact::Exceptions {
        exceptions: Number::count(report.count, Unit::Exceptions).in_member("count"),
        rethrown: (again > 0).then(|| Number::count(again, Unit::Exceptions)),
        rate: (rate >= MIN_SHOWN_PER_SECOND).then(|| Number::new(rate, Unit::PerSecond)),
        rethrown_without_event: (unseen > 0).then(|| Number::count(unseen, Unit::Exceptions)),
        throwing: cost_in_percent(throwing, of_events),
        of_type: Number::count(first.count, Unit::Exceptions).in_member("types[].count"),
        type_name: first.type_name.clone(),
        thrown_by: thrown_by(first.first_throws(), own),
    };
    // Samples do not show throwing that older runtimes do in native code. Of a deep stack it takes
    // longer than an exception usually does, which the events of catch blocks show.
    let all = report.count.saturating_add(unseen) as f64 / report.count.max(1) as f64;
    let cost = throwing.max(rate * all * EXCEPTION_PERCENT).max(of_events);
    Some(Finding::new(fact, MIN_WEIGHT + 0.8 * cost.min(100.0)))
}

/// Returns what throwing and catching costs, of what ran if samples show it, else of the time if
/// events of catch blocks do; `None` if it is little, or if several threads threw at once.
fn cost_in_percent(of_samples: f64, of_events: f64) -> Option<Number> {
    let shown = MIN_METHOD_PERCENT..=100.0;
    let number = if of_samples >= MIN_METHOD_PERCENT {
        Number::percent(of_samples, Base::Running)
    } else {
        Number::percent(Some(of_events).filter(|percent| shown.contains(percent))?, Base::Elapsed)
    };
    Some(number.estimated())
}

/// Returns the time from throws to catch blocks, and from catch blocks to where they throw again,
/// summed over exceptions, in nanoseconds, without the program's own code that runs meanwhile.
fn until_caught(report: &ExceptionsReport) -> u64 {
    report.types.iter().fold(0, |sum: u64, row| {
        let own = row.in_filter.total_ns.saturating_add(row.in_finally.total_ns);
        sum.saturating_add(row.to_catch.total_ns.saturating_sub(own)).saturating_add(row.again_ns)
    })
}

/// Returns the number of exceptions of a type that were rethrown, because an awaiting method throws
/// what its task caught. A task may hold an exception that nobody threw; then the first method that
/// awaits the task throws the exception for the first time.
fn thrown_again(stacks: &[StackRow]) -> u64 {
    let (mut thrown, mut given) = (0_u64, 0_u64);
    // For each awaiting method: how many it rethrew, and how many came from an `IValueTaskSource`,
    // which throws for the first time at the await.
    let mut awaits: BTreeMap<Option<&Arc<Frame>>, (u64, u64)> = BTreeMap::new();
    for stack in stacks {
        let first = stack.frames.first();
        let is_source = first.is_some_and(|frame| frame.method.contains(SOURCE));
        if !is_source && !first.is_some_and(|frame| is_again(frame)) {
            thrown = thrown.saturating_add(stack.count);
            continue;
        }
        let awaiting = stack.frames.iter().skip(1).find(|frame| frame.namespace != SERVICES);
        let (again, sources) = awaits.entry(awaiting).or_default();
        if is_source {
            *sources = sources.saturating_add(stack.count);
            given = given.saturating_add(stack.count);
        } else {
            *again = again.saturating_add(stack.count);
        }
    }
    let all = awaits.values().fold(0_u64, |sum, (again, _)| sum.saturating_add(*again));
    // An exception passes through a method once, so what a method rethrew was thrown elsewhere. If
    // fewer were thrown elsewhere, the rest was first thrown in this method.
    let begun = awaits.values().filter(|(_, sources)| *sources > 0 || thrown == 0 && given == 0);
    let first = begun.map(|(again, sources)| {
        let elsewhere = thrown.saturating_add(given.saturating_sub(*sources));
        again.saturating_sub(elsewhere)
    });
    all.saturating_sub(first.max().unwrap_or(0))
}

/// Returns whether a frame rethrows an exception that was caught.
fn is_again(frame: &Frame) -> bool {
    (frame.namespace == SERVICES && AWAITERS.iter().any(|begin| frame.type_name.starts_with(begin)))
        || frame.namespace == "System.Runtime.ExceptionServices"
            && frame.type_name.starts_with("ExceptionDispatchInfo")
}

/// Returns the own method in which most exceptions of a type begin, and its call that throws most
/// of them; `None` if they begin in many methods. What an await throws again began elsewhere,
/// unless nothing else is thrown.
fn thrown_by(stacks: &[StackRow], own: &OwnModules) -> Option<ThrownBy> {
    let mut methods: BTreeMap<&Arc<Frame>, (u64, BTreeMap<ThrowCall, u64>)> = BTreeMap::new();
    let mut all = 0_u64;
    let begins = |stack: &&StackRow| !stack.frames.first().is_some_and(|frame| is_again(frame));
    let is_thrown = stacks.iter().any(|stack| begins(&stack));
    for stack in stacks.iter().filter(|stack| !is_thrown || begins(stack)) {
        all = all.saturating_add(stack.count);
        let Some((at, frame)) = own.frame(&stack.frames) else { continue };
        let (sum, calls) = methods.entry(frame).or_default();
        *sum = sum.saturating_add(stack.count);
        if let Some(call) = at.checked_sub(1).and_then(|at| stack.frames.get(at)) {
            let call = match is_again(call) {
                true => ThrowCall::Await,
                false => ThrowCall::Method(public_call(call)),
            };
            let sum = calls.entry(call).or_default();
            *sum = sum.saturating_add(stack.count);
        }
    }
    let (method, (sum, calls)) = methods.into_iter().max_by_key(|(_, (sum, _))| *sum)?;
    if !is_worth_naming(sum, all) {
        return None;
    }
    let call = calls.into_iter().max_by_key(|(_, sum)| *sum).map(|(call, _)| call);
    Some(ThrownBy { place: Place::from_frame(method), call, is_all: sum == all })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAITER: &str = "System.Runtime.CompilerServices.TaskAwaiter::ThrowForNonSuccess";

    fn stacks(rows: &[(u64, &[&str])]) -> Vec<StackRow> {
        let frame = |name: &&str| {
            let (type_name, method) = name.split_once("::").unwrap_or(("T", name));
            Arc::new(Frame::from_names("a", type_name, method, "void ()"))
        };
        let row = |(count, frames): &(u64, &[&str])| {
            let frames = frames.iter().map(frame).collect();
            StackRow { count: *count, frames, guessed: Vec::new() }
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn exceptions_are_named_after_the_method_in_which_they_begin() {
        let rows = stacks(&[(9, &[AWAITER, "Loop"]), (3, &["Read", "Loop"]), (3, &[AWAITER, "B"])]);
        let own = OwnModules::default();
        let by = thrown_by(&rows, &own).unwrap();
        assert_eq!((by.place.frame.method.as_str(), by.is_all), ("Read", true));
        let given = stacks(&[(4, &[AWAITER, "Connect"])]);
        assert!(thrown_by(&given, &own).is_some());
        let many: Vec<String> = (0..20).map(|at| format!("M{at}")).collect();
        let many: Vec<(u64, [&str; 1])> = many.iter().map(|name| (1, [name.as_str()])).collect();
        let many: Vec<(u64, &[&str])> =
            many.iter().map(|(count, row)| (*count, &row[..])).collect();
        assert_eq!(thrown_by(&stacks(&many), &own), None);
    }

    #[test]
    fn what_awaiting_methods_throw_was_thrown_before() {
        let rows = stacks(&[
            (3, &["Read"]),
            (3, &[AWAITER, "Load"]),
            // Recursive.
            (6, &[AWAITER, "Walk"]),
        ]);
        assert_eq!(thrown_again(&rows), 9);
    }

    #[test]
    fn what_a_task_was_given_is_thrown_first_where_it_is_awaited() {
        // Nobody threw the exception before `Connect` awaited its task; `Send` rethrew it.
        let given = stacks(&[(4, &[AWAITER, "Connect"]), (4, &[AWAITER, "Send"])]);
        assert_eq!(thrown_again(&given), 4);
        // One method got some exceptions from an `IValueTaskSource`, and some from tasks.
        let source = "Args::System.Threading.Tasks.Sources.IValueTaskSource.GetResult";
        let mixed = stacks(&[(2, &[source, "Connect"]), (1, &[AWAITER, "Connect"])]);
        assert_eq!(thrown_again(&mixed), 0);
        let passed = stacks(&[
            (2, &[source, "Connect"]),
            (1, &[AWAITER, "Connect"]),
            (3, &[AWAITER, "Send"]),
        ]);
        assert_eq!(thrown_again(&passed), 3);
    }
}
