//! What has been decided about the events of each type.

use nettrace_parser::Event;

/// Maximum number of metadata ids with a row. Each event of a type with a larger id is decided
/// anew.
const MAX_IDS: usize = 1 << 16;

/// Decisions by event type: the serial number of the type and the decision, by metadata id. The
/// serial number tells types with a reused id apart.
#[derive(Debug)]
pub(crate) struct ByType<T> {
    rows: Vec<(u64, T)>,
    none: T,
    /// Decision about the last event whose type has no row.
    other: Option<T>,
}

impl<T: Clone> ByType<T> {
    /// Creates an empty table. `none`: what fills the rows of types that have not been decided.
    pub(crate) const fn new(none: T) -> ByType<T> {
        ByType { rows: Vec::new(), none, other: None }
    }

    /// Returns the decision about the event's type, which `decide` makes at the first event.
    #[inline(always)]
    pub(crate) fn look_up(
        &mut self,
        event: &Event<'_>,
        decide: impl FnOnce(&Event<'_>) -> T,
    ) -> &T {
        let Some(metadata) = event.metadata() else { return self.other.insert(decide(event)) };
        let (id, serial) = (metadata.id as usize, metadata.serial());
        if self.rows.get(id).is_none_or(|(known, _)| *known != serial) {
            if id >= MAX_IDS {
                return self.other.insert(decide(event));
            }
            self.put(id, (serial, decide(event)));
        }
        self.rows.get(id).map_or(&self.none, |(_, decided)| decided)
    }

    #[cold]
    #[inline(never)]
    fn put(&mut self, id: usize, row: (u64, T)) {
        if id >= self.rows.len() {
            self.rows.resize(id.saturating_add(1), (0, self.none.clone()));
        }
        if let Some(place) = self.rows.get_mut(id) {
            *place = row;
        }
    }
}
