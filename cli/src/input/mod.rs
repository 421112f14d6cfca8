//! Opens the parser's source for a path: a mapped file, a file that is read, or standard input.
//! A packed file is recognised by its first bytes, whatever the name, and unpacked on the way.

mod mapped;
pub(crate) mod pattern;
mod regions;

pub(crate) use nettrace_analysis::input::{Ended, Packing, UnpackFault, UnreadTimes, second};
pub(crate) use regions::Regions;

use crate::failure::{Failure, STDIN_NAME};
use crate::progress::Progress;
use nettrace_analysis::input::TraceBytes;
use nettrace_parser::{MappedFile, Progress as _, Reader, Source, Span, Trace};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

/// The source of a trace's bytes for [`nettrace_parser::Reader`].
pub(crate) struct Input {
    bytes: SourceBytes,
    progress: Rc<Progress>,
    whole: Option<u64>,
    kept: Option<KeptBytes>,
}

/// The first bytes of a trace, which are kept to be read again.
#[derive(Clone, Copy)]
struct KeptBytes {
    /// Maximum number of bytes. The trace ends there.
    most: u64,
    /// Whether the trace has more.
    has_more: bool,
}

/// The bytes of a trace. This is an enum instead of a type parameter so that the parser's reader is
/// compiled once; the branch costs less than a second copy.
enum SourceBytes {
    Mapped(MappedFile),
    Read(TraceBytes),
}

impl Input {
    /// Opens a file. With `is_mapped`, a plain regular file is mapped. `limit` is the number of
    /// bytes that the file may unpack to.
    pub(crate) fn open(
        path: &Path,
        is_mapped: bool,
        limit: u64,
        progress: Rc<Progress>,
    ) -> Result<Input, Failure> {
        let name = path.display().to_string();
        let failed = |error: io::Error| Failure::open(&name, path, &error);
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::folder(&name));
        }
        let whole = metadata.is_file().then_some(metadata.len());
        let bytes = match whole.filter(|bytes| *bytes > 0) {
            // A file system that cannot map files can still read them.
            Some(_) => match is_mapped.then(|| mapped_plain(&mut file, path)).flatten() {
                Some(mapped) => SourceBytes::Mapped(mapped),
                None => SourceBytes::Read(TraceBytes::open(file, limit).map_err(failed)?),
            },
            None => {
                let is_at_rest = whole.is_some();
                let bytes = TraceBytes::open_stream(file, is_at_rest, limit).map_err(failed)?;
                SourceBytes::Read(bytes)
            }
        };
        Ok(Input { bytes, progress, whole, kept: None })
    }

    /// Opens the second stream of a file: [`second`] has its places. A file beside the trace counts
    /// only if it begins as the `first` stream does. `None` if there is none, or if it cannot be
    /// read, because the first stream can be read without it.
    pub(crate) fn open_second(path: &Path, first: &Trace, limit: u64) -> Option<Reader<Input>> {
        Input::behind(path, limit).or_else(|| Input::beside(path, first, limit))
    }

    /// Opens the second stream of a file whose header was not read.
    pub(crate) fn open_second_of(path: &Path, limit: u64) -> Option<Reader<Input>> {
        // Opening a pipe would wait for its writer.
        std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let progress = Rc::new(Progress::new(false));
        let mut first = Reader::new(Input::open(path, false, limit, progress).ok()?);
        Input::open_second(path, first.trace().ok()?, limit)
    }

    /// Opens the second stream behind the first one. `None` if there is none, or it cannot be read.
    pub(crate) fn behind(path: &Path, limit: u64) -> Option<Reader<Input>> {
        // Opening a pipe would wait for its writer.
        let whole = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
        let bytes = TraceBytes::open_second(File::open(path).ok()?, limit)?;
        let progress = Rc::new(Progress::new(false));
        let bytes = SourceBytes::Read(bytes);
        Some(Reader::new(Input { bytes, progress, whole: Some(whole), kept: None }))
    }

    /// Opens the second stream in its own file.
    fn beside(path: &Path, first: &Trace, limit: u64) -> Option<Reader<Input>> {
        let path = second::beside(path);
        std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let input = Input::open(&path, false, limit, Rc::new(Progress::new(false))).ok()?;
        let mut reader = Reader::new(input);
        let its = reader.trace().ok()?;
        let is_same = (its.sync_ticks, its.start) == (first.sync_ticks, first.start);
        is_same.then_some(reader)
    }

    /// Opens standard input, or its replacement in tests.
    pub(crate) fn stdin(
        stdin: Box<dyn Read + Send>,
        limit: u64,
        progress: Rc<Progress>,
    ) -> Result<Input, Failure> {
        let failed = |error: io::Error| Failure::open(STDIN_NAME, Path::new("-"), &error);
        let bytes = TraceBytes::open_stream(stdin, false, limit).map_err(failed)?;
        Ok(Input { bytes: SourceBytes::Read(bytes), progress, whole: None, kept: None })
    }

    /// Keeps the first bytes, so that they can be read again, and ends after them. A mapped file
    /// needs not be kept.
    pub(crate) fn keeping(self, most: u64) -> Input {
        let kept = (!self.is_mapped()).then_some(KeptBytes { most, has_more: false });
        Input { kept, ..self }
    }

    /// Returns whether the trace has more bytes than are kept.
    pub(crate) fn is_beyond_kept(&self) -> bool {
        self.kept.is_some_and(|kept| kept.has_more)
    }

    /// Goes on after the bytes that are kept, which are released as they are read.
    pub(crate) fn without_limit(self) -> Input {
        Input { kept: None, ..self }
    }

    /// Returns whether the bytes are those of a mapped file, which take no memory.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped().is_some()
    }

    fn mapped(&self) -> Option<&MappedFile> {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => Some(mapped),
            SourceBytes::Read(_) => None,
        }
    }

    fn read(&self) -> Option<&TraceBytes> {
        match &self.bytes {
            SourceBytes::Mapped(_) => None,
            SourceBytes::Read(bytes) => Some(bytes),
        }
    }

    /// Returns the fault of the packed file, as far as it was read.
    pub(crate) fn unpack_fault(&self) -> Option<UnpackFault> {
        self.read().and_then(TraceBytes::unpack_fault)
    }
}

