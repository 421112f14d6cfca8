//! What the sources of the libraries must not hold, so that they read the same on
//! machines of either byte order and any width.

use std::fs;
use std::path::{Path, PathBuf};

/// Words of the machine's own byte order and of memory seen as another type.
const FORBIDDEN: [&str; 16] = [
    "from_ne_bytes",
    "to_ne_bytes",
    "NativeEndian",
    "target_endian",
    "to_be()",
    "transmute",
    "align_to",
    "read_unaligned",
    "from_raw_parts",
    "*const ",
    "*mut ",
    "cast_slice",
    "cast_vec",
    "pod_read_unaligned",
    "addr_of",
    "bytemuck",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

/// Returns every source of the libraries: its path below the root, and its text.
fn sources() -> Vec<(String, String)> {
    let libraries = ["parser", "export", "ipc", "native", "analysis"];
    sources_below(libraries.map(|name| root().join(name).join("src")).into())
}

fn sources_below(mut folders: Vec<PathBuf>) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().components();
                let name: Vec<_> = name.map(|part| part.as_os_str().to_string_lossy()).collect();
                found.push((name.join("/"), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(found.len() > 100, "only {} sources", found.len());
    found
}

/// Returns the lines, without comments, that hold one of the words.
fn lines_with<'t>(text: &'t str, words: &[&str]) -> Vec<(usize, &'t str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let code = lines.filter(|(_, line)| !line.starts_with("//"));
    code.filter(|(_, line)| words.iter().any(|word| line.contains(word))).collect()
}

#[test]
fn no_library_reads_numbers_in_the_machine_s_byte_order_or_memory_as_another_type() {
    for (name, text) in sources() {
        let found = lines_with(&text, &FORBIDDEN);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    // The search finds what it is for.
    let text = "//! transmute\nlet n = u32::from_ne_bytes(bytes);\nlet p = bytes.as_ptr() as *const u64;\n";
    let found: Vec<usize> = lines_with(text, &FORBIDDEN).iter().map(|(line, _)| *line).collect();
    assert_eq!(found, [2, 3]);
}

#[test]
fn nothing_is_left_that_was_there_to_look_or_to_be_written_later() {
    // Tests and tools allow what these lints of clippy belong to.
    let words = ["dbg", "todo", "unimplemented"].map(|word| format!("{word}!("));
    let words = [&*words[0], &*words[1], &*words[2]];
    let packages = [
        "parser", "export", "ipc", "native", "analysis", "cli", "writer", "testdata", "benches",
        "guid", "xtask",
    ];
    let folders =
        packages.iter().flat_map(|name| ["src", "tests"].map(|part| root().join(name).join(part)));
    for (name, text) in sources_below(folders.filter(|folder| folder.is_dir()).collect()) {
        let found = lines_with(&text, &words);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn no_line_of_the_page_is_longer_than_140_characters_and_no_file_than_700_lines() {
    let mut files = 0;
    for folder in ["analysis/page", "analysis/page/src", "analysis/page/test"] {
        for entry in fs::read_dir(root().join(folder)).expect("the page's sources") {
            let path = entry.expect("an entry").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if !matches!(extension, Some("css" | "html" | "mjs")) {
                continue;
            }
            files += 1;
            let text = fs::read_to_string(&path).expect("a source");
            let long = text.lines().position(|line| line.chars().count() > 140);
            assert_eq!(long.map(|line| line + 1), None, "{}", path.display());
            assert!(text.lines().count() <= 700, "{}", path.display());
        }
    }
    assert!(files > 20, "only {files} sources");
}
