//! Recognises the work that a recording itself causes in the recorded process.
//!
//! | below | is |
//! |---|---|
//! | `EventSource.InitializeDefaultEventSources` | sources that exist only to be recorded, at every start |
//! | `EventSource.SendCommand`, `EventSource.DoCommand` | a session that is turned on, and the manifests that it gets |
//! | `CounterGroup.OnTimer`, `CounterGroup.PollForValues` | counters that are published |

use super::names::{Frame, NameOrigin};

/// Text of the frame that stands for all work of the recording.
pub(super) const RECORDING: &str = "(recording)";

/// Ends of the names of types, and beginnings of the names of methods, below which all work is for
/// the recording.
const CAUSES: [(&str, &str); 5] = [
    ("EventSource", "InitializeDefaultEventSources"),
    ("EventSource", "SendCommand"),
    ("EventSource", "DoCommand"),
    ("CounterGroup", "OnTimer"),
    ("CounterGroup", "PollForValues"),
];

/// Returns whether all that a frame calls is work for the recording.
pub(crate) fn is_for_recording(frame: &Frame) -> bool {
    let is_cause = |(type_end, method): &(&str, &str)| {
        frame.type_name.ends_with(type_end) && frame.bare_method().starts_with(method)
    };
    is_recording(frame) || CAUSES.iter().any(is_cause)
}

/// Returns whether a frame stands for all work of the recording.
pub(crate) fn is_recording(frame: &Frame) -> bool {
    frame.origin == NameOrigin::Label && frame.text == RECORDING
}