/// Returns how reading a trace ended, as far as it was read.
pub(crate) fn ended(reader: &Reader<Input>) -> Ended {
    Ended::new(reader.outcome(), reader.source().read())
}

/// Maps a file that is not packed; `None` if it is, or its file system cannot map files.
fn mapped_plain(file: &mut File, path: &Path) -> Option<MappedFile> {
    let mut head = [0; Packing::HEAD_BYTES];
    let length = file.read(&mut head).ok()?;
    Packing::from_head(&head[..length]).is_none().then(|| mapped::open(path).ok()).flatten()
}

impl Source for Input {
    #[inline]
    fn start(&self) -> u64 {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => mapped.start(),
            SourceBytes::Read(bytes) => bytes.start(),
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => mapped.bytes(),
            SourceBytes::Read(bytes) => bytes.bytes(),
        }
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        if let Some(kept) = &mut self.kept
            && end > kept.most
        {
            kept.has_more = true;
            return Ok(false);
        }
        let (filled, done) = match &mut self.bytes {
            SourceBytes::Mapped(mapped) => (mapped.fill(end), end),
            SourceBytes::Read(bytes) => (bytes.fill(end), bytes.consumed()),
        };
        self.progress.reached(done, self.whole);
        filled
    }

    /// Ignores errors of reading after the end mark of the trace.
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        if self.kept.is_some_and(|kept| end > kept.most) {
            return Ok(false);
        }
        let filled = match &mut self.bytes {
            SourceBytes::Mapped(mapped) => mapped.fill_at_once(end),
            SourceBytes::Read(bytes) => bytes.fill_at_once(end),
        };
        Ok(filled.unwrap_or(false))
    }

    fn approach(&self, span: Span) {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => mapped.approach(span),
            SourceBytes::Read(bytes) => bytes.approach(span),
        }
    }

    fn release(&mut self, before: u64) {
        if self.kept.is_some() {
            return;
        }
        match &mut self.bytes {
            SourceBytes::Mapped(mapped) => mapped.release(before),
            SourceBytes::Read(bytes) => bytes.release(before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn what_is_kept_can_be_read_again_and_reading_goes_on_behind_it() {
        let stream = Box::new(Cursor::new(b"0123456789".to_vec()));
        let input = Input::stdin(stream, u64::MAX, Rc::new(Progress::new(false))).unwrap();
        let mut input = input.keeping(6);
        assert!(input.fill(4).unwrap() && !input.is_beyond_kept());
        input.release(3);
        assert_eq!(input.start(), 0, "nothing is released");
        assert!(!input.fill(7).unwrap() && input.is_beyond_kept());
        assert!(input.fill(6).unwrap());
        let mut input = input.without_limit();
        assert!(input.fill(9).unwrap() && input.bytes().starts_with(b"012345678"));
        input.release(3);
        assert_eq!((input.start(), input.fill(11).unwrap()), (3, false));
    }
}
