//! Sentences of the summary: a trace's contents, and advice on what to record.

use crate::fact::{Advice, TraceSubject};

/// Maximum number of EventSources that a sentence names.
const MAX_NAMED_SOURCES: usize = 2;

/// Lists the contents of a trace: `CPU samples, exceptions and activities`. `sources` are the names
/// of the program's own EventSources.
pub(crate) fn contents(subjects: impl Iterator<Item = TraceSubject>, sources: &[&str]) -> String {
    let contents = subjects.filter(|subject| subject.is_content());
    let names = contents.map(|subject| subject.text().0.to_owned());
    let names: Vec<String> = names.chain(own_events(sources)).collect();
    match names.split_last() {
        None => "no events that a report uses".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
    }
}

/// Writes `events of Shop-Orders`; `None` without sources.
fn own_events(sources: &[&str]) -> Option<String> {
    let named = sources.get(..MAX_NAMED_SOURCES).unwrap_or(sources);
    match (named, sources.len().saturating_sub(named.len())) {
        ([], _) => None,
        (named, 0) => Some(format!("events of {}", named.join(" and "))),
        (named, 1) => Some(format!("events of {} and 1 more source", named.join(", "))),
        (named, more) => Some(format!("events of {} and {more} more sources", named.join(", "))),
    }
}

impl TraceSubject {
    /// Returns what the report about the subject shows. `has_requests` tells whether requests are
    /// among the activities.
    pub(crate) fn shown(self, has_requests: bool) -> &'static str {
        match self {
            TraceSubject::Activities if !has_requests => "operations and how long they took",
            _ => self.text().1,
        }
    }

    /// Returns the subject's name in a list, and what its report shows; empty for a
    /// subject that is not listed, or has no report.
    fn text(self) -> (&'static str, &'static str) {
        match self {
            TraceSubject::Cpu => ("CPU samples", "where time went"),
            TraceSubject::Gc => ("garbage collections", "pauses and heap sizes"),
            TraceSubject::Allocations => ("allocations", "what was allocated, and where"),
            TraceSubject::Heap => ("a heap dump", ""),
            TraceSubject::Exceptions => ("exceptions", "what was thrown, and where"),
            TraceSubject::Contention => ("lock contention", "which locks were waited for"),
            TraceSubject::Waits => ("waits", "where threads waited"),
            TraceSubject::ThreadPool => ("the thread pool", "workers and starvation"),
            TraceSubject::Jit => ("compiled methods", "what was compiled"),
            TraceSubject::Startup => ("", "how the program started: time to Main, compilation"),
            TraceSubject::Loader => ("", "which assemblies were loaded, and searched for"),
            TraceSubject::Tasks => ("tasks", "what was scheduled and awaited"),
            TraceSubject::Activities => ("activities", "requests and how long they took"),
            TraceSubject::Sql => ("SQL commands", "which statements ran, and for which requests"),
            TraceSubject::Logs => ("log messages", "what was logged"),
            TraceSubject::Counters => ("counters", "values over time"),
        }
    }
}

impl Advice {
    /// Returns the sentence that gives the advice.
    pub fn text(self) -> &'static str {
        match self {
            Advice::RecordRequests => {
                "requests are not recorded: collect --profile web records them, with the calls \
                 that go out, SQL commands, log messages and locks"
            }
        }
    }
}
