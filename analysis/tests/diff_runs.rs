//! Comparisons of whole runs of a program and of variants of it, those of `testdata/ab`.

use crate::diff::{changes, facts_of, old_and_new};
use nettrace_analysis::diff::{
    Condition, DiffOptions, DiffReport, DiffVerdict, MeasuredTrace, Per, Subject, Undecided,
};
use nettrace_testdata::corpus;

/// Measures runs of a variant of the program in `testdata/ab`.
fn runs(variant: &str, numbers: std::ops::RangeInclusive<u32>) -> Vec<MeasuredTrace> {
    let read = |number| {
        let trace = corpus::ab(&format!("{variant}{number}"));
        facts_of(&trace.bytes())
    };
    numbers.map(read).collect()
}

#[test]
fn runs_of_the_same_program_have_no_finding_and_the_changed_method_is_the_only_one() {
    let base = runs("base", 1..=6);
    let same = DiffReport::new(&base[..3], &base[3..], DiffOptions::default());
    assert_eq!((same.per, changes(&same)), (Per::Run, Vec::new()), "{}", same.verdict);
    let percent = same.detectable_percent.expect("there are three runs each");
    let says =
        format!("Nothing changed by more than about {percent:.0} %, which 3 runs each would show");
    assert_eq!(same.verdict.to_string(), says);
    let slow = runs("slow1.5-", 1..=3);
    let report = DiffReport::new(&base[..3], &slow, DiffOptions::default());
    assert_eq!(changes(&report)[0], (Subject::Method, "ab!W.B(int)"), "{report:#?}");
    let row = &report.rows[0];
    let [low, high] = row.interval.expect("there are three runs each");
    assert!(low > 1.1 && low < 1.38 && high > 1.38, "{row:?}");
    assert_eq!(row.runs, [3, 3]);
    // A slower run is not reported to have fewer collections.
    assert!(!changes(&report).iter().any(|(subject, _)| *subject == Subject::GcCount));
    assert_eq!(old_and_new(&report, Subject::GcCount), Some((31.0, 31.0)));
}

#[test]
fn a_count_that_all_runs_of_a_side_agree_on_is_a_finding() {
    let (base, more) = (runs("base", 1..=3), runs("alloc1.5-", 1..=3));
    let report = DiffReport::new(&base, &more, DiffOptions::default());
    assert_eq!(changes(&report)[0], (Subject::GcCount, ""), "{report:#?}");
    assert_eq!(old_and_new(&report, Subject::GcCount), Some((31.0, 45.0)));
    assert_eq!(report.rows[0].chance, Some(0.0));
    let holds = |text: &str| text.parse::<Condition>().unwrap().outcome(&report);
    assert!(holds("gc.count>40%").holds && !holds("gc.count>50%").holds);
    assert_eq!(holds("gc.count>50%").undecided, None);
}

#[test]
fn one_run_on_each_side_is_not_judged_but_for_what_is_large() {
    let (base, slow) = (runs("base", 1..=1), runs("slow1.5-", 1..=1));
    let report = DiffReport::new(&base, &slow, DiffOptions::default());
    assert_eq!(changes(&report), []);
    let DiffVerdict::NothingLarge { elapsed: Some(elapsed), .. } = &report.verdict else {
        panic!("{:?}", report.verdict);
    };
    assert_eq!(elapsed.change_percent.map(f64::round), Some(13.0));
    let says = report.verdict.to_string();
    assert!(says.starts_with("The program takes 12.9 % longer, but with one run each"), "{says}");
    assert!(report.rows.iter().all(|row| row.chance.is_none() && row.interval.is_none()));
    let condition: Condition = "method(*W.B*)>5%".parse().unwrap();
    let outcome = condition.outcome(&report);
    assert_eq!((outcome.holds, outcome.undecided), (false, Some(Undecided::OneRun)));
}

#[test]
fn a_method_that_is_first_in_one_of_two_runs_does_not_stand_out() {
    for other in ["base", "alloc1.5-"] {
        let new = if other == "base" { runs(other, 2..=2) } else { runs(other, 1..=1) };
        let report = DiffReport::new(&runs("base", 1..=1), &new, DiffOptions::default());
        assert_eq!((&*report.stands_out.appeared, &*report.stands_out.gone), (&[][..], &[][..]));
        let says = report.verdict.to_string();
        assert!(says.contains("; the largest: ") && !says.contains("none is large"), "{says}");
    }
}

#[test]
fn a_trace_and_itself_are_the_same_trace() {
    let base = runs("base", 1..=1);
    let report = DiffReport::new(&base, &base, DiffOptions::default());
    assert_eq!(report.verdict, DiffVerdict::SameTrace);
    assert_eq!(report.verdict.to_string(), "OLD and NEW are the same trace");
}
