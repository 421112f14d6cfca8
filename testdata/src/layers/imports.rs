//! Finds the imports between the modules of a crate.

use super::tokens::{Token, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A place in the sources at which one module imports from another.
#[derive(Debug)]
pub(super) struct Import {
    /// Path of the file, relative to the folder of sources.
    pub file: String,
    pub line: usize,
    /// Paths of the two modules from the crate's root, such as `reader::run`.
    pub importer: String,
    pub imported: String,
}

/// The modules of a crate, and their imports of each other. Modules and imports of tests are left
/// out.
#[derive(Debug)]
pub(super) struct Tree {
    pub modules: BTreeSet<String>,
    pub imports: Vec<Import>,
}

/// A source file: its path, its module, and its text.
struct Source {
    file: String,
    module: Vec<String>,
    text: String,
}

pub(super) fn read(src: &Path) -> Tree {
    let mut sources = sources(src);
    // A module below one that is declared for tests is for tests, too.
    let mut for_tests = Vec::new();
    for source in &sources {
        let all = tokens(&source.text);
        let kept = without_tests(&all);
        let (all, kept) = (declared(&all), declared(&kept));
        for name in all.difference(&kept) {
            for_tests.push([source.module.clone(), vec![(*name).to_owned()]].concat());
        }
    }
    sources.retain(|source| !for_tests.iter().any(|module| source.module.starts_with(module)));

    let modules =
        sources.iter().filter(|s| !s.module.is_empty()).map(|s| s.module.join("::")).collect();
    let mut tree = Tree { modules, imports: Vec::new() };
    let mut exported = BTreeMap::new();
    for source in sources.iter().filter(|source| source.module.is_empty()) {
        exports(&source.text, &tree.modules, &mut exported);
    }
    for source in sources.iter().filter(|source| !source.module.is_empty()) {
        let all = tokens(&source.text);
        let paths = paths(&without_tests(&all), &source.module, &tree.modules);
        for (importer, path, line) in paths {
            let imported = lies_in(&path, &tree.modules, &exported);
            if imported != importer {
                tree.imports.push(Import { file: source.file.clone(), line, importer, imported });
            }
        }
    }
    tree
}

fn sources(src: &Path) -> Vec<Source> {
    let mut folders: Vec<PathBuf> = vec![src.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let below = path.strip_prefix(src).expect("it lies there").with_extension("");
                let mut module: Vec<String> = below
                    .components()
                    .map(|part| part.as_os_str().to_string_lossy().into_owned())
                    .collect();
                let file = format!("{}.rs", module.join("/"));
                if matches!(module.last().map(String::as_str), Some("mod"))
                    || ["lib.rs", "main.rs"].contains(&&*file)
                {
                    module.pop();
                }
                found.push(Source {
                    file,
                    module,
                    text: fs::read_to_string(&path).expect("a source"),
                });
            }
        }
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

/// Returns the names of the modules that are declared by `mod name;` or `mod name {`.
fn declared<'t>(tokens: &[Token<'t>]) -> BTreeSet<&'t str> {
    let is_mod = tokens
        .windows(3)
        .filter(|three| three[0].text == "mod" && ["{", ";"].contains(&three[2].text));
    is_mod.map(|three| three[1].text).collect()
}

/// Returns the tokens without items under `#[cfg(test)]`, `#[cfg(all(test, …))]` and
/// `#[cfg(any(test, …))]`.
fn without_tests<'t>(tokens: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.text == "#" && tokens.get(at + 1).is_some_and(|next| next.text == "[") {
            let end = closing(tokens, at + 1);
            let words: Vec<&str> = tokens[at..end].iter().map(|token| token.text).collect();
            if words.get(2) == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not") {
                at = end_of_item(tokens, end);
                continue;
            }
        }
        kept.push(*token);
        at += 1;
    }
    kept
}

