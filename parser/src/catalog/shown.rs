//! Names of events for display.

use super::CatalogEvent;
use std::borrow::Cow;

/// Returns the display name of an event type, without its provider: the stream's name, or the
/// catalog's (such as `GC/Start`) if the stream has no usable name. `None` if neither has
/// one. A stream's name that ends in Start or Stop is split there (`RequestStart` becomes
/// `Request/Start`), unless `opcode`, which the stream stores with the type, contradicts.
pub fn event_name<'n>(
    name: &'n str,
    id: u32,
    opcode: Option<u8>,
    catalog: Option<&'static CatalogEvent>,
) -> Option<Cow<'n, str>> {
    if name.is_empty() || catalog.is_some() && is_unnamed(name, id) {
        return catalog.map(|known| known.name).filter(|name| !name.is_empty()).map(Cow::Borrowed);
    }
    for (ending, implied) in [("Start", 1), ("Stop", 2)] {
        let stem_len = name.len().checked_sub(ending.len()).filter(|len| *len > 0);
        let split = stem_len.and_then(|len| name.split_at_checked(len));
        if let Some((stem, _)) = split.filter(|(_, end)| end.eq_ignore_ascii_case(ending))
            && opcode.unwrap_or(implied) == implied
        {
            return Some(Cow::Owned(format!(
                "{}/{ending}",
                stem.strip_suffix('/').unwrap_or(stem)
            )));
        }
    }
    Some(Cow::Borrowed(name))
}

/// Returns whether a stream's name for an event type says nothing: it is empty or, because
/// version 6 requires a name, `Unknown(10)` for event 10.
pub(super) fn is_unnamed(name: &str, id: u32) -> bool {
    let number = name.strip_prefix("Unknown(").and_then(|rest| rest.strip_suffix(')'));
    name.is_empty() || number.is_some_and(|number| number.parse() == Ok(id))
}
