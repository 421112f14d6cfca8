//! What the sources of the libraries must not hold, so that they read the same on
//! machines of either byte order and any width.

use std::fs;
use std::path::{Path, PathBuf};

/// Words of the machine's own byte order and of memory seen as another type.
const FORBIDDEN: [&str; 15] = [
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
];

/// The only file that sees bytes as a structure, and whose structures are looked at
/// below.
const WITH_LAYOUTS: &str = "parser/src/blob/fixed.rs";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

/// Path below the root, and text, of every source of the libraries.
fn sources() -> Vec<(String, String)> {
    sources_below(
        ["parser", "export", "ipc", "analysis"].map(|name| root().join(name).join("src")).into(),
    )
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

/// Lines, but for comments, that hold one of the words.
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
fn bytes_are_seen_as_structures_in_one_place_only() {
    for (name, text) in sources() {
        let found = lines_with(&text, &["bytemuck"]);
        assert_eq!(!found.is_empty(), name == WITH_LAYOUTS, "{name}: {found:?}");
    }
}

#[test]
fn nothing_is_left_that_was_there_to_look_or_to_be_written_later() {
    // Tests and tools allow what these lints of clippy belong to.
    let words = ["dbg", "todo", "unimplemented"].map(|word| format!("{word}!("));
    let words = [&*words[0], &*words[1], &*words[2]];
    let packages = [
        "parser", "export", "ipc", "analysis", "cli", "writer", "testdata", "benches", "guid",
        "xtask",
    ];
    let folders =
        packages.iter().flat_map(|name| ["src", "tests"].map(|part| root().join(name).join(part)));
    for (name, text) in sources_below(folders.filter(|folder| folder.is_dir()).collect()) {
        let found = lines_with(&text, &words);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

/// Structures that `bytemuck` may lay over bytes, with the types of their fields.
fn layouts(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut layouts = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !(line.starts_with("#[derive(") && line.contains("Pod")) {
            continue;
        }
        let head = lines
            .by_ref()
            .find(|line| line.contains("struct "))
            .expect("a derive belongs to a structure");
        let name = head
            .split("struct ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next())
            .unwrap_or_default();
        let fields = lines.by_ref().take_while(|line| *line != "}");
        let types = fields.filter_map(|field| field.split_once(": ")?.1.strip_suffix(','));
        layouts.push((name, types.collect()));
    }
    layouts
}

#[test]
fn structures_laid_over_bytes_consist_of_bytes() {
    let (_, text) =
        sources().into_iter().find(|(name, _)| name == WITH_LAYOUTS).expect("the file is there");
    let layouts = layouts(&text);
    assert!(layouts.len() >= 3, "{layouts:?}");
    let aliases: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("type ")?.strip_suffix("];")?.split_once(" = [u8; "))
        .map(|(name, _)| name)
        .collect();
    for (name, fields) in &layouts {
        assert!(!fields.is_empty(), "{name}");
        for field in fields {
            let is_bytes = *field == "u8" || field.starts_with("[u8; ") || aliases.contains(field);
            let is_layout = layouts.iter().any(|(other, _)| other == field);
            assert!(
                is_bytes || is_layout,
                "{name} has a {field}, whose bytes depend on the machine"
            );
        }
    }
}
