//! Clears maps that every sequence point may clear.

use std::collections::HashMap;
use std::hash::BuildHasher;

/// Maximum capacity, in entries, that a map keeps however few entries it has.
const MAX_KEPT_CAPACITY: usize = 1024;

/// Removes all entries of a map. This takes time in proportion to the map's capacity, so a map
/// with far more capacity than entries gives it up. Otherwise a stream could cause that work
/// again and again, with a few bytes each time.
pub(crate) fn all<K, V, S: BuildHasher + Default>(map: &mut HashMap<K, V, S>) {
    if map.capacity() > MAX_KEPT_CAPACITY.max(map.len().saturating_mul(8)) {
        *map = HashMap::default();
    } else {
        map.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_was_large_once_gives_its_room_up_when_it_holds_little() {
        let mut map: HashMap<u64, u64> = (0..100_000).map(|id| (id, id)).collect();
        let room = map.capacity();
        all(&mut map);
        assert_eq!((map.len(), map.capacity()), (0, room), "a full map keeps its capacity");
        map.insert(1, 1);
        all(&mut map);
        assert!(map.is_empty() && map.capacity() <= MAX_KEPT_CAPACITY);
        map.extend((0..100).map(|id| (id, id)));
        let room = map.capacity();
        map.clear();
        map.insert(1, 1);
        all(&mut map);
        assert_eq!(map.capacity(), room, "a small map keeps its capacity");
    }
}
