//! Triggers of collections on a page: the stacks of calls for which the runtime collected.

use super::call_nodes::CallNodeColumns;
use crate::fact::thinned::Thinning;
use crate::html::Columns;
use crate::model::{Model, Resolved, StackHandle};
use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// The event `GC/Triggered` of the runtime.
const TRIGGERED: u32 = 35;
/// Maximum number of rows.
const MAX_ROWS: usize = 60_000;

/// Time and stack of each trigger of a collection.
#[derive(Debug, Default)]
pub(super) struct PageTriggers {
    rows: Vec<(i64, StackHandle)>,
    /// Time of the first trigger without a row.
    ends_nanos: Option<i64>,
}

impl PageTriggers {
    pub(super) fn wants(event: &Event<'_>) -> bool {
        event.id() == TRIGGERED && event.known_provider() == KnownProvider::Runtime
    }

    pub(super) fn add(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        if self.rows.len() < MAX_ROWS {
            self.rows.push((moment.nanos, model.recorded_stack_of(event, moment.thread)));
        } else {
            self.ends_nanos.get_or_insert(moment.nanos);
        }
    }

    pub(super) fn write(
        &self,
        resolved: &Resolved<'_>,
        nodes: &mut CallNodeColumns,
        columns: &mut Columns,
    ) {
        columns.add_steps("triggers.t", self.rows.iter().map(|(nanos, _)| *nanos));
        let leaf = |(_, stack): &(i64, StackHandle)| nodes.leaf(stack.0, resolved.frames(*stack));
        let leaves: Vec<u64> = self.rows.iter().map(leaf).map(u64::from).collect();
        columns.add("triggers.node", leaves);
    }

    /// Returns the time up to which there are rows; `None` if all triggers have one.
    pub(super) fn thinning(&self) -> Option<Thinning> {
        Some(Thinning::Until { nanos: self.ends_nanos? })
    }
}
