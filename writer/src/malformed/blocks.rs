//! Malformed headers of event and metadata blocks, and malformed blobs.

use super::{Cases, event};
use crate::{
    Blob, BlobLayout, Content, EventBlock, PartKind, Row, SequencePoint, Sink, Version, flag,
};

pub(super) fn headers(cases: &mut Cases) {
    for version in [Version::V4, Version::V6] {
        let block = || EventBlock::new([event(version, 2)]);
        let mut with = |name: &str, block: EventBlock| {
            cases.between(version, name, |stream| {
                stream.event_block(&block);
            });
        };
        for size in [0, 2, 19, 21, 0xffff] {
            with(&format!("header-size-{size}"), EventBlock { header_size: Some(size), ..block() });
        }
        with("header-of-28-bytes", EventBlock { header_extra: vec![0xee; 8], ..block() });
        with("header-with-unknown-flags", EventBlock { flags: Some(0xffff), ..block() });
        with("header-says-uncompressed", EventBlock { flags: Some(0), ..block() });
        with(
            "header-without-times",
            EventBlock { min_ticks: Some(0), max_ticks: Some(0), ..block() },
        );
        let wrong = EventBlock { min_ticks: Some(u64::MAX), max_ticks: Some(1), ..block() };
        with("header-with-wrong-times", wrong);
        with("block-without-blobs", EventBlock::new([]));
        cases.between(version, "header-cut", |stream| {
            stream.part(PartKind::Event, Content::raw([20, 0, 1, 0, 9]));
        });
    }
    cases.between(Version::V4, "metadata-header-size-10", |stream| {
        let blob = Blob::definition(1, 1, super::definition(2, vec![]).encode());
        stream.metadata_blobs(&EventBlock { header_size: Some(10), ..EventBlock::new([blob]) });
    });
}

pub(super) fn v3_blobs(cases: &mut Cases) {
    let sizes = |blob: Blob, event_size, payload_size, stack_size| Blob {
        event_size,
        payload_size,
        stack_size,
        ..blob
    };
    let of = |number| event(Version::V3, number);
    let mut with = |name: &str, blob: Blob| {
        cases.between(Version::V3, name, |stream| {
            stream.event_block(&EventBlock::new([of(2), blob, of(3)]));
        });
    };
    for size in [0, 4, 55, 69, 0x7fff_ffff, 0xffff_ffff] {
        with(&format!("event-size-{size}"), sizes(of(2), Some(size), None, None));
    }
    for size in [13, 0x7fff_ffff, 0xffff_ffff] {
        with(&format!("payload-size-{size}"), sizes(of(2), None, Some(size), None));
        with(&format!("stack-size-{size}"), sizes(of(2), None, None, Some(size)));
    }
    with("stack-of-no-whole-address", Blob { stack: vec![1; 13], ..of(2) });
    with("metadata-id-undefined", Blob { metadata_id: 77, ..of(2) });
    with("time-goes-back", Blob { ticks: 5, ..of(2) });
}

pub(super) fn uncompressed_blobs(cases: &mut Cases) {
    for version in [Version::V4, Version::V6] {
        let of = |number| event(version, number);
        let mut with = |name: &str, blob: Blob| {
            let block = EventBlock::new([of(2), blob, of(4)]).layout(BlobLayout::Uncompressed);
            cases.between(version, &format!("uncompressed-{name}"), |stream| {
                stream.event_block(&block);
            });
        };
        let smallest = if version == Version::V6 { 48 } else { 76 };
        for size in [0, smallest - 1, smallest + 3, 0x7fff_ffff, 0xffff_ffff] {
            with(&format!("event-size-{size}"), Blob { event_size: Some(size), ..of(3) });
        }
        for size in [5, 0x7fff_ffff, 0xffff_ffff] {
            with(&format!("payload-size-{size}"), Blob { payload_size: Some(size), ..of(3) });
        }
        with("sorted", Blob { is_sorted: true, ..of(3) });
        with("of-metadata-0", Blob { metadata_id: 0, ..of(3) });
        with("longer-than-known", Blob { extra: vec![0xee; 12], ..of(3) });
        let unpadded =
            EventBlock::new([of(2), of(3)].map(|blob| Blob { payload: vec![1; 5], ..blob }));
        cases.between(version, "uncompressed-without-padding", |stream| {
            stream.event_block(&unpadded.layout(BlobLayout::UncompressedUnpadded));
        });
    }
}

