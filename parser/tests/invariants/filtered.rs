//! Checks filters that let events pass without waiting for time order.

use super::reading::{Told, digest, told_of_reader};
use nettrace_parser::unstable::{Candidate, FilteredEvents, PendingFilter, Watermark};
use nettrace_parser::{Event, Reader};

/// A filter that takes two of three events immediately, and defers the third.
struct TwoOfThree {
    taken: Vec<u64>,
    room: usize,
    complete: u64,
}

fn waits(event: &Event<'_>) -> bool {
    event.offset().is_multiple_of(3)
}

impl PendingFilter for TwoOfThree {
    fn is_deferred(&mut self, candidate: &Candidate<'_>) -> bool {
        let event = candidate.event();
        let is_late = event.timestamp_ticks() < self.complete;
        assert!(!is_late || candidate.is_late(), "what is older than what was complete is late");
        let waits = waits(event);
        if !waits {
            self.taken.push(digest(event));
        }
        waits
    }

    fn is_full(&self) -> bool {
        self.taken.len() >= self.room
    }

    fn flush_up_to(&self) -> Option<u64> {
        None
    }
}

/// Asserts that a filter sees all events, and that the deferred events come in time order.
pub(crate) fn assert_filtered_is_time_order(bytes: &[u8], whole: &Told) {
    let mut all = Reader::from_slice(bytes).time_ordered();
    let mut due = Vec::new();
    while let Ok(Some(event)) = all.next_event() {
        if waits(&event) {
            due.push(digest(&event));
        }
    }
    let mut events = Reader::from_slice(bytes).time_ordered();
    let mut filter = TwoOfThree { taken: Vec::new(), room: 5, complete: 0 };
    let mut given = Vec::new();
    let error = loop {
        match events.advance(&mut filter) {
            Ok(Some(complete)) => {
                if let Watermark::UpTo(ticks) = complete {
                    filter.complete = ticks;
                }
                // Both ways to take events give the same ones.
                while filter.room.is_multiple_of(2)
                    && let Some(event) = events.ready()
                {
                    given.push(digest(&event));
                }
                let taken: Result<(), ()> = events.deliver(|next| {
                    assert!(next.place() >= (next.event().timestamp_ticks(), 0));
                    given.push(digest(next.event()));
                    Ok(())
                });
                assert_eq!(taken, Ok(()));
                filter.room = filter.taken.len() + 5;
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(given == due, "{} events waited, {} due", given.len(), due.len());
    assert_eq!(events.out_of_order(), all.out_of_order());
    given.append(&mut filter.taken);
    let mut told = told_of_reader(events.reader(), given, error);
    let mut whole = whole.clone();
    told.events.sort_unstable();
    whole.events.sort_unstable();
    assert!(told == whole, "filtered: {}", told.difference(&whole));
}
