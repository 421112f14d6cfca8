//! Traces of a program that does the same twice, and of one that was changed.

use crate::common;

use common::{LOAD, SAMPLE, THROWN, TICK, event, method, native, session};
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::diff::{Condition, DiffPass, DiffReport, Per, Subject, TraceFacts};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Step, Value};

/// What a program does. Shares are of its time, in percent.
#[derive(Clone, Copy)]
struct Plan {
    seed: u64,
    slow: u64,
    fast: u64,
    /// Of a hundred steps, how many allocate.
    large_objects: u64,
    small_objects: u64,
    pause_nanos: u32,
    exceptions: u64,
}

const PLAN: Plan = Plan {
    seed: 1,
    slow: 20,
    fast: 30,
    large_objects: 20,
    small_objects: 30,
    pause_nanos: 400_000,
    exceptions: 10,
};

const FAST: u64 = 0x1000;
const SLOW: u64 = 0x2000;
const SLEEP: u64 = 0x3000;
/// The first type behind those of `common`: events of collections.
const GC: usize = 15;
const STEP_NANOS: u32 = 1_000_000;

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % 100
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Three seconds of it.
fn facts(plan: Plan) -> TraceFacts {
    let mut dice = Dice(plan.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut steps: Vec<Step> = vec![
        method(LOAD, 1, FAST, 0x100, "App.Program.Fast"),
        method(LOAD, 2, SLOW, 0x100, "App.Program.Slow"),
        method(LOAD, 3, SLEEP, 0x100, "System.Threading.Thread.Sleep"),
    ];
    let mut collections = 0;
    for step in 0..3000_u32 {
        // A program has phases.
        let phase = 80 + u64::from(step / 250 % 4) * 13;
        let (slow, fast) = (plan.slow * phase / 100, plan.fast * phase / 100);
        let roll = dice.roll();
        let (address, state) = match roll {
            roll if roll < slow => (SLOW, 2),
            roll if roll < slow + fast => (FAST, 2),
            _ => (SLEEP, 1),
        };
        steps.push(event(SAMPLE, 0, STEP_NANOS, &[address + 0x10], vec![Value::U32(state)]));
        for (share, name) in [(plan.large_objects, "App.Large"), (plan.small_objects, "App.Small")] {
            if dice.roll() < share {
                let bytes = 90_000 + dice.roll() * 200;
                let values = vec![
                    Value::U32(7),
                    Value::U32(0),
                    Value::U16(0),
                    Value::U64(bytes),
                    Value::U64(3),
                    text(name),
                    Value::U32(0),
                ];
                steps.push(event(TICK, 0, 1, &[FAST + 0x20], values));
            }
        }
        if dice.roll() < plan.exceptions {
            let values = vec![
                text("App.Oops"),
                text("no"),
                Value::U64(0),
                Value::U32(0),
                Value::U16(0),
                Value::U16(0),
            ];
            steps.push(event(THROWN, 0, 1, &[FAST + 0x30], values));
        }
        if step % 40 == 0 {
            collections += 1;
            let pause = plan.pause_nanos + plan.pause_nanos / 100 * u32::try_from(dice.roll()).unwrap();
            let started = vec![
                Value::U32(collections),
                Value::U32(0),
                Value::U32(0),
                Value::U32(0),
                Value::U16(0),
                Value::U64(0),
            ];
            let gc = |kind: usize, later, values| event(GC + kind, 1, later, &[], values);
            steps.extend([
                gc(2, 10, vec![Value::U32(1), Value::U32(0), Value::U16(0)]),
                gc(3, 10, vec![Value::U16(0)]),
                gc(0, 10, started),
                gc(1, pause, vec![Value::U32(collections), Value::U32(0), Value::U16(0)]),
                gc(4, 10, vec![Value::U16(0)]),
                gc(5, 10, vec![Value::U16(0)]),
            ]);
        }
    }
    let mut session = session(steps);
    let ids = [(1, 2), (2, 1), (9, 1), (8, 1), (7, 1), (3, 1)];
    session.types.extend(ids.map(|(id, version)| native(common::RUNTIME, id, version)));
    facts_of(&session.record().stream.bytes)
}

fn facts_of(bytes: &[u8]) -> TraceFacts {
    let mut pass = DiffPass::new(AnalysisOptions::new());
    assert!(pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete());
    pass.finish()
}

fn diff(old: Plan, new: Plan) -> DiffReport {
    DiffReport::new(&[facts(old)], &[facts(new)], Per::Second)
}

/// Subject and name of what changed beyond noise.
fn changes(report: &DiffReport) -> Vec<(Subject, &str)> {
    report.rows.iter().filter(|row| row.is_significant).map(|row| (row.subject, &*row.name)).collect()
}

#[test]
fn a_program_that_does_the_same_has_no_change_beyond_noise() {
    for seed in 1..=12 {
        let report = diff(Plan { seed, ..PLAN }, Plan { seed: seed + 100, ..PLAN });
        assert!(report.rows.len() > 15, "{}", report.rows.len());
        assert_eq!(changes(&report), [], "seed {seed}");
    }
}

#[test]
fn the_same_workload_recorded_twice_has_no_change_beyond_noise() {
    for runtime in ["net10-linux-x64", "net3.1-linux-x64"] {
        let read =
            |name: &str| corpus::trace(&format!("{runtime}/{name}")).map(|trace| facts_of(&trace.bytes()));
        let (Some(old), Some(new)) = (read("all.nettrace.gz"), read("all.netperf.gz")) else {
            eprintln!("SKIPPED: {runtime} has no pair here");
            continue;
        };
        let report = DiffReport::new(&[old], &[new], Per::Second);
        assert!(report.rows.len() > 100, "{}", report.rows.len());
        assert_eq!(changes(&report), [], "{runtime}");
    }
}

#[test]
fn a_planted_change_is_the_first_row_and_what_did_not_change_is_none() {
    let report = diff(PLAN, Plan { seed: 2, slow: 40, ..PLAN });
    assert_eq!(changes(&report)[0], (Subject::Method, "App.Program.Slow(int)"), "{report:#?}");
    assert!(!changes(&report).contains(&(Subject::Method, "App.Program.Fast(int)")));
    let row = &report.rows[0];
    assert!((60.0..140.0).contains(&row.change_percent.unwrap()), "{row:?}");

    let report = diff(PLAN, Plan { seed: 3, large_objects: 40, ..PLAN });
    assert_eq!(changes(&report)[0], (Subject::Type, "App.Large"), "{report:#?}");
    assert!(!changes(&report).iter().any(|(subject, _)| *subject == Subject::Method));

    let report = diff(PLAN, Plan { seed: 4, pause_nanos: 800_000, ..PLAN });
    assert_eq!(changes(&report)[0].0, Subject::GcPause, "{report:#?}");
    assert!(!changes(&report).iter().any(|(subject, _)| *subject == Subject::GcCount));

    let report = diff(PLAN, Plan { seed: 5, exceptions: 30, ..PLAN });
    assert_eq!(changes(&report)[0], (Subject::Exception, "App.Oops"), "{report:#?}");
}

#[test]
fn what_was_slow_and_is_no_more_is_a_change_too_and_order_is_old_then_new() {
    let report = diff(Plan { slow: 40, ..PLAN }, Plan { seed: 2, ..PLAN });
    let row = &report.rows[0];
    assert_eq!((row.subject, &*row.name), (Subject::Method, "App.Program.Slow(int)"));
    assert!(row.new < row.old && row.change_percent.unwrap() < -30.0, "{row:?}");
}

#[test]
fn several_traces_of_a_side_make_smaller_changes_visible() {
    let group = |seeds: [u64; 4], slow| seeds.map(|seed| facts(Plan { seed, slow, ..PLAN }));
    let (old, new) = (group([1, 2, 3, 4], 20), group([5, 6, 7, 8], 26));
    let one = DiffReport::new(&old[..1], &new[..1], Per::Second);
    let all = DiffReport::new(&old, &new, Per::Second);
    assert_eq!((all.old.traces, all.new.traces), (4, 4));
    assert!(changes(&all).contains(&(Subject::Method, "App.Program.Slow(int)")), "{all:#?}");
    let chance = |report: &DiffReport| {
        report
            .rows
            .iter()
            .find(|row| row.subject == Subject::Method && row.name.contains("Slow"))
            .unwrap()
            .chance
    };
    assert!(chance(&all) < chance(&one));
}

#[test]
fn sums_are_divided_by_seconds_samples_or_requests() {
    let facts = [facts(PLAN)];
    let cpu = |per| {
        let report = DiffReport::new(&facts, &facts, per);
        report.rows.iter().find(|row| row.subject == Subject::Cpu).unwrap().old
    };
    // Half of the time is spent in Fast and Slow; a sample stands for a millisecond.
    assert!((4e8..6.5e8).contains(&cpu(Per::Second)), "{}", cpu(Per::Second));
    assert!((4e5..6.5e5).contains(&cpu(Per::Sample)), "{}", cpu(Per::Sample));
    assert_eq!((facts[0].requests, cpu(Per::Request)), (0, 0.0));
}

#[test]
fn conditions_hold_for_what_grew_beyond_noise_or_is_over_a_limit() {
    let report = diff(PLAN, Plan { seed: 4, slow: 40, pause_nanos: 4_000_000, ..PLAN });
    let holds = |condition: &str| condition.parse::<Condition>().unwrap().outcome(&report).holds;
    for condition in [
        "cpu>5%",
        "method(*Slow*)>50%",
        "method.total(App.Program.Slow(int))>50%",
        "gc.pause>100%",
        "gc.pause.p99>5ms",
        "gc.pause.max>+1ms",
        "gc.count<1000",
        "alloc>1MB",
    ] {
        assert!(holds(condition), "{condition}");
    }
    for condition in [
        "cpu>5000%",
        "method(*Fast*)>5%",
        "alloc>5%",
        "exceptions>5%",
        "gc.pause.p99>1s",
        "gc.count>5%",
        "cpu<5%",
    ] {
        assert!(!holds(condition), "{condition}");
    }
    let none = "type(No.Such)>5%".parse::<Condition>().unwrap().outcome(&report);
    assert_eq!((none.rows, none.holds), (0, false));
}
