//! Tells which events report what no event before them reported.

use super::about::About;
use super::{Model, ProcessHandle};
use crate::hash::HashMap;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// What events have reported so far.
///
/// A model that learns from the events that [`NewNames::is_new`] accepts has the same names as one that
/// learns from all events.
#[derive(Debug, Default)]
pub(crate) struct NewNames {
    model: Model,
    /// Payload that was last reported of each thing.
    reported: HashMap<(ProcessHandle, Topic, [u8; 8]), Box<[u8]>>,
}

/// What an event is about. Code is known by its addresses, everything else by the first bytes of the
/// payload, where events have the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Topic {
    /// A list of all methods, which means that methods in no list do not exist.
    List,
    /// A module, an assembly, or another thing of the runtime: number of the [`About`].
    Runtime(u8),
}

impl NewNames {
    /// Takes an event from which the model learns. Returns whether it reports something new.
    pub(crate) fn is_new(&mut self, event: &Event<'_>) -> bool {
        let process = self.model.process_of(event);
        let is_listed = event.known_provider() == KnownProvider::Rundown;
        let begin = event.payload().first_chunk().copied().unwrap_or_default();
        match About::from_event(event) {
            Some(About::Method) => {
                let is_known = self.model.knows_method(event);
                self.model.learn(event);
                let list = (process, Topic::List, [0; 8]);
                is_listed && self.reported.insert(list, Box::default()).is_none() || !is_known
            }
            Some(About::Module) if event.id() == 153 && !is_listed => {
                // An unload.
                self.reported.remove(&(process, Topic::Runtime(About::Module as u8), begin));
                true
            }
            Some(about) => self.is_other((process, Topic::Runtime(about as u8), begin), event),
            // Names of code at addresses that may overlap. A recorder repeats all of them.
            None => true,
        }
    }

    /// Returns whether an event reports something else than the last one about the same thing.
    fn is_other(&mut self, thing: (ProcessHandle, Topic, [u8; 8]), event: &Event<'_>) -> bool {
        let reported = self.reported.get(&thing);
        let is_other = reported.is_none_or(|reported| **reported != *event.payload());
        if is_other {
            self.reported.insert(thing, event.payload().into());
        }
        is_other
    }
}
