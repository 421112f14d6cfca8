//! Groups messages that differ only in numbers and identifiers.

use crate::identifier::is_identifier;

/// Returns the text with each number and each hexadecimal identifier replaced by `#`.
///
/// For example, `round 12` and `round 13` both give `round #`.
pub(crate) fn group_of(message: &str) -> String {
    let mut group = String::with_capacity(message.len().min(MAX_BYTES));
    let mut rest = message;
    while !rest.is_empty() && group.len() <= MAX_BYTES {
        let begin = rest.bytes().position(|byte| byte.is_ascii_alphanumeric());
        let (between, words) = rest.split_at(begin.unwrap_or(rest.len()));
        let end = words.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'-');
        let (word, after) = words.split_at(end.unwrap_or(words.len()));
        group.push_str(between);
        add_word(word, &mut group);
        rest = after;
    }
    if group.len() > MAX_CHARACTERS
        && let Some((end, _)) = group.char_indices().nth(MAX_CHARACTERS)
    {
        group.truncate(end);
        group.push('…');
    }
    group
}

/// Length of a group, in bytes, from which on the rest of the message does not matter: it has more
/// than [`MAX_CHARACTERS`].
const MAX_BYTES: usize = 2000;
const MAX_CHARACTERS: usize = 200;

/// Adds a word of letters, digits and hyphens.
fn add_word(word: &str, group: &mut String) {
    if !word.bytes().any(|byte| byte.is_ascii_digit()) {
        return group.push_str(word);
    }
    let trimmed = word.trim_end_matches('-');
    if is_identifier(trimmed) {
        group.push('#');
    } else {
        let mut was_digit = false;
        for character in trimmed.chars() {
            let is_digit = character.is_ascii_digit();
            match (is_digit, was_digit) {
                (false, _) => group.push(character),
                (true, false) => group.push('#'),
                (true, true) => {}
            }
            was_digit = is_digit;
        }
    }
    group.push_str(word.get(trimmed.len()..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_identifiers_are_one_group() {
        for (message, group) in [
            ("round 12", "round #"),
            ("round 7", "round #"),
            ("widget λ 0", "widget λ #"),
            ("a1b22c", "#"),
            ("item12x", "item#x"),
            ("at 0x7fa7e2884703, sorry", "at #, sorry"),
            ("id 00000000-1c10-0000-0000-00009ac69d59.", "id #."),
            ("well-known - yes", "well-known - yes"),
            ("-5 of 7- and abcdef-", "-# of #- and abcdef-"),
            ("", ""),
            ("1.5 s", "#.# s"),
        ] {
            assert_eq!(group_of(message), group, "{message}");
        }
    }

    #[test]
    fn a_long_message_is_cut() {
        assert_eq!(group_of(&"x ".repeat(100_000)).chars().count(), MAX_CHARACTERS + 1);
        assert!(group_of(&"é".repeat(100_000)).chars().count() <= MAX_CHARACTERS + 1);
    }
}
