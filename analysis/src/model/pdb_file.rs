//! Portable PDBs that were added to a model, from files of their own or from the modules that hold
//! them.

use crate::metadata::{MetadataError, PeFile, PortablePdb};
use nettrace_parser::Guid;
use std::fmt;

/// Maximum size of a PDB that a module holds, in bytes. The PDBs of compilers have up to 60 MB.
#[cfg(feature = "gzip")]
const MAX_EMBEDDED_BYTES: u64 = 256 << 20;
/// Beginning of the PDBs that only Windows can read.
const WINDOWS_PDB: &[u8] = b"Microsoft C/C++";

/// Reason why a file gives no lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PdbError {
    /// The file is a PDB in the format of Windows.
    Windows,
    /// The file is a module without a PDB in it.
    NotEmbedded,
    /// The file is neither a portable PDB nor a module, or is truncated or inconsistent.
    Unreadable(MetadataError),
    /// The process used another build of the module.
    OtherBuild {
        /// Id of the PDB.
        of_file: Guid,
        /// Id of the module's PDB in the trace.
        of_trace: Guid,
    },
}

impl fmt::Display for PdbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PdbError::Windows => {
                f.write_str("a Windows PDB: build with <DebugType>portable</DebugType>")
            }
            PdbError::NotEmbedded => f.write_str("no PDB is embedded in it"),
            PdbError::Unreadable(cause) => write!(f, "no readable portable PDB: {cause}"),
            PdbError::OtherBuild { of_file, of_trace } => {
                write!(f, "another build: its id is {of_file}, the trace has {of_trace}")
            }
        }
    }
}

impl std::error::Error for PdbError {}

/// A portable PDB: which lines the code of a module's methods comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdbFile(pub(super) PortablePdb);

impl PdbFile {
    /// Reads a portable PDB, or the one that is embedded in a module (`.dll` or `.exe`).
    ///
    /// # Errors
    /// If there is no readable portable PDB.
    pub fn from_bytes(file: &[u8]) -> Result<PdbFile, PdbError> {
        if file.starts_with(WINDOWS_PDB) {
            return Err(PdbError::Windows);
        }
        let unreadable = PdbError::Unreadable;
        if file.starts_with(b"MZ") {
            let module = PeFile::parse(file).map_err(unreadable)?;
            let compressed = module.embedded_pdb().ok_or(PdbError::NotEmbedded)?;
            return PortablePdb::parse(&inflated(compressed)).map(PdbFile).map_err(unreadable);
        }
        PortablePdb::parse(file).map(PdbFile).map_err(unreadable)
    }

    /// Returns the id, which the module has as well.
    pub fn id(&self) -> Guid {
        self.0.id
    }
}

/// Returns what was compressed, up to the first damage.
#[cfg(feature = "gzip")]
fn inflated(compressed: &[u8]) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let _ = flate2::read::DeflateDecoder::new(compressed)
        .take(MAX_EMBEDDED_BYTES)
        .read_to_end(&mut bytes);
    bytes
}

#[cfg(not(feature = "gzip"))]
fn inflated(_: &[u8]) -> Vec<u8> {
    Vec::new()
}

/// A module whose PDB is needed for lines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct WantedPdb {
    /// Path of the module, as the trace has it.
    pub module_path: String,
    /// Path that the PDB had when the module was built.
    pub pdb_path: String,
    /// Id of the PDB.
    pub id: Guid,
    /// Whether the module is part of .NET, whose PDBs are rarely at hand.
    pub is_framework: bool,
}

impl WantedPdb {
    /// Checks that a PDB belongs to the module.
    ///
    /// # Errors
    /// [`PdbError::OtherBuild`].
    pub fn check(&self, pdb: &PdbFile) -> Result<(), PdbError> {
        match pdb.id() == self.id {
            true => Ok(()),
            false => Err(PdbError::OtherBuild { of_file: pdb.id(), of_trace: self.id }),
        }
    }
}
