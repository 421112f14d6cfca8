//! `cargo xtask catalog`: generates the parser's tables of well-known events from an extract of the
//! runtime's manifest.

mod generate;

use super::top;
use generate::GeneratedFile;
use std::path::PathBuf;
use std::{fs, io};

/// Writes the generated files, and removes files that are not generated any more.
pub(crate) fn write() -> io::Result<()> {
    let files = files()?;
    for entry in fs::read_dir(folder())? {
        let entry = entry?;
        if !files.iter().any(|(name, _)| entry.file_name() == name.as_str()) {
            fs::remove_file(entry.path())?;
        }
    }
    files.iter().try_for_each(|(name, text)| fs::write(folder().join(name), text))
}

fn files() -> io::Result<Vec<GeneratedFile>> {
    let table = fs::read(top().join("parser/catalog/clr-events.json"))?;
    Ok(generate::files(&serde_json::from_slice(&table)?))
}

fn folder() -> PathBuf {
    top().join("parser/src/catalog/generated")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_tables_are_what_the_manifest_says() {
        let mut files = files().unwrap();
        files.sort();
        let mut checked_in: Vec<GeneratedFile> = fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                (
                    path.file_name().unwrap().to_str().unwrap().to_owned(),
                    fs::read_to_string(path).unwrap(),
                )
            })
            .collect();
        checked_in.sort();
        let names = |files: &[GeneratedFile]| {
            files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&checked_in), names(&files));
        for ((name, text), (_, checked_in)) in files.iter().zip(&checked_in) {
            let same = checked_in.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
            assert!(
                checked_in == text,
                "{name}: line {} differs; `cargo xtask catalog` updates it",
                same + 1
            );
        }
    }
}
