//! Counts lines of code, for docs/architecture.md.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates whose lines are counted, in the order of the table.
const CRATES: [&str; 8] =
    ["guid", "parser", "export", "analysis", "tables", "ipc", "cli", "writer"];

/// Prints the lines of code in `src` of each crate as a table: without blank lines,
/// comments, unit tests and generated files.
pub(crate) fn print(root: &Path) {
    println!("| {} |\n|{}", CRATES.join(" | "), "---|".repeat(CRATES.len()));
    let counts = CRATES.map(|name| {
        let mut files = Vec::new();
        sources(&root.join(name).join("src"), &mut files);
        let texts = files.iter().map(|path| fs::read_to_string(path).expect("a source is text"));
        texts.map(|text| lines_of_code(&text)).sum::<usize>().to_string()
    });
    println!("| {} |", counts.join(" | "));
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the crate has sources") {
        let path = entry.expect("the folder can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name == "generated" || name == "tests" => {}
            true => sources(&path, found),
            false if name == "tests.rs" || name == "round_trip.rs" => {}
            false if name.ends_with(".rs") => found.push(path),
            false => {}
        }
    }
}

fn lines_of_code(text: &str) -> usize {
    let (mut count, mut lines) = (0, text.lines());
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            // A module of tests, up to its brace; anything else of tests is a line.
            if lines.next().is_some_and(|next| next.ends_with('{')) {
                lines.by_ref().find(|line| *line == "}");
            }
        } else if !line.trim().is_empty() && !line.trim_start().starts_with("//") {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_are_no_code() {
        let text = "//! About.\n\nuse a::b;\n\n/// A thing.\nfn f() {\n    // Why.\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(lines_of_code(text), 4);
    }
}
