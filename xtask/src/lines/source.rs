//! Reads the sources of a crate as tokens, and recognises test code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fs, io};

/// Files of `src` and `tests`, by their paths in the crate.
pub(super) struct Tree(pub(super) BTreeMap<PathBuf, File>);

pub(super) struct File {
    pub(super) text: String,
    pub(super) tokens: TokenStream,
}

impl Tree {
    pub(super) fn read(krate: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for folder in ["src", "tests"] {
            if krate.join(folder).is_dir() {
                read(krate, Path::new(folder), &mut files)?;
            }
        }
        Ok(Self(files))
    }

    #[cfg(test)]
    pub(super) fn from_texts(files: &[(&str, &str)]) -> Self {
        let file = |text: &str| File::new(text.to_owned()).expect("a test's text is Rust");
        Self(files.iter().map(|(path, text)| (path.into(), file(text))).collect())
    }
}

fn read(krate: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, File>) -> io::Result<()> {
    for entry in fs::read_dir(krate.join(folder))? {
        let path = folder.join(entry?.file_name());
        if krate.join(&path).is_dir() {
            if !path.ends_with("generated") {
                read(krate, &path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = File::new(fs::read_to_string(krate.join(&path))?).map_err(|error| {
                io::Error::other(format!("{}: {error}", krate.join(&path).display()))
            })?;
            files.insert(path, file);
        }
    }
    Ok(())
}

impl File {
    fn new(text: String) -> Result<Self, proc_macro2::LexError> {
        Ok(Self { tokens: TokenStream::from_str(&text)?, text })
    }
}

/// Returns the folder with the modules that a file declares: `src/a/` for `src/a.rs` and for
/// `src/a/mod.rs`.
pub(super) fn folder_of_modules(file: &Path) -> PathBuf {
    match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") | None => file.with_file_name(""),
        Some(_) => file.with_extension(""),
    }
}

/// Returns whether the condition of a `cfg` cannot be true if neither `test` nor `fuzzing` is set.
pub(super) fn is_for_tests(condition: &TokenStream) -> bool {
    holds(condition) == Some(false)
}

/// Evaluates a condition with `test` and `fuzzing` not set. Returns `None` if it depends on
/// something else.
fn holds(condition: &TokenStream) -> Option<bool> {
    let mut tokens = condition.clone().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else { return None };
    let rest = match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group,
        None if name == "test" || name == "fuzzing" => return Some(false),
        _ => return None,
    };
    let parts = split_at_commas(rest.stream());
    let parts: Vec<_> = parts.iter().map(holds).collect();
    match name.to_string().as_str() {
        "not" => parts.first()?.map(|holds| !holds),
        "any" if parts.iter().all(|part| *part == Some(false)) => Some(false),
        "any" if parts.contains(&Some(true)) => Some(true),
        "all" if parts.contains(&Some(false)) => Some(false),
        "all" if parts.iter().all(|part| *part == Some(true)) => Some(true),
        _ => None,
    }
}

fn split_at_commas(stream: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in stream {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => parts.push(TokenStream::new()),
            token => parts.last_mut().expect("there is one").extend([token]),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_tests_and_fuzzers_alone_have_is_for_tests() {
        let is = |text: &str| is_for_tests(&TokenStream::from_str(text).expect("tokens"));
        for text in ["test", "all(test, unix)", "any(test, fuzzing)", "any(all(unix, test), test,)"]
        {
            assert!(is(text), "{text}");
        }
        for text in ["any(test, unix)", "not(test)", "unix", "feature = \"test\"", "not(unix)"] {
            assert!(!is(text), "{text}");
        }
    }
}
