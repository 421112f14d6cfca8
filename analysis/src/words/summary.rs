//! What a trace is, in a few words.

use crate::fact::Advice;

/// Maximum number of sources that a sentence names.
const MAX_NAMED_SOURCES: usize = 2;

/// Writes what a trace is about: `CPU samples, exceptions and activities`. `sources`: those of
/// the program's own events.
pub(crate) fn contents(subjects: impl Iterator<Item = &'static str>, sources: &[&str]) -> String {
    let names: Vec<String> = subjects.map(str::to_owned).chain(own_events(sources)).collect();
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

impl Advice {
    /// Returns the sentence.
    pub fn text(self) -> &'static str {
        match self {
            Advice::RecordRequests => {
                "requests are not recorded: collect --profile web records them, with the calls \
                 that go out, SQL commands, log messages and locks"
            }
        }
    }
}
