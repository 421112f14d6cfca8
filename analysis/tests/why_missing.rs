//! What the summary says of events that a trace lacks.

use nettrace_analysis::fact::{Advice, Fact};
use nettrace_analysis::findings::{Severity, Summary, SummaryReport};
use nettrace_analysis::report::ReportPass;
use nettrace_parser::Reader;
use nettrace_testdata::corpus::{self, TraceFile};

fn summary(trace: &TraceFile) -> SummaryReport {
    let mut pass = ReportPass::new(Summary::default());
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

#[test]
fn a_faulty_event_source_is_the_first_finding() {
    let first = summary(&corpus::known("faulty-source")).findings.remove(0);
    let Fact::FaultySource { messages, source, reason, .. } = &first.fact else {
        panic!("{first:?}")
    };
    assert_eq!((messages.value, &**source), (1.0, "Bugs-Broken"));
    assert_eq!(reason, "Event One was assigned event ID 1 but 2 was passed to WriteEvent.");
    assert_eq!(first.severity, Severity::Severe);
    assert_eq!(
        first.text(),
        format!("EventSource Bugs-Broken is faulty, so events of it are missing: {reason}")
    );
}

#[test]
fn sources_that_sent_nothing_are_named() {
    let mut report = summary(&corpus::known("own-provider"));
    let before = report.findings.clone();
    report.add_silent_sources(Vec::new());
    assert_eq!(report.findings, before);
    report.add_silent_sources(vec!["Shop-Ordesr".to_owned(), "Shop-Carts".to_owned()]);
    let text = report.findings[0].text();
    assert!(text.starts_with("nothing came from Shop-Ordesr, Shop-Carts, which"), "{text}");
    assert_eq!(report.findings[0].headline().value, 2.0);
}

mod with_shared {
    use super::*;

    /// Returns the number of activities of which a finding says that they have no ids.
    fn without_ids(name: &str) -> Option<f64> {
        let findings = summary(&corpus::web(name)).findings;
        findings.iter().find_map(|finding| match &finding.fact {
            Fact::NoActivityIds { activities, .. } => Some(activities.value),
            _ => None,
        })
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn activities_without_ids_say_what_makes_ids() {
        assert_eq!(without_ids("dt-logsconc"), Some(441.0));
        for name in ["dt-logsconc-tpl", "dt-net", "dt-noinline", "net11-full", "dt-database"] {
            assert_eq!(without_ids(name), None, "{name}");
        }
        let findings = summary(&corpus::web("dt-logsconc")).findings;
        let text = findings.iter().map(|finding| finding.text());
        let text = text.into_iter().find(|text| text.contains("have no ids")).unwrap();
        assert!(text.contains("record System.Threading.Tasks.TplEventSource:0x80:4"), "{text}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn activities_are_not_called_requests_where_none_are_recorded() {
        let about = |name: &str| {
            let report = summary(&corpus::web(name));
            let row = report.answers.into_iter().find(|row| row.report == "activities").unwrap();
            (row.about, report.advice)
        };
        let none = ("operations and how long they took".to_owned(), Some(Advice::RecordRequests));
        for name in ["dt-database", "dt-logs", "dt-logsconc"] {
            assert_eq!(about(name), none, "{name}");
        }
        assert_eq!(about("dt-net"), ("requests and how long they took".to_owned(), None));
    }
}
