//! Checks the sources and documents. Only the module `bytes` of a crate converts bytes to numbers,
//! so that results do not depend on the byte order and the word size of the machine.

use crate::packages::root;
use std::fs;
use std::path::PathBuf;

/// Names of functions that convert bytes to numbers or reinterpret memory safely. Only the module
/// `bytes` of a crate may use them.
const OF_BYTES: [&str; 6] =
    ["pod_read_unaligned", "from_le_bytes", "from_be_bytes", "cast_slice", "cast_vec", "bytemuck"];

/// Names of functions that use the machine's byte order or reinterpret memory without a check. No
/// source may use them.
const FORBIDDEN: [&str; 12] = [
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
    "addr_of",
];

/// Returns the text of every source of the libraries, with its path below the root.
fn sources() -> Vec<(String, String)> {
    let libraries = ["guid", "parser", "writer", "export", "analysis", "tables", "ipc", "native"];
    sources_below(libraries.map(|name| root().join(name).join("src")).into())
}

fn sources_below(folders: Vec<PathBuf>) -> Vec<(String, String)> {
    let found = files_below(folders, "rs");
    assert!(found.len() > 100, "only {} sources", found.len());
    found
}

/// Returns the text of every file with this ending, with its path below the root. Build folders and
/// hidden folders are left out.
pub(crate) fn files_below(mut folders: Vec<PathBuf>, ending: &str) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                let name = path.file_name().unwrap().to_string_lossy();
                if !name.starts_with('.') && !matches!(&*name, "target" | "node_modules") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == ending) {
                let name = path.strip_prefix(&root).unwrap().components();
                let name: Vec<_> = name.map(|part| part.as_os_str().to_string_lossy()).collect();
                found.push((name.join("/"), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// Returns the placeholders of a document, such as `SECONDS_TAKEN` or `TODO` outside of code, with
/// their lines.
fn placeholders(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            // Text between two backticks is code.
            let plain = line.split('`').step_by(2);
            let is_part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let words = plain.flat_map(|part| part.split(move |c| !is_part_of_word(c)));
            found.extend(words.filter(|word| is_placeholder(word)).map(|word| (number, word)));
        }
    }
    found
}

fn is_placeholder(word: &str) -> bool {
    let is_upper =
        |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    matches!(word, "TODO" | "FIXME" | "TBD" | "XXX")
        || word.contains('_') && word.split('_').all(is_upper)
}

/// Returns the lines that contain one of the words outside of comments.
fn lines_with<'t>(text: &'t str, words: &[&str]) -> Vec<(usize, &'t str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let code = lines.filter(|(_, line)| !line.starts_with("//"));
    code.filter(|(_, line)| words.iter().any(|word| line.contains(word))).collect()
}

#[test]
fn no_library_reads_numbers_in_the_machine_s_byte_order_or_memory_as_another_type() {
    for (name, text) in sources() {
        // `pod_read_unaligned` contains a forbidden word.
        let text = text.replace(OF_BYTES[0], "");
        let found = lines_with(&text, &FORBIDDEN);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    // The search finds such words.
    let text = "//! transmute\nlet n = u32::from_ne_bytes(bytes);\nlet p = bytes.as_ptr() as *const u64;\n";
    let found: Vec<usize> = lines_with(text, &FORBIDDEN).iter().map(|(line, _)| *line).collect();
    assert_eq!(found, [2, 3]);
}

#[test]
fn one_module_of_a_library_makes_numbers_of_bytes() {
    let mut modules = 0;
    for (name, text) in sources() {
        if name.ends_with("/src/bytes.rs") {
            modules += 1;
            continue;
        }
        let found = lines_with(&text, &OF_BYTES);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    assert!(modules > 1, "{modules} modules");
}

/// Files with `unsafe` code: mapping of files, and calls of Windows.
const UNSAFE: [&str; 5] = [
    "parser/src/mapping.rs",
    "cli/src/input/mapped.rs",
    "cli/src/console_events.rs",
    "ipc/src/endpoint/windows/calls.rs",
    "ipc/src/endpoint/windows/owner.rs",
];

#[test]
fn unsafe_code_is_in_five_files_and_each_block_says_why_it_is_sound() {
    let mut found = sources();
    found.extend(sources_below(vec![root().join("cli/src")]));
    let mut blocks = 0;
    for (name, text) in found {
        let text = text.split("\nmod tests {").next().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for (line, _) in lines_with(text, &["unsafe {"]) {
            assert!(UNSAFE.contains(&&*name), "{name}:{line}");
            // The comment is above the statement, which may begin some lines before the block.
            let above = &lines[line.saturating_sub(12)..line];
            assert!(above.iter().any(|text| text.contains("SAFETY: ")), "{name}:{line}");
            blocks += 1;
        }
    }
    assert!(blocks > 5, "{blocks} blocks");
}

#[test]
fn nothing_is_left_that_was_there_to_look_or_to_be_written_later() {
    // Tests and tools disable the lint group with clippy's lints for these macros.
    let words = ["dbg", "todo", "unimplemented"].map(|word| format!("{word}!("));
    let words = [&*words[0], &*words[1], &*words[2]];
    let packages = [
        "parser", "export", "ipc", "native", "analysis", "cli", "writer", "testdata", "benches",
        "guid", "site", "xtask",
    ];
    let folders =
        packages.iter().flat_map(|name| ["src", "tests"].map(|part| root().join(name).join(part)));
    for (name, text) in sources_below(folders.filter(|folder| folder.is_dir()).collect()) {
        let found = lines_with(&text, &words);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn no_document_has_a_placeholder_that_was_to_be_filled_in() {
    let documents = files_below(vec![root()], "md");
    assert!(documents.len() > 40, "only {} documents", documents.len());
    for (name, text) in documents {
        let found = placeholders(&text);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    // The search finds what it is for, and no names in code.
    let text = "It takes SECONDS_TAKEN.\n\nTABLE_OF_RATES, TODO\n\n```\nMAX_LEN=1\n```\n`MAX_LEN`, AND, R2R_X\n";
    assert_eq!(placeholders(text), [(1, "SECONDS_TAKEN"), (3, "TABLE_OF_RATES"), (3, "TODO")]);
}

/// Checks the steps of CI. Tests that need something outside of the repository are ignored, in
/// modules whose names begin with `with_`.
#[test]
fn each_kind_of_ignored_tests_is_named_in_a_step_of_ci() {
    let steps = [".ci/run", ".ci/full"].map(|name| fs::read_to_string(root().join(name)).unwrap());
    let is_between = |letter: char| letter != '_' && !letter.is_alphanumeric();
    let named: Vec<&str> = steps.iter().flat_map(|text| text.split(is_between)).collect();
    let mut kinds = 0;
    for (name, text) in files_below(vec![root()], "rs") {
        let modules = text.lines().filter_map(|line| line.trim().strip_prefix("mod with_"));
        for module in modules.filter_map(|line| line.strip_suffix(" {")) {
            assert!(named.contains(&&*format!("with_{module}")), "{name}: with_{module}");
            kinds += 1;
        }
    }
    assert!(kinds > 20, "only {kinds} modules");
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
