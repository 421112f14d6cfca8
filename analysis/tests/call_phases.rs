//! Phases and connections of outgoing requests, in recordings whose right answers are known.

use crate::known::findings;
use nettrace_analysis::fact::{Fact, FindingKind};
use nettrace_analysis::findings::{Finding, Severity};
use nettrace_analysis::report::{ActivitiesReport, ActivityRow, Http, HttpPhase, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

const MS: u64 = 1_000_000;

fn requests(name: &str) -> ActivitiesReport {
    let mut pass = ReportPass::new(Http::default());
    let bytes = corpus::known(name).bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

fn only_row(report: &ActivitiesReport) -> &ActivityRow {
    let [row] = report.activities.as_slice() else { panic!("{:?}", report.activities) };
    row
}

fn found(name: &str, kind: FindingKind) -> Option<Finding> {
    findings(&corpus::known(name)).into_iter().find(|finding| finding.fact.kind() == kind)
}

/// Tests eight requests over two connections: the client says how long each was in the queue.
#[test]
fn phases_of_a_request_do_not_overlap_and_the_queue_is_one_of_them() {
    let report = requests("http-queue");
    let slowest = &report.slowest[0];
    let phases = slowest.phases.unwrap();
    // 406.4286 ms, as the client's event says.
    assert_eq!((slowest.duration_ns / MS, phases.queue_ns / 1000), (596, 406_428));
    assert_eq!((phases.connect_ns, phases.server_ns / MS), (0, 100));
    for slow in &report.slowest {
        assert_eq!(slow.phases.unwrap().total_ns(), slow.duration_ns);
    }
    // The first two opened the connections, so their 35 ms in the queue have that in them.
    let opened: Vec<_> = report
        .slowest
        .iter()
        .filter_map(|slow| slow.phases)
        .filter(|it| it.connect_ns > 0)
        .collect();
    let [one, other] = opened.as_slice() else { panic!("{opened:?}") };
    for phases in [one, other] {
        let queue = phases.queue_ns + phases.connect_ns;
        assert!((35 * MS..36 * MS).contains(&queue), "{phases:?}");
    }
    let row = only_row(&report);
    let all = row.phases.unwrap();
    assert_eq!((all.requests, row.connections, row.needless_connections), (8, 2, 0));
    assert_eq!(all.total_ns(), row.durations.total_ns);
}

/// Tests two times eight requests to a server that allows two streams at a time and takes 50 ms. At
/// the first eight the client does not know the limit yet: it begins to send all of them, and puts
/// six back into the queue.
#[test]
fn requests_on_one_connection_of_http2_wait_for_a_stream_in_the_queue() {
    let report = requests("http2-streams");
    let [cold, warm] = ["/cold/#", "/warm/#"].map(|end| {
        let mut rows = report.activities.iter();
        rows.find(|row| row.name.target.ends_with(end)).unwrap()
    });
    assert_eq!((cold.started, cold.connections, cold.needless_connections), (8, 1, 0));
    assert_eq!((warm.started, warm.connections, warm.needless_connections), (8, 0, 0));
    for row in [cold, warm] {
        let phases = row.phases.unwrap();
        assert_eq!((phases.requests, phases.total_ns()), (8, row.durations.total_ns), "{row:?}");
        // Six of eight wait at least 50, 100 and 150 ms.
        assert!(phases.queue_ns > 2 * (50 + 100 + 150) * MS, "{phases:?}");
        assert!(phases.send_ns < row.durations.total_ns / 20, "{phases:?}");
        assert!(phases.server_ns + phases.content_ns > 8 * 50 * MS, "{phases:?}");
    }
    assert_eq!(warm.phases.unwrap().connect_ns, 0);
    let connected = report.slowest.iter().filter(|row| row.phases.unwrap().connect_ns > 0);
    assert!(connected.count() <= 1);
    let finding = found("http2-streams", FindingKind::CallPhase).unwrap();
    let Fact::CallPhase { phase, .. } = &finding.fact else { unreachable!() };
    assert_eq!(*phase, HttpPhase::Queue);
}

#[test]
fn a_phase_that_is_most_of_the_time_of_requests_is_a_finding() {
    let finding = found("http-queue", FindingKind::CallPhase).unwrap();
    let Fact::CallPhase { phase, requests, time, .. } = &finding.fact else { unreachable!() };
    assert_eq!((*phase, requests.whole()), (HttpPhase::Queue, 8));
    assert_eq!(time.whole() / MS, 1_622);
    assert!(finding.text().contains("54 % of their time"), "{}", finding.text());
    // Waiting for the server is what requests are for.
    assert!(found("connections-kept", FindingKind::CallPhase).is_none());
}

#[test]
fn requests_with_a_client_of_their_own_open_connections_that_they_need_not() {
    let report = requests("connections-anew");
    let row = only_row(&report);
    assert_eq!((row.started, row.connections, row.needless_connections), (30, 30, 29));
    let finding = found("connections-anew", FindingKind::NeedlessConnections).unwrap();
    assert_eq!(finding.severity, Severity::Notable);
    assert!(finding.text().starts_with("29 of 30 requests opened a connection"));
    let report = requests("connections-kept");
    let row = only_row(&report);
    assert_eq!((row.started, row.connections, row.needless_connections), (30, 1, 0));
    for name in ["connections-kept", "http-queue", "http-ids-open-twice"] {
        assert!(found(name, FindingKind::NeedlessConnections).is_none(), "{name}");
    }
}

/// Tests requests whose events cannot be told apart, because their ids are the same.
#[test]
fn requests_that_share_an_id_have_no_invented_phases() {
    let report = requests("http-ids-open-twice");
    let told = only_row(&report).phases.map_or(0, |phases| phases.requests);
    // Ten have an id of their own.
    assert_eq!((report.started, told), (40, 10));
}
