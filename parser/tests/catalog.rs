//! The built-in catalog: that its tables are what the manifest's extract says, and hold together.

#[path = "catalog/generate.rs"]
mod generate;

use std::path::{Path, PathBuf};

/// The extract of the runtime's manifest; `None`, said aloud, where the folder is missing.
fn table() -> Option<serde_json::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/clr-events.json");
    match std::fs::read(&path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap()),
        Err(error) => {
            eprintln!("skipped: {}: {error}", path.display());
            None
        }
    }
}

fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/catalog/generated")
}

#[test]
fn the_checked_in_tables_are_what_the_manifest_says() {
    let Some(table) = table() else { return };
    let files = generate::files(&table);
    if std::env::var_os("UPDATE_CATALOG").is_some() {
        for (name, text) in &files {
            std::fs::write(generated().join(name), text).unwrap();
        }
    }
    let mut names: Vec<String> = std::fs::read_dir(generated())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    expected.sort();
    assert_eq!(names, expected);
    for (name, text) in &files {
        let checked_in = std::fs::read_to_string(generated().join(name)).unwrap();
        let same = checked_in.lines().zip(text.lines()).take_while(|(a, b)| a == b).count();
        assert!(checked_in == *text, "{name}: line {} differs; UPDATE_CATALOG=1 rewrites it", same + 1);
    }
}