pub(super) fn compressed_blobs(cases: &mut Cases) {
    for version in [Version::V4, Version::V6] {
        let of = |number| event(version, number);
        let mut with = |name: &str, row: Row| {
            let block =
                EventBlock { rows: vec![of(2).into(), row, of(3).into()], ..EventBlock::default() };
            cases.between(version, &format!("compressed-{name}"), |stream| {
                stream.event_block(&block);
            });
        };
        for size in [100, 0x7fff_ffff, 0xffff_ffff] {
            with(
                &format!("payload-size-{size}"),
                Blob { payload_size: Some(size), ..of(3) }.into(),
            );
        }
        with("of-undefined-metadata", Blob { metadata_id: 77, ..of(3) }.into());
        with("of-metadata-0", Blob { metadata_id: 0, ..of(3) }.into());
        with("of-the-highest-metadata-id", Blob { metadata_id: u32::MAX, ..of(3) }.into());
        with("of-the-last-tick", Blob { ticks: u64::MAX, ..of(3) }.into());
        with("with-all-flags", Blob { flags: Some(0xff), ..of(3) }.into());
        with("with-flag-0x20", Blob { flags: Some(flag::RELATED_ACTIVITY), ..of(3) }.into());
        with("with-an-undefined-stack", Blob { stack_id: 77, ..of(3) }.into());
        with("with-stack-0", Blob { stack_id: 0, ..of(3) }.into());
        let mut raw = |name: &str, flags: u8, write: &dyn Fn(&mut Sink) -> usize| {
            let mut sink = Sink::new();
            sink.u8(flags);
            write(&mut sink);
            with(name, Row::Raw(sink.into_vec()));
        };
        let six = |sink: &mut Sink| sink.raw(&[0x80, 0x80, 0x80, 0x80, 0x80, 0, 1]).len();
        raw("varuint32-of-six-bytes", flag::METADATA_ID, &six);
        raw("varuint32-of-33-bits", flag::METADATA_ID, &|s| {
            s.raw(&[0xff, 0xff, 0xff, 0xff, 0x1f, 1]).len()
        });
        raw("varuint64-of-eleven-bytes", 0, &|s| s.fill(0x80, 10).u8(0).len());
        raw("varuint64-of-65-bits", 0, &|s| s.fill(0xff, 9).u8(3).len());
        raw("varuint-off-the-block", flag::METADATA_ID, &|s| s.fill(0x80, 4).len());
        let overlong = EventBlock::new([of(2), of(3)]).layout(BlobLayout::Overlong(9));
        cases.between(version, "compressed-with-overlong-varuints", |stream| {
            stream.event_block(&overlong);
        });
        let row = EventBlock::new([of(2)]).content(version);
        for length in [1, 2, row.bytes.len() - 21] {
            cases.between(version, &format!("compressed-blob-cut-after-{length}"), |stream| {
                let content = Content::raw(&row.bytes[..20 + length]);
                stream.part(PartKind::Event, content);
            });
        }
    }
}

pub(super) fn order_and_numbers(cases: &mut Cases) {
    for version in [Version::V4, Version::V6] {
        let of = |number| event(version, number);
        let mut with = |name: &str, blobs: Vec<Blob>| {
            cases.between(version, name, |stream| {
                stream.event_block(&EventBlock::new(blobs));
            });
        };
        let sorted = Blob { is_sorted: true, ticks: 2_000_000, ..of(2) };
        with("older-than-a-sorted-event", vec![sorted.clone(), of(3)]);
        with("equal-times", vec![Blob { ticks: 5, ..of(2) }, Blob { ticks: 5, ..of(3) }]);
        with("number-falls", vec![of(50), of(1)]);
        with("number-falls-to-another-than-1", vec![of(50), of(7)]);
        with("number-twice", vec![of(5), of(5)]);
        with("number-jumps-by-half-the-range", vec![of(1 << 31), of(1)]);
        with("number-wraps", vec![Blob { ticks: 1_000_101, ..of(u32::MAX) }, of(0), of(1)]);
        let other = Blob { capture_thread_id: 9, thread_id: 9, ticks: 1, ..of(1) };
        with("another-thread-without-a-mark", vec![of(2), other, of(3)]);
        cases.between(version, "older-than-a-sequence-point", |stream| {
            stream.sequence_point(&SequencePoint { ticks: 9_000_000, ..SequencePoint::default() });
        });
    }
}
