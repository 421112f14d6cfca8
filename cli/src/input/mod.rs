//! From a path to the parser's source: a mapped file, a file that is read, standard
//! input; gzip is unpacked on the way, recognised by its first bytes, whatever the name.

mod ending;
mod gzip;
mod mapped;
mod regions;

pub(crate) use ending::Ended;
pub(crate) use gzip::UnpackFault;
pub(crate) use regions::Regions;

use crate::failure::{Failure, STDIN_NAME};
use crate::progress::Progress;
use gzip::Unpack;
use nettrace_parser::{Buffered, MappedFile, Source, Span};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

/// Where a trace's bytes come from, for [`nettrace_parser::Reader`].
pub(crate) struct Input {
    bytes: Bytes,
    progress: Rc<Progress>,
    whole: Option<u64>,
    /// Bytes of the file that were read so far, as they lie on disk.
    consumed: Rc<Cell<u64>>,
    unpack_fault: Option<Rc<Cell<Option<UnpackFault>>>>,
}

/// One of two sources. An enum instead of a type parameter, so that the parser's reader is
/// compiled once; the branch costs less than a second copy.
enum Bytes {
    Mapped(MappedFile),
    Read(Buffered<Box<dyn Read>>),
}

impl Input {
    /// Opens a file. `is_mapped`: maps it if it is plain and regular. `limit`: bytes that
    /// it may unpack to.
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
        let is_plain = !gzip::is_gzip(&head);
        if is_mapped && is_plain && whole.is_some_and(|bytes| bytes > 0) {
            // A file system that cannot map can still be read.
            if let Ok(mapped) = mapped::open(path) {
                return Ok(Input {
                    bytes: Bytes::Mapped(mapped),
                    progress,
                    whole,
                    consumed: Rc::default(),
                    unpack_fault: None,
                });
            }
        }
        Ok(Input::of_read(head, file, whole, limit, progress))
    }

    /// Reads standard input, or whatever stands for it.
    pub(crate) fn stdin(
        mut stdin: Box<dyn Read>,
        limit: u64,
        progress: Rc<Progress>,
    ) -> Result<Input, Failure> {
        let head =
            head(&mut stdin).map_err(|error| Failure::open(STDIN_NAME, Path::new("-"), &error))?;
        Ok(Input::of_read(head, stdin, None, limit, progress))
    }

    fn of_read(
        head: Vec<u8>,
        rest: impl Read + 'static,
        whole: Option<u64>,
        limit: u64,
        progress: Rc<Progress>,
    ) -> Input {
        let is_gzip = gzip::is_gzip(&head);
        let consumed = Rc::new(Cell::new(0));
        let counted =
            Counted { inner: Cursor::new(head).chain(rest), consumed: Rc::clone(&consumed) };
        let (bytes, unpack_fault): (Box<dyn Read>, _) = if is_gzip {
            let (unpack, fault) = Unpack::new(counted, limit, Rc::clone(&consumed));
            (Box::new(unpack), Some(fault))
        } else {
            (Box::new(counted), None)
        };
        // A pipe may stay open after the end of its trace, so what follows is not waited for.
        let buffered =
            if whole.is_some() { Buffered::at_rest(bytes) } else { Buffered::new(bytes) };
        Input { bytes: Bytes::Read(buffered), progress, whole, consumed, unpack_fault }
    }

    /// The file for several threads, if it is one for them.
    pub(crate) fn regions(&self, threads: Option<usize>) -> Option<Regions> {
        Regions::of(self, threads)
    }

    fn mapped(&self) -> Option<&MappedFile> {
        match &self.bytes {
            Bytes::Mapped(mapped) => Some(mapped),
            Bytes::Read(_) => None,
        }
    }

    /// Whether the trace is compressed.
    pub(crate) fn is_gzip(&self) -> bool {
        self.unpack_fault.is_some()
    }

    /// What was wrong with the compressed file, as far as it was read.
    pub(crate) fn unpack_fault(&self) -> Option<UnpackFault> {
        self.unpack_fault.as_ref().and_then(|fault| fault.get())
    }
}

impl Source for Input {
    #[inline]
    fn start(&self) -> u64 {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.start(),
            Bytes::Read(buffered) => buffered.start(),
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.bytes(),
            Bytes::Read(buffered) => buffered.bytes(),
        }
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        let filled = match &mut self.bytes {
            Bytes::Mapped(mapped) => {
                self.consumed.set(end);
                mapped.fill(end)
            }
            Bytes::Read(buffered) => buffered.fill(end),
        };
        self.progress.at(self.consumed.get(), self.whole);
        filled
    }

    /// Errors after the end mark are ignored.
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        let filled = match &mut self.bytes {
            Bytes::Mapped(mapped) => mapped.fill_at_once(end),
            Bytes::Read(buffered) => buffered.fill_at_once(end),
        };
        Ok(filled.unwrap_or(false))
    }

    fn approach(&self, span: Span) {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.approach(span),
            Bytes::Read(buffered) => buffered.approach(span),
        }
    }

    fn release(&mut self, before: u64) {
        match &mut self.bytes {
            Bytes::Mapped(mapped) => mapped.release(before),
            Bytes::Read(buffered) => buffered.release(before),
        }
    }
}

/// The first bytes, as many as it takes to recognise gzip.
fn head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(gzip::MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Counts the bytes that are read through it.
struct Counted<R> {
    inner: R,
    consumed: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.consumed.set(self.consumed.get() + count as u64);
        Ok(count)
    }
}
