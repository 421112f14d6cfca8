//! What exceptions cost that are thrown again, and what a heap at its limit says. The programs are
//! `Rethrown.cs` and `HeapLimit.cs` of `testdata/programs`.

use crate::known::findings;
use nettrace_analysis::fact::{Base, CollectionReason, Fact, Number};
use nettrace_analysis::findings::{Finding, Severity};
use nettrace_analysis::report::{Exceptions, ExceptionsReport, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};

fn exceptions(trace: &TraceFile) -> ExceptionsReport {
    let mut pass = ReportPass::new(Exceptions::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

/// Returns the finding about exceptions, and its number with this name.
fn of_exceptions(all: &[Finding], name: &str) -> (String, Option<Number>) {
    let is_wanted = |finding: &&Finding| matches!(finding.fact, Fact::Exceptions { .. });
    let finding = all.iter().find(is_wanted).expect("exceptions are thrown");
    let numbers = finding.fact.numbers();
    let number = numbers.iter().find(|(it, _)| *it == name).map(|(_, number)| **number);
    (finding.text(), number)
}

#[test]
fn what_is_thrown_again_without_an_event_counts() {
    let trace = corpus::known("rethrown");
    let exceptions = exceptions(&trace);
    let row = &exceptions.types[0];
    assert_eq!((exceptions.count, row.rethrown, row.rethrown_without_event), (1_000, 0, 13_000));
    assert_eq!((row.caught, row.left_by_exception, row.nested), (1_000, 0, 0));
    let caught_in: Vec<(&str, u64)> =
        row.caught_in.iter().map(|row| (row.method.as_str(), row.count)).collect();
    assert_eq!(caught_in, [("Orders.Pass", 13_000), ("Orders.Main", 1_000)]);
    let all = findings(&trace);
    let (text, again) = of_exceptions(&all, "rethrown_without_event");
    assert_eq!(again.map(|it| it.value), Some(13_000.0));
    assert!(
        text.starts_with("1,000 exceptions, 1,080 a second, thrown again 13,000 times by"),
        "{text}"
    );
    assert!(text.ends_with("thrown in again!Orders.Check"), "{text}");
    let (_, throwing) = of_exceptions(&all, "throwing");
    let throwing = throwing.expect("it costs much");
    assert_eq!(throwing.base, Some(Base::Elapsed));
    // From the first throw to the last catch block are 185 of 926 ms.
    assert!((16.0..18.0).contains(&throwing.value), "{throwing:?}");
}

/// The program's own handler of each throw saw two exceptions more than there are events: one `throw;`
/// of the program, and one of `SafeFileHandle.Open`.
#[test]
fn throws_without_an_event_are_as_many_as_the_program_itself_counts() {
    let exceptions = exceptions(&corpus::known("exceptions/Exc"));
    let again: u64 = exceptions.types.iter().map(|row| row.rethrown_without_event).sum();
    assert_eq!((exceptions.count, again), (231, 2));
}

#[test]
fn what_is_thrown_again_with_an_event_is_among_the_exceptions() {
    let trace = corpus::known("rethrown-net8");
    let exceptions = exceptions(&trace);
    let row = &exceptions.types[0];
    assert_eq!((exceptions.count, row.rethrown, row.rethrown_without_event), (5_600, 5_200, 0));
    let (text, again) = of_exceptions(&findings(&trace), "rethrown");
    assert_eq!(again.map(|it| it.value), Some(5_200.0));
    assert!(text.contains("5,600 exceptions (400 thrown, 5,200 rethrown)"), "{text}");
    assert!(text.contains("% of the time") && text.ends_with("workload!Orders.Check"), "{text}");
}

/// Returns the most severe finding, which is about collections, and its first reason.
fn first_reason(name: &str) -> (Finding, CollectionReason) {
    let first = findings(&corpus::known(name)).into_iter().next().expect("there are findings");
    let Fact::Collections { reasons, .. } = &first.fact else { panic!("{first:?}") };
    let reason = reasons.first().expect("there is a reason").clone();
    (first, reason)
}

#[test]
fn a_heap_at_its_limit_is_the_first_finding() {
    let (finding, reason) = first_reason("heap-limit");
    assert_eq!(finding.severity, Severity::Severe);
    let CollectionReason::AtLimit { collections, after_bytes, is_out_of_memory, .. } = reason
    else {
        panic!("{reason:?}");
    };
    assert_eq!((collections, is_out_of_memory), (45, false));
    // 86 MiB are kept, in arrays with headers and a list of them.
    assert!((86 << 20..87 << 20).contains(&after_bytes), "{after_bytes}");
    let text = finding.text();
    let says = "45 came because there was no room, and left 86.5 MiB each time: the heap is at its";
    assert!(text.contains(says), "{text}");
    assert!(text.contains("most begin in limit!Cache.Load"), "{text}");
}

#[test]
fn one_collection_without_room_is_enough_if_memory_ran_out() {
    let (finding, reason) = first_reason("out-of-memory");
    assert_eq!(finding.severity, Severity::Severe);
    let is_at_limit =
        matches!(reason, CollectionReason::AtLimit { collections: 1, is_out_of_memory: true, .. });
    assert!(is_at_limit, "{reason:?}");
    let says = "left 88.5 MiB, until an OutOfMemoryException was thrown: the heap is at its limit";
    assert!(finding.text().contains(says), "{}", finding.text());
}
