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
}

impl<T: Clone> ByType<T> {
    /// Creates an empty table. `none`: what fills the rows of types that have not been decided.
    pub(crate) const fn new(none: T) -> ByType<T> {
        ByType { rows: Vec::new(), none }
    }

    /// Returns the decision about the event's type, which `decide` makes at the first event.
    #[inline]
    pub(crate) fn look_up(&mut self, event: &Event<'_>, decide: impl FnOnce(&Event<'_>) -> T) -> T {
        let Some(metadata) = event.metadata() else { return decide(event) };
        let (id, serial) = (metadata.id as usize, metadata.serial());
        match self.rows.get(id) {
            Some((known, decided)) if *known == serial => return decided.clone(),
            None if id < MAX_IDS => self.rows.resize(id.saturating_add(1), (0, self.none.clone())),
            _ => {}
        }
        let decided = decide(event);
        if let Some(row) = self.rows.get_mut(id) {
            *row = (serial, decided.clone());
        }
        decided
    }
}
