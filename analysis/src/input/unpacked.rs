//! Unpacks a file on a thread of its own, beside the one that reads what comes out; where there are
//! no threads, as in a browser, whenever the reader wants more.
//!
//! Buffers go round: the thread fills them, the reader empties them and gives them back. So neither
//! allocates while it works, and a file that unpacks to very much takes no more memory than another.

use super::frames::Frames;
use super::members::Members;
use super::packed_file::{PackedFile, Stop, Unpack};
use super::packing::{Packing, UnpackFault};
use super::unreadable::{LimitReached, NothingUnpacked};
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Number of buffers that go round.
const BUFFERS: usize = 8;
/// Size of a buffer in bytes.
const BUFFER_BYTES: usize = 160 * 1024;
/// Minimum room in bytes for which a decoder is called: it may give up to so many at once.
const MIN_ROOM_BYTES: usize = 32 * 1024;

/// Unpacked bytes that follow each other.
#[derive(Default)]
struct UnpackedPiece {
    /// A buffer, of which the first `len` bytes count.
    buffer: Vec<u8>,
    len: usize,
    /// Number of bytes of the packed file that were unpacked so far.
    consumed: u64,
    /// How unpacking ended, if these are the last bytes.
    end: Option<Result<(), Stop>>,
}

/// Unpacks a file to its end, or until nobody reads it any more.
fn unpack_all(
    mut decoder: Box<dyn Unpack>,
    is_at_rest: bool,
    pieces: SyncSender<UnpackedPiece>,
    spare: Receiver<Vec<u8>>,
) {
    while let Ok(buffer) = spare.recv() {
        let piece = next_piece(&mut *decoder, is_at_rest, buffer);
        let is_last = piece.end.is_some();
        if pieces.send(piece).is_err() || is_last {
            break;
        }
    }
}

/// Fills a buffer if the file is at rest. A pipe may wait at any call of the decoder, so what one
/// call gives is a piece: a trace can end in it, though the pipe stays open.
fn next_piece(decoder: &mut dyn Unpack, is_at_rest: bool, mut buffer: Vec<u8>) -> UnpackedPiece {
    buffer.resize(BUFFER_BYTES, 0);
    let (mut len, mut end) = (0, None);
    while let Some(room) = buffer.get_mut(len..).filter(|room| room.len() >= MIN_ROOM_BYTES)
        && (len == 0 || is_at_rest)
        && end.is_none()
    {
        match decoder.unpack(room) {
            Ok(0) => end = Some(Ok(())),
            Ok(count) => len = len.saturating_add(count),
            Err(stop) => end = Some(Err(stop)),
        }
    }
    UnpackedPiece { buffer, len, consumed: decoder.file().offset(), end }
}

/// Where pieces come from.
enum UnpackedPieces {
    /// A thread that gives pieces, and takes their buffers back.
    Thread(Receiver<UnpackedPiece>, SyncSender<Vec<u8>>),
    /// The decoder, for a file at rest or another one.
    Decoder(Box<dyn Unpack>, bool),
}

impl UnpackedPieces {
    /// Unpacks a file piece by piece, when they are wanted.
    fn without_thread(decoder: Box<dyn Unpack>, is_at_rest: bool) -> io::Result<UnpackedPieces> {
        Ok(UnpackedPieces::Decoder(decoder, is_at_rest))
    }

    /// Starts a thread that unpacks a file.
    fn on_thread(decoder: Box<dyn Unpack>, is_at_rest: bool) -> io::Result<UnpackedPieces> {
        let (filled, pieces) = sync_channel(BUFFERS);
        let (spare, emptied) = sync_channel(BUFFERS);
        for _ in 0..BUFFERS {
            let _ = spare.send(Vec::new());
        }
        // Nobody waits for the end of this thread: it may be waiting for a pipe.
        thread::Builder::new()
            .name("unpack".to_owned())
            .spawn(move || unpack_all(decoder, is_at_rest, filled, emptied))?;
        Ok(UnpackedPieces::Thread(pieces, spare))
    }

