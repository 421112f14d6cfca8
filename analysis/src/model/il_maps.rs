//! Maps from the native code of methods to their IL, which tell the line of an address.
//!
//! | bytes of runtime event 190 and rundown events 149, 150 | what |
//! |---|---|
//! | 0 | id of the method |
//! | 8 | version of the code: the ReJIT id of its method events |
//! | 16 | part of the method |
//! | 17 | number of entries, of 2 bytes |
//! | 19 | IL offset of each entry, of 4 bytes, then the offset in the native code of each |
//!
//! Entries are not sorted. A method has one map for each version of its code; the rundown at the end
//! of a session repeats them. In version 0 of these events (.NET Core 3.1; .NET 8 writes version 1), the
//! version of the code is always 0: it is that of the method's event before them, in a rundown of
//! the one after them.

use super::methods::MethodCode;
use crate::hash::HashMap;
use nettrace_parser::unstable::take_first;

/// First of the IL offsets that stand for no IL: prologs, epilogs and code without a place.
const FIRST_SPECIAL: u32 = 0xffff_fff0;

/// A place in native code, and the IL from which the code after it was compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct IlPlace {
    native_offset: u32,
    il_offset: u32,
}

/// The map of a version of a method's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IlMap {
    /// Time of the report, in ticks.
    since: u64,
    /// Places with IL, sorted.
    places: Box<[IlPlace]>,
}

impl IlMap {
    /// Returns the IL offset of the code at an offset. The prolog belongs to the first IL, and an
    /// epilog to the IL before it.
    pub(crate) fn il_offset(&self, native_offset: u64) -> u32 {
        let after =
            self.places.partition_point(|place| u64::from(place.native_offset) <= native_offset);
        let before = after.checked_sub(1).and_then(|at| self.places.get(at));
        before.map_or(0, |place| place.il_offset)
    }
}

/// Maximum number of methods that are loaded between a method and its map: there is one for each
/// thread that compiles.
const MAX_LOADED_BETWEEN: usize = 64;

/// The maps of a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct IlMaps {
    /// Maps by the method's id and the version of its code, in the order of their reports. There is
    /// more than one only if the id was reused.
    of_code: HashMap<(u64, u64), Vec<IlMap>>,
    /// Map of a rundown whose version of the code the next method event tells, and its method's id.
    unclaimed: Option<(u64, IlMap)>,
}

impl IlMaps {
    /// Takes the payload of an event. Returns `None` if it is cut off.
    pub(crate) fn learn(&mut self, payload: &[u8], ticks: u64) -> Option<()> {
        let (code, map) = parse(payload, ticks)?;
        self.add(code, map);
        Some(())
    }

    /// Takes the payload of an event of version 0, which follows the event of the method's code; `codes`
    /// has the code up to then. Returns `None` if it is cut off.
    pub(super) fn learn_of_last(
        &mut self,
        payload: &[u8],
        ticks: u64,
        codes: &[MethodCode],
    ) -> Option<()> {
        let ((method_id, version), map) = parse(payload, ticks)?;
        let mut last = codes.iter().rev().take(MAX_LOADED_BETWEEN);
        let code = last.find(|code| code.method_id == method_id);
        self.add((method_id, code.map_or(version, |code| code.rejit_id)), map);
        Some(())
    }

    /// Takes the payload of a rundown event of version 0, which precedes the event of the method's
    /// code. Returns `None` if it is cut off.
    pub(super) fn hold(&mut self, payload: &[u8], ticks: u64) -> Option<()> {
        let ((method_id, _), map) = parse(payload, ticks)?;
        self.unclaimed = Some((method_id, map));
        Some(())
    }

    /// Returns whether the next method event of a rundown tells to which code a map belongs.
    pub(super) fn holds_one(&self) -> bool {
        self.unclaimed.is_some()
    }

    /// Gives the map that is held to a version of a method's code, if it is of the method.
    pub(super) fn claim(&mut self, method_id: u64, version: u64) {
        if let Some((_, map)) = self.unclaimed.take().filter(|(of, _)| *of == method_id) {
            self.add((method_id, version), map);
        }
    }

