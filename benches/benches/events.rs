//! All header fields of all events, in file order.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::restriction, clippy::pedantic)]

mod shared;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nettrace_benches::cases::Case;
use nettrace_benches::floor::{Rows, window};
use nettrace_benches::pass::{self, Mode};

fn raw(criterion: &mut Criterion) {
    for case in Case::ALL {
        let stream = case.bytes(shared::TRACE_BYTES);
        let rows = Rows::of(&stream);
        let seen = pass::memory(&stream, Mode::Raw).expect("a stream of our own");
        assert_eq!(seen.wrong, pass::Wrong::default(), "{}", case.name());
        let all = window::decode(&stream, &rows);
        assert_eq!(all, seen.checksum, "{}", case.name());
        let mut group =
            shared::group(criterion, &format!("events/{}", case.name()), all.events, stream.len());
        group.bench_function("ours", |bencher| {
            bencher.iter(|| {
                let now = pass::memory(black_box(&stream), Mode::Raw).expect("a stream of our own");
                assert_eq!(now, seen);
            });
        });
        group.bench_function("floor: headers by nom's signature", |bencher| {
            bencher.iter(|| {
                assert_eq!(window::decode_by_nom_signature(black_box(&stream), &rows), all)
            });
        });
        assert_eq!(shared::floors(&mut group, &stream), all);
        group.finish();
    }
}

criterion_group!(benches, raw);
criterion_main!(benches);
