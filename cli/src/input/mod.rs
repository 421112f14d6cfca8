//! Opens the parser's source for a path: a mapped file, a file that is read, or standard input.
//! A packed file is recognised by its first bytes, whatever the name, and unpacked on the way.

mod ending;
mod gzip;
mod mapped;
mod packed_file;
mod packing;
pub(crate) mod pattern;
mod regions;
pub(crate) mod second;
mod unpacked;
mod zstd;

pub(crate) use ending::{Ended, UnreadTimes};
pub(crate) use gzip::packer;
pub(crate) use packing::{Packing, UnpackFault};
pub(crate) use regions::Regions;

use crate::failure::{Failure, STDIN_NAME};
use crate::progress::Progress;
use nettrace_parser::{Buffered, MappedFile, Reader, Source, Span, Trace};
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use unpacked::{Unpacked, UnpackedSoFar};

/// The source of a trace's bytes for [`nettrace_parser::Reader`].
pub(crate) struct Input {
    bytes: SourceBytes,
    progress: Rc<Progress>,
    whole: Option<u64>,
    /// What is known of the packed file; `None` for any other one.
    packed: Option<Rc<UnpackedSoFar>>,
}

/// The bytes of a trace. This is an enum instead of a type parameter so that the parser's reader is
/// compiled once; the branch costs less than a second copy.
enum SourceBytes {
    Mapped(MappedFile),
    Read(Buffered<Box<dyn Read>>),
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
        let head = head(&mut file).map_err(failed)?;
        let packing = Packing::recognise(&head);
        let file_bytes = whole.filter(|bytes| *bytes > 0);
        if is_mapped && packing.is_none() && file_bytes.is_some() {
            // A file system that cannot map files can still read them.
            if let Ok(mapped) = mapped::open(path) {
                return Ok(Input {
                    bytes: SourceBytes::Mapped(mapped),
                    progress,
                    whole,
                    packed: None,
                });
            }
        }
        let mut left = u64::MAX;
        if file_bytes.is_some() {
            let second = second::find(&mut file, packing).ok().flatten();
            let start = head.len() as u64;
            file.seek(SeekFrom::Start(start)).map_err(failed)?;
            left = second.map_or(u64::MAX, |place| place.start.saturating_sub(start));
        }
        Input::from_read(head, file.take(left), whole, limit, progress).map_err(failed)
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
        let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
        let mut file = File::open(path).ok()?;
        let packing = Packing::recognise(&head(&mut file).ok()?);
        let place = second::find(&mut file, packing).ok()?.filter(|place| place.start < length)?;
        file.seek(SeekFrom::Start(place.start)).ok()?;
        let (head, progress) = (head(&mut file).ok()?, Rc::new(Progress::new(false)));
        let rest = file.take(place.len.saturating_sub(head.len() as u64));
        Input::from_read(head, rest, Some(place.len), limit, progress).ok().map(Reader::new)
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
        mut stdin: Box<dyn Read + Send>,
        limit: u64,
        progress: Rc<Progress>,
    ) -> Result<Input, Failure> {
        let failed = |error: io::Error| Failure::open(STDIN_NAME, Path::new("-"), &error);
        let head = head(&mut stdin).map_err(failed)?;
        Input::from_read(head, stdin, None, limit, progress).map_err(failed)
    }

    fn from_read(
        head: Vec<u8>,
        rest: impl Read + Send + 'static,
        whole: Option<u64>,
        limit: u64,
        progress: Rc<Progress>,
    ) -> io::Result<Input> {
        let packing = Packing::recognise(&head);
        let file: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(rest));
        let (bytes, packed): (Box<dyn Read>, _) = match packing {
            Some(packing) => {
                let (unpacked, so_far) = Unpacked::new(packing, file, whole.is_some(), limit)?;
                (Box::new(unpacked), Some(so_far))
            }
            None => (file, None),
        };
        // A pipe may stay open after the end of its trace, so the source does not wait for what
        // follows.
        let buffered =
            if whole.is_some() { Buffered::at_rest(bytes) } else { Buffered::new(bytes) };
        Ok(Input { bytes: SourceBytes::Read(buffered), progress, whole, packed })
    }

    fn mapped(&self) -> Option<&MappedFile> {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => Some(mapped),
            SourceBytes::Read(_) => None,
        }
    }

    /// Returns how the trace is packed; `None` if it is not.
    pub(crate) fn packing(&self) -> Option<Packing> {
        self.packed.as_ref().map(|packed| packed.packing)
    }

    /// Returns the fault of the packed file, as far as it was read.
    pub(crate) fn unpack_fault(&self) -> Option<UnpackFault> {
        self.packed.as_ref().and_then(|packed| packed.fault.get())
    }
}

impl Source for Input {
    #[inline]
    fn start(&self) -> u64 {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => mapped.start(),
            SourceBytes::Read(buffered) => buffered.start(),
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => mapped.bytes(),
            SourceBytes::Read(buffered) => buffered.bytes(),
        }
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        let (filled, plain) = match &mut self.bytes {
            SourceBytes::Mapped(mapped) => (mapped.fill(end), end),
            SourceBytes::Read(buffered) => {
                let filled = buffered.fill(end);
                (filled, buffered.start() + buffered.bytes().len() as u64)
            }
        };
        let done = self.packed.as_ref().map_or(plain, |packed| packed.consumed.get());
        self.progress.show(done, self.whole);
        filled
    }

    /// Ignores errors of reading after the end mark of the trace.
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        let filled = match &mut self.bytes {
            SourceBytes::Mapped(mapped) => mapped.fill_at_once(end),
            SourceBytes::Read(buffered) => buffered.fill_at_once(end),
        };
        Ok(filled.unwrap_or(false))
    }

    fn approach(&self, span: Span) {
        match &self.bytes {
            SourceBytes::Mapped(mapped) => mapped.approach(span),
            SourceBytes::Read(buffered) => buffered.approach(span),
        }
    }

    fn release(&mut self, before: u64) {
        match &mut self.bytes {
            SourceBytes::Mapped(mapped) => mapped.release(before),
            SourceBytes::Read(buffered) => buffered.release(before),
        }
    }
}

/// Reads the first bytes, as many as it takes to recognise a packed file.
fn head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(Packing::HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}
