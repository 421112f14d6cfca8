//! Tests of damage to framing, and of missing or additional bytes.

use crate::change::EXTREMES;
use crate::delivered::{Damaged, rows_of, said};
use crate::excerpt::excerpts;
use crate::invariants;
use crate::random::Random;
use nettrace_parser::Reader;
use nettrace_testdata::cases;
use nettrace_testdata::synth::{Damage, Part, Stream};

/// Returns several kinds of damage to one part.
fn damages(part: &Part, random: &mut Random) -> Vec<Damage> {
    let inside = |random: &mut Random, most: usize| {
        let range = random.stretch(part.end - part.content.start, most);
        part.content.start + range.start..part.content.start + range.end
    };
    let count = 1 + random.below(40);
    let mut damages = vec![
        Damage::Delete { range: inside(random, 20) },
        // After some of these deletions, the end tag of the next object's type is where the end tag
        // of the block should be.
        Damage::Delete { range: inside(random, 100) },
        Damage::Insert { at: inside(random, 1).start, bytes: random.bytes(count) },
        Damage::Duplicate { range: inside(random, 40) },
        Damage::Swap { first: inside(random, 20), second: inside(random, 20) },
        Damage::Flip { at: part.start + random.below(7), mask: 1 << random.below(8) },
        Damage::Delete { range: part.start..part.content.start },
        Damage::Flip { at: part.end - 1, mask: 1 << random.below(8) },
    ];
    // The first byte becomes no tag at all, and the end mark.
    damages.extend(
        [0x00, 0x01, 0xff].map(|byte| Damage::Overwrite { at: part.start, bytes: vec![byte] }),
    );
    damages.extend(part.name_length_field.map(|at| Damage::u32(at, *random.one(&EXTREMES))));
    damages
}

/// Returns several kinds of damage to the size of a block. The new size is too small, too large,
/// beyond the end of the stream, or leads to the end of a later object.
fn sizes(part: &Part, stream: &Stream, random: &mut Random) -> Vec<Damage> {
    let Some(at) = part.size_field else { return Vec::new() };
    let right = part.content.len();
    let rest = stream.bytes.len() - part.content.start;
    let later: Vec<usize> = stream.parts.iter().map(|later| later.content.end).collect();
    let ends =
        later.iter().filter(|end| **end > part.content.end).map(|end| end - part.content.start);
    let ends: Vec<usize> = ends.collect();
    let mut sizes = vec![
        right.saturating_sub(1 + random.below(40)),
        random.below(right),
        right + 1 + random.below(40),
        right + 1 + random.below(rest - right),
        right + 1 + random.below(rest - right),
        rest + random.below(100),
    ];
    sizes.extend((!ends.is_empty()).then(|| *random.one(&ends)));
    let mut damages: Vec<Damage> =
        sizes.into_iter().map(|size| Damage::u32(at, size as u32)).collect();
    damages.extend((0..4).map(|byte| Damage::Flip { at: at + byte, mask: 1 << random.below(8) }));
    damages.extend(EXTREMES.map(|value| Damage::u32(at, value)));
    damages
}

#[test]
fn damaged_framing_of_objects_costs_no_event_of_other_objects() {
    let mut random = Random(3);
    for excerpt in excerpts().iter().filter(|excerpt| excerpt.version.has_objects()) {
        let whole = excerpt.stream();
        let due = said(&whole.bytes);
        // The last objects are left out, because no object follows by which reading could go on.
        for part in &whole.parts[1..whole.parts.len() - 2] {
            let mut damages = damages(part, &mut random);
            damages.extend(sizes(part, &whole, &mut random));
            for damage in random.some(damages, cases(8)) {
                let bytes = damage.applied(&whole.bytes);
                let block = Damaged {
                    kind: part.kind,
                    version: excerpt.version,
                    before: part.start..part.end,
                    after: part.start..part.end + bytes.len() - whole.bytes.len(),
                };
                let what = format!("{}, {damage:?}", excerpt.name);
                block.assert_rest_is_delivered(&due, &bytes, &what);
            }
        }
    }
}

#[test]
fn damaged_framing_is_read_calmly_in_all_ways() {
    let mut random = Random(4);
    for excerpt in excerpts() {
        let whole = excerpt.stream();
        for _ in 0..cases(2) {
            let part = random.one(&whole.parts[1..whole.parts.len() - 1]).clone();
            let mut damages = damages(&part, &mut random);
            damages.extend(sizes(&part, &whole, &mut random));
            let bytes = random.one(&damages).applied(&whole.bytes);
            invariants::assert_calm(&bytes);
            invariants::assert_parallel_is_serial(&bytes);
        }
    }
}

#[test]
fn a_wrong_length_in_version_6_costs_at_most_the_block_and_the_one_behind_and_is_told() {
    let mut random = Random(6);
    let (mut tried, mut misled) = (0, 0);
    for excerpt in excerpts().iter().filter(|excerpt| !excerpt.version.has_objects()) {
        let whole = excerpt.stream();
        let due = said(&whole.bytes);
        for (at, part) in whole.parts.iter().enumerate().take(whole.parts.len() - 3).skip(1) {
            let (start, right) = (part.content.start, part.content.len());
            let rest = whole.bytes.len() - start;
            let mut lengths =
                vec![0, 1, 0xff_ffff, 0xff_fffe, right / 2, right - 1, right + 1, rest, rest + 9];
            lengths.extend((0..6).map(|_| right + 1 + random.below(rest - right)));
            lengths.extend((0..3).map(|_| right + 1 + random.below(40)));
            for length in random.some(lengths, cases(5)) {
                let mut bytes = whole.bytes.clone();
                bytes[part.start..part.start + 3]
                    .copy_from_slice(&(length as u32).to_le_bytes()[..3]);
                let mut reader = Reader::from_slice(&bytes);
                while reader.next_event().expect("it begins well").is_some() {}
                let what = format!("{}, block {at}, {right} said to be {length}", excerpt.name);
                assert!(!reader.damage().findings().is_empty(), "{what}: not a word");
                let found = rows_of(&said(&bytes), None);
                let missing = |inside: &dyn Fn(usize) -> bool| {
                    let outside = due.iter().copied().filter(|said| !inside(said.offset()));
                    let outside: Vec<u64> = rows_of(&outside.collect::<Vec<_>>(), None);
                    let mut left = found.iter();
                    outside.iter().filter(|row| !left.any(|found| found == *row)).count()
                };
                let behind = whole.parts[at + 1].end;
                let lost = missing(&|offset| (part.start..behind).contains(&offset));
                assert_eq!(lost, 0, "{what}: events are missing: {:?}", reader.damage().findings());
                misled +=
                    usize::from(missing(&|offset| (part.start..part.end).contains(&offset)) > 0);
                assert!(found.len() <= due.len() + 40, "{what}: {} of {}", found.len(), due.len());
                tried += 1;
            }
        }
    }
    assert!(tried > 50 && misled * 20 < tried, "{misled} of {tried}");
}
