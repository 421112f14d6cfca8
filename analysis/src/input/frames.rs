//! Unpacks Zstandard (RFC 8878), frame by frame.

use super::packed_file::{PackedFile, Stop, Unpack};
use super::packing::{Packing, UnpackFaultKind};
use crate::bytes::little_u32;
use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, Read};

/// Maximum size in bytes of a window, which are the bytes that packed data may refer back to, and so
/// the memory that unpacking takes. `zstd` needs `--long=28` to exceed it.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// First bytes of a frame with data.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Empty block that is a frame's last one, and a checksum.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Unpacks one frame after the other.
pub(super) struct Frames {
    file: PackedFile,
    /// The frame that is being unpacked; `None` before the first one and between two.
    frame: Option<ZstdFrame>,
    is_first: bool,
}

struct ZstdFrame {
    decoder: FrameDecoder,
    /// Bytes that this frame gave.
    given: u64,
    /// Why the frame cannot be unpacked any further, once all before that was given.
    stop: Option<Stop>,
}

impl Frames {
    pub(super) fn new(file: PackedFile) -> Frames {
        Frames { file, frame: None, is_first: true }
    }

    /// Goes to the next frame with data. Returns whether there is one.
    fn find_next(&mut self) -> Result<bool, Stop> {
        while self.is_first || self.file.skip_zeros()? {
            let magic = self.read_up_to(MAGIC.len() as u64)?;
            match Packing::from_head(&magic) {
                Some(Packing::Zstd) if magic == MAGIC => return self.start_frame().map(|()| true),
                Some(Packing::Zstd) => self.skip_frame()?,
                _ if magic.is_empty() => return Ok(false),
                _ if MAGIC.starts_with(&magic) => {
                    return Err(self.file.fault(UnpackFaultKind::Truncated));
                }
                _ if self.is_first => return Err(self.file.fault(UnpackFaultKind::Corrupt)),
                _ => return Err(self.file.fault(UnpackFaultKind::Trailing)),
            }
        }
        Ok(false)
    }

    /// Starts to unpack a frame, whose magic number was read.
    fn start_frame(&mut self) -> Result<(), Stop> {
        // A decoder that is used again takes the memory of a window before it has its bytes.
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        decoder.reset(MAGIC.chain(&mut self.file)).map_err(|error| {
            self.file.stop(match error {
                FrameDecoderError::WindowSizeTooBig { .. }
                | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { .. }) => {
                    UnpackFaultKind::LargeWindow
                }
                FrameDecoderError::DictNotProvided { .. } => UnpackFaultKind::Dictionary,
                _ => UnpackFaultKind::Corrupt,
            })
        })?;
        self.frame = Some(ZstdFrame { decoder, given: 0, stop: None });
        self.is_first = false;
        Ok(())
    }

    /// Skips a frame of data for other programs, whose magic number was read.
    fn skip_frame(&mut self) -> Result<(), Stop> {
        let length = self.read_up_to(4)?;
        // Without all its bytes, the length is unknown and the file ends here.
        let length = length.try_into().map_or(u64::MAX, |length| little_u32(length).into());
        let mut skipped = (&mut self.file).take(length);
        match io::copy(&mut skipped, &mut io::sink()) {
            Ok(count) if count == length => Ok(()),
            _ => Err(self.file.stop(UnpackFaultKind::Truncated)),
        }
    }

    /// Reads so many bytes, or those that are left.
    fn read_up_to(&mut self, length: u64) -> Result<Vec<u8>, Stop> {
        let mut bytes = Vec::new();
        match (&mut self.file).take(length).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(_) => Err(self.file.stop(UnpackFaultKind::Truncated)),
        }
    }
}

impl ZstdFrame {
    /// Makes the decoder give all that it has unpacked, instead of keeping a window of it.
    fn close(&mut self) {
        let _ = self.decoder.decode_blocks(&END[..], BlockDecodingStrategy::UptoBlocks(1));
    }

    /// Returns whether a frame that was unpacked has the length and the checksum that it states.
    fn is_sound(&self) -> bool {
        let size = self.decoder.content_size();
        let checksum = self.decoder.get_checksum_from_data();
        (size == 0 || size == self.given)
            && (checksum.is_none() || checksum == self.decoder.get_calculated_checksum())
    }
}

impl Unpack for Frames {
    fn unpack(&mut self, buffer: &mut [u8]) -> Result<usize, Stop> {
        loop {
            let Some(frame) = &mut self.frame else {
                match self.find_next()? {
                    true => continue,
                    false => return Ok(0),
                }
            };
            // Reading from the decoder's memory does not fail.
            let count = frame.decoder.read(buffer).unwrap_or(0);
            if count > 0 {
                frame.given = frame.given.saturating_add(count as u64);
                return Ok(count);
            }
            if let Some(stop) = frame.stop.take() {
                return Err(stop);
            }
            if frame.decoder.is_finished() {
                if !frame.is_sound() {
                    return Err(self.file.fault(UnpackFaultKind::Corrupt));
                }
                self.frame = None;
                continue;
            }
            let one = BlockDecodingStrategy::UptoBlocks(1);
            if frame.decoder.decode_blocks(&mut self.file, one).is_err() {
                frame.stop = Some(self.file.stop(UnpackFaultKind::Corrupt));
                frame.close();
            }
        }
    }

