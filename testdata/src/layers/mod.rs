//! A check that the modules of a crate keep to an order of imports.
//!
//! The order is a list of layers, lowest first. A module may import modules of lower layers only,
//! and none of its own layer. The compiler accepts two modules that import each other, but neither
//! can be understood, tested or moved without the other.
//!
//! ```
//! # let dir = std::env::temp_dir().join(format!("layers-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir).unwrap();
//! # std::fs::write(dir.join("lib.rs"), "mod bytes; mod rows;").unwrap();
//! # std::fs::write(dir.join("bytes.rs"), "use crate::rows::Row;").unwrap();
//! # std::fs::write(dir.join("rows.rs"), "").unwrap();
//! let found = nettrace_testdata::layers::check(&dir, &[&["bytes"], &["rows"]]);
//! assert_eq!(found[0].to_string(), "bytes.rs:1: `bytes` imports `rows`, which is not below it");
//! # std::fs::remove_dir_all(&dir).unwrap();
//! ```

mod imports;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// A violation of the order that [`check`] found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A module imports a module that is not below it in the order.
    Import {
        /// Path of the file relative to the folder of sources, and the line.
        place: (String, usize),
        /// Name of the importing module in the order.
        importer: String,
        /// Name of the imported module in the order.
        imported: String,
    },
    /// The order does not name this module, which exists.
    Unlisted(String),
    /// The order names a module that does not exist.
    Missing(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Import { place: (file, line), importer, imported } => {
                write!(f, "{file}:{line}: `{importer}` imports `{imported}`, which is not below it")
            }
            Fault::Unlisted(module) => write!(f, "`{module}` is not in the order"),
            Fault::Missing(module) => write!(f, "`{module}` is in the order, but is no module"),
        }
    }
}

/// Returns the imports that are against `order` (lowest layer first), in the crate whose
/// sources lie in `src`.
///
/// Names in the order are paths from the crate's root, such as `reader` or `model::stacks`. A module
/// that is not named belongs to the nearest named module around it. Imports are `use` lines, and paths
/// in code that begin with `crate::`, `super::`, `self::` or a child module. The import of a name that
/// the crate's root re-exports is an import of the module that defines it. Items of the root itself
/// belong to the module `lib`. Code under `#[cfg(test)]` may import anything, and so may `lib.rs` and
/// `main.rs`, which join the modules.
///
/// # Panics
/// When the folder cannot be read.
pub fn check(src: &Path, order: &[&[&str]]) -> Vec<Fault> {
    let tree = imports::read(src);
    let level: BTreeMap<&str, usize> = order
        .iter()
        .enumerate()
        .flat_map(|(at, layer)| layer.iter().map(move |name| (*name, at)))
        .collect();
    let mut faults = BTreeSet::new();
    for name in level.keys().filter(|name| **name != "lib" && !tree.modules.contains(**name)) {
        faults.insert(Fault::Missing((*name).to_owned()));
    }
    for module in tree.modules.iter().filter(|module| layer_of(module, &level).is_none()) {
        faults.insert(Fault::Unlisted(module.clone()));
    }
    for import in &tree.imports {
        let Some((importer, from)) = layer_of(&import.importer, &level) else { continue };
        let Some((imported, to)) = layer_of(&import.imported, &level) else {
            faults.insert(Fault::Unlisted(import.imported.clone()));
            continue;
        };
        if importer != imported && to >= from {
            faults.insert(Fault::Import {
                place: (import.file.clone(), import.line),
                importer: importer.to_owned(),
                imported: imported.to_owned(),
            });
        }
    }
    faults.into_iter().collect()
}

/// Returns the name of a module in the order, or that of a module around it, and its layer.
fn layer_of<'n>(module: &str, level: &BTreeMap<&'n str, usize>) -> Option<(&'n str, usize)> {
    let mut path = module;
    loop {
        if let Some((name, layer)) = level.get_key_value(path) {
            return Some((name, *layer));
        }
        path = path.rsplit_once("::")?.0;
    }
}

