//! JSON whose objects have their members in the order of the names.

use serde::Serialize;
use std::ops::Range;

/// Returns a value as JSON, the members of each object sorted by name.
pub(crate) fn sorted_json(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(value).map(|text| sorted(&text))
}

/// An object or array whose end is not reached.
#[derive(Debug, Default)]
struct OpenValue {
    is_object: bool,
    /// Position in the output of its first byte behind the bracket.
    start: usize,
    /// Number of members that were there before those of the object.
    members_before: usize,
}

/// A member of an object, by its bytes in the output.
#[derive(Debug, Clone)]
struct Member {
    name: Range<usize>,
    end: usize,
}

/// Sorts the members of all objects of a compact JSON text.
fn sorted(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut above: Vec<OpenValue> = Vec::new();
    let mut open = OpenValue::default();
    let mut members: Vec<Member> = Vec::new();
    let mut scratch = Vec::new();
    // Whether the next text is a name.
    let mut is_name = false;
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        let length = if *byte == b'"' { length_of_text(rest) } else { 1 };
        let (piece, next) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        match byte {
            b'"' => {
                if is_name {
                    let start = out.len().saturating_add(1);
                    let name = start..out.len().saturating_add(length).saturating_sub(1);
                    members.push(Member { name, end: 0 });
                    is_name = false;
                }
                out.extend_from_slice(piece);
            }
            b'{' | b'[' => {
                out.push(*byte);
                let is_object = *byte == b'{';
                let new = OpenValue { is_object, start: out.len(), members_before: members.len() };
                above.push(std::mem::replace(&mut open, new));
                is_name = is_object;
            }
            b',' => {
                if open.is_object {
                    end_member(&mut members, out.len());
                }
                out.push(b',');
                is_name = open.is_object;
            }
            b'}' | b']' => {
                if open.is_object && members.len() > open.members_before {
                    end_member(&mut members, out.len());
                }
                let of = members.get_mut(open.members_before..).unwrap_or_default();
                sort_members(of, open.start, &mut out, &mut scratch);
                members.truncate(open.members_before);
                out.push(*byte);
                open = above.pop().unwrap_or_default();
                is_name = false;
            }
            _ => {
                let length = after
                    .iter()
                    .position(|byte| matches!(byte, b',' | b'}' | b']' | b'{' | b'[' | b'"'));
                let length = length.map_or(rest.len(), |length| length.saturating_add(1));
                let (piece, next) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                out.extend_from_slice(piece);
                rest = next;
                continue;
            }
        }
        rest = next;
    }
    out
}

fn end_member(members: &mut [Member], end: usize) {
    if let Some(member) = members.last_mut() {
        member.end = end;
    }
}

/// Sorts the members of an object, of which nothing but these follows in `out` after `start`.
fn sort_members(members: &mut [Member], start: usize, out: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    let is_sorted =
        members.is_sorted_by(|one, other| out.get(one.name.clone()) <= out.get(other.name.clone()));
    if is_sorted {
        return;
    }
    scratch.clear();
    scratch.extend_from_slice(out.get(start..).unwrap_or_default());
    let within = |range: Range<usize>| {
        scratch
            .get(range.start.saturating_sub(start)..range.end.saturating_sub(start))
            .unwrap_or_default()
    };
    members.sort_by(|one, other| within(one.name.clone()).cmp(within(other.name.clone())));
    out.truncate(start);
    for (place, member) in members.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(within(member.name.start.saturating_sub(1)..member.end));
    }
}

/// Returns the length of the text with which the bytes begin, quotes included.
fn length_of_text(bytes: &[u8]) -> usize {
    let mut is_escaped = true;
    let end = bytes.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(bytes.len(), |end| end.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_and_the_rest_stays() {
        let text =
            r#"{"b":[{"z":1,"a":{"y":[],"x":{}}},"{\"q\":1,",-1.5],"a\\":"\\","":null,"a":true}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(String::from_utf8(sorted(text.as_bytes())).unwrap(), value.to_string());
        for plain in ["[]", "{}", "null", "[1,[2,[3]],\"x\"]", "\"a\""] {
            assert_eq!(String::from_utf8(sorted(plain.as_bytes())).unwrap(), plain);
        }
    }
}
