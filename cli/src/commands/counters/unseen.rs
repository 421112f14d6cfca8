//! Reports names on the command line that no counter has, because a typo would look like a process
//! without that counter.

use crate::live::counters::KNOWN;
use nettrace_analysis::live::UnseenCounter;
use nettrace_export::nearest::{nearest, suggestion};

/// Returns the message about a name on the command line, with similar names of counters.
pub(super) fn text(unseen: &UnseenCounter) -> String {
    let provider = &unseen.provider;
    let Some(counter) = &unseen.counter else {
        let near = nearest(provider, KNOWN.into_iter().filter(|name| name != provider));
        return format!("no counter of {provider} had a value{}", suggestion(&near));
    };
    if unseen.published.iter().any(|name| name.eq_ignore_ascii_case(counter)) {
        return format!(
            "{provider}[{counter}] is not shown, because a meter has the name of its provider; \
             EventCounters\\{provider}[{counter}] shows it"
        );
    }
    let near = nearest(counter, unseen.published.iter().map(String::as_str));
    format!("{provider}[{counter}] had no value{}", suggestion(&near))
}
