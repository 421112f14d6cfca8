//! Findings about HTTP requests.

use super::finding::Finding;
use crate::document::percent;
use crate::report::{ActivitiesReport, ActivityRow};
use nettrace_export::units::{count, counted, duration};

/// A call is why a request is slow if it takes so much of its time, in percent,
const LEAST_CALL: f64 = 50.0;
/// and requests of less than this are not slow.
const LEAST_SLOW_NS: u64 = 50_000_000;
/// Maximum number of targets in a sentence.
const MOST_TARGETS: usize = 3;
/// What begins and ends, and is no request: a connection lasts as long as its client likes.
const NO_REQUESTS: [&str; 6] = [
    "Microsoft-Extensions-Logging/",
    "/Connection",
    "/Accept",
    "/Connect",
    "/TLSHandshake",
    "/Handshake",
];

impl Finding {
    /// Requests that wait for another one: `GET /checkout takes 205 ms: 97 % in GET /downstream`.
    pub(super) fn slow_call(report: &ActivitiesReport, trace_ns: u64) -> Option<Finding> {
        let slow = incoming(report).filter_map(|row| {
            let call = row.calls.first()?;
            let share = percent(call.total_ns, row.durations.total_ns).min(100.0);
            let is_slow = share >= LEAST_CALL && row.durations.p50_ns >= LEAST_SLOW_NS;
            is_slow.then_some((row, call, share))
        });
        let (row, call, share) = slow.max_by_key(|(_, call, _)| call.total_ns)?;
        let text = format!(
            "{} {} took {} each: {share:.0} % in {}",
            counted(row.stopped, "request"),
            target(&row.name),
            duration(row.durations.mean_ns),
            called(&call.name)
        );
        let weight = 25.0 + 0.75 * percent(row.durations.total_ns, trace_ns).min(100.0);
        let value = (row.durations.total_ns, "ns");
        Some(Finding::new("slow_call", weight, value, text, "report http"))
    }

    /// Requests that failed, or which took longest.
    pub(super) fn requests(report: &ActivitiesReport) -> Option<Finding> {
        let all = incoming(report).fold(0_u64, |sum, row| sum.saturating_add(row.started));
        if all == 0 {
            return None;
        }
        let failed = incoming(report).fold(0_u64, |sum, row| sum.saturating_add(row.errors));
        let slowest = incoming(report).max_by_key(|row| row.durations.p50_ns);
        let heaviest = incoming(report).max_by_key(|row| row.durations.total_ns);
        let mut ways: Vec<String> = Vec::new();
        if let Some(row) = slowest.filter(|row| row.durations.p50_ns > 0) {
            ways.push(format!(
                "slowest are those of {}, {} in the middle",
                target(&row.name),
                duration(row.durations.p50_ns)
            ));
        }
        if let Some(row) = heaviest.filter(|row| slowest.is_none_or(|it| it.name != row.name)) {
            ways.push(format!(
                "most time went to {}, {} together",
                target(&row.name),
                duration(row.durations.total_ns)
            ));
        }
        let ways = ways.iter().map(|way| format!("; {way}")).collect::<String>();
        if failed == 0 {
            let text = format!("{}{ways}", counted(all, "request"));
            let value = (all, "activities");
            return Some(Finding::new("requests", 12.0, value, text, "report http"));
        }
        let mut wrong: Vec<&ActivityRow> = incoming(report).filter(|row| row.errors > 0).collect();
        wrong.sort_by_key(|row| std::cmp::Reverse(row.errors));
        let more = wrong.len().saturating_sub(MOST_TARGETS) as u64;
        let mut named: Vec<String> =
            wrong.iter().take(MOST_TARGETS).map(|row| times(row, row.errors)).collect();
        if more > 0 {
            named.push(format!("{} more", count(more)));
        }
        let text = format!(
            "{} of {} failed: {}{ways}",
            count(failed),
            counted(all, "request"),
            named.join(", ")
        );
        let weight = 16.0 + percent(failed, all);
        Some(Finding::new("requests", weight, (failed, "activities"), text, "report http"))
    }

    /// Whether an activity is something that a program does, rather than a connection.
    pub(super) fn is_operation(name: &str) -> bool {
        !NO_REQUESTS.iter().any(|word| name.starts_with(word) || name.ends_with(word))
    }
}

fn incoming(report: &ActivitiesReport) -> impl Iterator<Item = &ActivityRow> {
    report.activities.iter().filter(|row| row.direction.as_deref() == Some("in"))
}

/// `GET /boom` of `in GET /boom`, and `GET /downstream` of `out GET http://127.0.0.1/downstream`.
fn target(name: &str) -> &str {
    name.strip_prefix("in ").or_else(|| name.strip_prefix("out ")).unwrap_or(name)
}

/// `GET /boom 3×`.
fn times(row: &ActivityRow, times: u64) -> String {
    format!("{} {}×", target(&row.name), count(times))
}

/// `GET /downstream of http://127.0.0.1:5210`.
fn called(name: &str) -> String {
    let name = target(name);
    let (method, url) = name.split_once(' ').unwrap_or(("", name));
    let host_at = url.find("://").map_or(0, |at| at.saturating_add(3));
    let path_at = url.get(host_at..).and_then(|rest| rest.find('/'));
    let path_at = path_at.map_or(0, |at| at.saturating_add(host_at));
    match url.split_at_checked(path_at) {
        Some((host, path)) if !host.is_empty() => {
            format!("{method} {path} of {host}").trim_start().to_owned()
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_path_before_its_host() {
        let name = called("out GET http://127.0.0.1:5210/downstream/#");
        assert_eq!(name, "GET /downstream/# of http://127.0.0.1:5210");
        assert_eq!(called("out http://stock/a"), "/a of http://stock");
        assert_eq!(called("out POST stock/Save"), "POST /Save of stock");
        assert_eq!(called("in GET /a"), "GET /a");
    }

    #[test]
    fn connections_and_scopes_of_logs_are_no_operations() {
        assert!(Finding::is_operation("Shop-Events/Checkout"));
        for name in ["Microsoft-Extensions-Logging/Activity", "System.Net.Sockets/Accept"] {
            assert!(!Finding::is_operation(name), "{name}");
        }
    }
}