/// Returns the index after the bracket that closes the bracket at index `at`.
fn closing(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Returns the index after an item: after its `;`, its braces, or the `,` or `}` that
/// follows a field or a variant.
fn end_of_item(tokens: &[Token<'_>], begin: usize) -> usize {
    let is_use =
        tokens[begin..].iter().find(|token| !["pub", "(", "crate", ")"].contains(&token.text));
    let is_use = is_use.is_some_and(|token| token.text == "use");
    let mut at = begin;
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" | "," => return at + 1,
            "}" => return at,
            "{" if !is_use => return closing(tokens, at),
            "(" | "[" | "{" => at = closing(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// Adds to `exported` the names that the crate's root re-exports, with their paths.
fn exports(text: &str, modules: &BTreeSet<String>, exported: &mut BTreeMap<String, Vec<String>>) {
    let all = tokens(text);
    let kept = without_tests(&all);
    for (at, _) in kept.iter().enumerate().filter(|(_, token)| token.text == "use") {
        let mut found = Vec::new();
        use_tree(&kept, at + 1, &[], &mut found);
        for (mut path, name, _) in found {
            if path.first().is_some_and(|first| first == "crate" || first == "self") {
                path.remove(0);
            }
            if path.first().is_some_and(|first| modules.contains(first)) {
                exported.insert(name, path);
            }
        }
    }
}

/// Returns all paths that begin with `crate`, `super`, `self` or a child module. Each of them comes
/// with the module that names it, its parts from the crate's root, and its line.
fn paths(
    tokens: &[Token<'_>],
    file_module: &[String],
    modules: &BTreeSet<String>,
) -> Vec<(String, Vec<String>, usize)> {
    let mut found = Vec::new();
    // Modules inside the file, with the depth of braces at which each ends.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map_or("", |token| token.text);
        let after = tokens.get(at + 1).map_or("", |token| token.text);
        let here: Vec<String> =
            file_module.iter().chain(inside.iter().map(|(name, _)| name)).cloned().collect();
        let mut tree = Vec::new();
        match token.text {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inside.retain(|(_, begin)| *begin <= depth);
            }
            "mod" if tokens.get(at + 2).is_some_and(|token| token.text == "{") => {
                inside.push((after.to_owned(), depth + 1));
                // The name is not a path.
                at += 1;
            }
            "use" => at = use_tree(tokens, at + 1, &[], &mut tree) - 1,
            text if after == "::" && before != "::" && is_name(text) => {
                at = use_tree(tokens, at, &[], &mut tree) - 1
            }
            _ => {}
        }
        for (path, _, line) in tree {
            if let Some(path) = from_root(&here, &path, modules) {
                found.push((here.join("::"), path, line));
            }
        }
        at += 1;
    }
    found
}

/// Returns the parts of a path, counted from the crate's root. Returns `None` if the path names
/// another crate, or an item of the module itself.
fn from_root(here: &[String], path: &[String], modules: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut base = here.to_vec();
    let mut parts = path.iter().peekable();
    match parts.peek()?.as_str() {
        "crate" => {
            base.clear();
            parts.next();
        }
        "self" => drop(parts.next()),
        "super" => {
            while parts.next_if(|part| *part == "super").is_some() {
                base.pop();
            }
        }
        child => {
            let child = [here, &[child.to_owned()]].concat().join("::");
            if !modules.contains(&child) {
                return None;
            }
        }
    }
    base.extend(parts.cloned());
    Some(base)
}

/// Reads a path or a tree of paths, such as `a::{b, c::d as e}`, from `at`, and returns the index
/// after it. Adds each path, with its name in the module and its line.
fn use_tree(
    tokens: &[Token<'_>],
    at: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, String, usize)>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut at = at;
    let mut line = 0;
    while let Some(token) = tokens.get(at) {
        line = token.line;
        match token.text {
            "{" => {
                let end = closing(tokens, at);
                at += 1;
                while at + 1 < end {
                    at = use_tree(tokens, at, &path, found);
                    at += 1;
                }
                return end.max(at);
            }
            "*" => {}
            "self" if !prefix.is_empty() => {}
            text if is_name(text) => path.push(text.to_owned()),
            _ => return at.max(1),
        }
        at += 1;
        if tokens.get(at).is_none_or(|next| next.text != "::") {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if tokens.get(at).is_some_and(|token| token.text == "as") {
        name = tokens.get(at + 1).map_or(name, |token| token.text.to_owned());
        at += 2;
    }
    if path.len() > prefix.len() || !prefix.is_empty() {
        found.push((path, name, line));
    }
    at
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the module that defines what a path names, counted from the root. That is `lib` if the
/// root itself defines it.
fn lies_in(
    path: &[String],
    modules: &BTreeSet<String>,
    exported: &BTreeMap<String, Vec<String>>,
) -> String {
    for len in (1..=path.len()).rev() {
        let module = path[..len].join("::");
        if modules.contains(&module) {
            return module;
        }
    }
    match path.first().and_then(|first| exported.get(first)) {
        Some(path) if path.first().is_some_and(|first| modules.contains(first)) => {
            lies_in(path, modules, exported)
        }
        _ => "lib".to_owned(),
    }
}
