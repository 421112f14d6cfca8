//! The fields by which a stop is matched with a start.

use std::ops::Deref;

/// Maximum number of fields of an event that are compared when a stop is matched with a start.
const MAX_KEYS: usize = 8;

/// Hashes of the names and values of an event's fields, at most [`MAX_KEYS`]. They lie in the start or
/// stop itself, because each has its own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EdgeKeys {
    rows: [(u64, u64); MAX_KEYS],
    count: usize,
}

impl EdgeKeys {
    /// Returns whether there is no room for another field.
    pub(super) fn is_full(&self) -> bool {
        self.count >= MAX_KEYS
    }

    /// Adds a field, if there is room.
    pub(super) fn push(&mut self, key: (u64, u64)) {
        if let Some(row) = self.rows.get_mut(self.count) {
            *row = key;
            self.count = self.count.saturating_add(1);
        }
    }
}

impl Deref for EdgeKeys {
    type Target = [(u64, u64)];

    fn deref(&self) -> &[(u64, u64)] {
        self.rows.get(..self.count).unwrap_or_default()
    }
}

#[cfg(test)]
impl FromIterator<(u64, u64)> for EdgeKeys {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(all: I) -> EdgeKeys {
        let mut keys = EdgeKeys::default();
        all.into_iter().for_each(|key| keys.push(key));
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_beyond_the_eighth_are_not_compared() {
        let keys: EdgeKeys = (0..20).map(|number| (number, number)).collect();
        assert!(keys.is_full() && !EdgeKeys::default().is_full());
        assert_eq!((keys.len(), keys.last()), (8, Some(&(7, 7))));
    }
}
