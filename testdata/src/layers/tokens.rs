//! Splits a Rust source into tokens, without comments, strings and characters. A path in a string
//! of an attribute, such as `serialize_with = "crate::a::b"`, counts as code.

/// A word or a sign of a source, and its line, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub text: &'t str,
    pub line: usize,
}

/// Returns the tokens of a source: words, `::`, and each other sign by itself.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut rest = text;
    let mut found = Vec::new();
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (len, is_token) = match first {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            '/' if rest.starts_with("/*") => (comment(rest), false),
            '"' if names_a_function(&found) => {
                let len = string(rest);
                let path = tokens(rest.get(1..len - 1).unwrap_or_default());
                found.extend(path.into_iter().map(|token| Token { line, ..token }));
                (len, false)
            }
            '"' => (string(rest), false),
            'r' | 'b' | 'c' if raw_hashes(rest).is_some() => (raw_string(rest), false),
            '\'' => (character(rest), false),
            ':' if rest.starts_with("::") => (2, true),
            _ if is_word(first) => (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), true),
            _ => (first.len_utf8(), !first.is_whitespace()),
        };
        let (token, after) = rest.split_at(len);
        if is_token {
            found.push(Token { text: token, line });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    found
}

/// Returns whether a string that follows these tokens is a path to a function, which a macro of
/// serde calls.
fn names_a_function(before: &[Token<'_>]) -> bool {
    let names = ["serialize_with", "deserialize_with", "skip_serializing_if", "with"];
    matches!(before, [.., name, sign] if sign.text == "=" && names.contains(&name.text))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length in bytes of the block comment at the start of the text. Block comments nest.
fn comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        match (rest.starts_with(b"/*"), rest.starts_with(b"*/")) {
            (true, _) => (depth, at) = (depth + 1, at + 2),
            (_, true) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the number of hashes of the raw string at the start of the text (`r"`, `r#"`, `br##"`),
/// and the index at which its content begins.
fn raw_hashes(text: &str) -> Option<(usize, usize)> {
    let after = text.trim_start_matches(['b', 'c']);
    let after = after.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then(|| (hashes, text.len() - after.len() + hashes + 1))
}

fn raw_string(text: &str) -> usize {
    let Some((hashes, begin)) = raw_hashes(text) else { return 1 };
    let end = format!("\"{}", "#".repeat(hashes));
    text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len())
}

/// Returns the length of the character literal at the start of the text, such as `'a'`, or 1 for a
/// lifetime, such as `'a`.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
            chars.find(|(_, c)| *c == '\'').map_or(text.len(), |(at, _)| at + 1)
        }
        Some((at, c)) if text[at + c.len_utf8()..].starts_with('\'') => at + c.len_utf8() + 1,
        _ => 1,
    }
}
