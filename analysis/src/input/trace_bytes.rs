//! The source of a trace's bytes: those of a file or a stream, unpacked on the way if they are packed.

use super::packing::{Packing, UnpackFault};
use super::second;
use super::unpacked::{Unpacked, UnpackedSoFar};
use nettrace_parser::{Buffered, Source, Span};
use std::fmt;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::rc::Rc;

/// Number of bytes that a packed trace may unpack to, unless somebody wants another limit.
pub const MAX_UNPACKED_BYTES: u64 = 64 << 30;

/// The bytes of one stream of a trace, unpacked on the way if they are packed.
pub struct TraceBytes {
    bytes: Buffered<Box<dyn Read>>,
    /// What is known of the packed file; `None` for any other one.
    packed: Option<Rc<UnpackedSoFar>>,
}

impl TraceBytes {
    /// Opens the first stream of a file. `limit` is the number of bytes that it may unpack to.
    ///
    /// # Errors
    /// Errors of the file; and there can be no further thread, on which a packed file is unpacked.
    pub fn open(mut file: impl Read + Seek + Send + 'static, limit: u64) -> io::Result<TraceBytes> {
        file.rewind()?;
        let head = head(&mut file)?;
        let second = second::find(&mut file, Packing::from_head(&head)).ok().flatten();
        let start = head.len() as u64;
        file.seek(SeekFrom::Start(start))?;
        let left = second.map_or(u64::MAX, |place| place.start.saturating_sub(start));
        TraceBytes::new(head, file.take(left), true, limit)
    }

    /// Opens the second stream behind the first one of a file. `None` if there is none, or it cannot be
    /// read.
    pub fn open_second(
        mut file: impl Read + Seek + Send + 'static,
        limit: u64,
    ) -> Option<TraceBytes> {
        file.rewind().ok()?;
        let packing = Packing::from_head(&head(&mut file).ok()?);
        let place = second::find(&mut file, packing).ok()??;
        file.seek(SeekFrom::Start(place.start)).ok()?;
        let head = head(&mut file).ok()?;
        let rest = file.take(place.len.saturating_sub(head.len() as u64));
        TraceBytes::new(head, rest, true, limit).ok()
    }

    /// Opens a stream that is read from its beginning. Reading a stream that `is_at_rest` never waits, as
    /// reading a pipe does.
    ///
    /// # Errors
    /// Fails like [`TraceBytes::open`].
    pub fn open_stream(
        mut stream: impl Read + Send + 'static,
        is_at_rest: bool,
        limit: u64,
    ) -> io::Result<TraceBytes> {
        let head = head(&mut stream)?;
        TraceBytes::new(head, stream, is_at_rest, limit)
    }

    fn new(
        head: Vec<u8>,
        rest: impl Read + Send + 'static,
        is_at_rest: bool,
        limit: u64,
    ) -> io::Result<TraceBytes> {
        let packing = Packing::from_head(&head);
        let file: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(rest));
        let (bytes, packed): (Box<dyn Read>, _) = match packing {
            Some(packing) => {
                let (unpacked, so_far) = Unpacked::new(packing, file, is_at_rest, limit)?;
                (Box::new(unpacked), Some(so_far))
            }
            None => (file, None),
        };
        // A pipe may stay open after the end of its trace, so the source does not wait for what
        // follows.
        let bytes = if is_at_rest { Buffered::new(bytes).at_rest() } else { Buffered::new(bytes) };
        Ok(TraceBytes { bytes, packed })
    }

    /// Returns how the trace is packed; `None` if it is not.
    #[must_use]
    pub fn packing(&self) -> Option<Packing> {
        self.packed.as_ref().map(|packed| packed.packing)
    }

    /// Returns the fault of the packed file, as far as it was read.
    #[must_use]
    pub fn unpack_fault(&self) -> Option<UnpackFault> {
        self.packed.as_ref().and_then(|packed| packed.fault.get())
    }

    /// Returns how many bytes of the file were read, packed as they are.
    #[must_use]
    pub fn consumed(&self) -> u64 {
        let plain = || self.bytes.start().saturating_add(self.bytes.bytes().len() as u64);
        self.packed.as_ref().map_or_else(plain, |packed| packed.consumed.get())
    }
}

impl fmt::Debug for TraceBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceBytes").field("packed", &self.packed).finish_non_exhaustive()
    }
}

impl Source for TraceBytes {
    #[inline]
    fn start(&self) -> u64 {
        self.bytes.start()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        self.bytes.fill(end)
    }

    /// Ignores errors of reading after the end mark of the trace.
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        Ok(self.bytes.fill_at_once(end).unwrap_or(false))
    }

    fn approach(&self, span: Span) {
        self.bytes.approach(span);
    }

    fn release(&mut self, before: u64) {
        self.bytes.release(before);
    }
}

/// Reads the first bytes, as many as it takes to recognise a packed file.
fn head(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(Packing::HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}
