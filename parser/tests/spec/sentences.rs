//! Checks the tests themselves: every sentence has its test, and every test its sentence.

use nettrace_testdata::corpus;
use std::path::Path;

/// Number of the sentences of section 18.
const COUNT: usize = 186;

/// The modules, in the order of the headings of section 18.
const MODULES: [&str; 23] = [
    "detection",
    "object_framing",
    "trace_and_time",
    "v3",
    "blob_headers",
    "blob_blocks",
    "blob_faults",
    "blob_fields",
    "metadata_blobs",
    "metadata_opaque",
    "metadata_precedence",
    "stacks",
    "order_and_losses",
    "v6_framing",
    "v6_metadata",
    "v6_types",
    "v6_arrays",
    "v6_threads",
    "v6_sequence_points",
    "v6_labels",
    "v6_universal",
    "payloads",
    "damage",
];

/// Returns the names of the numbered tests, in the order of the source files.
fn tests() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spec");
    let mut names = Vec::new();
    for module in MODULES {
        let path = folder.join(module).with_extension("rs");
        let source =
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut lines = source.lines().peekable();
        while let Some(line) = lines.next() {
            let function = lines.peek().and_then(|next| next.strip_prefix("fn ")?.split_once('('));
            match function {
                Some((name, _)) if line == "#[test]" => names.push(name.to_owned()),
                _ => assert!(
                    line != "#[test]",
                    "a test of another shape in {module}: {:?}",
                    lines.peek()
                ),
            }
        }
    }
    names
}

fn number(name: &str) -> Option<usize> {
    let (digits, _) = name.strip_prefix('t')?.split_once('_')?;
    (digits.len() == 3).then(|| digits.parse().ok())?
}

#[test]
fn every_number_has_one_test_and_they_stand_in_order() {
    let tests = tests();
    for (name, due) in tests.iter().zip(1..) {
        assert_eq!(number(name), Some(due), "{name}");
    }
    assert_eq!(tests.len(), COUNT);
}

/// Returns `t012_a_trace_object_is_found` for `12. a Trace object (…) is found`. Text in
/// parentheses is about the test, not part of the sentence.
fn name_of(line: &str) -> Option<String> {
    let (number, sentence) = line.split_once(". ")?;
    let number: usize = number.parse().ok()?;
    let mut name = format!("t{number:03}");
    let mut is_inside = false;
    let mut is_word = false;
    for letter in sentence.chars() {
        match letter {
            '(' => is_inside = true,
            ')' => is_inside = false,
            _ if is_inside => {}
            letter if letter.is_ascii_alphanumeric() => {
                if !is_word {
                    name.push('_');
                }
                name.push(letter.to_ascii_lowercase());
                is_word = true;
                continue;
            }
            _ => {}
        }
        is_word = false;
    }
    Some(name)
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn every_test_has_the_words_of_its_sentence() {
        let shared = corpus::shared();
        let text = std::fs::read_to_string(shared.join("docs/format.md")).unwrap();
        let section = text.split("\n## 18 ").nth(1).expect("there is a section 18");
        let section = section.split("\n## ").next().unwrap_or_default();
        let names: Vec<String> = section.lines().filter_map(name_of).collect();
        assert_eq!(names.len(), COUNT);
        for (test, name) in tests().iter().zip(&names) {
            assert_eq!(test, name);
        }
    }
}
