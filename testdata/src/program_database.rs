//! A program database (PDB) that a linker for Windows has written.

use std::io::Read;

/// Returns the program database of `programs/App.rs`, which lists its symbols.
///
/// # Panics
/// If the file is damaged.
pub fn program_database() -> Vec<u8> {
    let packed = include_bytes!("../programs/App.pdb.gz");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}
