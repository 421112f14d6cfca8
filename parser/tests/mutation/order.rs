//! Tests of streams in which blocks are missing, repeated or swapped.

use crate::delivered::{Damaged, rows_of, said};
use crate::excerpt::{Excerpt, excerpts};
use crate::invariants;
use crate::random::Random;
use nettrace_testdata::cases;

fn offsets(excerpt: &Excerpt, at: usize) -> std::ops::Range<usize> {
    let stream = excerpt.stream();
    // Part 0 is the stream header.
    let part = &stream.parts[at + 1];
    part.start..part.end
}

#[test]
fn a_block_that_is_missing_costs_no_event_of_the_others() {
    for excerpt in excerpts() {
        let due = said(&excerpt.stream().bytes);
        for (at, block) in excerpt.blocks.iter().enumerate() {
            let before = offsets(excerpt, at);
            let mut damaged = excerpt.clone();
            damaged.blocks.remove(at);
            let after = before.start..before.start;
            let missing = Damaged { kind: block.kind, version: excerpt.version, before, after };
            let what = format!("{} without block {at}", excerpt.name);
            missing.assert_rest_is_delivered(&due, &damaged.stream().bytes, &what);
        }
    }
}

#[test]
fn a_block_that_is_there_twice_gives_its_events_twice_and_all_others_once() {
    for excerpt in excerpts() {
        let whole = said(&excerpt.stream().bytes);
        for (at, block) in excerpt.blocks.iter().enumerate() {
            let place = offsets(excerpt, at);
            let mut doubled = excerpt.clone();
            doubled.blocks.insert(at, block.clone());
            let mut due = rows_of(&whole, None);
            due.extend(rows_of(&whole, Some(&place)));
            due.sort_unstable();
            let mut found = rows_of(&said(&doubled.stream().bytes), None);
            found.sort_unstable();
            assert!(
                found == due,
                "{}, block {at} twice: {} of {}",
                excerpt.name,
                found.len(),
                due.len()
            );
        }
    }
}

#[test]
fn blocks_in_each_others_place_give_the_same_events() {
    let mut random = Random(5);
    for excerpt in excerpts() {
        let mut due = rows_of(&said(&excerpt.stream().bytes), None);
        due.sort_unstable();
        for round in 0..cases(1) {
            let (first, second) =
                (random.below(excerpt.blocks.len()), random.below(excerpt.blocks.len()));
            let mut swapped = excerpt.clone();
            swapped.blocks.swap(first, second);
            let bytes = swapped.stream().bytes;
            let mut found = rows_of(&said(&bytes), None);
            found.sort_unstable();
            assert!(found == due, "{}: blocks {first} and {second} swapped", excerpt.name);
            if round == 0 {
                invariants::assert_calm(&bytes);
                invariants::assert_parallel_is_serial(&bytes);
            }
        }
    }
}