/// Asserts that the modules of a crate import each other only as an order allows. `not_yet` has
/// exceptions: pairs of the importing and the imported module. An exception that is no longer
/// needed is a fault, too, so that the list shrinks.
///
/// # Panics
/// With the faults that [`check`] found, or with an exception that is no longer needed.
pub fn assert_order(src: &Path, order: &[&[&str]], not_yet: &[(&str, &str)]) {
    let mut listed: BTreeSet<(&str, &str)> = not_yet.iter().copied().collect();
    let faults = check(src, order);
    let mut wrong = Vec::new();
    for fault in &faults {
        let is_listed = match fault {
            Fault::Import { importer, imported, .. } => {
                let pair = (importer.as_str(), imported.as_str());
                listed.remove(&pair);
                not_yet.contains(&pair)
            }
            _ => false,
        };
        if !is_listed {
            wrong.push(fault.to_string());
        }
    }
    wrong.extend(
        listed
            .iter()
            .map(|pair| format!("{pair:?} is listed as not yet true, but it is true by now")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the order as the documents quote it: a line for each layer, the lowest layer first.
pub fn as_text(order: &[&[&str]]) -> String {
    order.iter().map(|layer| layer.join(", ") + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Returns the faults that are found in a crate with these files, for an order.
    fn faults(files: &[(&str, &str)], order: &[&[&str]]) -> Vec<String> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("layers-{}-{number}", std::process::id()));
        for (name, text) in files {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = check(&dir, order).iter().map(Fault::to_string).collect();
        fs::remove_dir_all(&dir).unwrap();
        found
    }

    const ORDER: &[&[&str]] = &[&["low"], &["mid", "side"], &["high"]];

    /// Returns the faults that are found if `mid.rs` has this text, in a crate with modules `low`,
    /// `mid`, `side` and `high`.
    fn faults_of_mid(text: &str) -> Vec<String> {
        faults(
            &[
                (
                    "lib.rs",
                    "mod low; mod mid; mod side; mod high; pub use high::{Top, inner::Deep as Shallow};",
                ),
                ("low.rs", ""),
                ("mid.rs", text),
                ("side.rs", ""),
                ("high/mod.rs", "mod inner;"),
                ("high/inner.rs", ""),
            ],
            ORDER,
        )
    }

    fn upwards(line: usize) -> Vec<String> {
        vec![format!("mid.rs:{line}: `mid` imports `high`, which is not below it")]
    }

    #[test]
    fn imports_of_lower_layers_and_of_other_crates_are_free() {
        assert_eq!(
            faults_of_mid(
                "use crate::low::A;\nuse std::high;\nuse high2::B;\nfn f() { crate::low::f() }"
            ),
            [""; 0]
        );
    }

    #[test]
    fn an_import_upwards_is_found_however_it_is_written() {
        for text in [
            "use crate::high::A;",
            "use crate::high;",
            "use crate::high::*;",
            "use super::high::A;",
            "pub(crate) use crate::{low::A, high::{self, B}};",
            "use crate::{low::{A, B}, high::inner::C as D};",
            "fn f(x: crate::high::A) {}",
            "fn f() { super::high::f() }",
            "impl crate::high::Trait for A {}",
            "macro_rules! m { () => { $crate::high::f() } }",
            "use crate::Top;",
            "use crate::Shallow;",
            "struct S { #[serde(serialize_with = \"crate::high::f\")] a: A }",
            "struct S { #[serde(skip_serializing_if = \"super::high::f\")] a: A }",
        ] {
            assert_eq!(faults_of_mid(text), upwards(1), "{text}");
        }
        assert_eq!(
            faults_of_mid(
                "fn f() { Vec::<u8>::new(); <A as B>::f(); x::<{ 1 }>(); crate::high::f() }"
            ),
            upwards(1)
        );
        assert_eq!(faults_of_mid("mod inside {\n    use super::super::high::A;\n}"), upwards(2));
        assert_eq!(faults_of_mid("\n\nuse crate::{\n    low::A,\n    high::B,\n};"), upwards(5));
    }

    #[test]
    fn modules_of_one_layer_do_not_know_each_other() {
        assert_eq!(
            faults_of_mid("use crate::side::A;"),
            ["mid.rs:1: `mid` imports `side`, which is not below it"]
        );
    }

    #[test]
    fn comments_and_text_and_tests_import_nothing() {
        for text in [
            "// use crate::high::A;",
            "//! [`x`](crate::high::A)",
            "/* /* */ use crate::high::A; */",
            "const A: &str = \"use crate::high::A;\";",
            "const A: &str = \"crate::high::A\";",
            "const A: &str = \"\\\"\"; const B: &str = r#\"\" crate::high::A\"#;",
            "const A: char = '\"'; // crate::high \"",
            "#[cfg(test)]\nmod tests { use crate::high::A; fn f() { {} } }",
            "#[cfg(test)]\nuse crate::high::A;",
            "#[cfg(all(test, unix))]\nfn f() { crate::high::f() }",
        ] {
            assert_eq!(faults_of_mid(text), [""; 0], "{text}");
        }
        // Code after the tests counts again.
        assert_eq!(faults_of_mid("#[cfg(test)]\nmod tests {}\nuse crate::high::A;"), upwards(3));
        assert_eq!(
            faults_of_mid("fn f<'a>(a: &'a str, b: char) { b == '\\''; crate::high::f() }"),
            upwards(1)
        );
        assert_eq!(faults_of_mid("#[cfg(not(test))]\nuse crate::high::A;"), upwards(2));
        assert_eq!(faults_of_mid("#[cfg(any(test, fuzzing))]\nuse crate::high::A;"), [""; 0]);
    }

    #[test]
    fn a_file_that_is_for_tests_alone_may_import_what_it_wants() {
        let files = [
            ("lib.rs", "mod low; mod high;"),
            ("low/mod.rs", "#[cfg(test)]\nmod counted;\nmod other;"),
            ("low/counted.rs", "use crate::high::A;"),
            ("low/other.rs", "use crate::high::A;"),
            ("high.rs", ""),
        ];
        assert_eq!(
            faults(&files, &[&["low"], &["high"]]),
            ["low/other.rs:1: `low` imports `high`, which is not below it"]
        );
    }

    #[test]
    fn parts_of_a_module_can_have_layers_of_their_own() {
        let files = [
            ("lib.rs", "mod model;"),
            ("model/mod.rs", "mod stacks; mod names; use names::A; fn f() { stacks::g() }"),
            ("model/stacks.rs", "use super::names::A;\nuse super::Model;"),
            ("model/names.rs", "fn f() { crate::model::stacks::g() }"),
        ];
        let order: &[&[&str]] = &[&["model::names"], &["model::stacks"], &["model"]];
        assert_eq!(
            faults(&files, order),
            [
                "model/names.rs:1: `model::names` imports `model::stacks`, which is not below it",
                "model/stacks.rs:2: `model::stacks` imports `model`, which is not below it",
            ]
        );
        // The parent imports its children, too.
        let order: &[&[&str]] = &[&["model"], &["model::names"], &["model::stacks"]];
        assert_eq!(faults(&files, order).len(), 3, "two children, and names of stacks");
    }

    #[test]
    fn a_module_that_is_forgotten_or_gone_is_a_fault() {
        let files = [
            ("lib.rs", "mod low; mod new; pub struct Root;"),
            ("low.rs", "use crate::Root;"),
            ("new.rs", ""),
        ];
        assert_eq!(
            faults(&files, &[&["low"], &["old"]]),
            [
                "`lib` is not in the order",
                "`new` is not in the order",
                "`old` is in the order, but is no module"
            ]
        );
    }

    #[test]
    fn what_is_listed_as_not_yet_true_must_be_untrue() {
        let dir = std::env::temp_dir().join(format!("layers-listed-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("lib.rs"), "mod low; mod high;").unwrap();
        fs::write(dir.join("low.rs"), "use crate::high::A;").unwrap();
        fs::write(dir.join("high.rs"), "").unwrap();
        let order: &[&[&str]] = &[&["low"], &["high"]];
        assert_order(&dir, order, &[("low", "high")]);
        let fails = |listed: &'static [(&str, &str)]| {
            let dir = dir.clone();
            std::panic::catch_unwind(move || assert_order(&dir, order, listed)).is_err()
        };
        let found = (fails(&[]), fails(&[("low", "high"), ("high", "low")]));
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(found, (true, true));
    }
}
