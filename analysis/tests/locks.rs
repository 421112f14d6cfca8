//! One lock has one sentence, whatever threads do about it; a slow consumer and its producers, too.

use crate::common::{LOAD, SAMPLE, event, method, session};
use crate::known::findings;
use nettrace_analysis::fact::{Fact, HolderState};
use nettrace_analysis::findings::{Finding, Summary};
use nettrace_analysis::report::ReportPass;
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{SessionThread, Step, Value};

const GET: u64 = 0x1010;
const BUILD: u64 = 0x2010;
const ENTER: u64 = 0x3010;
const SLEEP: u64 = 0x4010;
const LAZY: u64 = 0x5010;
const ADD: u64 = 0x6010;
const WAIT: u64 = 0x7010;

const MANAGED: u32 = 2;
const EXTERNAL: u32 = 1;

/// A thread's sampler state and stack.
type At<'s> = (u32, &'s [u64]);

/// Returns the findings of a trace in which each round of samples, a millisecond apart, has one of
/// each thread.
fn of_rounds<'s>(rounds: impl Iterator<Item = Vec<At<'s>>>) -> Vec<Finding> {
    let names = [
        "App.Cache.Get",
        "App.Cache.Build",
        "System.Threading.Monitor.Enter_Slowpath",
        "System.Threading.Thread.Sleep",
        "System.Lazy`1.get_Value",
        "System.Collections.Concurrent.BlockingCollection`1.TryAddWithNoTimeValidation",
        "System.Threading.SemaphoreSlim.Wait",
    ];
    let methods = (1..).zip(names).map(|(id, name)| method(LOAD, id, id << 12, 0x100, name));
    let mut steps: Vec<Step> = methods.collect();
    for round in rounds {
        for (at, (state, stack)) in round.into_iter().enumerate() {
            // Thread 2 writes all samples.
            let thread = if at < 2 { at } else { at + 1 };
            let later = if at == 0 { 1_000_000 } else { 1 };
            steps.push(event(SAMPLE, thread, later, stack, vec![Value::U32(state)]));
        }
    }
    let mut session = session(steps);
    session.threads.extend((13..16).map(SessionThread::new));
    let bytes = session.record().stream.bytes;
    let mut pass = ReportPass::new(Summary::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output.findings
}

fn texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::text).collect()
}

#[test]
fn running_waiting_and_spinning_for_one_lock_are_one_sentence() {
    let found = of_rounds((0..400).map(|round| {
        let mut threads: Vec<At<'_>> = vec![(EXTERNAL, &[ENTER, GET]); 4];
        threads[round / 20 % 4] = (MANAGED, &[BUILD, GET]);
        threads[(round / 20 + 1) % 4].0 = MANAGED;
        threads
    }));
    let texts = texts(&found);
    assert_eq!(
        texts,
        ["4 threads waited 800 ms and spun 400 ms for a lock in App.Cache.Get; \
          App.Cache.Build holds it, and runs: 50.00 % of the running time"]
    );
    let Fact::SampledLockWaits { holder: Some(holder), .. } = &found[0].fact else { panic!() };
    assert_eq!((holder.state, &holder.call), (HolderState::Runs, &None));
    assert_eq!(&*holder.place.frame.text, "App.Cache.Build(int)");
}

/// A method that holds a lock is there one thread at a time.
#[test]
fn threads_that_run_side_by_side_below_a_method_do_not_hold_its_lock() {
    let found = of_rounds((0..400).map(|round| {
        let waiting: At<'_> = (EXTERNAL, &[ENTER, GET]);
        let running: At<'_> = (MANAGED, &[BUILD, GET]);
        vec![if round % 2 == 0 { waiting } else { running }, running, running, running]
    }));
    let texts = texts(&found);
    assert!(texts.iter().all(|text| !text.contains("holds it")), "{texts:#?}");
    assert!(texts.iter().any(|text| text.contains("in App.Cache.Build")), "{texts:#?}");
}

#[test]
fn a_method_that_makes_what_others_wait_for_stands_in_their_sentence() {
    let found = of_rounds((0..1_000).map(|_| {
        let waiting: At<'_> = (EXTERNAL, &[ENTER, LAZY, GET]);
        vec![waiting, (EXTERNAL, &[SLEEP, BUILD, LAZY, GET]), waiting]
    }));
    let texts = texts(&found);
    let [text] = &texts[..] else { panic!("{texts:#?}") };
    assert!(text.starts_with("only stacks show that 2 threads wait for a lock"), "{text}");
    assert!(text.ends_with("one in App.Cache.Get; App.Cache.Build holds it, and sleeps"), "{text}");
}

#[test]
fn who_makes_a_lazy_value_stands_in_the_sentence_of_those_that_wait_for_it() {
    let all = findings(&corpus::known("waits/lazy"));
    assert_eq!(
        texts(&all),
        ["only stacks show that 7 threads wait for a lock, for at least 1.50 s, one in \
          waits!Config.Use; waits!Config.Load holds it, and sleeps"]
    );
}

#[test]
fn producers_that_wait_stand_in_the_sentence_of_their_consumer() {
    let producer: At<'_> = (EXTERNAL, &[WAIT, ADD, GET]);
    let consumers: [(At<'_>, &str); 2] = [
        ((EXTERNAL, &[SLEEP, BUILD]), "1 thread is 100 % of its 1.00 s in Thread.Sleep, called by"),
        ((MANAGED, &[BUILD]), "100.00 % of the running time (1,000 samples) in"),
    ];
    for (consumer, begin) in consumers {
        let found = of_rounds((0..1_000).map(|_| vec![producer, consumer, producer]));
        let rest = "App.Cache.Build; 2 threads wait 2.00 s for it in BlockingCollection.Add, called \
                    by App.Cache.Get";
        assert_eq!(texts(&found), [format!("{begin} {rest}")]);
    }
    let alone = of_rounds((0..1_000).map(|_| vec![producer, producer]));
    let [text] = &texts(&alone)[..] else { panic!() };
    assert!(text.starts_with("2 threads side by side are 100 % of 1.00 s elapsed"), "{text}");
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn waits_that_ended_stand_in_the_sentence_of_one_that_did_not() {
        let all = findings(&corpus::trace("net11-linux-x64/waits.nettrace"));
        let about_locks = |text: &String| text.contains("lock");
        let texts: Vec<String> = texts(&all).into_iter().filter(about_locks).collect();
        let [text] = &texts[..] else { panic!("{texts:#?}") };
        assert!(
            text.starts_with("1 thread still waits at the end, for at least 39.1 ms"),
            "{text}"
        );
        assert!(text.ends_with("; 311 waits before took 1.29 s"), "{text}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_wait_that_the_end_cuts_off_is_one_of_the_waits_for_its_lock() {
        let all = findings(&corpus::trace("win-x64/waitsprog10.nettrace"));
        let texts = texts(&all);
        assert!(texts.iter().all(|text| !text.contains("still waits")), "{texts:#?}");
        let lock = "15 waits for locks, 3.02 s together, most in waits!P.Main.lambda_3_18";
        assert!(texts.iter().any(|text| text == lock), "{texts:#?}");
    }
}
