//! Finds the second stream of a trace, with the times of its threads: behind the end mark of the
//! first one, or in a file beside it.
//!
//! In a plain file, [`Following`] finds it. In a compressed file, the first stream, the second one
//! and the 16 bytes behind it are gzip members of their own, so that unpacking the file gives the
//! plain one. The last member has a fixed size, and says in its extra field how long the member of
//! the second stream is:
//!
//! | offset from the end | size | field |
//! |---|---|---|
//! | −53 | 10 | gzip header with the flag of an extra field |
//! | −43 | 2 | length of the extra field: 12 |
//! | −41 | 4 | subfield `NC`, length 8 |
//! | −37 | 8 | length of the second stream's member in bytes, u64 little-endian |
//! | −29 | 21 | the last 16 bytes of the plain file, as a stored block |
//! | −8 | 8 | checksum and length |

use super::packing::Packing;
use crate::bytes::little_u64;
use crate::gzip;
use nettrace_parser::following::{Following, TRAILER_BYTES};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Provider of the events of a second stream.
pub const PROVIDER: &str = "Nettrace-Clock";
/// Id of the event `Recording/End`, the last one.
pub const RECORDING_END: u32 = 6;

/// End of the name of the file beside a trace.
pub const BESIDE: &str = ".clock.nettrace";
/// Beginning of the last member, up to the length of the second stream's member.
const HEAD: [u8; 16] = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 12, 0, b'N', b'C', 8, 0];
/// Beginning of a stored block of 16 bytes that is the last one.
const STORED: [u8; 5] = [1, 16, 0, 0xef, 0xff];
/// Length of the last member in bytes.
const LAST_MEMBER_BYTES: u64 = 53;

/// Appends a second stream, and the bytes by which it is found.
///
/// # Errors
/// Errors of reading and writing, after which the file may have a part of it.
pub fn append(mut file: &File, mut second: &File, is_packed: bool) -> io::Result<()> {
    second.rewind()?;
    if !is_packed {
        let length = io::copy(&mut second, &mut file)?;
        return file.write_all(&Following::trailer(length));
    }
    let start = file.stream_position()?;
    let mut encoder = gzip::encoder(file, gzip::FASTEST);
    let plain = io::copy(&mut second, &mut encoder)?;
    encoder.finish()?;
    let packed = file.stream_position()?.saturating_sub(start);
    file.write_all(&last_member(packed, plain))
}

/// Returns the bytes of a compressed file's last member. `packed` is the length of the second
/// stream's member, `plain` of the second stream.
fn last_member(packed: u64, plain: u64) -> Vec<u8> {
    let trailer = Following::trailer(plain);
    let mut crc = flate2::Crc::new();
    crc.update(&trailer);
    let length = u32::try_from(TRAILER_BYTES).unwrap_or(0);
    [
        &HEAD[..],
        &packed.to_le_bytes(),
        &STORED,
        &trailer,
        &crc.sum().to_le_bytes(),
        &length.to_le_bytes(),
    ]
    .concat()
}

/// Place of the second stream in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecondPlace {
    /// Offset of the first byte, which is also the length of the first stream.
    pub(super) start: u64,
    /// Length in bytes, compressed as it is.
    pub(super) len: u64,
}

/// Finds the second stream of a file, and leaves the file at its beginning.
pub(super) fn find(
    mut file: impl Read + Seek,
    packing: Option<Packing>,
) -> io::Result<Option<SecondPlace>> {
    let place = match packing {
        Some(Packing::Gzip) => find_packed(&mut file)?,
        // A recording is packed by gzip, so this was packed as a whole.
        Some(Packing::Zstd) => None,
        None => Following::read(&mut file)?
            .map(|following| SecondPlace { start: following.start, len: following.len }),
    };
    file.rewind()?;
    Ok(place)
}

