//! Reads the heap dump that a converter shows.

use super::{Convert, ConvertError, ConvertOptions};
use crate::heap::{HeapDump, HeapReader};
use crate::model::{Kind, Model, Profile, Resolved, ThreadHandle};
use nettrace_parser::Event;

/// Returns a converter that reads events of heap dumps, and at the end calls `write` for the dump that
/// [`ConvertOptions::dump`] chooses.
pub(super) fn of_heap_dump<'o>(
    options: &ConvertOptions,
    write: impl FnOnce(HeapDump, &Resolved<'_>) -> Result<(), ConvertError> + Send + 'o,
) -> Box<dyn Convert + 'o> {
    Box::new(OfHeapDump { heap: HeapReader::default(), dump: options.dump, write })
}

struct OfHeapDump<W> {
    heap: HeapReader,
    dump: Option<usize>,
    write: W,
}

impl<W> Convert for OfHeapDump<W>
where
    W: FnOnce(HeapDump, &Resolved<'_>) -> Result<(), ConvertError> + Send,
{
    fn wants_samples(&self) -> bool {
        false
    }

    fn wants_events(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, _: ThreadHandle, _: &Model) -> Result<(), ConvertError> {
        self.heap.event(event);
        Ok(())
    }

    fn finish(self: Box<Self>, resolved: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        (self.write)(chosen(self.heap.finish(), self.dump)?, resolved)
    }
}

/// Returns the dump with the requested number, counting from 1. Without a number, returns the usual
/// dump.
fn chosen(dumps: Vec<HeapDump>, wanted: Option<usize>) -> Result<HeapDump, ConvertError> {
    let there = dumps.len();
    let place = match wanted {
        Some(number) => number.checked_sub(1),
        None => HeapDump::usual(&dumps),
    };
    let dump = place.and_then(|place| dumps.into_iter().nth(place));
    dump.ok_or_else(|| match wanted {
        Some(number) if there > 0 => {
            let count = if there == 1 { "one".to_owned() } else { there.to_string() };
            ConvertError::Other(format!("there is no dump {number}: the trace has {count}").into())
        }
        _ => ConvertError::NothingToShow { wanted: Kind::Heap.name() },
    })
}
