//! The second stream of a recording: the times of its threads, and how it ended.

use crate::args::profiles::SAMPLER;
use crate::live::driver::StreamEnd;
use crate::live::sink::Saved;
use crate::live::thread_times::rows::{HowEnded, RecordingEnd};
use crate::live::thread_times::{ClockFile, EndedClockFile, Readings};
use nettrace_analysis::fact::ProcessEnd;
use nettrace_parser::Trace;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Second stream of a recording that has not ended.
#[derive(Debug)]
pub(super) struct SecondStream {
    /// Path of the recording.
    path: PathBuf,
    readings: Option<Readings>,
    /// EventSources that the options of the recording name.
    asked: Vec<String>,
    /// Whether the process was not held at its start for the session.
    is_attached: bool,
    /// Reason why there are no readings, although there should be.
    fault: Option<String>,
    ended: Option<EndedClockFile>,
    /// Second stream of a recording that was cut off.
    beside: Option<BesideStream>,
}

/// Second stream that stays in a file of its own, because its recording was cut off. Its end is
/// written when the end of the program is known.
#[derive(Debug)]
pub(super) struct BesideStream {
    path: PathBuf,
    header: Trace,
    file: Option<ClockFile>,
    end: RecordingEnd,
}

/// Returns whether a recording has samples, beside which times of threads make sense.
pub(super) fn has_samples(providers: &[String]) -> bool {
    providers.iter().any(|name| name == SAMPLER)
}

/// Returns whether a recording of this path is a file, which can have a second stream, and not a
/// device.
pub(super) fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| there.is_file())
        || std::fs::symlink_metadata(path).is_err()
}

impl SecondStream {
    /// Creates the second stream of a recording.
    pub(super) fn new(
        path: PathBuf,
        readings: Option<Readings>,
        asked: Vec<String>,
        is_attached: bool,
    ) -> SecondStream {
        let (fault, ended, beside) = (None, None, None);
        SecondStream { path, readings, asked, is_attached, fault, ended, beside }
    }

    pub(super) fn take_header(&self, header: &Trace) {
        if let Some(readings) = &self.readings {
            readings.take_header(header);
        }
    }

    /// Ends the readings. Returns the stream if the recording takes it.
    pub(super) fn end(&mut self, end: &StreamEnd<'_>) -> Option<&File> {
        let readings = self.readings.take();
        let times = readings.map(|readings| readings.end(end.is_by_process)).unwrap_or_default();
        self.fault = self.fault.take().or(times.fault);
        // A stream that cannot be read to its end does not tell who sent nothing.
        let is_silent = |name: &&String| end.is_read && !end.providers.contains(*name);
        let silent: Vec<String> = self.asked.iter().filter(is_silent).cloned().collect();
        let (asked, header) = (self.asked.clone(), &end.outcome.trace);
        let (is_attached, cost) = (self.is_attached, times.cost);
        let how = RecordingEnd { end: times.how, asked, silent, is_attached, cost };
        if !end.is_whole || !end.outcome.is_complete {
            let (path, header) = (self.path.clone(), header.clone());
            self.beside = Some(BesideStream { path, header, file: times.file, end: how });
            return None;
        }
        let file = match times.file {
            None if how.silent.is_empty() => None,
            None => create(&self.path, header),
            file => file,
        };
        match file.map(|file| file.end(how)).transpose() {
            Ok(ended) => self.ended = ended,
            Err(error) => self.fault = Some(format!("they cannot be written: {error}")),
        }
        self.ended.as_ref().map(|ended| &ended.file)
    }

    /// Removes the file of the stream if the recording has it now. Returns the stream if it stays,
    /// and the reason why there are no readings.
    pub(super) fn conclude(self, saved: &Saved) -> (Option<BesideStream>, Option<String>) {
        if let (Some(ended), Saved::Whole { has_second: true, .. }) = (self.ended, saved) {
            ended.remove();
        }
        (self.beside, self.fault)
    }
}

/// Creates the file of a stream without readings; `None` if it cannot be written, or if the first
/// stream has no header that it could go with.
fn create(path: &Path, header: &Trace) -> Option<ClockFile> {
    if header.tick_frequency == 0 {
        return None;
    }
    ClockFile::create(path, header).ok()
}

impl BesideStream {
    /// Completes the file. `program` is how the program ended that was started; it counts if it is
    /// not known how the process itself ended.
    pub(super) fn end(self, program: Option<ProcessEnd>) {
        let mut end = self.end;
        if let (HowEnded::Unknown, Some(program)) = (end.end, program) {
            end.end = HowEnded::from_program(program);
        }
        let has_something = end.end != HowEnded::Unknown || !end.silent.is_empty();
        let file = match self.file {
            None if has_something => create(&self.path, &self.header),
            file => file,
        };
        // What cannot be written is lacking, and the recording is as good as before.
        drop(file.map(|file| file.end(end)));
    }

    /// Moves the file, because the recording has this path now.
    pub(super) fn moved(self, path: &Path) -> BesideStream {
        let file = self.file.map(|file| file.moved(path));
        BesideStream { path: path.to_owned(), file, ..self }
    }

    /// Removes the file of a recording that was removed.
    pub(super) fn discard(self) {
        if let Some(file) = self.file {
            file.remove();
        }
    }
}
