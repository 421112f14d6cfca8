//! What a recording says about itself in the last event of its second stream.

use super::second::{PROVIDER, RECORDING_END};
use crate::fact::ProcessEnd;
use nettrace_parser::{Event, Reader, Source, Utf16};

/// Exit code that shells give a program that a signal has killed, without the number of the signal.
const SIGNAL_CODES: u8 = 128;

/// EventSource that the options of a recording name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AskedSource {
    /// Its name.
    pub name: String,
    /// Whether it sent nothing.
    pub is_silent: bool,
}

/// What a recording says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedEnding {
    /// How the process of the trace ended, if the trace breaks off.
    pub end: Option<ProcessEnd>,
    /// EventSources that the options of the recording name.
    pub asked: Vec<AskedSource>,
}

impl AskedSource {
    /// Returns a source of this name.
    #[must_use]
    pub fn new(name: String, is_silent: bool) -> AskedSource {
        AskedSource { name, is_silent }
    }
}

impl RecordedEnding {
    /// Returns the names of the EventSources that sent nothing.
    #[must_use]
    pub fn silent(&self) -> Vec<String> {
        let silent = self.asked.iter().filter(|source| source.is_silent);
        silent.map(|source| source.name.clone()).collect()
    }

    /// Reads a second stream; `None` if it does not say it.
    pub fn read(second: &mut Reader<impl Source>) -> Option<RecordedEnding> {
        let mut ending = None;
        // What cannot be read is lacking.
        let _ = second.for_each(|event| {
            if event.provider() == PROVIDER && event.id() == RECORDING_END {
                ending = Some(RecordedEnding::from_event(&event));
            }
        });
        ending
    }

    /// Reads the last event of a second stream.
    fn from_event(event: &Event<'_>) -> RecordedEnding {
        let number = |name: &str| event.get::<i64>(name).ok();
        let names = |name: &str| -> Vec<String> {
            let names = event.get::<Utf16<'_>>(name).map(String::from).unwrap_or_default();
            names.lines().map(str::to_owned).collect()
        };
        let status = number("Status").and_then(|status| u8::try_from(status).ok());
        let code = match (number("Ended"), status) {
            (Some(1), status) => status,
            (Some(2), Some(signal)) => SIGNAL_CODES.checked_add(signal),
            _ => None,
        };
        let silent = names("Silent");
        let asked = names("Asked").into_iter().map(|name| {
            let is_silent = silent.contains(&name);
            AskedSource { name, is_silent }
        });
        RecordedEnding { end: code.map(ProcessEnd::from_exit_code), asked: asked.collect() }
    }
}
