//! What a recording itself does in the process that it records.
//!
//! | below | is |
//! |---|---|
//! | `EventSource.InitializeDefaultEventSources` | sources that exist only to be recorded, at every start |
//! | `EventSource.SendCommand`, `EventSource.DoCommand` | a session that is turned on, and the manifests that it gets |
//! | `CounterGroup.OnTimer`, `CounterGroup.PollForValues` | counters that are published |

/// The frame that stands for all of it.
pub(crate) const RECORDING: &str = "(recording)";

const CAUSES: [&str; 5] = [
    "EventSource.InitializeDefaultEventSources",
    "EventSource.SendCommand",
    "EventSource.DoCommand",
    "Tracing.CounterGroup.OnTimer",
    "Tracing.CounterGroup.PollForValues",
];

/// Whether what a frame of this name calls is done for a recording.
pub(crate) fn is_for_recording(name: &str) -> bool {
    name == RECORDING || CAUSES.iter().any(|cause| name.contains(cause))
}
