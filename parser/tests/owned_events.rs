//! Holds that a kept event says what it said when it was read.

use nettrace_parser::{Event, OwnedEvent, Reader};
use nettrace_testdata::corpus;
use std::sync::Arc;

/// Writes everything that both kinds of events say.
macro_rules! said {
    ($event:expr) => {{
        let event = $event;
        let fields: Vec<String> = event
            .fields()
            .map(|field| format!("{} {} {:?}", field.name(), field.offset, field.value))
            .collect();
        format!(
            "{}/{} {} {} {:?} {:?} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {fields:?}",
            event.provider(),
            event.display_name(),
            event.id(),
            event.version(),
            event.thread_id(),
            event.process_id(),
            event.timestamp_ticks(),
            event.nanos(),
            event.unix_nanos(),
            event.activity_id(),
            event.related_activity_id(),
            event.labels(),
            event.stack(),
            event.payload(),
            event.offset(),
        )
    }};
}

fn of_event(event: &Event<'_>) -> String {
    said!(event)
}

fn of_owned(event: &OwnedEvent) -> String {
    said!(event)
}

#[test]
fn a_kept_event_says_what_it_said_when_it_was_read() {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut events = Reader::from_slice(&bytes).time_ordered();
        let (mut said, mut kept) = (Vec::new(), Vec::new());
        for number in 0.. {
            let Some(event) = events.next_event().unwrap() else { break };
            if number % 50 == 0 {
                said.push(of_event(&event));
                kept.push(event.into_owned());
            }
        }
        drop(events);
        drop(bytes);
        let kept = std::thread::spawn(move || {
            assert!(kept.iter().map(of_owned).eq(said));
            kept
        });
        let kept = kept.join().unwrap();
        assert!(!kept.is_empty(), "{}", trace.name());
        for (one, other) in kept.iter().zip(&kept).skip(1) {
            let types = one.metadata().zip(other.metadata());
            let is_same = types.is_some_and(|(one, other)| one.serial() == other.serial());
            assert!(!is_same || types.is_some_and(|(one, other)| Arc::ptr_eq(one, other)));
        }
    }
}
