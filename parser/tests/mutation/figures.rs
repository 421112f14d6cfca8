//! Counts the events that are recovered from version 6 streams with wrong block lengths. `cargo
//! test -p nettrace-parser --test mutation -- --ignored --nocapture figures` prints the figures of
//! docs/decisions/05-recovery.md.

use crate::change::{WAYS, change};
use crate::delivered::{rows_of, said};
use crate::excerpt::{Excerpt, excerpts};
use crate::random::Random;
use nettrace_testdata::synth::{Damage, Stream};
use std::collections::BTreeMap;

/// Returns mutants of a stream, each with its kind of damage.
fn mutants(excerpt: &Excerpt, whole: &Stream, random: &mut Random) -> Vec<(&'static str, Vec<u8>)> {
    let mut found = Vec::new();
    let blocks = whole.parts.len() - 1;
    for part in &whole.parts[1..blocks] {
        let (start, right) = (part.content.start, part.content.len());
        let rest = whole.bytes.len() - start;
        let with_length = |length: usize| {
            let mut bytes = whole.bytes.clone();
            bytes[part.start..part.start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
            bytes
        };
        for _ in 0..4 {
            found.push(("length a little too large", with_length(right + 1 + random.below(40))));
            found.push((
                "length too large",
                with_length(right + 1 + random.below(rest.max(right + 1) - right)),
            ));
            found.push(("length too small", with_length(random.below(right.max(1)))));
            found.push(("bit of a header flipped", {
                let mut bytes = whole.bytes.clone();
                bytes[part.start + random.below(4)] ^= 1 << random.below(8);
                bytes
            }));
            let range = random.stretch(part.end - part.start, 60);
            let range = part.start + range.start..part.start + range.end;
            found.push((
                "bytes missing",
                Damage::Delete { range: range.clone() }.applied(&whole.bytes),
            ));
            let bytes = random.bytes(range.len());
            found.push((
                "bytes inserted",
                Damage::Insert { at: range.start, bytes }.applied(&whole.bytes),
            ));
        }
        let noise = random.bytes(part.content.start - part.start);
        found.push((
            "header of noise",
            Damage::Overwrite { at: part.start, bytes: noise }.applied(&whole.bytes),
        ));
        let later: Vec<usize> =
            whole.parts.iter().map(|part| part.content.end).filter(|end| *end > part.end).collect();
        for end in later.iter().take(3) {
            found.push(("length to the end of a later block", with_length(end - start)));
        }
    }
    for (at, block) in excerpt.blocks.iter().enumerate() {
        for way in 0..WAYS {
            let mut damaged = excerpt.clone();
            damaged.blocks[at].content = change(block, way, random);
            found.push(("content changed", damaged.stream().bytes));
        }
    }
    for _ in 0..200 {
        let mut bytes = whole.bytes.clone();
        for _ in 0..1 + random.below(20) {
            let at = 20 + random.below(bytes.len() - 20);
            bytes[at] ^= 1 << random.below(8);
        }
        found.push(("bits flipped anywhere", bytes));
        found.push(("cut", whole.bytes[..20 + random.below(whole.bytes.len() - 20)].to_vec()));
    }
    found
}

#[test]
#[ignore = "prints figures, holds nothing"]
fn figures() {
    let mut random = Random(77);
    let mut sums: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for excerpt in excerpts().iter().filter(|excerpt| !excerpt.version.has_objects()) {
        let whole = excerpt.stream();
        let written = rows_of(&said(&whole.bytes), None);
        for (kind, bytes) in mutants(excerpt, &whole, &mut random) {
            let found = rows_of(&said(&bytes), None);
            let mut left = found.iter();
            let mut recovered = 0;
            for row in &written {
                let mut ahead = left.clone();
                if ahead.any(|found| found == row) {
                    (left, recovered) = (ahead, recovered + 1);
                }
            }
            let sum = sums.entry(kind).or_default();
            for (sum, more) in
                sum.iter_mut().zip([1, written.len(), recovered, found.len() - recovered])
            {
                *sum += more;
            }
        }
    }
    let mut all = [0; 4];
    for (kind, sum) in &sums {
        println!("{kind}: {} streams, {} of {} events, {} others", sum[0], sum[2], sum[1], sum[3]);
        for (all, more) in all.iter_mut().zip(sum) {
            *all += more;
        }
    }
    println!("all: {} streams, {} of {} events, {} others", all[0], all[2], all[1], all[3]);
}
