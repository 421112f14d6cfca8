//! Tests that no event allocates memory, and that reading piece by piece keeps little of the
//! stream.

use crate::allocation::{Usage, usage};
use flate2::read::GzDecoder;
use nettrace_parser::{Buffered, Reader, Source};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;
use std::fs::File;
use std::io::Read;

const EVENTS: u32 = 200_000;
const EVENTS_PER_BLOCK: u32 = 1000;
const BLOCKS_PER_POINT: u32 = 10;

/// Returns a stream like that of a runtime under load: blocks of a thousand events in runs of four
/// threads, recurring stacks, a sequence point every ten blocks.
fn busy(version: Version) -> Vec<u8> {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    let fields = vec![Field::new("n", FieldType::UInt32), Field::new("s", FieldType::Text)];
    if version == Version::V6 {
        let row = MetadataRow {
            metadata_id: 1,
            provider: "Busy".into(),
            fields,
            ..MetadataRow::default()
        };
        stream.metadata_rows(&MetadataBlock::new(vec![row]));
        stream.thread_block(&ThreadBlock::new(
            (0..4).map(|thread| ThreadRow::new(thread, 1, thread)).collect(),
        ));
    } else {
        let definition =
            Definition { metadata_id: 1, provider: "Busy".into(), fields, ..Definition::default() };
        stream.metadata_blobs(&EventBlock::new([Blob::definition(0, 0, definition.encode())]));
    }
    let mut numbers = [0_u32; 4];
    for block in 0..EVENTS / EVENTS_PER_BLOCK {
        if version != Version::V3 && block % BLOCKS_PER_POINT == 0 {
            stream.stack_block(&StackBlock::new(1, 8, &[vec![], vec![1, 2, 3], vec![4; 50]]));
            if version == Version::V6 {
                stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Level(3)]]));
            }
        }
        let blobs = (0..EVENTS_PER_BLOCK).map(|nth| {
            let thread = nth / (EVENTS_PER_BLOCK / 4);
            let place = u64::from(nth % (EVENTS_PER_BLOCK / 4));
            numbers[thread as usize] += 1;
            Blob {
                metadata_id: 1,
                sequence_number: numbers[thread as usize],
                thread_id: u64::from(thread),
                capture_thread_id: u64::from(thread),
                stack_id: 1 + nth % 3,
                stack: if version == Version::V3 { addresses(8, &[1, 2, 3]) } else { vec![] },
                label_list_id: nth % 2,
                // The runs of the threads overlap in time.
                ticks: 1_000_000 + u64::from(block) * 1000 + place * 4 + u64::from(thread),
                activity_id: if nth % 10 == 0 { [nth as u8 | 1; 16] } else { [0; 16] },
                is_sorted: place == 0 && thread == 0,
                payload: payload(&[Value::U32(nth), Value::Text("some text".into())]),
                ..Blob::default()
            }
        });
        stream.event_block(&EventBlock::new(blobs));
        if version != Version::V3 && block % BLOCKS_PER_POINT == BLOCKS_PER_POINT - 1 {
            let threads = (0..4).zip(numbers).collect();
            stream.sequence_point(&SequencePoint { threads, ..SequencePoint::default() });
        }
    }
    stream.end();
    stream.into_bytes()
}

/// Reads all events with fields and stacks. Returns their number, and the allocations after the
/// first `warm_up` events.
fn allocations<E>(warm_up: u64, mut next: impl FnMut(&mut u64) -> Result<bool, E>) -> (u64, Usage)
where
    E: std::fmt::Debug,
{
    let (mut events, mut sum) = (0, 0);
    while events < warm_up {
        assert!(next(&mut sum).unwrap());
        events += 1;
    }
    let (_, usage) = usage(|| {
        while next(&mut sum).unwrap() {
            events += 1;
        }
    });
    assert!(sum > 0);
    (events, usage)
}

/// Reads from every part of an event.
fn touch(event: &nettrace_parser::Event<'_>) -> u64 {
    let fields =
        event.fields().map(|field| field.value.map_or(0, |value| value.as_u64().unwrap_or(1)));
    let all = fields.chain(event.stack().addresses());
    all.fold(u64::from(event.level()) + event.provider().len() as u64, u64::wrapping_add)
}

