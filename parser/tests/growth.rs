//! Rule 11: public enums, and public structs whose fields are all public, are `#[non_exhaustive]`,
//! so that a new variant or field breaks no program. The lint `unreachable_pub` ensures that every
//! `pub enum` and `pub struct` in the sources is public.

use crate::hygiene::files_below;
use crate::packages::root;

/// Crate and name of each exception, and the reason why it cannot grow or may break programs.
const EXCEPTIONS: [(&str, &str, &str); 14] = [
    ("analysis", "OldOrNew", "the two sides of a comparison"),
    ("parser", "Span", "a start and a length; nothing else makes a stretch of bytes"),
    ("parser", "TraceId", "16 bytes by the W3C's definition"),
    (
        "parser",
        "Watermark",
        "behind the door `unstable`: its matches are to be looked at when it grows",
    ),
    (
        "parser",
        "FieldPath",
        "behind the door `unstable`: a name and what it is in, made on the way down",
    ),
    ("analysis", "PageAbout", "made by who writes the page, with what the page shows above all"),
    ("analysis", "FrameGroup", "a pattern and the name of what matches it"),
    (
        "analysis",
        "EventSelector",
        "written as `..EventSelector::default()`, and so takes fields more",
    ),
    ("analysis", "ThreadNow", "written as `..ThreadNow::default()`, and so takes fields more"),
    ("analysis", "DiffPage", "made by who writes the page, with what it is made of"),
    ("ipc", "HResult", "a number of 32 bits by Windows' definition"),
    ("ipc", "CommandId", "two bytes of a message's header"),
    (
        "ipc",
        "FakeConfig",
        "for tests, which write `..FakeConfig::default()` and so take fields more",
    ),
    (
        "tables",
        "InputRow",
        "written by who reads traces, as `..InputRow::default()`; grows with each column",
    ),
];

/// Libraries to check. Rows and blobs of `writer` are plain structs on purpose, because users write
/// `Blob { ticks: 5, ..Blob::default() }`.
const LIBRARIES: [&str; 7] = ["guid", "parser", "export", "analysis", "tables", "ipc", "native"];

/// Returns the public types of a source that are not `#[non_exhaustive]`. The source must have
/// rustfmt's layout.
fn closed(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let depth = line.len() - line.trim_start().len();
        let Some((kind, rest)) =
            line.trim_start().strip_prefix("pub ").and_then(|rest| rest.split_once(' '))
        else {
            continue;
        };
        // Attributes and comments stand directly above; one attribute may take several
        // lines.
        let above = lines[..at].iter().rev().take_while(|line| {
            let line = line.trim_start();
            !line.is_empty()
                && !line.starts_with('}')
                && !line.ends_with(';')
                && !line.ends_with('{')
        });
        let is_open = above.into_iter().any(|line| line.trim() == "#[non_exhaustive]");
        let body = lines[at + 1..].iter().take_while(|inner| **inner != format!("{:depth$}}}", ""));
        let fields: Vec<&str> = body
            .filter(|inner| inner.len() - inner.trim_start().len() == depth + 4)
            .map(|inner| inner.trim_start())
            .filter(|inner| !inner.starts_with(['/', '#', ')', ']']) && inner.contains(": "))
            .collect();
        let is_closed = match kind {
            "enum" => !is_open,
            "struct" if rest.ends_with('{') => {
                !is_open
                    && !fields.is_empty()
                    && fields.iter().all(|field| field.starts_with("pub "))
            }
            "struct" => {
                // A tuple on one line.
                let fields =
                    rest.split_once('(').map_or("", |(_, fields)| fields.trim_end_matches(");"));
                !is_open
                    && !fields.is_empty()
                    && fields.split(", ").all(|field| field.starts_with("pub "))
            }
            _ => false,
        };
        if is_closed {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
                .unwrap_or(rest.len());
            found.push(&rest[..end]);
        }
    }
    found
}

#[test]
fn public_types_that_may_grow_are_non_exhaustive() {
    let mut met = Vec::new();
    for library in LIBRARIES {
        let files = files_below(vec![root().join(library).join("src")], "rs");
        assert!(!files.is_empty(), "{library} has no sources");
        for (path, text) in &files {
            for name in closed(text) {
                let is_exception =
                    EXCEPTIONS.iter().any(|(of, known, _)| (*of, *known) == (library, name));
                assert!(is_exception, "{path}: {name} lacks #[non_exhaustive]");
                met.push((library, name.to_owned()));
            }
        }
    }
    for (library, name, why) in EXCEPTIONS {
        let is_met = met.iter().any(|(of, found)| (*of, found.as_str()) == (library, name));
        assert!(is_met, "{library}'s {name} ({why}) is no exception any more");
    }
}

#[test]
fn types_that_may_not_grow_are_found_in_every_shape() {
    let text = "
/// Documented.
#[derive(Debug)]
pub enum Closed {
    A,
}

#[non_exhaustive]
#[derive(
    Debug,
)]
pub enum Open {
    A,
}

pub struct Plain<'a> {
    /// A field: one.
    pub first: u8,
    #[serde(skip)]
    pub second: &'a str,
}

pub struct Private {
    pub first: u8,
    second: u8,
}

    pub struct Inside {
        pub first: u8,
    }
pub struct Tuple(pub u32);
pub struct Sealed(u32);
pub struct Unit;
pub(crate) enum Ours {
    A,
}
";
    assert_eq!(closed(text), ["Closed", "Plain", "Inside", "Tuple"]);
}