    /// Takes the next piece, and gives the buffer of the last one back.
    fn next(&mut self, last: Vec<u8>) -> io::Result<UnpackedPiece> {
        match self {
            UnpackedPieces::Thread(pieces, spare) => {
                // The first piece was none.
                if !last.is_empty() {
                    // The thread may have ended.
                    let _ = spare.send(last);
                }
                let stopped = |_| io::Error::other("the thread that unpacks it has stopped");
                pieces.recv().map_err(stopped)
            }
            UnpackedPieces::Decoder(decoder, is_at_rest) => {
                Ok(next_piece(&mut **decoder, *is_at_rest, last))
            }
        }
    }
}

/// What is known of a packed file while it is read.
#[derive(Debug)]
pub(super) struct UnpackedSoFar {
    pub(super) packing: Packing,
    /// Number of bytes of the packed file that were unpacked.
    pub(super) consumed: Cell<u64>,
    /// The fault that ended the unpacking, once all before it was read.
    pub(super) fault: Cell<Option<UnpackFault>>,
}

/// The unpacked bytes of a file.
pub(super) struct Unpacked {
    piece: UnpackedPiece,
    /// Number of bytes of the piece that were read.
    read: usize,
    pieces: UnpackedPieces,
    /// Bytes that the file may still give.
    left: u64,
    limit: u64,
    so_far: Rc<UnpackedSoFar>,
}

impl Unpacked {
    /// Starts to unpack a file; `limit` is the number of bytes that it may give. `is_at_rest`: reading
    /// it never waits, as reading a pipe does.
    ///
    /// # Errors
    /// There can be no further thread.
    pub(super) fn new(
        packing: Packing,
        file: Box<dyn Read + Send>,
        is_at_rest: bool,
        limit: u64,
    ) -> io::Result<(Unpacked, Rc<UnpackedSoFar>)> {
        let start = match cfg!(target_family = "wasm") {
            true => UnpackedPieces::without_thread,
            false => UnpackedPieces::on_thread,
        };
        Unpacked::start(packing, file, is_at_rest, limit, start)
    }

    fn start(
        packing: Packing,
        file: Box<dyn Read + Send>,
        is_at_rest: bool,
        limit: u64,
        start: fn(Box<dyn Unpack>, bool) -> io::Result<UnpackedPieces>,
    ) -> io::Result<(Unpacked, Rc<UnpackedSoFar>)> {
        let file = PackedFile::new(packing, file);
        let decoder: Box<dyn Unpack> = match packing {
            Packing::Gzip => Box::new(Members::new(file)),
            Packing::Zstd => Box::new(Frames::new(file)),
        };
        let pieces = start(decoder, is_at_rest)?;
        let so_far =
            Rc::new(UnpackedSoFar { packing, consumed: Cell::new(0), fault: Cell::new(None) });
        let piece = UnpackedPiece::default();
        let shared = Rc::clone(&so_far);
        Ok((Unpacked { piece, read: 0, pieces, left: limit, limit, so_far }, shared))
    }

