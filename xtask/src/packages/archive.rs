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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::platform::Platform;
    use flate2::read::GzDecoder;
    use std::collections::BTreeSet;

    /// Returns the names of an archive and of its files.
    fn archive_of(target: &str) -> (String, BTreeSet<String>) {
        let platform = Platform::find(target).unwrap_or_else(|| panic!("{target}"));
        let program = Program {
            platform,
            bytes: b"program".to_vec(),
            completions: Vec::new(),
            pages: Vec::new(),
            ran: false,
        };
        let made = archive(&program).unwrap();
        if made.path.ends_with(".zip") {
            let command = format!("nettrace-{VERSION}-{target}/{}", platform.file_name());
            let is_there = made.bytes.windows(command.len()).any(|name| name == command.as_bytes());
            return (made.path, BTreeSet::from_iter(is_there.then_some(command)));
        }
        let mut files = tar::Archive::new(GzDecoder::new(&made.bytes[..]));
        let files = files.entries().unwrap();
        let names = files.map(|file| file.unwrap().path().unwrap().display().to_string());
        (made.path, names.collect())
    }

    #[test]
    fn cargo_binstall_finds_the_archive_of_each_release_and_the_command_in_it() {
        let text = |path| String::from_utf8(repository_file(path).unwrap()).unwrap();
        let manifest = text("cli/Cargo.toml");
        let rule = |table: &str, key: &str| -> Option<String> {
            let mut lines = manifest.lines().skip_while(|line| *line != format!("[{table}]"));
            lines.next()?;
            let mut lines = lines.take_while(|line| !line.starts_with('['));
            let rule = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
            Some(rule.trim_matches('"').to_owned())
        };
        let workflow = text(".github/workflows/release.yml");
        let released: Vec<&str> =
            workflow.lines().filter_map(|line| line.trim().strip_prefix("- target: ")).collect();
        assert_eq!(released.len(), 6, "{released:?}");
        // A static program serves these, too.
        let musl = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];
        for target in released.iter().copied().chain(musl) {
            let expected = |key: &str| {
                let common = "package.metadata.binstall";
                let own = rule(&format!("{common}.overrides.{target}"), key);
                let rule = own.or(rule(common, key)).expect(key);
                let extension = if target.contains("windows") { ".exe" } else { "" };
                rule.replace("{ version }", VERSION)
                    .replace("{ target }", target)
                    .replace("{ bin }", "nettrace")
                    .replace("{ binary-ext }", extension)
            };
            let archived = target.replace("-musl", "-gnu");
            assert!(released.contains(&&*archived));
            let (name, files) = archive_of(&archived);
            let address = format!("{{ repo }}/releases/download/v{VERSION}/{name}");
            assert_eq!(expected("pkg-url"), address);
            assert!(files.contains(&expected("bin-dir")), "{target}: {files:?}");
            let kind = if name.ends_with(".zip") { "zip" } else { "tgz" };
            assert_eq!(expected("pkg-fmt"), kind, "{target}");
        }
    }
}
