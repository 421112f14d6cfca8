//! What else sees the events of a pass.

use crate::model::{Model, Moment};
use nettrace_parser::Event;

/// Sees events of a pass, in time order.
pub(crate) trait Observer {
    /// Returns whether the observer uses events at all. If so, the analysis counts the events that
    /// pass the filter.
    fn uses_events(&self) -> bool;

    /// Returns whether the observer wants to see events of this type. It is called once for each
    /// type, so the answer may only depend on what all its events have in common.
    fn wants(&self, event: &Event<'_>) -> bool;

    /// Receives the next event; the model has already learned from it. Events of other types may
    /// come, too.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model);
}

/// An observer of nothing, for an analysis alone.
pub(super) struct Nobody;

impl Observer for Nobody {
    fn uses_events(&self) -> bool {
        false
    }

    fn wants(&self, _: &Event<'_>) -> bool {
        false
    }

    fn event(&mut self, _: &Event<'_>, _: &Moment, _: &mut Model) {}
}
