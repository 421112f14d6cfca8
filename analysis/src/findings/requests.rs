//! Findings about activities, HTTP requests among them.

use super::finding::Finding;
use crate::document::percent;
use crate::fact::{ActivityFailures, Base, Fact, Number, Unit};
use crate::report::{ActivitiesReport, ActivityRow, HttpDirection, HttpPhase};

/// Minimum time of an outgoing call, in percent of the request's time, that makes the request slow.
const MIN_CALL_PERCENT: f64 = 50.0;
/// Minimum median duration of slow requests, in nanoseconds.
const MIN_SLOW_NS: u64 = 50_000_000;
/// Minimum duration of an activity, in percent of the trace.
const MIN_ACTIVITY_PERCENT: f64 = 1.0;
/// Minimum time of a phase, in percent of the requests' time.
const MIN_PHASE_PERCENT: f64 = 50.0;
/// Minimum number of connections to one target that need not have opened.
const MIN_NEEDLESS: u64 = 5;
/// Minimum number of these connections, in percent of the requests.
const MIN_NEEDLESS_PERCENT: f64 = 50.0;
/// Weight of the finding about them: the time that they cost cannot be told from that of the requests.
const NEEDLESS_WEIGHT: f64 = 35.0;
/// Maximum number of targets that a finding names.
const MAX_TARGETS: usize = 3;
/// First or last words of names of activities that are no operations, such as connections, which
/// last as long as their client likes.
const NO_REQUESTS: [&str; 6] = [
    "Microsoft-Extensions-Logging/",
    "/Connection",
    "/Accept",
    "/Connect",
    "/TLSHandshake",
    "/Handshake",
];

/// Returns the finding about incoming requests, or without them, about activities that failed or
/// took long.
pub(super) fn activities(report: &ActivitiesReport, trace_ns: u64) -> Option<Finding> {
    if let Some(finding) = report.http.as_ref().and_then(|http| requests(http)) {
        return Some(finding);
    }
    let all = Number::count(report.started, Unit::Activities).in_member("started");
    if report.errors > 0 {
        let failed = Number::count(report.errors, Unit::Activities).in_member("errors");
        let weight = 16.0 + percent(report.errors, report.started);
        return Some(Finding::new(Fact::FailedActivities { failed, activities: all }, weight));
    }
    let slowest = report.slowest.iter().find(|row| is_operation(&row.name.target))?;
    let share = percent(slowest.duration_ns, trace_ns);
    let fact = Fact::SlowActivity {
        slowest: Number::nanos(slowest.duration_ns).in_member("slowest[].duration_ns"),
        activities: all,
        name: slowest.name.to_string(),
    };
    (share >= MIN_ACTIVITY_PERCENT).then(|| Finding::new(fact, 12.0 + share * 0.1))
}

/// Returns the finding about requests that are slow because of a request that they send.
pub(super) fn slow_call(report: &ActivitiesReport, trace_ns: u64) -> Option<Finding> {
    let slow = incoming(report).filter_map(|row| {
        let call = row.calls.first()?;
        let share = percent(call.total_ns, row.durations.total_ns).min(100.0);
        let is_slow = share >= MIN_CALL_PERCENT && row.durations.p50_ns >= MIN_SLOW_NS;
        is_slow.then_some((row, call, share))
    });
    let (row, call, share) = slow.max_by_key(|(_, call, _)| call.total_ns)?;
    let fact = Fact::SlowCall {
        total: Number::nanos(row.durations.total_ns).in_member("activities[].durations.total_ns"),
        requests: Number::count(row.stopped, Unit::Activities).in_member("activities[].stopped"),
        mean: Number::nanos(row.durations.mean_ns).in_member("activities[].durations.mean_ns"),
        share: Number::percent(share, Base::OfRequests),
        target: row.name.target.clone(),
        call: call.name.target.clone(),
    };
    let weight = 25.0 + 0.75 * percent(row.durations.total_ns, trace_ns).min(100.0);
    Some(Finding::new(fact, weight))
}

/// Returns the finding about outgoing requests that spend most of their time in one phase. Waiting
/// for the server is what requests are for.
pub(super) fn call_phase(report: &ActivitiesReport, trace_ns: u64) -> Option<Finding> {
    let slow = outgoing(report).filter_map(|row| {
        let phases = row.phases?;
        let (phase, nanos) = phases.longest()?;
        let share = percent(nanos, phases.total_ns());
        let is_told = !matches!(phase, HttpPhase::Server | HttpPhase::Other);
        let is_slow = share >= MIN_PHASE_PERCENT && row.durations.p50_ns >= MIN_SLOW_NS;
        (is_told && is_slow).then_some((row, phases.requests, phase, nanos, share))
    });
    let (row, requests, phase, nanos, share) = slow.max_by_key(|(.., nanos, _)| *nanos)?;
    let fact = Fact::CallPhase {
        time: Number::nanos(nanos).in_member(phase_member(phase)),
        share: Number::percent(share, Base::OfRequests),
        requests: Number::count(requests, Unit::Activities)
            .in_member("activities[].phases.requests"),
        phase,
        target: row.name.target.clone(),
    };
    Some(Finding::new(fact, 20.0 + 0.5 * percent(nanos, trace_ns).min(100.0)))
}

