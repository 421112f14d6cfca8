//! Metadata of .NET, as modules (`.dll`, `.exe`) and portable PDBs have them (ECMA-335 II.22 and
//! II.25, and the specification of portable PDBs).
//!
//! | where | what |
//! |---|---|
//! | metadata root | the streams `#~` (or `#-`), `#Strings`, `#Blob`, `#GUID` and, in a PDB, `#Pdb` |
//! | `#~` | number of rows of each table, then the tables, one after the other |
//!
//! Files may be crafted: whatever does not fit into the file is an error, and no number that is read
//! decides how much memory is taken.

mod pe;
mod portable_pdb;
mod source_link;
mod tables;

pub(crate) use pe::PeFile;
pub(crate) use portable_pdb::PortablePdb;
pub(crate) use tables::{Streams, Tables};

use nettrace_parser::unstable::take_first;
use std::fmt;

/// Bits of a metadata token that are the number of its table.
pub(crate) const TABLE_MASK: u32 = 0xff00_0000;

/// Reason why the metadata of a file cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataError {
    /// The file is not a PE file, which modules of .NET are on all systems.
    NotPe,
    /// The PE file has no metadata of .NET.
    NoMetadata,
    /// The file ends early, or its parts contradict each other.
    Truncated,
    /// The metadata has a table with this unknown number, after which no table can be found.
    UnknownTable(usize),
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetadataError::NotPe => f.write_str("no PE file"),
            MetadataError::NoMetadata => f.write_str("it has no metadata of .NET"),
            MetadataError::Truncated => f.write_str("its metadata are truncated"),
            MetadataError::UnknownTable(table) => {
                write!(f, "its metadata have the unknown table {table:#x}")
            }
        }
    }
}

impl std::error::Error for MetadataError {}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'b>(pub(crate) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'b [u8], MetadataError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(MetadataError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn skip(&mut self, count: usize) -> Result<(), MetadataError> {
        self.take(count).map(drop)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, MetadataError> {
        take_first(&mut self.0).ok_or(MetadataError::Truncated)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, MetadataError> {
        take_first(&mut self.0).ok_or(MetadataError::Truncated)
    }

    /// Reads an index that has two or four bytes.
    pub(crate) fn index(&mut self, width: usize) -> Result<u32, MetadataError> {
        if width == 2 { self.u16().map(u32::from) } else { self.u32() }
    }
}

/// Returns the bytes from a position on.
pub(crate) fn from(bytes: &[u8], at: u32) -> Result<Bytes<'_>, MetadataError> {
    bytes.get(at as usize..).map(Bytes).ok_or(MetadataError::Truncated)
}
