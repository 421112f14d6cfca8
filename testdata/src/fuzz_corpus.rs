//! The corpus of each fuzz target, in an archive: `parser/fuzz/corpus/TARGET.tar.gz`.
//!
//! Eight thousand files of fifty bytes would clutter every search by file name, so they are
//! archived. Tests read the archives; `cargo xtask corpus unpack` makes folders of them for a
//! fuzzer.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns the folder that holds the archives.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../parser/fuzz/corpus")
}

fn archive(target: &str) -> PathBuf {
    folder().join(format!("{target}.tar.gz"))
}

/// Returns the names of all fuzz targets that have an archive, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn targets() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder())? {
        let name = entry?.file_name();
        names
            .extend(name.to_str().and_then(|name| name.strip_suffix(".tar.gz")).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Returns the inputs of a fuzz target with their names, sorted by name.
///
/// # Errors
/// If the archive is missing, damaged or empty. An empty one is an error because a replay of no
/// inputs would check nothing.
pub fn inputs(target: &str) -> io::Result<Vec<(String, Vec<u8>)>> {
    let path = archive(target);
    let of_archive =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(&path).map_err(of_archive)?));
    let mut inputs = Vec::new();
    for entry in archive.entries().map_err(of_archive)? {
        let mut entry = entry.map_err(of_archive)?;
        let name = entry.path().map_err(of_archive)?.display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(of_archive)?;
        inputs.push((name, bytes));
    }
    if inputs.is_empty() {
        return Err(io::Error::other(format!("{}: no inputs", path.display())));
    }
    inputs.sort();
    Ok(inputs)
}

/// Writes the inputs of a fuzz target into a folder as files, and returns their number.
///
/// # Errors
/// If the archive cannot be read, or a file cannot be written.
pub fn unpack(target: &str, to: &Path) -> io::Result<usize> {
    let inputs = inputs(target)?;
    fs::create_dir_all(to)?;
    for (name, bytes) in &inputs {
        fs::write(to.join(name), bytes)?;
    }
    Ok(inputs.len())
}

/// Makes the archive of a fuzz target from the files of a folder, and returns their number. Equal
/// files give equal archives.
///
/// # Errors
/// If a file cannot be read, or the archive cannot be written.
pub fn pack(target: &str, from: &Path) -> io::Result<usize> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(from)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut archive =
        tar::Builder::new(GzEncoder::new(File::create(archive(target))?, Compression::best()));
    for file in &files {
        let bytes = fs::read(file)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, file.file_name().unwrap_or_default(), &*bytes)?;
    }
    archive.into_inner()?.finish()?;
    Ok(files.len())
}
