//! Finds the public types of a crate, for tests that check a property of each type.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Returns the names of a crate's public types, and the number of types with each name.
///
/// The sources are searched for `pub struct` and `pub enum`, which the lint `unreachable_pub`
/// ensures are public, and for re-exported names, which a macro may have defined.
///
/// # Panics
/// When the folder cannot be read.
pub fn public_types(sources: &Path) -> BTreeMap<String, usize> {
    let mut found = Found::default();
    look_into(sources, &mut found);
    let Found { mut defined, re_exported, renamed, others } = found;
    for (old, new) in renamed {
        if let Some(count) = defined.remove(&old) {
            defined.insert(new, count);
        }
    }
    for name in re_exported.difference(&others) {
        defined.entry(name.clone()).or_insert(1);
    }
    defined
}

#[derive(Default)]
struct Found {
    defined: BTreeMap<String, usize>,
    re_exported: BTreeSet<String>,
    /// Name under which a type is re-exported, by its name in the crate.
    renamed: BTreeMap<String, String>,
    /// Names of traits and type aliases, which are no types of their own.
    others: BTreeSet<String>,
}

fn look_into(folder: &Path, found: &mut Found) {
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            look_into(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            look_at(&fs::read_to_string(&path).expect("a source"), found);
        }
    }
}

fn look_at(text: &str, found: &mut Found) {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let text = text.split("#[cfg(any(test, fuzzing))]\npub mod").next().unwrap_or_default();
    for line in text.lines().map(str::trim_start) {
        let Some(item) = line.strip_prefix("pub ") else { continue };
        let (kind, rest) = item.split_once(' ').unwrap_or((item, ""));
        match kind {
            // Skips a name that is a parameter of a macro.
            _ if rest.starts_with('$') => {}
            "struct" | "enum" | "union" => *found.defined.entry(first_name(rest)).or_default() += 1,
            "trait" | "type" => drop(found.others.insert(first_name(rest))),
            _ => {}
        }
    }
    for item in text.split("\npub use ").skip(1) {
        let item = item.split(';').next().unwrap_or_default();
        for path in item.split([',', '{', '}']) {
            let name = path.rsplit("::").next().unwrap_or_default().trim();
            let (name, renamed) =
                name.split_once(" as ").map_or((name, None), |(old, new)| (old, Some(new)));
            if is_type_name(name) {
                match renamed {
                    Some(renamed) => {
                        drop(found.renamed.insert(name.to_owned(), renamed.to_owned()))
                    }
                    None => drop(found.re_exported.insert(name.to_owned())),
                }
            }
        }
    }
}

fn first_name(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// Returns whether a name has the form of a type's name, such as `Name`, and not that of
/// `function`, `module` or `CONSTANT`.
fn is_type_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// Asserts that types are [`Send`], or [`Send`] and [`Sync`], and that the crate has no
/// public type that is not listed.
///
/// ```ignore
/// # // An example cannot be among the sources of a crate.
/// nettrace_testdata::assert_threads! {
///     Send: [Recorder, Writer<'static>],
///     Sync: [Session],
/// }
/// ```
#[macro_export]
macro_rules! assert_threads {
    (Send: [$($(#[$send_attribute:meta])* $send:ty),* $(,)?], Sync: [$($(#[$sync_attribute:meta])* $sync:ty),* $(,)?] $(,)?) => {{
        fn is_send<T: ?Sized + Send>() {}
        fn is_send_and_sync<T: ?Sized + Send + Sync>() {}
        $($(#[$send_attribute])* is_send::<$send>();)*
        $($(#[$sync_attribute])* is_send_and_sync::<$sync>();)*
        let listed = [$(stringify!($send),)* $(stringify!($sync),)*];
        $crate::assert_all_listed(&listed, &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    }};
}

/// Asserts that a list has each public type of a crate. Types are written as `path::Name<Of>`.
///
/// # Panics
/// With the names of the types that are not listed.
pub fn assert_all_listed(listed: &[&str], sources: &Path) {
    let mut names = BTreeMap::<&str, usize>::new();
    for listed in listed {
        let path = listed.split('<').next().unwrap_or_default();
        *names.entry(path.rsplit("::").next().unwrap_or_default().trim()).or_default() += 1;
    }
    let types = public_types(sources);
    assert!(types.len() > 5, "the sources are not where they were");
    let forgotten =
        types.iter().filter(|(name, count)| names.get(name.as_str()).is_none_or(|n| n < count));
    let forgotten: Vec<&String> = forgotten.map(|(name, _)| name).collect();
    assert!(
        forgotten.is_empty(),
        "public types that the list of tests/threads.rs lacks: {forgotten:?}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_where_they_are_defined_and_re_exported() {
        let mut found = Found::default();
        look_at(
            "pub struct One<'a>(&'a u8);\n    pub enum Two {\npub(crate) struct Not;\npub trait Three {}\n\
             pub type Four = One;\npub const FIVE: u8 = 5;\n\
             pub use a::{\n    Three, six, b::Seven, One as Ten,\n};\npub use EIGHT;\n\
             #[cfg(test)]\nmod tests {\n    pub struct Nine;\n}\n",
            &mut found,
        );
        assert_eq!(found.defined.keys().collect::<Vec<_>>(), ["One", "Two"]);
        assert_eq!(found.re_exported.iter().collect::<Vec<_>>(), ["Seven", "Three"]);
        assert_eq!(
            found.renamed.into_iter().collect::<Vec<_>>(),
            [("One".to_owned(), "Ten".to_owned())]
        );
        assert_eq!(found.others.iter().collect::<Vec<_>>(), ["Four", "Three"]);
    }
}
