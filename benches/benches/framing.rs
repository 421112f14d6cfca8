//! Finding blocks, without looking into them.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::floor::touch;
use nettrace_parser::Reader;

fn blocks(stream: &[u8]) -> u64 {
    let mut reader = Reader::from_slice(stream);
    let mut count = 0;
    while let Some(block) = reader.next_block().expect("a stream of our own") {
        black_box(block.span());
        count += 1;
    }
    count
}

/// From size to size, trusting everything.
fn hop(stream: &[u8], is_v6: bool) -> Option<u64> {
    let (mut at, mut count) = (if is_v6 { 20 } else { 32 }, 0);
    let word = |at: usize| stream.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    loop {
        if is_v6 {
            let header = word(at)?;
            if header >> 24 == 0 {
                return Some(count);
            }
            at += 4 + (header & 0x00ff_ffff) as usize;
        } else {
            if *stream.get(at)? == 1 {
                return Some(count);
            }
            let name = word(at + 11)? as usize;
            let behind_type = at + 16 + name;
            at = match name {
                5 => behind_type + 48 + 1,
                _ => (behind_type + 4).next_multiple_of(4) + word(behind_type)? as usize + 1,
            };
        }
        count += 1;
    }
}

fn framing(criterion: &mut Criterion) {
    for case in [Case::Mixed, Case::Net10, Case::Fat, Case::V6] {
        let stream = case.bytes(shared::TRACE_BYTES);
        let count = blocks(&stream);
        let is_v6 = case == Case::V6;
        assert_eq!(hop(&stream, is_v6), Some(count), "{}", case.name());
        let mut group =
            shared::group(criterion, &format!("framing/{}", case.name()), count, stream.len());
        group.bench_function("ours: next_block", |bencher| {
            bencher.iter(|| assert_eq!(blocks(black_box(&stream)), count));
        });
        group.bench_function("floor: hop by sizes", |bencher| {
            bencher.iter(|| assert_eq!(hop(black_box(&stream), is_v6), Some(count)));
        });
        group.bench_function("floor: touch", |bencher| {
            bencher.iter(|| touch::sum(black_box(&stream)))
        });
        group.finish();
    }
}

criterion_group!(benches, framing);
criterion_main!(benches);