/// Returns the finding about outgoing requests that open a connection each, although an earlier one
/// is free.
pub(super) fn needless_connections(report: &ActivitiesReport) -> Option<Finding> {
    let row = outgoing(report)
        .filter(|row| {
            let share = percent(row.needless_connections, row.started);
            row.needless_connections >= MIN_NEEDLESS && share >= MIN_NEEDLESS_PERCENT
        })
        .max_by_key(|row| row.needless_connections)?;
    let fact = Fact::NeedlessConnections {
        connections: Number::count(row.needless_connections, Unit::Activities)
            .in_member("activities[].needless_connections"),
        requests: Number::count(row.started, Unit::Activities).in_member("activities[].started"),
        target: row.name.target.clone(),
    };
    Some(Finding::new(fact, NEEDLESS_WEIGHT))
}

/// Returns the member of the report that has the time of a phase.
fn phase_member(phase: HttpPhase) -> &'static str {
    match phase {
        HttpPhase::Queue => "activities[].phases.queue_ns",
        HttpPhase::NameResolution => "activities[].phases.name_resolution_ns",
        HttpPhase::Connect => "activities[].phases.connect_ns",
        HttpPhase::Tls => "activities[].phases.tls_ns",
        HttpPhase::Send => "activities[].phases.send_ns",
        HttpPhase::Server => "activities[].phases.server_ns",
        HttpPhase::Content => "activities[].phases.content_ns",
        HttpPhase::Other => "activities[].phases.other_ns",
    }
}

/// Returns the finding about incoming requests: which failed, and which took longest.
fn requests(report: &ActivitiesReport) -> Option<Finding> {
    let all = incoming(report).fold(0_u64, |sum, row| sum.saturating_add(row.started));
    if all == 0 {
        return None;
    }
    let failed = incoming(report).fold(0_u64, |sum, row| sum.saturating_add(row.errors));
    let slowest = incoming(report).max_by_key(|row| row.durations.p50_ns);
    let heaviest = incoming(report).max_by_key(|row| row.durations.total_ns);
    // A target that is both slowest and heaviest is named once.
    let heaviest = heaviest.filter(|row| slowest.is_none_or(|it| it.name != row.name));
    let slowest = slowest.filter(|row| row.durations.p50_ns > 0);
    let target = |row: Option<&ActivityRow>| row.map(|row| row.name.target.clone());
    let slowest_median = slowest
        .map(|row| Number::nanos(row.durations.p50_ns).in_member("activities[].durations.p50_ns"));
    let heaviest_total = heaviest.map(|row| {
        Number::nanos(row.durations.total_ns).in_member("activities[].durations.total_ns")
    });
    let requests = Number::count(all, Unit::Activities);
    let (slowest, heaviest) = (target(slowest), target(heaviest));
    if failed == 0 {
        let fact = Fact::Requests { requests, slowest_median, heaviest_total, slowest, heaviest };
        return Some(Finding::new(fact, 12.0));
    }
    let mut wrong: Vec<&ActivityRow> = incoming(report).filter(|row| row.errors > 0).collect();
    wrong.sort_by_key(|row| std::cmp::Reverse(row.errors));
    let fact = Fact::FailedRequests {
        failed: Number::count(failed, Unit::Activities),
        requests,
        slowest_median,
        heaviest_total,
        slowest,
        heaviest,
        further_targets: wrong.len().saturating_sub(MAX_TARGETS) as u64,
        failures: wrong
            .into_iter()
            .take(MAX_TARGETS)
            .map(|row| ActivityFailures { target: row.name.target.clone(), failed: row.errors })
            .collect(),
    };
    Some(Finding::new(fact, 16.0 + percent(failed, all)))
}

/// Returns whether an activity is something that a program does, rather than a connection.
fn is_operation(name: &str) -> bool {
    !NO_REQUESTS.iter().any(|word| name.starts_with(word) || name.ends_with(word))
}

fn incoming(report: &ActivitiesReport) -> impl Iterator<Item = &ActivityRow> {
    report.activities.iter().filter(|row| row.name.direction == Some(HttpDirection::In))
}

fn outgoing(report: &ActivitiesReport) -> impl Iterator<Item = &ActivityRow> {
    report.activities.iter().filter(|row| row.name.direction == Some(HttpDirection::Out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_scopes_of_logs_are_no_operations() {
        assert!(is_operation("Shop-Events/Checkout"));
        for name in ["Microsoft-Extensions-Logging/Activity", "System.Net.Sockets/Accept"] {
            assert!(!is_operation(name), "{name}");
        }
    }
}
