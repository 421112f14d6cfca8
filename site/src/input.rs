//! Opens dropped files: as the module of this name of the command, of which most parts are used, but
//! without paths, mapped files and threads.

#[path = "../../cli/src/input/ending.rs"]
#[expect(dead_code, reason = "the command also describes how a file is packed")]
mod ending;
#[path = "../../cli/src/input/gzip.rs"]
mod gzip;
#[path = "../../cli/src/input/packed_file.rs"]
mod packed_file;
#[path = "../../cli/src/input/packing.rs"]
#[expect(dead_code, reason = "the command also names the packing")]
mod packing;
#[path = "../../cli/src/input/second.rs"]
#[expect(dead_code, reason = "the command also writes second streams")]
pub(crate) mod second;
#[path = "../../cli/src/input/unpacked.rs"]
mod unpacked;
#[path = "../../cli/src/input/zstd.rs"]
mod zstd;

pub(crate) use ending::Ended;
pub(crate) use packing::{Packing, UnpackFault};

use nettrace_parser::{Buffered, Reader, Source, Span};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::rc::Rc;
use unpacked::{Unpacked, UnpackedSoFar};

/// Number of bytes that a packed file may unpack to, as the command has it without an option.
const MAX_UNPACKED_BYTES: u64 = 64 << 30;

/// A file that is read at any place.
pub trait SeekRead: Read + Seek + Send {}

impl<R: Read + Seek + Send> SeekRead for R {}

/// A file that was dropped onto the page.
#[allow(missing_debug_implementations, reason = "of functions there is nothing to show")]
pub struct Dropped<'f> {
    /// Its name, without folders.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Opens the file at its beginning.
    pub open: &'f dyn Fn() -> Box<dyn SeekRead>,
}

/// The source of a trace's bytes.
pub(crate) struct Input {
    bytes: Buffered<Box<dyn Read>>,
    /// What is known of the packed file; `None` for any other one.
    packed: Option<Rc<UnpackedSoFar>>,
}

impl Input {
    /// Opens the first stream of a file.
    pub(crate) fn open(dropped: &Dropped<'_>) -> io::Result<Input> {
        let mut file = (dropped.open)();
        let head = head(&mut file)?;
        let second = second::find(&mut file, Packing::recognise(&head)).ok().flatten();
        let start = head.len() as u64;
        file.seek(SeekFrom::Start(start))?;
        let left = second.map_or(u64::MAX, |place| place.start.saturating_sub(start));
        Input::from_read(head, file.take(left))
    }

    /// Opens the second stream behind the first one. `None` if there is none, or it cannot be read.
    pub(crate) fn behind(dropped: &Dropped<'_>) -> Option<Reader<Input>> {
        let mut file = (dropped.open)();
        let packing = Packing::recognise(&head(&mut file).ok()?);
        let place = second::find(&mut file, packing).ok()??;
        file.seek(SeekFrom::Start(place.start)).ok()?;
        let head = head(&mut file).ok()?;
        let rest = file.take(place.len.saturating_sub(head.len() as u64));
        Input::from_read(head, rest).ok().map(Reader::new)
    }

    fn from_read(head: Vec<u8>, rest: impl Read + Send + 'static) -> io::Result<Input> {
        let packing = Packing::recognise(&head);
        let file: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(rest));
        let (bytes, packed): (Box<dyn Read>, _) = match packing {
            Some(packing) => {
                let (unpacked, so_far) = Unpacked::new(packing, file, true, MAX_UNPACKED_BYTES)?;
                (Box::new(unpacked), Some(so_far))
            }
            None => (file, None),
        };
        Ok(Input { bytes: Buffered::at_rest(bytes), packed })
    }

    fn packing(&self) -> Option<Packing> {
        self.packed.as_ref().map(|packed| packed.packing)
    }

    fn unpack_fault(&self) -> Option<UnpackFault> {
        self.packed.as_ref().and_then(|packed| packed.fault.get())
    }
}

impl Source for Input {
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