fn in_file_order<S: Source>(mut reader: Reader<S>, warm_up: u64) -> (u64, Usage) {
    allocations(warm_up, |sum| {
        let event = reader.next_event()?;
        *sum = sum.wrapping_add(event.as_ref().map_or(0, touch));
        Ok::<_, nettrace_parser::Error>(event.is_some())
    })
}

fn in_time_order<S: Source>(reader: Reader<S>, warm_up: u64) -> (u64, Usage) {
    let mut in_time = reader.time_ordered();
    allocations(warm_up, |sum| {
        let event = in_time.next_event()?;
        *sum = sum.wrapping_add(event.as_ref().map_or(0, touch));
        Ok::<_, nettrace_parser::Error>(event.is_some())
    })
}

#[test]
fn nothing_is_allocated_for_an_event_once_reading_is_under_way() {
    // Tables and queues have their size after the first sequence points.
    let warm_up = u64::from(EVENTS) / 4;
    for version in [Version::V3, Version::V4, Version::V6] {
        let bytes = busy(version);
        let ways = [
            ("slice, file order", in_file_order(Reader::from_slice(&bytes), warm_up)),
            ("slice, time order", in_time_order(Reader::from_slice(&bytes), warm_up)),
            ("Read, file order", in_file_order(Reader::from_read(&bytes[..]), warm_up)),
            ("Read, time order", in_time_order(Reader::from_read(&bytes[..]), warm_up)),
        ];
        for (way, (events, usage)) in ways {
            assert_eq!(events, u64::from(EVENTS), "{version:?}, {way}");
            assert_eq!(usage.calls, 0, "{version:?}, {way}: {usage:?}");
        }
    }
}

#[test]
fn the_allocator_counts() {
    let (kept, usage) = usage(|| {
        drop(std::hint::black_box(vec![0_u8; 5000]));
        std::hint::black_box(vec![1_u8; 1000])
    });
    assert_eq!((kept.len(), usage.calls, usage.peak), (1000, 2, 5000));
}

/// Maximum heap for streaming, in bytes.
const STREAMING: u64 = 16 << 20;

/// Reads a compressed trace from its file. Returns the number of events.
fn stream(trace: &corpus::TraceFile, is_in_time: bool) -> u64 {
    let input = GzDecoder::new(File::open(trace.path()).unwrap());
    let reader = Reader::new(Buffered::new(input));
    let warm_up = 0;
    let (events, _) =
        if is_in_time { in_time_order(reader, warm_up) } else { in_file_order(reader, warm_up) };
    events
}

/// Asserts that reading a trace takes at most [`STREAMING`] bytes in file order, and at most
/// `max_bytes_in_time` in time order.
fn assert_takes_little_memory(trace: &corpus::TraceFile, max_bytes_in_time: u64) {
    for (is_in_time, order, max_bytes) in
        [(false, "file", STREAMING), (true, "time", max_bytes_in_time)]
    {
        let (events, usage) = usage(|| stream(trace, is_in_time));
        assert!(events > 1000);
        assert!(usage.peak <= max_bytes, "{}, {order} order: {usage:?}", trace.name());
        eprintln!("{}, {order} order: at most {} bytes", trace.name(), usage.peak);
    }
}

#[test]
fn streaming_the_largest_traces_takes_little_memory() {
    let mut traces: Vec<(u64, corpus::TraceFile)> = corpus::of_repository()
        .into_iter()
        .map(|trace| {
            let mut input = GzDecoder::new(File::open(trace.path()).unwrap());
            (std::io::copy(&mut input.by_ref(), &mut std::io::sink()).unwrap(), trace)
        })
        .collect();
    traces.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
    let largest = traces[0].0;
    assert!(largest > 15_000_000, "{largest}");
    for (_, trace) in traces.iter().take(2) {
        assert_takes_little_memory(trace, STREAMING);
    }
}

mod with_shared {
    use super::*;

    /// Checks the trace of a server under load, which has many events between two sequence points.
    /// In time order all of them wait for the second point.
    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn streaming_the_trace_of_a_server_under_load_takes_little_memory() {
        let trace = corpus::trace("aspnet-net10-linux-x64/web.nettrace");
        assert_takes_little_memory(&trace, 20 << 20);
    }
}
