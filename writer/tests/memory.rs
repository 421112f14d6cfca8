//! Tests that memory stays limited while a session is written step by step, however long it is.
#![allow(unsafe_code)]
#![allow(clippy::restriction, clippy::pedantic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use nettrace_writer::{
    EventType, FieldType, Session, SessionEvent, SessionThread, SessionWriter, Step, Value, Version,
};

/// The system's allocator, which also counts the bytes that are allocated, and their maximum.
struct Counting;

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);
static MAX_HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

fn note(more: usize, less: usize) {
    let held = HELD_BYTES.fetch_add(more, Relaxed) + more;
    MAX_HELD_BYTES.fetch_max(held, Relaxed);
    HELD_BYTES.fetch_sub(less, Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        note(0, layout.size());
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size, layout.size());
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Writes a session of `rounds` × 1,000 events to `out`, with losses, new stacks and ending
/// threads. Returns the length of the stream and the maximum number of bytes that were allocated at
/// a time.
fn written(version: Version, rounds: u32, payload_bytes: usize, out: impl Write) -> (u64, usize) {
    let before = HELD_BYTES.load(Relaxed);
    MAX_HELD_BYTES.store(before, Relaxed);
    let settings =
        Session { events_per_batch: 500, events_per_block: 100, ..Session::new(version) };
    let mut writer = SessionWriter::new(settings, out).unwrap();
    let types: Vec<usize> = (0..3)
        .map(|id| writer.add_type(EventType::new("Demo", id, "Hi").field("bytes", FieldType::Text)))
        .collect();
    let threads: Vec<usize> =
        (0..8).map(|id| writer.add_thread(SessionThread::new(11 + id))).collect();
    let mut events = 0;
    for round in 0..rounds {
        for n in 0..1000_u32 {
            let event = SessionEvent {
                event_type: types[n as usize % 3],
                thread: threads[n as usize % 8],
                capture_thread: threads[n as usize % 8],
                ticks_later: 3,
                lost_before: u16::from(n == 7),
                // New stacks in each round: a writer that kept all of them would grow.
                stack: vec![u64::from(round) << 20, u64::from(n)],
                values: vec![Value::Raw(vec![b'x'; payload_bytes])],
                ..SessionEvent::default()
            };
            events += writer.step(Step::Event(event)).unwrap().len();
        }
        events += writer.step(Step::RemoveThread(round as usize % 7)).unwrap().len();
        events += writer.step(Step::sequence_point()).unwrap().len();
    }
    let written = writer.finish().unwrap();
    assert_eq!(events + written.events.len(), rounds as usize * 1000);
    // Thread 7 loses an event in each round, and never ends.
    assert_eq!(written.lost, if version == Version::V3 { 0 } else { u64::from(rounds) });
    (written.bytes, MAX_HELD_BYTES.load(Relaxed) - before)
}

/// Calls [`written`] with a pipe from which another thread reads.
fn piped(version: Version, rounds: u32, payload_bytes: usize) -> (u64, usize) {
    let (mut reader, writer) = io::pipe().unwrap();
    let mut buffer = vec![0; 1 << 16];
    thread::scope(|scope| {
        let read = scope.spawn(move || {
            let mut total = 0;
            loop {
                match reader.read(&mut buffer).unwrap() {
                    0 => return total,
                    bytes => total += bytes as u64,
                }
            }
        });
        let (bytes, most) = written(version, rounds, payload_bytes, writer);
        assert_eq!(read.join().unwrap(), bytes);
        (bytes, most)
    })
}

// The only test of this program: the allocations of a parallel test would be counted too.
#[test]
fn memory_does_not_grow_with_the_stream() {
    for version in Version::ALL {
        // The first run is not measured, because threads and pipes keep some memory.
        piped(version, 2, 300);
        let (short, most_short) = piped(version, 8, 300);
        let (long, most_long) = piped(version, 80, 300);
        assert!(long > 9 * short && long > 22_000_000, "{version:?}: {short} and {long} bytes");
        assert!(most_long < 3_000_000, "{version:?}: {most_long} bytes were held for {long}");
        let grown = most_long as f64 / most_short as f64;
        assert!(grown < 1.02, "{version:?}: {most_short} bytes of memory became {most_long}");
    }
}

/// Checks a stream that takes a minute: `cargo test -p nettrace-writer --test memory -- --ignored
/// --nocapture`.
#[test]
#[ignore = "writes 10 GB to a pipe"]
fn ten_gigabytes_go_into_a_pipe_in_the_memory_of_one_batch() {
    let (bytes, most) = piped(Version::V4, 1_700, 6_000);
    println!("{bytes} bytes through a pipe, at most {most} bytes of memory held");
    assert!(bytes > 10_000_000_000);
    assert!(most < 25_000_000);
}
