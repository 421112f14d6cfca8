//! The file beside a recording that holds its second stream until the recording is whole.

use super::rows::{RecordingEnd, Row, RowKind};
use super::stream::ClockStream;
use crate::input::second;
use crate::new_file::private;
use nettrace_parser::Trace;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Number of bytes that may wait before they are written.
const MAX_WAITING_BYTES: usize = 256 << 10;
/// Number of bytes at the beginning in which the name of the provider is searched.
const HEAD_BYTES: u64 = 4 << 10;

/// A second stream in its file. If writing has failed, further rows are thrown away.
#[derive(Debug)]
pub(crate) struct ClockFile {
    path: PathBuf,
    file: File,
    stream: ClockStream,
    failure: Option<io::Error>,
}

impl ClockFile {
    /// Creates the file beside a recording whose stream has this header. Replaces a file of an
    /// earlier recording, and no other.
    pub(crate) fn create(trace: &Path, first: &Trace) -> io::Result<ClockFile> {
        let path = second::beside(trace);
        let file = match private::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_own(&path) => {
                // A link is removed, and not its target.
                fs::remove_file(&path)?;
                private::create_new(&path)?
            }
            opened => opened?,
        };
        Ok(ClockFile { path, file, stream: ClockStream::new(first), failure: None })
    }

    pub(super) fn push(&mut self, row: &Row) {
        if self.failure.is_none() {
            self.stream.push(row);
            if self.stream.waiting_bytes() > MAX_WAITING_BYTES {
                self.flush();
            }
        }
    }

    /// Writes all rows to the file.
    pub(super) fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.stream.flush_to(&self.file).err();
        }
    }

    /// Moves the file to its place beside a recording, unless something is there.
    pub(crate) fn moved(self, trace: &Path) -> ClockFile {
        let path = second::beside(trace);
        let is_free = fs::symlink_metadata(&path).is_err();
        match is_free && fs::rename(&self.path, &path).is_ok() {
            true => ClockFile { path, ..self },
            false => self,
        }
    }

    /// Removes the file.
    pub(crate) fn remove(self) {
        // A file that stays is not looked at without its recording.
        let _ = fs::remove_file(self.path);
    }

    /// Completes the stream with its last event.
    pub(crate) fn end(mut self, end: RecordingEnd) -> io::Result<EndedClockFile> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let ticks = self.stream.last_ticks();
        self.stream.push(&Row { ticks, kind: RowKind::End(end) });
        self.stream.end(&self.file)?;
        Ok(EndedClockFile { path: self.path, file: self.file })
    }
}

/// A second stream that is complete.
#[derive(Debug)]
pub(crate) struct EndedClockFile {
    path: PathBuf,
    /// The file, to be read from its beginning.
    pub(crate) file: File,
}

impl EndedClockFile {
    /// Removes the file, because the recording has its stream now.
    pub(crate) fn remove(self) {
        // A file that stays is not looked at.
        let _ = fs::remove_file(self.path);
    }
}

/// Returns whether this command wrote a file.
fn is_own(path: &Path) -> bool {
    // Opening a pipe would wait for its writer.
    if !fs::symlink_metadata(path).is_ok_and(|there| there.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let name: Vec<u8> = second::PROVIDER.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let has_name = head.windows(name.len()).any(|window| window == name);
    read.is_ok() && head.starts_with(b"Nettrace") && has_name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::live::sink::{Saved, Sink};
    use crate::live::thread_times::rows::HowEnded;
    use crate::new_file::{NewFile, Unfinished};
    use nettrace_parser::{Reader, Source};
    use nettrace_testdata::synth::{tiny_v4, tiny_v6};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("nettrace-clock-file-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn header(bytes: &[u8]) -> Trace {
        Reader::from_slice(bytes).trace().unwrap().clone()
    }

    fn end(status: i32) -> RecordingEnd {
        RecordingEnd { end: HowEnded::Exited(status), ..RecordingEnd::default() }
    }

    fn events<S: Source>(mut reader: Reader<S>) -> u64 {
        let mut events = 0;
        reader.for_each(|_| events += 1).unwrap();
        assert!(reader.is_complete());
        events
    }

    #[test]
    fn a_whole_recording_takes_the_second_stream_and_stays_what_it_was_before_it() {
        for first in [tiny_v4().bytes, tiny_v6().bytes] {
            for name in ["x.nettrace", "x.nettrace.gz"] {
                let folder = Folder::new("whole");
                let path = folder.0.join(name);
                let file = NewFile::create(&path, false, &[], Unfinished::Kept).unwrap();
                let mut sink = Sink::file(file, name.ends_with(".gz"));
                sink.write(&first).unwrap();
                let clock = ClockFile::create(&path, &header(&first)).unwrap();
                assert!(folder.0.join("x.clock.nettrace").exists());
                let ended = clock.end(end(3)).unwrap();
                let (saved, written) = sink.finish(true, Some(&ended.file));
                written.unwrap();
                assert!(matches!(saved, Saved::Whole { has_second: true, .. }), "{saved:?}");
                ended.remove();
                assert!(!folder.0.join("x.clock.nettrace").exists());
                if !name.ends_with(".gz") {
                    assert!(fs::read(&path).unwrap().starts_with(&first));
                }
                let its = header(&first);
                assert_eq!(events(Input::open_second(&path, &its, u64::MAX).unwrap()), 1);
                for is_mapped in [false, true] {
                    let progress = std::rc::Rc::new(crate::progress::Progress::new(false));
                    let input = Input::open(&path, is_mapped, u64::MAX, progress).unwrap();
                    assert_eq!(events(Reader::new(input)), events(Reader::from_slice(&first)));
                }
            }
        }
    }

    #[test]
    fn a_recording_that_was_cut_off_has_the_second_stream_beside_it() {
        let (folder, first) = (Folder::new("cut"), tiny_v4().bytes);
        let path = folder.0.join("x.nettrace");
        fs::write(&path, &first[..first.len() - 1]).unwrap();
        drop(ClockFile::create(&path, &header(&first)).unwrap().end(end(3)).unwrap());
        assert_eq!(events(Input::open_second_of(&path, u64::MAX).unwrap()), 1);
        let part = folder.0.join("x.nettrace.part");
        fs::rename(&path, &part).unwrap();
        assert_eq!(events(Input::open_second_of(&part, u64::MAX).unwrap()), 1);
        // A stream that began at another time belongs to another recording.
        fs::write(&path, tiny_v6().bytes).unwrap();
        let mut other = header(&first);
        other.sync_ticks += 1;
        assert!(Input::open_second(&path, &other, u64::MAX).is_none());
    }

    #[test]
    fn a_file_of_somebody_else_is_not_replaced() {
        let (folder, first) = (Folder::new("own"), tiny_v4().bytes);
        let (path, beside) = (folder.0.join("x.nettrace"), folder.0.join("x.clock.nettrace"));
        for other in [&b"precious"[..], &first] {
            fs::write(&beside, other).unwrap();
            let error = ClockFile::create(&path, &header(&first)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read(&beside).unwrap(), other);
        }
        fs::remove_file(&beside).unwrap();
        drop(ClockFile::create(&path, &header(&first)).unwrap().end(end(3)).unwrap());
        drop(ClockFile::create(&path, &header(&first)).unwrap().end(end(4)).unwrap());
        assert_eq!(events(Reader::from_slice(&fs::read(&beside).unwrap())), 1);
    }
}
