//! Sentences about where threads wait.

use super::findings::{count, duration};
use super::frames::name;
use crate::fact::{Fact, Number, WaitCall, WaitingProducers};
use nettrace_export::units;

/// Writes the sentence of [`Fact::Waiting`].
pub(super) fn waiting(fact: &Fact) -> String {
    let Fact::Waiting {
        spent,
        elapsed,
        share,
        threads,
        ran,
        place,
        calls,
        is_main,
        is_one_at_a_time,
        producers,
        ..
    } = fact
    else {
        return String::new();
    };
    let share = format!("{:.0} %", share.value);
    let (number, elapsed) = (count(threads), duration(elapsed));
    let (who, time) = match threads.whole() {
        1 if *is_main => ("the main thread is".to_owned(), format!("{share} of its {elapsed}")),
        1 => ("1 thread is".to_owned(), format!("{share} of its {elapsed}")),
        _ if *is_one_at_a_time => (
            format!("{number} threads, one at a time, are"),
            format!("{share} of {elapsed} elapsed"),
        ),
        _ => (
            format!("{number} threads side by side are"),
            format!("{share} of {elapsed} elapsed ({} of thread time)", duration(spent)),
        ),
    };
    let calls = match calls.as_slice() {
        [one] => call(one, None),
        all => {
            let all: Vec<String> = all.iter().map(|it| call(it, Some(it.nanos))).collect();
            all.join(" and ")
        }
    };
    let unknown = ran.as_ref().map_or_else(String::new, |ran| {
        format!(
            "; the program ran {}, and what is awaited is not in this trace: `nettrace collect \
             --profile tasks -- COMMAND` records it",
            duration(ran)
        )
    });
    let producers = producers.as_ref().map_or_else(String::new, waiting_producers);
    format!("{who} {time} in {calls}, called by {}{unknown}{producers}", name(place))
}

/// Writes which threads wait because a collection is full.
pub(super) fn waiting_producers(producers: &WaitingProducers) -> String {
    let who = match producers.threads {
        _ if producers.is_main => "the main thread waits".to_owned(),
        1 => "1 thread waits".to_owned(),
        all => format!("{} threads wait", units::count(all)),
    };
    let WaitingProducers { nanos, call, place, .. } = producers;
    format!("; {who} {} for it in {call}, called by {}", time(*nanos), name(place))
}

/// Writes a time with three digits that matter.
fn time(nanos: u64) -> String {
    duration(&Number::nanos(nanos))
}

/// Writes a call with its time, if that is given, and the parts of it that ran, or may have run.
fn call(call: &WaitCall, nanos: Option<u64>) -> String {
    let WaitCall { name, nanos: all, native_nanos: native, ran_nanos: ran } = call;
    let is_all = native.saturating_mul(10) >= all.saturating_mul(9);
    let native = match *native {
        0 => None,
        _ if is_all => Some("in a native call: it ran or waited".to_owned()),
        part => Some(format!("{} of it in native calls: it ran or waited", time(part))),
    };
    let ran = (*ran > 0).then(|| format!("{} of it on a processor", time(*ran)));
    let parts: Vec<String> = nanos.map(time).into_iter().chain(native).chain(ran).collect();
    match parts.is_empty() {
        true => name.clone(),
        false => format!("{name} ({})", parts.join(", ")),
    }
}

/// Writes the sentence of [`Fact::Idle`].
pub(super) fn idle(ran: &Number, elapsed: &Number, is_idle: bool) -> String {
    let what = if is_idle { "threads only wait for work" } else { "no method stands out" };
    let seconds = |number: &Number| number.value / 1e9;
    format!("ran {:.2} of {:.1} s; {what}", seconds(ran), seconds(elapsed))
}