fn find_packed(file: &mut (impl Read + Seek)) -> io::Result<Option<SecondPlace>> {
    let end = file.seek(SeekFrom::End(0))?;
    let Some(last) = end.checked_sub(LAST_MEMBER_BYTES) else { return Ok(None) };
    file.seek(SeekFrom::Start(last))?;
    let (mut head, mut length, mut stored) = ([0; HEAD.len()], [0; 8], [0; STORED.len()]);
    file.read_exact(&mut head)?;
    file.read_exact(&mut length)?;
    file.read_exact(&mut stored)?;
    let len = little_u64(length);
    let start = last.checked_sub(len).filter(|start| *start > 0);
    let Some(start) = start.filter(|_| head == HEAD && stored == STORED) else { return Ok(None) };
    let mut head = [0; Packing::HEAD_BYTES];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut head)?;
    let is_member = Packing::from_head(&head) == Some(Packing::Gzip) && len > 0;
    Ok(is_member.then_some(SecondPlace { start, len }))
}

/// Returns the path of the file that holds the second stream while a trace is recorded, and stays if
/// the trace breaks off: `shop.clock.nettrace` for `shop.nettrace`, `shop.nettrace.gz`,
/// `shop.nettrace.zst` and `shop.nettrace.part`.
#[must_use]
pub fn beside(trace: &Path) -> PathBuf {
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let mut stem: &str = &name;
    if let Some((front, number)) = stem.rsplit_once(".part")
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        stem = front;
    }
    for ending in [".gz", ".zst", ".nettrace"] {
        stem = stem.strip_suffix(ending).unwrap_or(stem);
    }
    trace.with_file_name(format!("{stem}{BESIDE}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::MultiGzDecoder;
    use std::io::Cursor;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = gzip::encoder(Vec::new(), gzip::FASTEST);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn unpacking_a_compressed_file_gives_the_plain_one() {
        let (first, second) = (b"Nettrace first", b"Nettrace second");
        let member = packed(second);
        let last = last_member(member.len() as u64, second.len() as u64);
        assert_eq!(last.len() as u64, LAST_MEMBER_BYTES);
        let file = [packed(first), member.clone(), last].concat();
        let mut plain = Vec::new();
        MultiGzDecoder::new(file.as_slice()).read_to_end(&mut plain).unwrap();
        let trailer = Following::trailer(second.len() as u64);
        assert_eq!(plain, [&first[..], second, &trailer].concat());
        let start = packed(first).len() as u64;
        let place = Some(SecondPlace { start, len: member.len() as u64 });
        assert_eq!(find(Cursor::new(&file), Some(Packing::Gzip)).unwrap(), place);
        let plain_place = Some(SecondPlace { start: first.len() as u64, len: second.len() as u64 });
        assert_eq!(find(Cursor::new(&plain), None).unwrap(), plain_place);
    }

    #[test]
    fn a_member_of_another_length_or_another_last_member_is_no_second_stream() {
        let (first, member) = (packed(b"Nettrace first"), packed(b"Nettrace second"));
        let whole = member.len() as u64;
        for len in [0, 1, whole - 1, whole + 1, whole + first.len() as u64, u64::MAX, 1 << 63] {
            let file = [&first[..], &member, &last_member(len, 15)].concat();
            assert_eq!(find(Cursor::new(file), Some(Packing::Gzip)).unwrap(), None, "{len}");
        }
        let file = [&first[..], &member, &last_member(whole, 15)].concat();
        for len in 0..file.len() {
            assert_eq!(
                find(Cursor::new(&file[..len]), Some(Packing::Gzip)).unwrap(),
                None,
                "{len}"
            );
        }
        let twice = [&first[..], &member].concat();
        assert_eq!(find(Cursor::new(twice), Some(Packing::Gzip)).unwrap(), None);
    }

    #[test]
    fn the_file_beside_has_the_name_of_the_trace() {
        for ending in [".nettrace", ".nettrace.gz", ".nettrace.zst", ".nettrace.part", ""] {
            let name = format!("a/shop{ending}");
            assert_eq!(beside(Path::new(&name)), Path::new("a/shop.clock.nettrace"), "{name}");
        }
        assert_eq!(beside(Path::new("a.party.gz.part2")), Path::new("a.party.clock.nettrace"));
    }
}
