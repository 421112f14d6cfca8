//! What events are called.

use super::CatalogEvent;
use std::borrow::Cow;

/// The name of an event type, without its provider, as all outputs have it: of the runtime's own events the
/// catalog's, such as `GC/Start`; of others the stream's, where one that ends in Start or Stop, and has no other
/// opcode, is divided there: `Request/Start` of `RequestStart`. `None` if the stream gives no name, or only the
/// id in words, and the catalog has none.
///
/// `opcode` is the one that the stream stores with the type.
pub fn event_name<'n>(
    name: &'n str,
    id: u32,
    opcode: Option<u8>,
    catalog: Option<&'static CatalogEvent>,
) -> Option<Cow<'n, str>> {
    // Writers of version 6 that know only the id have to say something: `Unknown(10)`.
    let number = name.strip_prefix("Unknown(").and_then(|rest| rest.strip_suffix(')'));
    if name.is_empty() || catalog.is_some() && number.is_some_and(|number| number.parse() == Ok(id)) {
        return catalog.map(|known| known.name).filter(|name| !name.is_empty()).map(Cow::Borrowed);
    }
    for (ending, of_ending) in [("Start", 1), ("Stop", 2)] {
        let stem_len = name.len().checked_sub(ending.len()).filter(|len| *len > 0);
        let split = stem_len.and_then(|len| name.split_at_checked(len));
        if let Some((stem, _)) = split.filter(|(_, end)| end.eq_ignore_ascii_case(ending))
            && opcode.unwrap_or(of_ending) == of_ending
        {
            return Some(Cow::Owned(format!("{}/{ending}", stem.strip_suffix('/').unwrap_or(stem))));
        }
    }
    Some(Cow::Borrowed(name))
}
