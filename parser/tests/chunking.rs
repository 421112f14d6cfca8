//! Tests that events, their order, losses and damage do not depend on how a trace arrives: mapped,
//! in pieces of any size, or with pauses.

use crate::snapshot;

use nettrace_parser::{BlockKind, Buffered, Event, Reader, Source};
use nettrace_testdata::corpus;
use snapshot::{Pieces, patient};

/// Maximum size of a trace that is also fed byte by byte, in bytes: larger traces would take
/// minutes.
const BYTE_BY_BYTE: usize = 4 << 20;

/// Asserts that the events of two readers are equal.
fn assert_same_event(found: &Event<'_>, expected: &Event<'_>, told: &str) {
    let is_same = found.offset() == expected.offset()
        && found.payload_offset() == expected.payload_offset()
        && found.payload() == expected.payload()
        && found.stack() == expected.stack()
        && found.metadata_id() == expected.metadata_id()
        && found.id() == expected.id()
        && found.provider() == expected.provider()
        && found.name() == expected.name()
        && found.version() == expected.version()
        && found.level() == expected.level()
        && found.keywords() == expected.keywords()
        && found.opcode() == expected.opcode()
        && found.thread_id() == expected.thread_id()
        && found.thread() == expected.thread()
        && found.process_id() == expected.process_id()
        && found.capture_thread() == expected.capture_thread()
        && found.sequence_number() == expected.sequence_number()
        && found.processor() == expected.processor()
        && found.timestamp_ticks() == expected.timestamp_ticks()
        && found.is_sorted() == expected.is_sorted()
        && found.activity_id() == expected.activity_id()
        && found.related_activity_id() == expected.related_activity_id()
        && found.labels() == expected.labels();
    assert!(
        is_same,
        "{told}: {found:?} at {}, not {expected:?} at {}",
        found.offset(),
        expected.offset()
    );
}

/// Asserts that two readers ended with equal losses and damage.
fn assert_same_end<A: Source, B: Source>(found: &Reader<A>, expected: &Reader<B>, told: &str) {
    assert_eq!(found.damage(), expected.damage(), "{told}");
    assert_eq!(found.statistics(), expected.statistics(), "{told}");
    let end = |complete, offset, version| (complete, offset, version);
    assert_eq!(
        end(found.is_complete(), found.end_offset(), found.version()),
        end(expected.is_complete(), expected.end_offset(), expected.version()),
        "{told}"
    );
    let losses = [found.losses(), expected.losses()].map(|losses| {
        let mut by_thread: Vec<_> = losses.by_thread().collect();
        by_thread.sort_unstable();
        (losses.total(), losses.restarts(), by_thread)
    });
    assert_eq!(losses[0], losses[1], "{told}");
}

/// Order of events.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    File,
    Time,
}

/// Reads a trace from a slice and from `source`, and compares event by event.
fn assert_same<S: Source>(bytes: &[u8], source: S, order: Order, told: &str) {
    let told = format!("{told}, {order:?} order");
    let mut events = 0;
    if order == Order::File {
        let (mut expected, mut found) = (Reader::from_slice(bytes), Reader::new(source));
        while let Some(expected) = expected.next_event().unwrap() {
            loop {
                match found.next_event() {
                    Ok(Some(found)) => break assert_same_event(&found, &expected, &told),
                    Ok(None) => panic!("{told}: ends after {events} events"),
                    Err(error) => assert!(error.is_would_block(), "{told}: {error}"),
                }
            }
            events += 1;
        }
        assert!(patient(|| found.next_event().map(|event| event.is_none())).unwrap(), "{told}");
        assert_same_end(&found, &expected, &told);
    } else {
        let mut expected = Reader::from_slice(bytes).time_ordered();
        let mut found = Reader::new(source).time_ordered();
        while let Some(expected) = expected.next_event().unwrap() {
            loop {
                match found.next_event() {
                    Ok(Some(found)) => break assert_same_event(&found, &expected, &told),
                    Ok(None) => panic!("{told}: ends after {events} events"),
                    Err(error) => assert!(error.is_would_block(), "{told}: {error}"),
                }
            }
            events += 1;
        }
        assert!(patient(|| found.next_event().map(|event| event.is_none())).unwrap(), "{told}");
        assert_eq!(found.out_of_order(), expected.out_of_order(), "{told}");
        assert_eq!(found.waiting(), 0, "{told}");
        assert_same_end(found.reader(), expected.reader(), &told);
    }
    assert!(events > 0, "{told}");
}

/// Reads every trace from each kind of source.
fn every_trace(order: Order) {
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        for size in [1, 7, 4096, 65_536] {
            if size == 1 && bytes.len() > BYTE_BY_BYTE {
                continue;
            }
            let source = Buffered::new(Pieces::new(&bytes, size));
            assert_same(&bytes, source, order, &format!("{} in pieces of {size}", trace.name()));
        }
        let paused = Buffered::new(Pieces::with_pauses(&bytes, 10_007));
        assert_same(
            &bytes,
            paused,
            order,
            &format!("{} with a pause before each piece", trace.name()),
        );
        as_a_file(&trace, &bytes, order);
    }
}

fn as_a_file(trace: &corpus::TraceFile, bytes: &[u8], order: Order) {
    let name = format!("chunking-{order:?}-{}", trace.name().replace('/', "-"));
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    let positioned = nettrace_parser::PositionedFile::open(&path).unwrap();
    assert_same(bytes, positioned, order, &format!("{} read at positions", trace.name()));
    #[cfg(feature = "mmap")]
    {
        // SAFETY: the file was written for this test, and nothing else changes it.
        #[expect(unsafe_code, reason = "there is no safe way to map a file")]
        let mapping = unsafe { nettrace_parser::MappedFile::open(&path) }.unwrap();
        assert_same(bytes, mapping, order, &format!("{} mapped", trace.name()));
    }
    assert_same_blocks(&path, bytes, trace.name());
    std::fs::remove_file(&path).unwrap();
}

/// Asserts that the blocks have the same positions if the content of event blocks is not read.
fn assert_same_blocks(path: &std::path::Path, bytes: &[u8], name: &str) {
    let mut all = Reader::from_slice(bytes);
    let mut found = Reader::new(nettrace_parser::PositionedFile::open(path).unwrap()).blocks_only();
    while let Some(expected) = all.next_block().unwrap() {
        let block = found.next_block().unwrap().expect(name);
        assert_eq!((block.kind, block.span), (expected.kind, expected.span), "{name}");
        let is_passed_over = block.kind == BlockKind::Event;
        assert!(is_passed_over && block.content.is_empty() || block.content == expected.content);
    }
    assert!(found.next_block().unwrap().is_none(), "{name}");
    assert_same_end(&found, &all, name);
}

#[test]
fn every_trace_gives_the_same_in_file_order_however_it_comes() {
    every_trace(Order::File);
}

#[test]
fn every_trace_gives_the_same_in_time_order_however_it_comes() {
    every_trace(Order::Time);
}
