//! CollectTracing5 with user_events (02 06, session type 1): events go to Linux tracepoints.
//!
//! Payload: u32 1, u64 rundown keyword, u32 count, then providers with event filter and
//! tracepoints: string default tracepoint (may be null), u32 set count, sets of string tracepoint,
//! u32 count, u32 ids. One byte with the descriptor of `user_events_data` follows the request, in a
//! separate message; until then the runtime serves no other client. Then the reply (u64 session id)
//! comes.

use crate::command::collect::Rundown;
use crate::command_id::CommandId;
use crate::error::RequestError;
use crate::message::required;
use crate::message::{Message, Writer};
use crate::provider::Provider;
use std::collections::{BTreeMap, BTreeSet};

/// The tracepoints to which the events of a provider go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoints {
    default: Option<String>,
    sets: BTreeMap<String, BTreeSet<u32>>,
}

impl Tracepoints {
    /// Sends all events to one tracepoint.
    ///
    /// # Errors
    /// The name is empty or contains a NUL.
    pub fn all_to(tracepoint: &str) -> Result<Self, RequestError> {
        Ok(Tracepoints {
            default: Some(required(tracepoint, "tracepoint's name")?),
            sets: BTreeMap::new(),
        })
    }

    /// Sends only the events that calls of [`Tracepoints::set`] name.
    pub fn only_sets() -> Self {
        Tracepoints { default: None, sets: BTreeMap::new() }
    }

    /// Sends events with these ids to a tracepoint. Another call with the same tracepoint adds ids.
    ///
    /// # Errors
    /// The name is empty or contains a NUL, or there is no id.
    pub fn set(
        mut self,
        tracepoint: &str,
        event_ids: impl IntoIterator<Item = u32>,
    ) -> Result<Self, RequestError> {
        let name = required(tracepoint, "tracepoint's name")?;
        let ids: BTreeSet<u32> = event_ids.into_iter().collect();
        if ids.is_empty() {
            return Err(RequestError::EmptyTracepointSet(name));
        }
        self.sets.entry(name).or_default().extend(ids);
        Ok(self)
    }
}

/// The configuration of a session whose events go to tracepoints of the Linux kernel (user_events).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEventsConfig {
    rundown: Rundown,
    providers: Vec<(Provider, Tracepoints)>,
}

impl UserEventsConfig {
    /// Makes the configuration of a session from providers and their tracepoints.
    ///
    /// # Errors
    /// There is no provider, or more than 1,000; a name is given twice; a provider has no
    /// tracepoint; or an id is in two sets, which would crash the runtime.
    pub fn new(
        providers: impl IntoIterator<Item = (Provider, Tracepoints)>,
    ) -> Result<Self, RequestError> {
        let providers: Vec<(Provider, Tracepoints)> = providers.into_iter().collect();
        match providers.len() {
            0 => return Err(RequestError::NoProviders),
            count if count > crate::provider::Providers::MAX_COUNT => {
                return Err(RequestError::TooManyProviders(count));
            }
            _ => {}
        }
        let mut names = BTreeSet::new();
        for (provider, tracepoints) in &providers {
            let name = || provider.name().to_owned();
            if !names.insert(provider.name()) {
                return Err(RequestError::DuplicateProvider(name()));
            }
            if tracepoints.default.is_none() && tracepoints.sets.is_empty() {
                return Err(RequestError::NoTracepoint(name()));
            }
            let mut seen = BTreeSet::new();
            for id in tracepoints.sets.values().flatten() {
                if !seen.insert(*id) {
                    return Err(RequestError::DuplicateTracepointEvent {
                        provider: name(),
                        event_id: *id,
                    });
                }
            }
        }
        Ok(UserEventsConfig { rundown: Rundown::Off, providers })
    }

    /// Sets the rundown at the end of the session. The default is none.
    #[must_use]
    pub fn rundown(mut self, rundown: Rundown) -> Self {
        self.rundown = rundown;
        self
    }

    /// Builds the request. The file descriptor is sent separately.
    ///
    /// # Errors
    /// [`RequestError::TooLong`] if providers and tracepoints exceed 65,535 bytes.
    pub fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(CommandId::COLLECT_TRACING_5);
        writer.u32(1).u64(self.rundown.keyword()).count(self.providers.len());
        for (provider, tracepoints) in &self.providers {
            provider.write_with_filter(&mut writer);
            writer.nullable(tracepoints.default.as_deref()).count(tracepoints.sets.len());
            for (tracepoint, ids) in &tracepoints.sets {
                writer.string(tracepoint).count(ids.len());
                for id in ids {
                    writer.u32(*id);
                }
            }
        }
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::hex;
    use super::*;
    use crate::provider::Level;

    fn workload() -> Provider {
        Provider::new("Nettrace-Workload").unwrap().exact_keywords(7).level(Level::Verbose)
    }

    #[test]
    fn the_request_is_that_of_the_transcripts() {
        let config =
            UserEventsConfig::new([(workload(), Tracepoints::all_to("MyTracepoint").unwrap())])
                .unwrap();
        assert_eq!(
            hex(config.message().unwrap().as_bytes()),
            "444f544e45545f4950435f56310083000206000001000000000000000000000001000000070000000000000005000000120000004e0065007400740072006100630065002d0057006f0072006b006c006f006100640000000000000000000000000d0000004d0079005400720061006300650070006f0069006e007400000000000000"
        );
    }

    #[test]
    fn an_id_in_two_sets_is_refused() {
        let sets = Tracepoints::only_sets().set("A", [1, 2]).unwrap().set("B", [2, 3]).unwrap();
        let error = UserEventsConfig::new([(workload(), sets)]);
        let provider = "Nettrace-Workload".to_owned();
        assert_eq!(error, Err(RequestError::DuplicateTracepointEvent { provider, event_id: 2 }));
    }

    #[test]
    fn a_provider_needs_a_tracepoint_and_a_set_needs_ids() {
        let name = "Nettrace-Workload".to_owned();
        let error = UserEventsConfig::new([(workload(), Tracepoints::only_sets())]);
        assert_eq!(error, Err(RequestError::NoTracepoint(name.clone())));
        let error = Tracepoints::only_sets().set("A", []);
        assert_eq!(error, Err(RequestError::EmptyTracepointSet("A".to_owned())));
        assert!(Tracepoints::all_to("").is_err());
        assert_eq!(UserEventsConfig::new([]), Err(RequestError::NoProviders));
        let twice = || (workload(), Tracepoints::all_to("A").unwrap());
        assert_eq!(
            UserEventsConfig::new([twice(), twice()]),
            Err(RequestError::DuplicateProvider(name))
        );
    }

    #[test]
    fn sets_are_written_after_the_default() {
        let sets = Tracepoints::all_to("D").unwrap().set("S", [7, 5, 7]).unwrap();
        let message = UserEventsConfig::new([(workload(), sets)]).unwrap().message().unwrap();
        let tail = [
            2, 0, 0, 0, 0x44, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0x53, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0,
            0, 7, 0, 0, 0,
        ];
        assert!(message.payload().ends_with(&tail), "{}", hex(message.payload()));
    }
}
