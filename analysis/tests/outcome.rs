//! Every way of reading a trace tells whether it is complete.

use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{Gc, OutcomeReport, Report, ReportPass, Reported};
use nettrace_analysis::{Analysis, AnalysisOptions, Finished};
use nettrace_parser::{Outcome, Reader};
use nettrace_testdata::corpus;

/// Length of the truncated trace in bytes; the whole has 5.7 MB.
const CUT: usize = 3_000_000;

fn all() -> Vec<u8> {
    corpus::trace("net10-linux-x64/all.nettrace").bytes()
}

/// Returns the parts of an outcome that can be compared.
fn seen(outcome: &Outcome) -> (OutcomeReport, u64, String) {
    (OutcomeReport::from_outcome(outcome), outcome.statistics.events, outcome.to_string())
}

fn analysed(bytes: &[u8]) -> (Outcome, Finished) {
    let mut analysis = Analysis::new(AnalysisOptions::default());
    let outcome = analysis.read(&mut Reader::from_slice(bytes).time_ordered());
    (outcome.unwrap(), analysis.finish().unwrap())
}

fn reported<R: Report>(report: R, bytes: &[u8]) -> (Outcome, Reported<R::Output>) {
    let mut pass = ReportPass::new(report);
    let outcome = pass.read(&mut Reader::from_slice(bytes).time_ordered());
    (outcome.unwrap(), pass.finish())
}

/// Reads a trace in several ways, and returns the outcome of each. Asserts that the finished result
/// has the outcome that `read` returned.
fn all_ways(bytes: &[u8]) -> Vec<(OutcomeReport, u64, String)> {
    let mut outcomes = Vec::new();
    let (returned, finished) = analysed(bytes);
    let (of_top, top) = reported(TopNOptions::default(), bytes);
    let (of_gc, gc) = reported(Gc::default(), bytes);
    for (returned, kept) in
        [(returned, finished.outcome), (of_top, top.outcome), (of_gc, gc.outcome)]
    {
        assert_eq!(seen(&returned), seen(&kept.unwrap()));
        outcomes.push(seen(&returned));
    }
    outcomes
}

#[test]
fn a_trace_cut_at_3_mb_has_an_outcome_that_is_not_complete_however_it_is_read() {
    let bytes = all();
    let cut = bytes.get(..CUT).unwrap();
    let outcomes = all_ways(cut);
    let (first, _, text) = &outcomes[0];
    assert!(!first.complete && first.end_offset == CUT as u64, "{first:?}");
    assert!(first.damage_count > 0 && !first.damage.is_empty(), "{first:?}");
    assert!(
        text.starts_with(
            "incomplete: no end mark up to offset 0x2dc6c0, at least 1308 bytes are missing; damaged in "
        ),
        "{text}"
    );
    assert!(outcomes.iter().all(|outcome| outcome == &outcomes[0]), "{outcomes:#?}");
}

#[test]
fn a_whole_trace_has_an_intact_outcome_however_it_is_read() {
    let bytes = all();
    let outcomes = all_ways(&bytes);
    let (first, events, text) = &outcomes[0];
    assert!(first.complete && first.lost == 0 && first.damage_count == 0, "{first:?}");
    assert!(*events > 50_000 && text == "complete", "{events} {text}");
    assert!(outcomes.iter().all(|outcome| outcome == &outcomes[0]), "{outcomes:#?}");
}

#[test]
fn events_that_were_dropped_are_in_the_outcome() {
    let (outcome, _) = analysed(&corpus::trace("net3.1-linux-x64/lossy.nettrace").bytes());
    assert!(outcome.is_complete && !outcome.is_intact());
    assert!(outcome.losses.total() > 0 && outcome.losses.by_thread().len() > 0);
    assert!(
        outcome.to_string().starts_with("complete; ")
            && outcome.to_string().ends_with(" events lost")
    );
}

#[test]
fn events_passed_one_by_one_have_no_outcome_until_it_is_set() {
    let bytes = all();
    let mut events = Reader::from_slice(bytes.get(..CUT).unwrap()).time_ordered();
    let (mut without, mut with) = (ReportPass::new(Gc::default()), ReportPass::new(Gc::default()));
    while let Some(event) = events.next_event().unwrap() {
        without.event(&event);
        with.event(&event);
    }
    with.set_outcome(events.outcome());
    assert!(without.finish().outcome.is_none());
    assert!(with.finish().outcome.is_some_and(|outcome| !outcome.is_complete));
}

#[cfg(feature = "serde")]
#[test]
fn a_report_serialises_with_its_outcome_beside_its_members() {
    let bytes = all();
    let json = |bytes: &[u8]| {
        let (_, reported) = reported(Gc::default(), bytes);
        let plain = serde_json::to_value(&reported.output).unwrap();
        let mut whole = serde_json::to_value(&reported).unwrap();
        let outcome = whole.as_object_mut().unwrap().remove("outcome").unwrap();
        assert_eq!(whole, plain, "the members of the report are as they are without it");
        outcome
    };
    let cut = json(bytes.get(..CUT).unwrap());
    assert_eq!((&cut["complete"], &cut["end_offset"]), (&false.into(), &CUT.into()));
    assert_eq!(json(&bytes)["complete"], true);
}
