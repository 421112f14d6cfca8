//! Benchmarks of decoding texts, guids and times, compared with the standard library.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::floor;
use nettrace_benches::random::Random;
use nettrace_parser::{Guid, Utf16};
use std::fmt::Write;
use std::hint::black_box;

const TEXTS: usize = 2_000;

/// Makes texts of `units` code units each, in the form in which payloads store them.
fn texts(letters: &[char], units: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(units as u64);
    let text = |_| {
        let letters = (0..units).map(|_| *random.pick(letters));
        String::from_iter(letters).encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    (0..TEXTS).map(text).collect()
}

fn utf16(criterion: &mut Criterion) {
    let ascii: Vec<char> = ('a'..='z').chain(['.', '`', '<', '>']).collect();
    let chinese: Vec<char> = "时间跟踪事件线程方法堆栈收集".chars().collect();
    let cases = [
        ("ascii-8", &ascii, 8),
        ("ascii-32", &ascii, 32),
        ("ascii-120", &ascii, 120),
        ("cjk-32", &chinese, 32),
    ];
    for (name, letters, units) in cases {
        let texts = texts(letters, units);
        let bytes: usize = texts.iter().map(Vec::len).sum();
        let mut group = shared::group(
            criterion,
            &format!("primitive/utf16-{name}"),
            (TEXTS * units) as u64,
            bytes,
        );
        let mut out = String::with_capacity(4 * units);
        group.bench_function("ours", |bencher| {
            bencher.iter(|| {
                for text in &texts {
                    out.clear();
                    write!(out, "{}", Utf16::new(black_box(text), true)).expect("memory takes all");
                    assert!(out.len() >= units);
                }
            });
        });
        group.bench_function("std decode_utf16", |bencher| {
            bencher.iter(|| {
                for text in &texts {
                    let units =
                        text.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
                    out.clear();
                    out.extend(
                        char::decode_utf16(black_box(units)).map(|unit| unit.unwrap_or('\u{fffd}')),
                    );
                    assert!(!out.is_empty());
                }
            });
        });
        let all = texts.concat();
        group.bench_function("floor: touch", |bencher| {
            bencher.iter(|| floor::touch(black_box(&all)))
        });
        group.finish();
    }
}

fn guids(criterion: &mut Criterion) {
    let mut random = Random::new(5);
    let guids: Vec<Guid> = (0..TEXTS)
        .map(|_| {
            Guid::from_bytes(
                (u128::from(random.bits()) << 64 | u128::from(random.bits())).to_le_bytes(),
            )
        })
        .collect();
    let mut group = shared::group(criterion, "primitive/guid", TEXTS as u64, 16 * TEXTS);
    let mut out = String::with_capacity(64);
    group.bench_function("ours", |bencher| {
        bencher.iter(|| {
            for guid in &guids {
                out.clear();
                write!(out, "{}", black_box(guid)).expect("memory takes all");
                assert_eq!(out.len(), 36);
            }
        });
    });
    let all: Vec<u8> = guids.iter().flat_map(|guid| guid.to_bytes()).collect();
    group.bench_function("floor: touch", |bencher| bencher.iter(|| floor::touch(black_box(&all))));
    group.finish();
}

criterion_group!(benches, utf16, guids);
criterion_main!(benches);
