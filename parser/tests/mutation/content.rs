//! Tests of damage to the content of a block: all other blocks are still read.

use crate::allocation::usage;
use crate::change::{WAYS, change};
use crate::delivered::{Damaged, said};
use crate::excerpt::excerpts;
use crate::invariants;
use crate::random::Random;
use nettrace_testdata::cases;

/// Maximum number of bytes that a reader may hold for each byte of a stream.
const HELD_PER_BYTE: u64 = 8;
/// Number of bytes that a reader may hold for any stream, in addition to [`HELD_PER_BYTE`].
const HELD: u64 = 4 << 20;

#[test]
fn damaged_content_costs_no_event_of_other_blocks_whatever_it_is() {
    let mut random = Random(1);
    let (mut tried, mut changed) = (0, 0);
    for excerpt in excerpts() {
        let whole = excerpt.stream();
        let due = said(&whole.bytes);
        for at in 0..excerpt.blocks.len() {
            for way in random.some((0..WAYS).collect(), cases(2)) {
                let mut damaged = excerpt.clone();
                damaged.blocks[at].content = change(&excerpt.blocks[at], way, &mut random);
                let stream = damaged.stream();
                tried += 1;
                changed += usize::from(stream.bytes != whole.bytes);
                // Part 0 is the stream header.
                let (before, after) = (&whole.parts[at + 1], &stream.parts[at + 1]);
                let block = Damaged {
                    kind: before.kind,
                    version: excerpt.version,
                    before: before.start..before.end,
                    after: after.start..after.end,
                };
                let what = format!("{}, block {at}, way {way}", excerpt.name);
                let ((), usage) =
                    usage(|| block.assert_rest_is_delivered(&due, &stream.bytes, &what));
                let most = HELD + HELD_PER_BYTE * stream.bytes.len() as u64;
                assert!(usage.peak <= most, "{what}: {usage:?}, {} bytes", stream.bytes.len());
            }
        }
    }
    assert!(tried > 100 && changed * 10 > tried * 9, "{changed} of {tried}");
}

#[test]
fn damaged_content_is_read_calmly_in_all_ways() {
    let mut random = Random(2);
    for excerpt in excerpts() {
        for way in random.some((0..WAYS).collect(), cases(3)) {
            let mut damaged = excerpt.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(damaged.blocks.len());
                damaged.blocks[at].content = change(&damaged.blocks[at], way, &mut random);
            }
            let bytes = damaged.stream().bytes;
            invariants::assert_calm(&bytes);
            if way % 4 == 0 {
                invariants::assert_parallel_is_serial(&bytes);
            }
        }
    }
}
