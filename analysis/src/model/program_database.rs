//! Reads program databases (PDB), the symbols of programs and libraries for Windows.
//!
//! A file consists of blocks, which form streams:
//!
//! | stream | bytes | what |
//! |---|---|---|
//! | – | 0 | "Microsoft C/C++ MSF 7.00…", 32 bytes; size of a block, –, –, bytes of the directory, –, block with the numbers of the directory's blocks |
//! | directory | 0 | number of streams, size of each (`FFFFFFFF`: none), numbers of the blocks of each |
//! | 1 | 12 | guid; with the age it is the same in the program |
//! | 3 | 8 | age; 20: stream of the symbols; 24 …: sizes of what follows byte 64, the last of which numbers more streams, that of the section headers sixth |
//! | symbols | 0 | records: size, kind; `110E`: flags, offset, section from 1 on, name up to a 0 |
//! | section headers | 0 | of 40 bytes; 8: size, 12: where it is loaded, 36: flags |
//!
//! The file is untrusted. A stream is no larger than the file, and each stream is read once.

use super::native_images::build_of_pdb;
use nettrace_parser::Guid;
use nettrace_parser::unstable::first;

/// Bytes at the beginning of each program database.
const MAGIC: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";
/// Size that stands for a stream that does not exist.
const NO_STREAM: u32 = u32::MAX;
const INFORMATION: usize = 1;
const DEBUG_INFORMATION: usize = 3;
const SECTION_HEADER_BYTES: usize = 40;
/// Kind of a symbol that stands for a function or variable which other files can see.
const PUBLIC_SYMBOL: u16 = 0x110e;
/// Flag of a section that contains code.
const EXECUTABLE: u32 = 0x2000_0000;

/// A program database, with what is needed to name functions.
#[derive(Debug)]
pub(super) struct ProgramDatabase {
    /// Build id, in the form that [`build_of_pdb`] returns.
    pub(super) build_id: Option<String>,
    sections: Vec<Section>,
    symbols: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    start: u64,
    size: u64,
    is_code: bool,
}

/// A function of the program. It ends before the next function, or with its section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Function<'p> {
    /// Distance of its first byte from the start of the loaded program.
    pub(super) start: u64,
    /// Number of bytes from there to the end of the section.
    pub(super) size: u64,
    pub(super) name: &'p [u8],
}

impl ProgramDatabase {
    pub(super) fn is_one(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Parses a program database; `None` if it is truncated or inconsistent, or has no symbols.
    pub(super) fn parse(bytes: &[u8]) -> Option<ProgramDatabase> {
        let streams = PdbStreams::parse(bytes)?;
        let information = streams.read(INFORMATION)?;
        let debug = streams.read(DEBUG_INFORMATION)?;
        let guid = Guid::from_bytes(information.get(12..28)?.try_into().ok()?);
        // The numbers of more streams follow the lists of modules, source files and so on.
        let mut more = 64_usize;
        for at in [24, 28, 32, 36, 40, 52] {
            more = more.checked_add(size_at(&debug, at)?)?;
        }
        let headers = streams.read(usize::from(u16_at(&debug, more.checked_add(10)?)?))?;
        let section = |header: &[u8]| {
            Some(Section {
                start: u64::from(u32_at(header, 12)?),
                size: u64::from(u32_at(header, 8)?),
                is_code: u32_at(header, 36)? & EXECUTABLE != 0,
            })
        };
        Some(ProgramDatabase {
            build_id: build_of_pdb(guid, u32_at(&debug, 8)?),
            sections: headers.chunks_exact(SECTION_HEADER_BYTES).filter_map(section).collect(),
            symbols: streams.read(usize::from(u16_at(&debug, 20)?))?,
        })
    }

    /// Returns the functions of the program.
    pub(super) fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        let mut rest = &*self.symbols;
        let records = std::iter::from_fn(move || {
            let size = usize::from(u16_at(rest, 0)?);
            let record = rest.get(2..size.checked_add(2)?).filter(|record| record.len() >= 2)?;
            rest = rest.get(size.saturating_add(2)..)?;
            Some(record)
        });
        records.filter_map(|record| {
            if u16_at(record, 0)? != PUBLIC_SYMBOL {
                return None;
            }
            let (offset, number) = (u64::from(u32_at(record, 6)?), u16_at(record, 10)?);
            let section = self.sections.get(usize::from(number).checked_sub(1)?)?;
            let size = section.size.checked_sub(offset).filter(|size| *size > 0)?;
            let name = record.get(12..)?.split(|byte| *byte == 0).next()?;
            let start = section.start.checked_add(offset)?;
            section.is_code.then_some(Function { start, size, name })
        })
    }
}

/// The streams of a program database.
struct PdbStreams<'b> {
    bytes: &'b [u8],
    block_bytes: usize,
    directory: Vec<u8>,
    count: usize,
}

impl<'b> PdbStreams<'b> {
    fn parse(bytes: &'b [u8]) -> Option<PdbStreams<'b>> {
        let block_bytes = size_at(bytes, 32)?;
        if !ProgramDatabase::is_one(bytes) || !(256..=65536).contains(&block_bytes) {
            return None;
        }
        let size = size_at(bytes, 44)?;
        let numbers = bytes.get(size_at(bytes, 52)?.checked_mul(block_bytes)?..)?;
        let directory = gather(bytes, block_bytes, numbers, size)?;
        let count = size_at(&directory, 0)?;
        Some(PdbStreams { bytes, block_bytes, directory, count })
    }

    fn read(&self, stream: usize) -> Option<Vec<u8>> {
        if stream >= self.count {
            return None;
        }
        let sizes = self.directory.get(4..self.count.checked_mul(4)?.checked_add(4)?)?;
        let size_of = |size: &[u8]| match u32_at(size, 0) {
            Some(NO_STREAM) | None => Some(0),
            Some(size) => usize::try_from(size).ok(),
        };
        let mut before = 0_usize;
        for size in sizes.chunks_exact(4).take(stream) {
            before = before.checked_add(size_of(size)?.div_ceil(self.block_bytes))?;
        }
        let size = size_of(sizes.get(stream.checked_mul(4)?..)?)?;
        let blocks = self.directory.get(sizes.len().checked_add(4)?..)?;
        gather(self.bytes, self.block_bytes, blocks.get(before.checked_mul(4)?..)?, size)
    }
}

/// Joins the blocks with these numbers and returns the first `size` bytes; `None` if there are
/// fewer bytes.
fn gather(bytes: &[u8], block_bytes: usize, numbers: &[u8], size: usize) -> Option<Vec<u8>> {
    // A hostile stream may repeat a block many times.
    if size > bytes.len() {
        return None;
    }
    let mut gathered = Vec::with_capacity(size);
    for number in numbers.chunks_exact(4) {
        let left = size.saturating_sub(gathered.len()).min(block_bytes);
        if left == 0 {
            break;
        }
        let start = size_at(number, 0)?.checked_mul(block_bytes)?;
        gathered.extend_from_slice(bytes.get(start..start.checked_add(left)?)?);
    }
    (gathered.len() == size).then_some(gathered)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    first(bytes.get(at..)?)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    first(bytes.get(at..)?)
}

fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32_at(bytes, at)?).ok()
}
