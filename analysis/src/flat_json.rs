//! JSON objects of texts and numbers, as loggers write them.

/// Maximum number of members that are read.
const MAX_MEMBERS: usize = 100;

/// Returns the members of an object with unescaped texts, up to the first whose value is an object
/// or array. The list is empty if the JSON is not an object.
pub(crate) fn members(json: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some(rest) = json.trim_start().strip_prefix('{') else { return found };
    let mut rest = rest.chars().peekable();
    while found.len() < MAX_MEMBERS {
        skip(&mut rest, |it| it.is_whitespace() || *it == ',');
        if rest.next() != Some('"') {
            break;
        }
        let Some(name) = text(&mut rest) else { break };
        skip(&mut rest, |it| it.is_whitespace() || *it == ':');
        let value = match rest.peek() {
            Some('"') => {
                rest.next();
                text(&mut rest)
            }
            Some('{' | '[') | None => None,
            _ => {
                let mut word = String::new();
                while let Some(it) = rest.next_if(|it| !matches!(it, ',' | '}')) {
                    word.push(it);
                }
                Some(word.trim_end().to_owned())
            }
        };
        let Some(value) = value else { break };
        found.push((name, value));
    }
    found
}

/// Reads the rest of a text after the opening quote.
fn text(rest: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => match rest.next()? {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'b' | 'f' => text.push(' '),
                'u' => {
                    let first = unit(rest)?;
                    let code = if (0xd800..0xdc00).contains(&first) {
                        // The second half of a surrogate pair follows.
                        if (rest.next()?, rest.next()?) != ('\\', 'u') {
                            return None;
                        }
                        let second = unit(rest)?.checked_sub(0xdc00)?;
                        let high = first.saturating_sub(0xd800).checked_mul(0x400)?;
                        high.checked_add(second)?.checked_add(0x1_0000)?
                    } else {
                        first
                    };
                    text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                it => text.push(it),
            },
            it => text.push(it),
        }
    }
}

/// Reads four hexadecimal digits.
fn unit(rest: &mut impl Iterator<Item = char>) -> Option<u32> {
    (0..4).try_fold(0_u32, |sum, _| sum.checked_mul(16)?.checked_add(rest.next()?.to_digit(16)?))
}

fn skip(rest: &mut std::iter::Peekable<impl Iterator<Item = char>>, is: impl Fn(&char) -> bool) {
    while rest.next_if(&is).is_some() {}
}

/// Returns the JSON of an object with these members.
pub(crate) fn object<'m>(members: impl Iterator<Item = (&'m str, &'m str)>) -> String {
    let mut json = String::from("{");
    for (at, (name, value)) in members.enumerate() {
        if at > 0 {
            json.push(',');
        }
        quote(&mut json, name);
        json.push(':');
        quote(&mut json, value);
    }
    json.push('}');
    json
}

fn quote(json: &mut String, text: &str) {
    use std::fmt::Write;
    json.push('"');
    for it in text.chars() {
        match it {
            '"' | '\\' => json.extend(['\\', it]),
            '\n' => json.push_str("\\n"),
            it if it.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(it));
            }
            it => json.push(it),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_without_escapes_and_written_with_them() {
        let json = r#" { "a" : "x\"y\\\n\u00e9\ud83d\ude00", "n":12.5 , "last":true}"#;
        let found = members(json);
        let found: Vec<_> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(found, [("a", "x\"y\\\né😀"), ("n", "12.5"), ("last", "true")]);
        let again = object(found.into_iter());
        assert_eq!(again, r#"{"a":"x\"y\\\né😀","n":"12.5","last":"true"}"#);
    }

    #[test]
    fn what_is_no_such_object_has_no_members() {
        for json in ["", "{", "[]", "{\"a\"", "{\"a\":\"", "{\"a\":{}}", "{\"a\":\"\\ud800x", "{}"]
        {
            assert!(members(json).is_empty(), "{json}");
        }
        assert_eq!(members(&"{\"a\":1,".repeat(10)).len(), 1);
    }
}
