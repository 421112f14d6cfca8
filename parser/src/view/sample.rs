//! View of samples of the runtime's sampler.

use super::{KnownProvider, View};
use crate::bytes::first;
use crate::event::Event;

/// Sample: event 0 of `Microsoft-DotNETCore-SampleProfiler`, version 0. The event's thread and
/// stack are the sampled ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// State of the thread.
    pub state: SampleState,
}

/// State of a sampled thread, as the runtime knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SampleState {
    /// The sampler failed.
    Error,
    /// The thread was in native code or blocked; it may or may not have used a processor.
    External,
    /// The thread was in managed code.
    Managed,
    /// Another value, as stored.
    Unknown(u32),
}

impl View<'_> for Sample {
    #[inline]
    fn from_event(event: &Event<'_>) -> Option<Sample> {
        if event.known_provider() != KnownProvider::SampleProfiler || event.id() != 0 {
            return None;
        }
        Sample::from_payload(event.payload())
    }
}

impl Sample {
    /// Returns the view of a payload, which must be of an event that [`Sample`] covers.
    #[inline]
    pub fn from_payload(payload: &[u8]) -> Option<Sample> {
        let state = match first::<u32>(payload)? {
            0 => SampleState::Error,
            1 => SampleState::External,
            2 => SampleState::Managed,
            other => SampleState::Unknown(other),
        };
        Some(Sample { state })
    }
}
