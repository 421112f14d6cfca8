//! Names of events for display.

use super::CatalogEvent;
use std::borrow::Cow;

/// Returns the display name of an event type, without its provider; all outputs use it.
/// For the runtime's own events it is the catalog's name, such as `GC/Start`. For others
/// it is the stream's name; a name that ends in Start or Stop is split there
/// (`RequestStart` becomes `Request/Start`), unless its opcode says otherwise. `None` if
/// the stream has no name, or only `Unknown(ID)`, and the catalog has none.
///
/// `opcode` is the opcode that the stream stores with the type.
pub fn event_name<'n>(
    name: &'n str,
    id: u32,
    opcode: Option<u8>,
    catalog: Option<&'static CatalogEvent>,
) -> Option<Cow<'n, str>> {
    // Version 6 requires a name. Writers that only know the id use `Unknown(10)`.
    let number = name.strip_prefix("Unknown(").and_then(|rest| rest.strip_suffix(')'));
    if name.is_empty() || catalog.is_some() && number.is_some_and(|number| number.parse() == Ok(id))
    {
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
