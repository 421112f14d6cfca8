//! CPU samples of the runtime's sampler.

use super::KnownProvider;
use crate::event::Event;

/// `Microsoft-DotNETCore-SampleProfiler` 0, version 0: one thread's stack at one moment. The thread
/// is the event's, the stack too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// What the thread was doing.
    pub state: SampleState,
}

/// What a sampled thread was doing, as far as the runtime can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SampleState {
    /// The sampler failed.
    Error,
    /// In native code or blocked: no proof of use of a processor.
    External,
    /// In managed code.
    Managed,
    /// A value that is not known.
    Unknown(u32),
}

impl Sample {
    /// The view of an event.
    #[inline]
    pub fn of(event: &Event<'_>) -> Option<Sample> {
        if event.known_provider() != KnownProvider::SampleProfiler || event.id() != 0 {
            return None;
        }
        Sample::of_payload(event.payload())
    }

    /// The view of a payload of such an event, if that is known already.
    #[inline]
    pub fn of_payload(payload: &[u8]) -> Option<Sample> {
        let state = match u32::from_le_bytes(*payload.first_chunk()?) {
            0 => SampleState::Error,
            1 => SampleState::External,
            2 => SampleState::Managed,
            other => SampleState::Unknown(other),
        };
        Some(Sample { state })
    }
}