    fn file(&self) -> &PackedFile {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::super::packing::UnpackFault;
    use super::super::unpacked::tests::{packed, unpacked};
    use super::*;

    /// Returns a frame of two bytes, whose header has this descriptor and these fields.
    fn frame(descriptor: u8, fields: &[u8]) -> Vec<u8> {
        [&MAGIC[..], &[descriptor], fields, &[0x11, 0, 0, b'o', b'k']].concat()
    }

    /// Returns the field that says how large a window is: two to the power of so many bytes, and
    /// so many eighths of that.
    fn window(power: u8, eighths: u8) -> [u8; 1] {
        [(power - 10) << 3 | eighths]
    }

    fn fault_of(file: &[u8]) -> Option<UnpackFaultKind> {
        unpacked(Packing::Zstd, file).1.map(|fault| fault.kind)
    }

    #[test]
    fn frames_for_other_programs_are_skipped_wherever_they_are() {
        let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let one = packed(Packing::Zstd, b"one");
        let file = [&skipped[..], &skipped, &one, &skipped, &one, &skipped].concat();
        assert_eq!(unpacked(Packing::Zstd, &file), (b"oneone".to_vec(), None));
        assert_eq!(unpacked(Packing::Zstd, &skipped), (Vec::new(), None));
        for cut in 1..skipped.len() {
            let (bytes, fault) = unpacked(Packing::Zstd, &[&one, &skipped[..cut]].concat());
            let expected = if cut < MAGIC.len() {
                UnpackFaultKind::Trailing
            } else {
                UnpackFaultKind::Truncated
            };
            assert_eq!((bytes.as_slice(), fault.unwrap().kind), (&b"one"[..], expected), "{cut}");
        }
        let other = [&skipped[..], b"\x04\x22\x4d\x18 a frame of LZ4"].concat();
        assert_eq!(fault_of(&other), Some(UnpackFaultKind::Corrupt));
    }

    #[test]
    fn a_window_of_128_mib_is_unpacked_and_a_larger_one_is_refused() {
        for power in [10, 23, 27] {
            let file = frame(0, &window(power, 0));
            assert_eq!(unpacked(Packing::Zstd, &file), (b"ok".to_vec(), None), "{power}");
        }
        for (power, eighths) in [(27, 1), (28, 0), (31, 0), (41, 7)] {
            let file = frame(0, &window(power, eighths));
            assert_eq!(fault_of(&file), Some(UnpackFaultKind::LargeWindow), "{power} {eighths}");
        }
        // Without a window, the size of the content is one.
        let single = |size: u64| frame(0xe0, &size.to_le_bytes());
        assert_eq!(fault_of(&single(2)), None);
        assert_eq!(fault_of(&single(128 << 20)), Some(UnpackFaultKind::Corrupt));
        assert_eq!(fault_of(&single((128 << 20) + 1)), Some(UnpackFaultKind::LargeWindow));
        assert_eq!(fault_of(&single(u64::MAX)), Some(UnpackFaultKind::LargeWindow));
    }

    #[test]
    fn what_lies_before_a_frame_that_is_refused_is_given() {
        let one = packed(Packing::Zstd, b"one");
        for (refused, kind) in [
            (frame(0, &window(31, 0)), UnpackFaultKind::LargeWindow),
            (frame(1, &[window(20, 0)[0], 7]), UnpackFaultKind::Dictionary),
        ] {
            let (bytes, fault) = unpacked(Packing::Zstd, &[&one[..], &refused].concat());
            assert_eq!((bytes, fault.unwrap().kind), (b"one".to_vec(), kind));
            assert!(fault.unwrap().is_loss() && fault.unwrap().offset >= one.len() as u64);
        }
    }

    #[test]
    fn a_wrong_checksum_or_length_is_corrupt() {
        let mut file = packed(Packing::Zstd, b"one");
        let end = file.len();
        file[end - 1] ^= 1;
        let kind = UnpackFaultKind::Corrupt;
        let fault = UnpackFault { offset: end as u64, packing: Packing::Zstd, kind };
        assert_eq!(unpacked(Packing::Zstd, &file), (b"one".to_vec(), Some(fault)));
        assert_eq!(fault_of(&frame(0x20, &[3])), Some(kind));
        assert_eq!(fault_of(&frame(0x20, &[2])), None);
    }

    #[test]
    fn blocks_before_a_corrupt_one_are_given_although_the_window_is_larger() {
        // A block of 64 KiB that are all the same.
        let block = |byte: u8| [2, 0, 8, byte];
        let reserved = [7, 0, 0];
        let file = [&MAGIC[..], &[0], &window(27, 0), &block(b'a'), &block(b'b'), &reserved];
        let (bytes, fault) = unpacked(Packing::Zstd, &file.concat());
        assert_eq!(bytes, [[b'a'; 1 << 16], [b'b'; 1 << 16]].concat());
        assert_eq!(fault.unwrap().kind, UnpackFaultKind::Corrupt);
    }
}
