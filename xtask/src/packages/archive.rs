//! Archives: a folder with the command, completions, manual pages and licences.

use super::program::Program;
use super::zipped::zipped;
use super::{Packed, VERSION, repository_file};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io;
use tar::{Builder, Header};

/// Time of the files of an archive, in seconds since 1970: 1980, as in zip files.
const TIME: u64 = 315_532_800;

/// Returns the archive of a program: a zip file for Windows, else a packed tar file.
pub(super) fn archive(program: &Program) -> io::Result<Packed> {
    let name = format!("nettrace-{VERSION}-{}", program.platform.target);
    let mut files = vec![Packed {
        path: program.platform.file_name().to_owned(),
        mode: 0o755,
        bytes: program.bytes.clone(),
    }];
    for path in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        files.push(Packed::new(path, repository_file(path)?));
    }
    files.extend(program.completions.iter().map(|file| file.below("completions")));
    files.extend(program.pages.iter().map(|file| file.below("man")));
    let files: Vec<_> = files.iter().map(|file| file.below(&name)).collect();
    if program.platform.is_windows() {
        return Ok(Packed::new(format!("{name}.zip"), zipped(&files)?));
    }
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for file in &files {
        let mut header = Header::new_gnu();
        header.set_mode(file.mode);
        header.set_mtime(TIME);
        header.set_size(file.bytes.len() as u64);
        tar.append_data(&mut header, &file.path, &file.bytes[..])?;
    }
    Ok(Packed::new(format!("{name}.tar.gz"), tar.into_inner()?.finish()?))
}
