//! Requests for the events that a report needs.

use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;
use std::fmt;

/// Name of the native runtime's provider.
const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

/// A provider to record. `Display` writes `PROVIDER:KEYWORDS:LEVEL`, and `:ARGUMENTS` if
/// there are any, as for `--providers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Recording {
    /// Name of the provider.
    pub provider: &'static str,
    /// Keywords: the bits of the groups of events to record.
    pub keywords: u64,
    /// Level, from 1 (critical) to 5 (verbose).
    pub level: u8,
    /// Arguments such as `NAME=VALUE`, for a provider that emits nothing without them; else empty.
    pub arguments: &'static str,
    /// First version of .NET that has the events; 0 for all versions with event pipes.
    pub since_version: u32,
}

impl Recording {
    /// The runtime's sampler, which records the stack of each thread about every millisecond.
    pub(crate) const SAMPLER: Recording =
        Recording::new("Microsoft-DotNETCore-SampleProfiler", 0, 5);

    /// Returns a request for events of a provider that needs no arguments, in all versions of .NET.
    pub const fn new(provider: &'static str, keywords: u64, level: u8) -> Recording {
        Recording { provider, keywords, level, arguments: "", since_version: 0 }
    }

    /// Returns a request for events of the native runtime.
    pub const fn runtime(keywords: u64, level: u8) -> Recording {
        Recording::new(RUNTIME, keywords, level)
    }

    /// Sets the arguments.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'static str) -> Recording {
        self.arguments = arguments;
        self
    }

    /// Sets the first version of .NET that has the events.
    #[must_use]
    pub const fn since(mut self, version: u32) -> Recording {
        self.since_version = version;
        self
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#x}:{}", self.provider, self.keywords, self.level)?;
        if self.arguments.is_empty() { Ok(()) } else { write!(f, ":{}", self.arguments) }
    }
}

/// Keywords of the runtime's provider that were on when a trace was recorded, as far as its events
/// show.
#[derive(Debug, Clone, Copy)]
pub struct SeenKeywords {
    /// Most verbose level among the events of each keyword, by bit; 0 without an event.
    levels: [u32; u64::BITS as usize],
}

impl Default for SeenKeywords {
    fn default() -> SeenKeywords {
        SeenKeywords { levels: [0; u64::BITS as usize] }
    }
}

impl SeenKeywords {
    /// Adds the keyword of an event. An event with several keywords does not show which of them was
    /// on.
    pub(crate) fn add(&mut self, event: &Event<'_>) {
        let keywords = event.keywords();
        if event.known_provider() != KnownProvider::Runtime || !keywords.is_power_of_two() {
            return;
        }
        if let Some(level) = self.levels.get_mut(keywords.trailing_zeros() as usize) {
            *level = event.level().max(*level);
        }
    }

    /// Returns whether all that a recording asks for was on.
    pub fn contain(&self, recording: &Recording) -> bool {
        let is_runtime = recording.provider == RUNTIME && recording.keywords != 0;
        let mut wanted =
            (0..u64::BITS).zip(&self.levels).filter(|(bit, _)| recording.keywords >> bit & 1 == 1);
        is_runtime && wanted.all(|(_, level)| *level >= u32::from(recording.level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_written_as_it_is_asked_for() {
        let text = Recording::runtime(0x8000, 2).to_string();
        assert_eq!(text, "Microsoft-Windows-DotNETRuntime:0x8000:2");
        let text = Recording::new("A", 0, 4).arguments("B=1;C=*").to_string();
        assert_eq!(text, "A:0x0:4:B=1;C=*");
    }
}
