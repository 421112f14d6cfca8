//! Sentences about what the stacks of all threads of a running process show.

use crate::fact::SeenFact;
#[cfg(feature = "serde")]
use crate::fact::Verdicts;
use nettrace_export::units;

/// Maximum number of threads or methods that a sentence names.
const MAX_NAMES: usize = 4;

#[cfg(feature = "serde")]
impl serde::Serialize for Verdicts {
    /// Writes two members: `verdicts`, a sentence for each fact, and `verdict_facts`.
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = to.serialize_map(Some(2))?;
        let texts: Vec<String> = self.facts.iter().map(SeenFact::text).collect();
        map.serialize_entry("verdicts", &texts)?;
        map.serialize_entry("verdict_facts", &self.facts)?;
        map.end()
    }
}

impl SeenFact {
    /// Returns the sentence.
    pub fn text(&self) -> String {
        match self {
            SeenFact::LockWaits { threads, methods, is_nothing_running } => {
                let in_methods = match methods.is_empty() {
                    true => String::new(),
                    false => format!(" in {}", listed(methods)),
                };
                let (threads_wait, locks) = match threads.len() {
                    1 => (format!("thread {} waits", listed(threads)), "a lock"),
                    _ => (format!("threads {} wait", listed(threads)), "locks"),
                };
                let deadlock = match is_nothing_running {
                    true => {
                        ", and nothing runs: it may be a deadlock (stacks do not say who holds a lock)"
                    }
                    false => "",
                };
                format!("{threads_wait} for {locks}{in_methods}{deadlock}")
            }
            SeenFact::BlockedPool { workers, call, method, queued } => {
                let call = call.as_ref().map_or_else(String::new, |call| format!(" in {call}"));
                let method =
                    method.as_ref().map_or_else(String::new, |own| format!(" under {own}"));
                let items = match queued {
                    None | Some(0) => String::new(),
                    Some(1) => ", 1 item waits".to_owned(),
                    Some(many) => format!(", {} items wait", units::count(*many)),
                };
                format!(
                    "all {workers} pool workers are blocked{call}{method}{items}: the pool is starved"
                )
            }
            SeenFact::BusyThread { thread, core_percent, is_whole_core, method } => {
                let core = match is_whole_core {
                    true => "a whole core".to_owned(),
                    false => format!("{core_percent:.0} % of a core"),
                };
                let place =
                    method.as_ref().map_or_else(String::new, |place| format!(", in {place}"));
                format!("thread {thread} used {core}{place}")
            }
            SeenFact::Untold => {
                "this runtime does not tell managed from native code: what is no known wait, \
                 native call or idle thread counts as managed code that ran"
                    .to_owned()
            }
        }
    }
}

/// Writes `a, b and c`.
fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
    match (names.len().saturating_sub(shown.len()), shown.split_last()) {
        (0, Some((last, []))) => (*last).to_owned(),
        (0, Some((last, before))) => format!("{} and {last}", before.join(", ")),
        (more, _) => format!("{} and {more} more", shown.join(", ")),
    }
}
