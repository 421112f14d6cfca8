//! The transcript: a file with all bytes of the connections (`--record`).

use crate::failure::{Failure, plain};
use crate::new_file::{NewFile, Pending, Unfinished};
use nettrace_ipc::Recorder;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A transcript that is being written. It gets its final name also if the command fails, because it
/// shows why.
#[derive(Debug)]
pub(crate) struct Transcript {
    recorder: Recorder,
    path: PathBuf,
    /// The file, until it has its final name.
    file: Mutex<Option<Pending>>,
}

impl Transcript {
    /// Creates the file of the transcript.
    pub(crate) fn create(path: &Path, is_forced: bool) -> Result<Transcript, Failure> {
        let (file, pending) = NewFile::create(path, is_forced, &[], Unfinished::Kept)?.split();
        let recorder = Recorder::new(BufWriter::new(file));
        Ok(Transcript { recorder, path: path.to_owned(), file: Mutex::new(Some(pending)) })
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Writes the rest, and gives the file its final name.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.recorder.finish().map_err(|error| {
            let message = format!("cannot be written: {}", plain(&error));
            Failure::input(self.path.display().to_string(), message)
        })?;
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        file.map_or(Ok(()), |file| file.finish().map(drop))
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        // The reason for the command's end has been reported, and matters more.
        let _ = self.finish();
    }
}