    fn add(&mut self, code: (u64, u64), map: IlMap) {
        let known = self.of_code.entry(code).or_default();
        if known.last().is_none_or(|last| last.places != map.places) {
            known.push(map);
        }
    }

    /// Returns the map of a version of a method's code at a time, or else the first one.
    pub(crate) fn find(&self, method_id: u64, version: u64, ticks: u64) -> Option<&IlMap> {
        let maps = self.of_code.get(&(method_id, version))?;
        let after = maps.partition_point(|map| map.since <= ticks);
        maps.get(after.saturating_sub(1))
    }
}

/// Returns the method's id and the version of its code, and the map; `None` if the payload is cut off.
fn parse(payload: &[u8], ticks: u64) -> Option<((u64, u64), IlMap)> {
    let mut bytes = payload;
    let (method_id, version): (u64, u64) = (take_first(&mut bytes)?, take_first(&mut bytes)?);
    let _part: u8 = take_first(&mut bytes)?;
    let count: u16 = take_first(&mut bytes)?;
    let size = usize::from(count).checked_mul(4)?;
    let (il, native) = (bytes.get(..size)?, bytes.get(size..size.checked_mul(2)?)?);
    let place = |(mut il, mut native): (&[u8], &[u8])| {
        Some(IlPlace { native_offset: take_first(&mut native)?, il_offset: take_first(&mut il)? })
    };
    let places = il.chunks_exact(4).zip(native.chunks_exact(4)).filter_map(place);
    let mut places: Box<[IlPlace]> =
        places.filter(|place| place.il_offset < FIRST_SPECIAL).collect();
    places.sort_unstable();
    Some(((method_id, version), IlMap { since: ticks, places }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(method_id: u64, version: u64, il: &[u32], native: &[u32]) -> Vec<u8> {
        let mut bytes = [method_id.to_le_bytes(), version.to_le_bytes()].concat();
        bytes.push(0);
        bytes.extend((il.len() as u16).to_le_bytes());
        bytes.extend(il.iter().chain(native).flat_map(|number| number.to_le_bytes()));
        bytes
    }

    #[test]
    fn code_belongs_to_the_nearest_il_before_it() {
        let mut maps = IlMaps::default();
        let event =
            payload(7, 1, &[20, u32::MAX - 1, 3, u32::MAX - 2, u32::MAX], &[40, 0, 8, 60, 9]);
        maps.learn(&event, 5).unwrap();
        let map = maps.find(7, 1, 0).unwrap();
        let found = [0, 7, 8, 39, 40, 100].map(|offset| map.il_offset(offset));
        assert_eq!(found, [0, 0, 3, 3, 20, 20]);
        assert_eq!((maps.find(7, 0, 9), maps.find(8, 1, 9)), (None, None));
    }

    #[test]
    fn a_map_that_is_reported_again_is_kept_once_and_a_reused_id_means_the_one_of_the_time() {
        let mut maps = IlMaps::default();
        for (ticks, il) in [(10, 1), (20, 1), (30, 2)] {
            maps.learn(&payload(7, 0, &[il], &[0]), ticks).unwrap();
        }
        let at = |ticks| maps.find(7, 0, ticks).unwrap().il_offset(0);
        assert_eq!([0, 10, 29, 30].map(at), [1, 1, 1, 2]);
        assert_eq!(maps.of_code[&(7, 0)].len(), 2);
    }

    #[test]
    fn a_map_that_does_not_tell_its_code_belongs_to_the_next_event_if_that_is_of_its_method() {
        let mut maps = IlMaps::default();
        for (of_map, of_event) in [(7, 7), (8, 9)] {
            maps.hold(&payload(of_map, 0, &[1], &[0]), 5).unwrap();
            assert!(maps.holds_one());
            maps.claim(of_event, 3);
            assert!(!maps.holds_one());
        }
        maps.claim(7, 4);
        assert_eq!(maps.of_code.keys().collect::<Vec<_>>(), [&(7, 3)]);
    }

    #[test]
    fn a_map_that_is_cut_off_is_not_used() {
        let event = payload(7, 0, &[1, 2], &[3, 4]);
        for length in 0..event.len() {
            assert_eq!(IlMaps::default().learn(&event[..length], 0), None, "{length}");
        }
    }
}
