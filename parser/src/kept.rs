//! Events that outlive the reader's way past them.

use crate::blob::BlobHeader;
use crate::event::Event;
use crate::reader::{Context, Resolved};
use crate::tables::{ByteTable, NO_SLOT, Slot};

/// Copies of events, in the order in which they were pushed: for whoever looks at them later, or on another
/// thread. A copy is an [`Event`] as it was when it was met, but for its [`stack_id`](Event::stack_id), which
/// counts the stacks that are kept.
///
/// ```
/// use nettrace_parser::{KeptEvents, Reader};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut kept = KeptEvents::new();
/// Reader::from_slice(&bytes).for_each(|event| kept.push(&event))?;
/// assert_eq!(kept.len(), 4);
/// let names: Vec<&str> = kept.iter().map(|event| event.name()).collect();
/// assert_eq!(names.first(), Some(&"Hi"));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct KeptEvents {
    /// Types and threads are those of the reader, which shares them; stacks and labels are copies.
    context: Context,
    rows: Vec<Row>,
    payloads: Vec<u8>,
    /// The stack that was copied last: the reader's slot and ours. Neighbours often have the same.
    last_stack: (Slot, Slot),
}

#[derive(Debug)]
struct Row {
    header: BlobHeader,
    resolved: Resolved,
    payload_at: u64,
    /// Where in `payloads` it is.
    at: usize,
}

impl Default for KeptEvents {
    fn default() -> Self {
        KeptEvents {
            context: Context::new(),
            rows: Vec::new(),
            payloads: Vec::new(),
            last_stack: (NO_SLOT, NO_SLOT),
        }
    }
}

impl KeptEvents {
    /// None yet.
    pub fn new() -> KeptEvents {
        KeptEvents::default()
    }

    /// Keeps an event. All must be of one stretch of a stream between two sequence points: there the numbers
    /// may change by which types and threads are known.
    pub fn push(&mut self, event: &Event<'_>) {
        let (header, theirs) = (event.header, event.context);
        let resolved = event.resolved.unwrap_or_else(|| theirs.resolved(header));
        theirs.share_with(&mut self.context);
        let ours = &mut self.context.tables;
        if self.last_stack.0 != resolved.stack {
            let stack = copy(theirs.tables.stacks.row(resolved.stack), &mut ours.stacks);
            self.last_stack = (resolved.stack, stack);
        }
        let resolved = Resolved {
            stack: self.last_stack.1,
            labels: copy(theirs.tables.labels.row(resolved.labels), &mut ours.labels),
            ..resolved
        };
        let at = self.payloads.len();
        self.payloads.extend_from_slice(event.bytes());
        self.rows.push(Row { header: *header, resolved, payload_at: event.payload_at, at });
    }

    /// Forgets all, but the memory that they took.
    pub fn clear(&mut self) {
        self.context.tables.let_go();
        self.last_stack = (NO_SLOT, NO_SLOT);
        self.rows.clear();
        self.payloads.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The events.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event<'_>> {
        self.rows.iter().map(|row| Event {
            header: &row.header,
            resolved: Some(row.resolved),
            context: &self.context,
            rest: self.payloads.get(row.at..).unwrap_or_default(),
            payload_at: row.payload_at,
        })
    }
}

/// Copies a row of a table into another.
fn copy(row: Option<&[u8]>, into: &mut ByteTable) -> Slot {
    let Some(row) = row else { return NO_SLOT };
    let id = into.next_id();
    into.define(id, row, usize::MAX);
    into.slot(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reader;
    use crate::parallel::{self, Options, Order};
    use nettrace_testdata::corpus;
    use std::ops::ControlFlow;

    fn seen(event: &Event<'_>) -> String {
        let stack: Vec<u64> = event.stack().addresses().collect();
        let labels: Vec<String> = event.labels().iter().map(|label| format!("{label:?}")).collect();
        let place = (event.payload_offset(), event.sequence_number(), event.activity_id());
        format!("{event:?} {place:?} {:?} {stack:?} {:?} {labels:?}", event.thread(), event.payload())
    }

    #[test]
    fn events_of_regions_are_what_they_were_when_their_regions_are_gone() {
        for trace in corpus::traces() {
            let bytes = trace.bytes();
            let mut expected = Vec::new();
            let mut reader = Reader::from_slice(&bytes);
            while expected.len() < 20_000
                && let Ok(Some(event)) = reader.next_event()
            {
                expected.push(seen(&event));
            }
            let mut kept = Vec::new();
            let options = Options::new().threads(2).order(Order::File);
            let keep = |region: &mut parallel::Region<'_, _>| {
                let mut kept = KeptEvents::new();
                region.for_each(|event| kept.push(&event))?;
                Ok(kept)
            };
            let _ = parallel::read_slice(&bytes, options, keep, |of_region| {
                kept.push(of_region);
                ControlFlow::Continue(())
            });
            let given = kept.iter().flat_map(KeptEvents::iter).take(expected.len());
            for (event, expected) in given.zip(&expected) {
                assert_eq!(&seen(&event), expected, "{}", trace.name());
            }
        }
    }
}
