//! Tests of the work for streams with many stray threads, to which many gaps could belong. Work is
//! counted, not timed.

use super::{MAX_GAPS, MAX_STRAYS};
use crate::reader::Reader;
use crate::work;
use nettrace_testdata::one_type;
use nettrace_testdata::synth::{Blob, EventBlock, SequencePoint, Version};

/// Returns a stream in which a thread has a gap before each of its events, all before one sequence
/// point. The point does not list other threads, whose sequence numbers fit none of the gaps. All
/// of it is repeated `times` times.
fn strays(gaps: u32, strays: u32, times: u32) -> Vec<u8> {
    let mut stream = one_type(Version::V4);
    let mut ticks = 0;
    for time in 0..times {
        let mut row = |thread, sequence_number| {
            ticks += 1;
            Blob {
                metadata_id: 1,
                capture_thread_id: thread,
                sequence_number,
                ticks,
                ..Blob::default()
            }
        };
        let last = 2 * gaps * (time + 1);
        let mut rows: Vec<Blob> =
            (0..gaps).map(|gap| row(1, last - 2 * (gaps - 1 - gap))).collect();
        rows.extend((0..strays).map(|stray| row(2 + u64::from(stray), 1_000_000_000)));
        stream.event_block(&EventBlock::new(rows));
        let threads = vec![(1, last)];
        stream.sequence_point(&SequencePoint { ticks, threads, ..SequencePoint::default() });
    }
    stream.end();
    stream.bytes
}

/// Returns the number of steps of reading, and the number of losses.
fn steps(bytes: &[u8]) -> (u64, u64) {
    let mut reader = Reader::from_slice(bytes);
    work::take();
    while reader.next_event().unwrap().is_some() {}
    (work::take(), reader.losses().total())
}

#[test]
fn gaps_are_looked_through_for_no_more_than_256_strays_of_a_sequence_point() {
    assert_eq!((MAX_GAPS, MAX_STRAYS), (4096, 256));
    let (few, _) = steps(&strays(3000, 0, 3));
    let looked_through = |gaps: u32, count: u32| {
        let (steps, lost) = steps(&strays(gaps, count, 3));
        assert!(lost > 3 * u64::from(count) * 999_999_999, "strays without a gap are losses");
        steps.saturating_sub(few)
    };
    let walk = |strays: u64, gaps: u64| 3 * strays * gaps;
    let hundred = looked_through(3000, 100);
    assert!(hundred >= walk(100, 3000), "{hundred}: this is the costly way");
    for (gaps, strays) in [(3000, 256), (3000, 1000), (9000, 256), (9000, 4000)] {
        let steps = looked_through(gaps, strays);
        let rows = u64::from(gaps + strays) * 3;
        // All other work takes some steps for each row.
        let most = walk(256, 4096) + 200 * rows;
        assert!(steps <= most, "{steps} steps for {strays} strays and {gaps} gaps");
        // A gap takes a row, and each row takes some steps by itself.
        assert!(steps <= (256 + 4) * rows, "{steps} steps for {rows} rows");
    }
}
