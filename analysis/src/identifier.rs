//! Recognition of identifiers in texts.

/// Returns whether a word is a GUID or another hexadecimal number: at least six characters, one of
/// them a digit.
pub(crate) fn is_identifier(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    digits.len() >= 6
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
}
