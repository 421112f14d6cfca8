//! What is said of a recording at its end.

use crate::failure::Failure;
use crate::live::recording::RecordingOutcome;
use crate::live::status::advice;
use crate::messages::Messages;
use crate::units;
use nettrace_ipc::Ending;
use std::io;
use std::time::Duration;

/// A recording that has ended.
pub(super) struct Summary<'s> {
    pub(super) outcome: &'s RecordingOutcome,
    /// The process.
    pub(super) label: &'s str,
    pub(super) file: &'s str,
    pub(super) elapsed: Duration,
}

impl Summary<'_> {
    /// What kept the recording from being made.
    pub(super) fn failure(&self) -> Option<Failure> {
        let error = self.outcome.failure.as_ref()?;
        let is_gone = self.file == "standard output" && error.kind() == io::ErrorKind::BrokenPipe;
        Some(match is_gone {
            true => Failure::Output(io::ErrorKind::BrokenPipe.into()),
            false => Failure::Input {
                file: self.file.to_owned(),
                message: format!("recording failed: {error}"),
            },
        })
    }

    /// Whether something is missing that is not counted as lost.
    pub(super) fn is_damaged(&self) -> bool {
        let outcome = self.outcome;
        outcome.fault.is_some() || outcome.damage_count > 0 || self.cut_off().is_some()
    }

    /// Why the stream has no end, if it has none.
    fn cut_off(&self) -> Option<String> {
        let (label, file) = (self.label, self.file);
        match self.outcome.ending {
            Some(Ending::Cut) => Some(format!(
                "{label} did not end the session in time, so the connection was closed; {file} has what was received until then"
            )),
            Some(Ending::ByTarget) if !self.outcome.is_complete => Some(format!(
                "{label} exited without completing the trace (was it killed?); {file} has what was received until then"
            )),
            Some(Ending::Stopped) if !self.outcome.is_complete && self.outcome.fault.is_none() => {
                Some(format!(
                    "{file}: the stream has no end mark; everything that was received is in the file"
                ))
            }
            _ => None,
        }
    }

    pub(super) fn tell(&self, buffer_megabytes: u32, messages: &mut Messages<'_>) {
        let (outcome, file) = (self.outcome, self.file);
        let nanos = i64::try_from(self.elapsed.as_nanos()).unwrap_or(i64::MAX);
        messages.note(&format!(
            "{file}: {} and {} in {}, {} lost",
            units::bytes(outcome.bytes),
            units::counted(outcome.events, "event"),
            units::duration(nanos),
            units::count(outcome.lost),
        ));
        if outcome.lost > 0 {
            messages.warning(&format!(
                "{file}: {} lost: the buffers of the process were full; {}",
                units::counted(outcome.lost, "event"),
                advice(buffer_megabytes)
            ));
        }
        if let Some(lacking) = &outcome.lacking {
            let text = "the condition to stop at was not met";
            messages.warning(&format!("{file}: {text}: {lacking}"));
        }
        if let Some(fault) = &outcome.fault {
            messages.warning(&format!(
                "{file}: the stream cannot be parsed ({fault}); its bytes are in the file"
            ));
        } else if outcome.damage_count > 0 {
            let findings = units::counted(outcome.damage_count, "finding");
            messages.warning(&format!("{file}: {findings} in the stream"));
        }
        if let Some(cut_off) = self.cut_off() {
            messages.warning(&cut_off);
        }
    }
}
