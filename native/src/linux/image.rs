//! An ELF file that is mapped into a process. It has the names of functions, and unwind tables.

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, UnwindSection};
use nettrace_analysis::SymbolFile;
use object::read::{Object, ObjectSection, ObjectSegment};
use std::borrow::Cow;

pub(super) type Bytes<'i> = EndianSlice<'i, LittleEndian>;
pub(super) type Entry<'i> = gimli::FrameDescriptionEntry<Bytes<'i>>;

/// A mapped file. Its addresses are those of the linker. The loader adds a constant to them.
#[derive(Debug)]
pub(super) struct Image {
    symbols: SymbolFile,
    segments: Vec<Segment>,
    frames: Option<Section>,
    /// Index (`.eh_frame_hdr`) in which the entries of `frames` are looked up.
    frames_index: Option<Section>,
}

/// A part of the file that is mapped into memory.
#[derive(Debug, Clone, Copy)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

#[derive(Debug)]
struct Section {
    address: u64,
    bytes: Vec<u8>,
}

impl Image {
    /// Parses an ELF file of 64 bits. Returns `None` for any other file.
    pub(super) fn parse(bytes: &[u8]) -> Option<Image> {
        let elf = object::File::parse(bytes).ok()?;
        if elf.format() != object::BinaryFormat::Elf || !elf.is_64() || !elf.is_little_endian() {
            return None;
        }
        let segments = elf.segments().map(|segment| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        });
        let section = |name: &str| {
            let section = elf.section_by_name(name)?;
            let bytes = section.data().ok().filter(|bytes| !bytes.is_empty())?;
            Some(Section { address: section.address(), bytes: bytes.to_vec() })
        };
        Some(Image {
            // The unwind tables are of use even if the names cannot be read.
            symbols: SymbolFile::from_bytes(bytes).unwrap_or_default(),
            segments: segments.collect(),
            frames: section(".eh_frame"),
            frames_index: section(".eh_frame_hdr"),
        })
    }

    /// Adds symbols from a file that contains those that were stripped from this one.
    pub(super) fn add_symbols(&mut self, symbols: &SymbolFile) {
        // Symbols of another build are of no use.
        let _ = self.symbols.add(symbols);
    }

    pub(super) fn build_id(&self) -> Option<&str> {
        self.symbols.build_id()
    }

    /// Returns the linker's address for an offset in the file. Returns `None` for an offset outside
    /// of the program, such as in data that an installer has appended.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        self.segments.iter().find_map(|segment| {
            let within = offset.checked_sub(segment.offset);
            segment.address.checked_add(within.filter(|within| *within < segment.size)?)
        })
    }

    /// Returns the name of the function that contains an offset in the file.
    pub(super) fn function(&self, offset: u64) -> Option<Cow<'_, str>> {
        self.symbols.readable_name_at(offset)
    }

    pub(super) fn bases(&self) -> BaseAddresses {
        let at = |section: &Option<Section>| section.as_ref().map_or(0, |found| found.address);
        BaseAddresses::default()
            .set_eh_frame(at(&self.frames))
            .set_eh_frame_hdr(at(&self.frames_index))
    }

    pub(super) fn frames(&self) -> Option<EhFrame<Bytes<'_>>> {
        let mut frames = EhFrame::new(&self.frames.as_ref()?.bytes, LittleEndian);
        frames.set_address_size(8);
        Some(frames)
    }

    /// Returns the entry of the unwind table for the function that contains an address of the
    /// linker.
    pub(super) fn entry(&self, address: u64) -> Option<Entry<'_>> {
        let (frames, bases) = (self.frames()?, self.bases());
        let index = self.frames_index.as_ref().and_then(|section| {
            EhFrameHdr::new(&section.bytes, LittleEndian).parse(&bases, 8).ok()
        });
        let found = match index.as_ref().and_then(|index| index.table()) {
            Some(table) => {
                table.fde_for_address(&frames, &bases, address, EhFrame::cie_from_offset)
            }
            None => frames.fde_for_address(&bases, address, EhFrame::cie_from_offset),
        };
        found.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_program_has_functions_and_tables() {
        let image = Image::parse(&std::fs::read("/proc/self/exe").unwrap()).unwrap();
        let segment = image.segments.iter().find(|segment| segment.size > 0).unwrap();
        assert_eq!(image.address_of(segment.offset), Some(segment.address));
        assert_eq!(image.address_of(u64::MAX), None);
        assert!(image.frames().is_some() && image.entry(u64::MAX).is_none());
    }

    #[test]
    fn a_file_that_is_cut_or_damaged_is_none_or_is_read_without_harm() {
        let whole = std::fs::read("/proc/self/exe").unwrap();
        for length in [0, 3, 4, 16, 63, 64, 100, 4096] {
            let _ = Image::parse(&whole[..length.min(whole.len())]);
        }
        // Each byte of the file's headers is wrong once.
        let front = &whole[..whole.len().min(1 << 16)];
        for at in 0..64 {
            let mut bytes = front.to_vec();
            bytes[at] ^= 0xff;
            if let Some(image) = Image::parse(&bytes) {
                let _ = (image.address_of(0), image.entry(0x1000), image.function(0x1000));
            }
        }
        assert!(Image::parse(b"MZ\x90\0 not an ELF file").is_none());
    }
}
