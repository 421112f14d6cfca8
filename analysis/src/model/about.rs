//! Topics of the runtime events that the model learns from.

use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// What the model learns from the events of a type, which is decided once for the type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LearnTopic {
    /// Only their threads and processes.
    Nothing,
    /// Code, threads or the version of a runtime.
    Runtime(About),
    /// What the recorder of an operating system tells of a process.
    Recorded,
    /// The name of a process.
    Process,
    /// The form of the paths in activity ids.
    PathForm,
}

impl LearnTopic {
    /// Returns what the model learns from events of the event's type.
    pub(crate) fn of_type(event: &Event<'_>) -> LearnTopic {
        match event.known_provider() {
            KnownProvider::Runtime | KnownProvider::Rundown => {
                About::from_event(event).map_or(LearnTopic::Nothing, LearnTopic::Runtime)
            }
            KnownProvider::UniversalSystem => LearnTopic::Recorded,
            KnownProvider::EventPipe => LearnTopic::Process,
            KnownProvider::DiagnosticSource
            | KnownProvider::Logging
            | KnownProvider::Other
            | KnownProvider::Tasks => LearnTopic::PathForm,
            _ => LearnTopic::Nothing,
        }
    }
}

/// What an event of the runtime, or of its rundown, is about, if the model learns from it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About {
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