    /// Takes the next piece.
    fn go_on(&mut self) -> io::Result<()> {
        let last = std::mem::take(&mut self.piece.buffer);
        self.piece = self.pieces.next(last)?;
        self.read = 0;
        self.so_far.consumed.set(self.piece.consumed);
        Ok(())
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let waiting = self.piece.buffer.get(self.read..self.piece.len).unwrap_or_default();
            if !waiting.is_empty() {
                // Bytes up to the limit count; any more are an error.
                let count = waiting.take(self.left).read(buffer)?;
                if count == 0 && !buffer.is_empty() {
                    return Err(io::Error::other(LimitReached(self.limit)));
                }
                self.read = self.read.saturating_add(count);
                self.left = self.left.saturating_sub(count as u64);
                return Ok(count);
            }
            match &mut self.piece.end {
                None => self.go_on()?,
                Some(Ok(())) => return Ok(0),
                Some(Err(Stop::Fault(fault))) => {
                    self.so_far.fault.set(Some(*fault));
                    let is_nothing = self.left == self.limit && fault.is_loss();
                    return match is_nothing {
                        true => {
                            let text = format!("{fault}; {}", fault.remedy());
                            Err(io::Error::other(NothingUnpacked(text)))
                        }
                        false => Ok(0),
                    };
                }
                Some(Err(Stop::Failed(error))) => {
                    let kind = error.kind();
                    return Err(std::mem::replace(error, kind.into()));
                }
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::packing::UnpackFaultKind;
    use super::*;
    use nettrace_testdata::eventually;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::{Cursor, Write};
    use std::sync::Arc;

    const PACKINGS: [Packing; 2] = [Packing::Gzip, Packing::Zstd];

    pub(in crate::input) fn packed(packing: Packing, bytes: &[u8]) -> Vec<u8> {
        match packing {
            Packing::Gzip => {
                let mut encoder = crate::gzip::encoder(Vec::new(), crate::gzip::FASTEST);
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Packing::Zstd => compress_to_vec(bytes, CompressionLevel::Fastest),
        }
    }

    /// Returns bytes that hardly compress.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    /// Unpacks a file, with the fault that ended it. With a thread and without one it is the same.
    pub(in crate::input) fn unpacked(
        packing: Packing,
        file: &[u8],
    ) -> (Vec<u8>, Option<UnpackFault>) {
        let with_thread = unpacked_by(UnpackedPieces::on_thread, packing, file);
        assert_eq!(unpacked_by(UnpackedPieces::without_thread, packing, file), with_thread);
        with_thread
    }

    fn unpacked_by(
        start: fn(Box<dyn Unpack>, bool) -> io::Result<UnpackedPieces>,
        packing: Packing,
        file: &[u8],
    ) -> (Vec<u8>, Option<UnpackFault>) {
        let file = Box::new(Cursor::new(file.to_vec()));
        let (mut unpacked, so_far) = Unpacked::start(packing, file, true, u64::MAX, start).unwrap();
        let mut bytes = Vec::new();
        let read = unpacked.read_to_end(&mut bytes);
        let is_nothing = read
            .is_err_and(|error| error.get_ref().is_some_and(|inner| inner.is::<NothingUnpacked>()));
        let fault = so_far.fault.get();
        assert_eq!(is_nothing, bytes.is_empty() && fault.is_some_and(|fault| fault.is_loss()));
        (bytes, fault)
    }

    #[test]
    fn all_up_to_the_limit_is_given_and_one_byte_more_is_an_error_that_stays() {
        for packing in PACKINGS {
            let file = [packed(packing, &[7; 60_000]), packed(packing, &[8; 60_000])].concat();
            let within = |limit| {
                let file = Box::new(Cursor::new(file.clone()));
                Unpacked::new(packing, file, true, limit).unwrap().0
            };
            for limit in [0, 1, 59_999, 60_000, 60_001, 119_999] {
                let (mut unpacked, mut bytes) = (within(limit), Vec::new());
                for _ in 0..2 {
                    let error = unpacked.read_to_end(&mut bytes).unwrap_err();
                    let reached = error.get_ref().and_then(|inner| inner.downcast_ref());
                    assert_eq!((reached, bytes.len() as u64), (Some(&LimitReached(limit)), limit));
                }
            }
            for limit in [120_000, 120_001] {
                assert_eq!(within(limit).read_to_end(&mut Vec::new()).unwrap(), 120_000);
            }
        }
    }

    #[test]
    fn zeros_behind_packed_data_are_padding() {
        for packing in PACKINGS {
            let one = packed(packing, b"one");
            let file = [&one[..], &[0; 100_000], &one, &[0; 1000]].concat();
            assert_eq!(unpacked(packing, &file), (b"oneone".to_vec(), None));
        }
    }

    #[test]
    fn whatever_else_follows_is_reported_and_costs_nothing() {
        let garbage = [&b"x"[..], b"garbage", b"\x1f\x8cno gzip, only its first byte"];
        for (packing, garbage) in PACKINGS.iter().flat_map(|of| garbage.map(|it| (*of, it))) {
            let one = packed(packing, b"one");
            let (bytes, fault) = unpacked(packing, &[&one, garbage].concat());
            let fault = fault.unwrap();
            assert_eq!(bytes, b"one", "{packing:?} {garbage:?}");
            assert_eq!(fault.kind, UnpackFaultKind::Trailing, "{packing:?} {garbage:?}");
            assert!(!fault.is_loss() && fault.offset >= one.len() as u64);
        }
    }

    #[test]
    fn a_file_that_is_cut_off_gives_all_before_the_cut() {
        let data = noise(500_000);
        for packing in PACKINGS {
            let file = packed(packing, &data);
            let cut = |offset: usize| {
                let kind = UnpackFaultKind::Truncated;
                Some(UnpackFault { offset: offset as u64, packing, kind })
            };
            let half = file.len() / 2;
            let (bytes, fault) = unpacked(packing, &file[..half]);
            assert!(bytes.len() > 120_000 && data.starts_with(&bytes), "{packing:?}");
            assert_eq!(fault, cut(half));
            let most = file.len() - 1;
            assert_eq!(unpacked(packing, &file[..most]), (data.clone(), cut(most)));
        }
    }

    #[test]
    fn a_cut_anywhere_gives_the_beginning_and_says_that_something_is_missing() {
        let data: Vec<u8> = noise(300).into_iter().flat_map(|byte| [byte, 7, 7, byte]).collect();
        for packing in PACKINGS {
            let one = packed(packing, &data);
            let file = [&one[..], &one].concat();
            for cut in 1..file.len() {
                let (bytes, fault) = unpacked(packing, &file[..cut]);
                assert!([&data[..], &data].concat().starts_with(&bytes), "{packing:?} {cut}");
                let is_whole = cut == one.len();
                assert_eq!(fault.is_none(), is_whole, "{packing:?} {cut}: {fault:?}");
                if !is_whole {
                    assert_eq!(fault.unwrap().kind, UnpackFaultKind::Truncated, "{cut}");
                }
                assert!(bytes.len() >= data.len() || cut < one.len(), "{packing:?} {cut}");
            }
        }
    }

    #[test]
    fn damage_anywhere_ends_in_a_fault_or_in_bytes() {
        let data: Vec<u8> = noise(300).into_iter().flat_map(|byte| [byte, 7, 7, byte]).collect();
        for packing in PACKINGS {
            let file = packed(packing, &data);
            for (at, flip) in (0..file.len()).flat_map(|at| [1, 0x10, 0xff].map(|by| (at, by))) {
                let mut damaged = file.clone();
                damaged[at] ^= flip;
                let (bytes, fault) = unpacked(packing, &damaged);
                assert!(bytes == data || fault.is_some(), "{packing:?} {at} {flip}");
            }
        }
    }

    /// File that ends with an error, and tells when nobody reads it any more.
    struct Failing {
        bytes: Cursor<Vec<u8>>,
        _held: Arc<()>,
    }

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.bytes.read(buffer)? {
                0 => Err(io::ErrorKind::NetworkDown.into()),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn an_error_of_the_file_comes_behind_what_could_be_unpacked_and_stays() {
        let data = noise(2_000_000);
        for packing in PACKINGS {
            let mut file = packed(packing, &data);
            file.truncate(file.len() / 2);
            let file = Failing { bytes: Cursor::new(file), _held: Arc::default() };
            let (mut unpacked, so_far) =
                Unpacked::new(packing, Box::new(file), true, u64::MAX).unwrap();
            let mut bytes = Vec::new();
            for _ in 0..2 {
                let error = unpacked.read_to_end(&mut bytes).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NetworkDown, "{packing:?}");
            }
            assert!(bytes.len() > 800_000 && data.starts_with(&bytes), "{packing:?}");
            assert_eq!(so_far.fault.get(), None);
        }
    }

    #[test]
    fn unpacking_ends_when_nobody_reads_any_more() {
        for packing in PACKINGS {
            let bytes = Cursor::new(packed(packing, &noise(4_000_000)));
            let held = Arc::new(());
            let file = Box::new(Failing { bytes, _held: Arc::clone(&held) });
            let (mut unpacked, _) = Unpacked::new(packing, file, true, u64::MAX).unwrap();
            unpacked.read_exact(&mut [0; 1000]).unwrap();
            assert_eq!(Arc::strong_count(&held), 2);
            drop(unpacked);
            eventually("the file is closed", || Arc::strong_count(&held) == 1);
        }
    }
}
