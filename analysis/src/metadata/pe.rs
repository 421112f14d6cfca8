//! Files of modules, which are PE files on all systems.
//!
//! | where | what |
//! |---|---|
//! | PE headers | the sections; data directories 6, the debug directory, and 14, the CLI header |
//! | CLI header, bytes 8 to 15 | address and size of the metadata |
//! | debug directory, 28 bytes an entry | 12: kind, 16: size, 24: position in the file |
//! | entry of kind 17 | `MPDB`, size of the portable PDB, the PDB compressed with deflate |

use super::{Bytes, MetadataError, from};

/// Maximum number of the file's sections that are read; linkers write about ten.
const MAX_SECTIONS: usize = 96;
/// Maximum number of entries of the debug directory that are read; compilers write about five.
const MAX_DEBUG_ENTRIES: usize = 32;
/// Kind of the entry that holds a portable PDB.
const EMBEDDED_PDB: u32 = 17;

const DEBUG_DIRECTORY: usize = 6;
const CLI_DIRECTORY: usize = 14;

/// Headers of a PE file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeFile<'f> {
    file: &'f [u8],
    /// Address and size of each data directory.
    directories: &'f [u8],
    sections: &'f [u8],
}

impl<'f> PeFile<'f> {
    /// Reads the headers of a file.
    pub(crate) fn parse(file: &'f [u8]) -> Result<PeFile<'f>, MetadataError> {
        let not_pe = |_| MetadataError::NotPe;
        let mut header = Bytes(file);
        if header.take(2).map_err(not_pe)? != b"MZ" {
            return Err(MetadataError::NotPe);
        }
        let at = from(file, 0x3c).and_then(|mut bytes| bytes.u32()).map_err(not_pe)?;
        let mut header = from(file, at).map_err(not_pe)?;
        if header.take(4).map_err(not_pe)? != b"PE\0\0" {
            return Err(MetadataError::NotPe);
        }
        header.skip(2)?;
        let sections = usize::from(header.u16()?).min(MAX_SECTIONS);
        header.skip(12)?;
        let optional_bytes = usize::from(header.u16()?);
        header.skip(2)?;
        let mut optional = Bytes(header.take(optional_bytes)?);
        // Addresses have 4 bytes in PE32, and 8 in PE32+.
        let before_directories = match optional.u16()? {
            0x10b => 90,
            0x20b => 106,
            _ => return Err(MetadataError::NotPe),
        };
        optional.skip(before_directories)?;
        let count = optional.u32()? as usize;
        let directories = optional.take(optional.0.len().min(count.saturating_mul(8)))?;
        let sections = header.take(sections.saturating_mul(40))?;
        Ok(PeFile { file, directories, sections })
    }

    /// Returns the address and size of a data directory; `None` if the file has none.
    fn directory(&self, number: usize) -> Option<(u32, u32)> {
        let row = self.directories.chunks_exact(8).nth(number)?;
        let mut row = Bytes(row);
        let (address, size) = (row.u32().ok()?, row.u32().ok()?);
        (address != 0).then_some((address, size))
    }

    /// Returns the position of an address in the file.
    fn place(&self, address: u32) -> Result<u32, MetadataError> {
        for row in self.sections.chunks_exact(40) {
            let mut row = Bytes(row);
            row.skip(8)?;
            let (virtual_bytes, start) = (row.u32()?, row.u32()?);
            let (bytes, at) = (row.u32()?, row.u32()?);
            let within = address.checked_sub(start);
            if let Some(within) = within.filter(|within| *within < virtual_bytes.max(bytes)) {
                return at.checked_add(within).ok_or(MetadataError::Truncated);
            }
        }
        Err(MetadataError::Truncated)
    }

    /// Returns the metadata of .NET.
    pub(crate) fn metadata(&self) -> Result<&'f [u8], MetadataError> {
        let (address, size) = self.directory(CLI_DIRECTORY).ok_or(MetadataError::NoMetadata)?;
        if size < 16 {
            return Err(MetadataError::NoMetadata);
        }
        let mut header = from(self.file, self.place(address)?)?;
        header.skip(8)?;
        let (address, count) = (header.u32()?, header.u32()?);
        if address == 0 {
            return Err(MetadataError::NoMetadata);
        }
        from(self.file, self.place(address)?)?.take(count as usize)
    }

    /// Returns the compressed portable PDB that the file holds, if there is one.
    pub(crate) fn embedded_pdb(&self) -> Option<&'f [u8]> {
        let (address, size) = self.directory(DEBUG_DIRECTORY)?;
        let entries = from(self.file, self.place(address).ok()?).ok()?;
        let entries = entries.0.get(..size as usize)?.chunks_exact(28).take(MAX_DEBUG_ENTRIES);
        entries.into_iter().find_map(|entry| {
            let mut entry = Bytes(entry);
            entry.skip(12).ok()?;
            let (kind, size) = (entry.u32().ok()?, entry.u32().ok()?);
            entry.skip(4).ok()?;
            let data = from(self.file, entry.u32().ok()?).ok()?.take(size as usize).ok()?;
            let compressed = data.strip_prefix(b"MPDB")?.get(4..)?;
            (kind == EMBEDDED_PDB).then_some(compressed)
        })
    }
}
