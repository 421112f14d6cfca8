//! Groups messages that differ only in numbers and identifiers.

use crate::identifier::is_identifier;

/// Returns the text with each number and each hexadecimal identifier replaced by `#`.
///
/// For example, `round 12` and `round 13` both give `round #`.
pub(crate) fn group_of(message: &str) -> String {
    let mut group = String::with_capacity(message.len().min(MAX_BYTES));
    let mut word = String::new();
    for character in message.chars() {
        if character.is_ascii_alphanumeric() || (character == '-' && !word.is_empty()) {
            word.push(character);
        } else {
            flush(&mut word, &mut group);
            group.push(character);
        }
        if group.len() > MAX_BYTES {
            break;
        }
    }
    flush(&mut word, &mut group);
    if let Some((end, _)) = group.char_indices().nth(MAX_CHARACTERS) {
        group.truncate(end);
        group.push('…');
    }
    group
}

const MAX_BYTES: usize = 2000;
const MAX_CHARACTERS: usize = 200;

fn flush(word: &mut String, group: &mut String) {
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
    group.extend(word.chars().skip(trimmed.len()));
    word.clear();
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
