//! Topics of the runtime events that the model learns from.

use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// What an event of the runtime, or of its rundown, is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum About {
    Method,
    /// The map from a method's code to its IL.
    IlMap,
    Module,
    Assembly,
    EntryPoint,
    Thread,
    Runtime,
}

impl About {
    /// Returns what an event is about; `None` if the model learns nothing from the event. The two
    /// providers use different ids: 154 is a module in a rundown, but an assembly in the runtime's
    /// own events.
    #[inline]
    pub(super) fn from_event(event: &Event<'_>) -> Option<About> {
        let is_rundown = match event.known_provider() {
            KnownProvider::Runtime => false,
            KnownProvider::Rundown => true,
            _ => return None,
        };
        Some(match (event.id(), is_rundown) {
            (141..=144, _) => About::Method,
            (190, false) | (149 | 150, true) => About::IlMap,
            (152 | 153, _) | (154, true) => About::Module,
            (154..=157, false) | (155..=158, true) => About::Assembly,
            (159, false) => About::EntryPoint,
            (85, false) | (159, true) => About::Thread,
            (187, _) => About::Runtime,
            _ => return None,
        })
    }
}
