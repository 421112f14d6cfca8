//! Producers that wait because a consumer is slow: they stand in the sentence about the consumer.

use super::finding::Finding;
use crate::fact::{Fact, WaitingProducers};

/// Minimum time that a consumer runs, in percent of the time of its producers.
const MIN_RUNNING_PERCENT: f64 = 50.0;

/// Returns whether a call adds to a collection that is full.
fn is_adding(call: &str) -> bool {
    call.starts_with("BlockingCollection") && (call.contains(".Add") || call.contains(".TryAdd"))
}

/// Puts producers that wait into the finding about their consumer: the method that is elsewhere for
/// most of the time. Without such a method, they keep their own finding.
pub(super) fn join(findings: &mut Vec<Finding>) {
    let adds = |finding: &Finding| match &finding.fact {
        Fact::Waiting { calls, .. } => calls.first().is_some_and(|call| is_adding(&call.name)),
        _ => false,
    };
    let Some(at) = findings.iter().position(adds) else { return };
    let Some(Fact::Waiting { spent, elapsed, threads, place, calls, is_main, .. }) =
        findings.get(at).map(|finding| finding.fact.clone())
    else {
        return;
    };
    let is_long = |nanos: f64| nanos * 100.0 >= elapsed.value * MIN_RUNNING_PERCENT;
    let is_consumer = |finding: &&mut Finding| match &finding.fact {
        Fact::OwnMethod { ran, place: other, .. } => *other != place && is_long(ran.value),
        Fact::Waiting { place: other, .. } => *other != place && !adds(finding),
        _ => false,
    };
    // The main thread often only waits for both.
    let rank = |finding: &Finding| {
        let is_main = matches!(finding.fact, Fact::Waiting { is_main: true, .. });
        (!is_main, finding.weight)
    };
    let consumer = findings.iter_mut().filter(is_consumer).max_by(|one, other| {
        let ((is_other, weight), (is_another, other_weight)) = (rank(one), rank(other));
        is_other.cmp(&is_another).then(weight.total_cmp(&other_weight))
    });
    let Some(Finding { fact, .. }) = consumer else { return };
    if let Fact::OwnMethod { producers, .. } | Fact::Waiting { producers, .. } = fact {
        *producers = Some(WaitingProducers {
            threads: threads.whole(),
            nanos: spent.whole(),
            is_main,
            call: calls.into_iter().next().map(|call| call.name).unwrap_or_default(),
            place,
        });
        findings.remove(at);
    }
}
