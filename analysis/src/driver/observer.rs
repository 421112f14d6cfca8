//! Observers, which receive events of a pass beside the analysis.

use crate::model::{Model, Moment};
use nettrace_parser::Event;

/// Receives events of a pass, in time order.
pub(crate) trait Observer {
    /// Returns whether the observer uses events at all. If so, the analysis counts the events that
    /// pass the filter.
    fn uses_events(&self) -> bool;

    /// Returns whether the observer wants events of this type. The answer must be the same for all
    /// events of a type, because only the first one is tested.
    fn wants(&self, event: &Event<'_>) -> bool;

    /// Receives the next event, after the model has learned from it. Events of types that the
    /// observer does not want may come, too.
    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model);
}

/// An observer that wants no events.
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
