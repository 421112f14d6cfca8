//! Names of events for display.

/// Returns a name that ends in Start or Stop split there (`Request/Start` for `RequestStart`);
/// `None` for other names, and if the opcode that the stream stores with the type contradicts.
pub(crate) fn split_name(name: &str, opcode: Option<u8>) -> Option<Box<str>> {
    [("Start", 1), ("Stop", 2)].into_iter().find_map(|(ending, implied)| {
        let stem_len = name.len().checked_sub(ending.len()).filter(|len| *len > 0)?;
        let (stem, end) = name.split_at_checked(stem_len)?;
        if !end.eq_ignore_ascii_case(ending) || opcode.unwrap_or(implied) != implied {
            return None;
        }
        Some(format!("{}/{ending}", stem.strip_suffix('/').unwrap_or(stem)).into())
    })
}

/// Returns whether a stream's name for an event type says nothing: it is empty or, because
/// version 6 requires a name, `Unknown(10)` for event 10.
pub(crate) fn is_unnamed(name: &str, id: u32) -> bool {
    let number = name.strip_prefix("Unknown(").and_then(|rest| rest.strip_suffix(')'));
    name.is_empty() || number.is_some_and(|number| number.parse() == Ok(id))
}

#[cfg(test)]
mod tests {
    use super::split_name;

    #[test]
    fn a_name_is_split_before_start_and_stop_unless_the_opcode_contradicts() {
        let cases = [
            ("RequestStart", None, Some("Request/Start")),
            ("requeststop", None, Some("request/Stop")),
            ("Request/Stop", Some(2), Some("Request/Stop")),
            ("RequestStart", Some(0), None),
            ("Stop", None, None),
            ("Stopped", None, None),
            ("", None, None),
        ];
        for (name, opcode, expected) in cases {
            assert_eq!(split_name(name, opcode).as_deref(), expected, "{name} {opcode:?}");
        }
    }
}
