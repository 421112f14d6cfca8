//! Counts lines of code and functions, from the tokens of files.

use super::source::{File, Tree, folder_of_modules, is_for_tests};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct Counts {
    pub(super) source: usize,
    pub(super) tests: usize,
    pub(super) functions: Vec<Function>,
}

pub(super) struct Function {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    pub(super) name: String,
    /// Number of lines with code, from `fn` to the closing brace.
    pub(super) lines: usize,
    pub(super) test: bool,
}

pub(super) fn count(tree: &Tree) -> Counts {
    let seen: Vec<_> =
        tree.0.iter().map(|(path, file)| (path, file, Seen::read(path, file))).collect();
    // Paths without endings, such as `src/a/tests` for `#[cfg(test)] mod tests;` in `src/a.rs`.
    // They mean the file or the folder.
    let tests: BTreeSet<_> = seen.iter().flat_map(|(_, _, seen)| &seen.test_modules).collect();
    let mut counts = Counts::default();
    for (path, file, seen) in &seen {
        let all_is_test = path.starts_with("tests")
            || path.with_extension("").ancestors().any(|module| tests.contains(&module.to_owned()));
        let lines: Vec<_> = file.text.lines().collect();
        let is_blank = |line: usize| lines.get(line - 1).is_none_or(|l| l.trim().is_empty());
        let is_test = |line: usize| all_is_test || seen.tests.contains(&line);
        for line in seen.code.iter().copied().filter(|line| !is_blank(*line)) {
            *(if is_test(line) { &mut counts.tests } else { &mut counts.source }) += 1;
        }
        for (name, first, last) in &seen.functions {
            let lines = seen.code.range(first..=last).filter(|line| !is_blank(**line)).count();
            let (file, test) = (path.to_path_buf(), is_test(*first));
            counts.functions.push(Function { file, line: *first, name: name.clone(), lines, test });
        }
    }
    counts
}

/// Line numbers of a file, which count from 1, grouped by what the lines contain.
#[derive(Default)]
struct Seen {
    code: BTreeSet<usize>,
    /// Those lines of `code` that belong to tests.
    tests: BTreeSet<usize>,
    /// Names of functions, with their first and last lines.
    functions: Vec<(String, usize, usize)>,
    /// Paths, without file extensions, of modules that belong to tests.
    test_modules: Vec<PathBuf>,
}

impl Seen {
    fn read(path: &Path, file: &File) -> Self {
        let mut seen = Self::default();
        seen.walk(&file.tokens, false, &folder_of_modules(path));
        seen
    }

    fn mark(&mut self, span: Span, test: bool) {
        let lines = span.start().line..=span.end().line;
        if test {
            self.tests.extend(lines.clone());
        }
        self.code.extend(lines);
    }

    /// Notes the tokens of a file or between two brackets. `test` says whether all of them are test
    /// code.
    fn walk(&mut self, stream: &TokenStream, mut test: bool, folder: &Path) {
        let tokens: Vec<_> = stream.clone().into_iter().collect();
        let mut at = 0;
        // Index after the item of the last `cfg(test)`.
        let mut test_until = 0;
        while let Some(token) = tokens.get(at) {
            let in_test = test || at < test_until;
            if let Some((words, inner, next)) = attribute(&tokens, at) {
                if is_cfg_for_tests(&words) {
                    if inner {
                        test = true;
                    } else {
                        test_until = test_until.max(end_of_item(&tokens, next));
                        self.note_test_module(&tokens[next..test_until], folder);
                    }
                }
                if !is_documentation(&words) {
                    let in_test = test || at < test_until;
                    tokens[at..next].iter().for_each(|token| self.mark(token.span(), in_test));
                }
                at = next;
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    self.mark(group.span_open(), in_test);
                    self.mark(group.span_close(), in_test);
                    self.walk(&group.stream(), in_test, folder);
                }
                TokenTree::Ident(word) => {
                    self.mark(word.span(), in_test);
                    if word == "fn" {
                        self.note_function(&tokens[at..]);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.mark(token.span(), in_test),
            }
            at += 1;
        }
    }

    /// Notes a function `fn NAME … { … }`. The type `fn(…)` and a declaration without a body are no
    /// functions.
    fn note_function(&mut self, tokens: &[TokenTree]) {
        let [keyword, TokenTree::Ident(name), rest @ ..] = tokens else { return };
        let body = rest.iter().find(|token| is_brace(token) || is_punct(token, ';'));
        if let Some(TokenTree::Group(body)) = body {
            let (first, last) = (keyword.span().start().line, body.span_close().end().line);
            self.functions.push((name.to_string(), first, last));
        }
    }

    /// Notes the file of a test module that is declared as `mod NAME;`.
    fn note_test_module(&mut self, item: &[TokenTree], folder: &Path) {
        if let [.., TokenTree::Ident(keyword), TokenTree::Ident(name), end] = item
            && keyword == "mod"
            && is_punct(end, ';')
        {
            self.test_modules.push(folder.join(name.to_string()));
        }
    }
}

/// Returns the tokens of the attribute at index `at`, whether it is an inner one (`#![…]`), and the
/// index after it.
fn attribute(tokens: &[TokenTree], at: usize) -> Option<(TokenStream, bool, usize)> {
    if !is_punct(tokens.get(at)?, '#') {
        return None;
    }
    let inner = is_punct(tokens.get(at + 1)?, '!');
    let at = at + 1 + usize::from(inner);
    match tokens.get(at)? {
        TokenTree::Group(words) if words.delimiter() == Delimiter::Bracket => {
            Some((words.stream(), inner, at + 1))
        }
        _ => None,
    }
}

/// Returns whether an attribute is `cfg(test)`, or another condition that only tests satisfy.
fn is_cfg_for_tests(attribute: &TokenStream) -> bool {
    let tokens: Vec<_> = attribute.clone().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(cfg), TokenTree::Group(condition)] if cfg == "cfg" => {
            is_for_tests(&condition.stream())
        }
        _ => false,
    }
}

