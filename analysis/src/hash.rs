//! Hash maps. They are faster than the standard ones, and a trace cannot attack them: each process
//! and each map has a random seed, so a file cannot contain keys that all collide. Therefore the
//! order of the keys differs from run to run, so no output may depend on it.

pub(crate) use foldhash::fast::RandomState;

use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

/// A map with a fast hash.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
/// A set with a fast hash.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// Returns a hash, which is the same for equal values until the process ends.
pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    STATE.hash_one(value)
}