/// Returns whether an attribute is `doc = "…"`, which a comment `/// …` becomes.
fn is_documentation(attribute: &TokenStream) -> bool {
    let tokens: Vec<_> = attribute.clone().into_iter().collect();
    matches!(&tokens[..], [TokenTree::Ident(doc), _, TokenTree::Literal(_)] if doc == "doc")
}

/// Returns the index after the item, statement, field, variant or arm at index `at`.
fn end_of_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some((_, _, next)) = attribute(tokens, at) {
        at = next;
    }
    if matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == "pub") {
        at += 1;
        at += usize::from(matches!(tokens.get(at), Some(TokenTree::Group(_))));
    }
    // Commas between the generics of an item do not end it.
    let is_item = matches!(tokens.get(at), Some(TokenTree::Ident(word)) if ITEMS.contains(&word.to_string().as_str()));
    let ends = |token: &TokenTree| {
        is_brace(token) || is_punct(token, ';') || (!is_item && is_punct(token, ','))
    };
    let rest = tokens.get(at..).unwrap_or_default();
    at + rest.iter().position(ends).map_or(rest.len(), |last| last + 1)
}

/// The keywords with which an item begins.
const ITEMS: [&str; 14] = [
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "unsafe",
    "use",
];

fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

fn is_brace(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)]) -> [usize; 2] {
        let counts = count(&Tree::from_texts(files));
        [counts.source, counts.tests]
    }

    #[test]
    fn comments_documentation_and_blank_lines_are_no_code() {
        let text = "//! About.\n\nuse a::b;\n\n/// A thing.\nfn f() {\n    // Why.\n    g(); /* so\n    */\n}\n";
        assert_eq!(lines(&[("src/lib.rs", text)]), [4, 0]);
    }

    #[test]
    fn a_text_of_several_lines_is_code_where_it_has_some() {
        assert_eq!(lines(&[("src/lib.rs", "const A: &str = \"a\n\n// b\n\";")]), [3, 0]);
    }

    #[test]
    fn what_tests_alone_have_is_test_code() {
        let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\nstruct A {\n    #[cfg(test)]\n    a: u8,\n    b: u8,\n}\n";
        assert_eq!(lines(&[("src/lib.rs", text)]), [4, 6]);
        assert_eq!(
            lines(&[("src/lib.rs", "#[cfg(test)]\nfn f<A, B>(\n) {\n}\nfn g() {}")]),
            [1, 4]
        );
        assert_eq!(lines(&[("src/a.rs", "#![cfg(test)]\nfn f() {}")]), [0, 2]);
        assert_eq!(lines(&[("tests/all.rs", "fn f() {}")]), [0, 1]);
    }

    #[test]
    fn files_of_a_test_module_are_test_code() {
        let files = [
            ("src/a.rs", "#[cfg(test)]\nmod checks;\nmod b;"),
            ("src/a/b.rs", "fn f() {}"),
            ("src/a/checks/mod.rs", "mod c;"),
            ("src/a/checks/c.rs", "fn f() {}"),
        ];
        assert_eq!(lines(&files), [2, 4]);
    }

    #[test]
    fn a_function_has_the_lines_of_code_up_to_its_brace() {
        let text = "type F = fn(u8) -> u8;\ntrait T { fn no_body(&self); }\n/// About.\nfn f(\n    a: u8,\n) {\n    // Why.\n\n    fn inner() {}\n}\n";
        let counts = count(&Tree::from_texts(&[("src/lib.rs", text)]));
        let found: Vec<_> =
            counts.functions.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
        assert_eq!(found, [("f", 4, 5), ("inner", 9, 1)]);
    }
}
