//! Malformed stream headers, objects, version 6 blocks and ends of streams.

use super::{Cases, begun, event};
use crate::{
    Block, Content, Damage, EventBlock, Object, PartKind, Stream, SysTime, TaggedValue, Trace,
    Version,
};

const FRAMED_BY_OBJECTS: [Version; 2] = [Version::V3, Version::V4];

pub(super) fn headers(cases: &mut Cases) {
    let v6 = |rest: [u32; 3]| [b"Nettrace".to_vec(), rest.map(u32::to_le_bytes).concat()].concat();
    cases.add(Version::V4, "header-empty", Vec::new());
    cases.add(Version::V4, "header-of-four-bytes", b"Nett".to_vec());
    cases.add(Version::V4, "header-magic-alone", b"Nettrace".to_vec());
    cases.add(Version::V4, "header-of-something-else", b"PK\x03\x04 this is not a stream".to_vec());
    cases.add(Version::V6, "header-cut-in-the-version", v6([0, 6, 0])[..14].to_vec());
    cases.add(Version::V6, "header-major-version-4", v6([0, 4, 0]));
    cases.add(Version::V6, "header-major-version-7", v6([0, 7, 0]));
    cases.add(Version::V6, "header-reserved-word-1", v6([1, 6, 0]));
    cases.damaged(Version::V6, "header-minor-version-25", |_| Damage::u32(16, 25));
    cases
        .damaged(Version::V4, "header-magic-in-lower-case", |_| Damage::Flip { at: 0, mask: 0x20 });
    for (version, text_at) in [(Version::V3, 4), (Version::V4, 12)] {
        cases.damaged(version, "header-text-wrong", |_| Damage::Flip { at: text_at + 19, mask: 3 });
        cases.damaged(version, "header-text-length-wrong", |_| Damage::u32(text_at - 4, 21));
        cases.damaged(version, "header-cut-in-the-text", |_| Damage::Cut { at: text_at + 5 });
    }
    for type_version in [1, 2] {
        let mut stream = Stream::new(Version::V3);
        let name = "Microsoft.DotNet.Runtime.EventPipeFile";
        let content = Trace::default().content(Version::V3);
        let object = Object {
            version: type_version,
            is_sized: false,
            ..Object::new(Version::V3, name, content)
        };
        stream.object(&object).end();
        cases.add(Version::V3, &format!("netperf-version-{type_version}"), stream.bytes);
    }
    traces(cases);
}

fn traces(cases: &mut Cases) {
    let mut with_trace = |version: Version, name: &str, trace: Trace| {
        let mut stream = Stream::new(version);
        stream.trace(&trace);
        let good = begun(version);
        let rest = good.nth(PartKind::Trace, 0).end;
        stream.raw(PartKind::Other, &good.bytes[rest..]);
        stream.event_block(&EventBlock::new([event(version, 1)])).end();
        cases.add(version, name, stream.bytes);
    };
    for version in [Version::V3, Version::V4, Version::V6] {
        let date = SysTime { month: 13, day: 32, ..SysTime::default() };
        with_trace(
            version,
            "trace-of-an-impossible-date",
            Trace { sync_time: date, ..Trace::default() },
        );
        with_trace(
            version,
            "trace-without-frequency",
            Trace { tick_frequency: 0, ..Trace::default() },
        );
        with_trace(
            version,
            "trace-of-negative-frequency",
            Trace { tick_frequency: -1, ..Trace::default() },
        );
        with_trace(
            version,
            "trace-begins-at-the-last-tick",
            Trace { sync_ticks: i64::MAX as u64, ..Trace::default() },
        );
        with_trace(
            version,
            "trace-of-pointer-size-3",
            Trace { pointer_size: 3, ..Trace::default() },
        );
    }
    let pairs =
        vec![("ProcessId".to_owned(), "many".to_owned()), ("ProcessId".to_owned(), "7".to_owned())];
    let odd_pairs = Trace { key_values: pairs, ..Trace::default() };
    with_trace(Version::V6, "trace-with-a-key-twice", odd_pairs.clone());
    for (name, count) in [("negative", -1), ("too-large", i32::MAX)] {
        let trace = Trace { key_value_count: Some(count), ..odd_pairs.clone() };
        with_trace(Version::V6, &format!("trace-pair-count-{name}"), trace);
    }
    for version in [Version::V3, Version::V4, Version::V6] {
        cases.damaged(version, "trace-cut", |stream| Damage::Cut {
            at: stream.nth(PartKind::Trace, 0).end - 9,
        });
        cases.between(version, "trace-twice", |stream| {
            stream.trace(&Trace::default());
        });
        cases.damaged(version, "trace-not-first", |stream| {
            let trace = stream.nth(PartKind::Trace, 0);
            Damage::Delete { range: trace.start..trace.end }
        });
    }
}

pub(super) fn objects(cases: &mut Cases) {
    for version in FRAMED_BY_OBJECTS {
        let block = || EventBlock::new([event(version, 2)]).content(version);
        let object = |name: &str| Object::new(version, name, block());
        let mut with = |name: &str, object: Object| {
            cases.between(version, name, |stream| {
                stream.object(&object);
            });
        };
        for tag in [0, 2, 3, 7, 12] {
            with(
                &format!("object-begins-with-tag-{tag}"),
                Object { begin_tags: [tag; 2], ..object("EventBlock") },
            );
        }
        with(
            "object-begins-as-another-version",
            Object { begin_tags: [9 - object("").begin_tags[0]; 2], ..object("EventBlock") },
        );
        with("object-type-has-a-type", Object { type_tag: 5, ..object("EventBlock") });
        with("object-type-without-end", Object { type_end_tag: 7, ..object("EventBlock") });
        with(
            "object-minimum-version-0",
            Object { minimum_version: 0, version: 2, ..object("EventBlock") },
        );
        with(
            "object-minimum-version-3",
            Object { minimum_version: 3, version: 3, ..object("EventBlock") },
        );
        with(
            "object-version-9-readable-by-2",
            Object { minimum_version: 2, version: 9, ..object("EventBlock") },
        );
        for (name, length) in [("negative", -1), ("256", 256), ("largest", i32::MAX), ("0", 0)] {
            let object = Object { name_length: Some(length), ..object("EventBlock") };
            with(&format!("object-name-length-{name}"), object);
        }
        with("object-name-not-utf8", Object { name: vec![0xff; 10], ..object("EventBlock") });
        for (name, size) in [
            ("negative", -1),
            ("largest", i32::MAX),
            ("above-the-limit", 65 << 20),
            ("0", 0),
            ("one-less", block().bytes.len() as i32 - 1),
            ("one-more", block().bytes.len() as i32 + 1),
        ] {
            let object = Object { size: Some(size), ..object("EventBlock") };
            with(&format!("block-size-{name}"), object);
        }
        with("block-padding-not-zero", Object { padding_byte: 0xa5, ..object("EventBlock") });
        with("block-without-padding", Object { padding: Some(0), ..object("EventBlockk") });
        with("object-ends-with-tag-5", Object { end_tag: Some(5), ..object("EventBlock") });
        with("object-without-end", Object { end_tag: None, ..object("EventBlock") });
        with("object-of-unknown-type", object("NewBlock"));
        let unsized_object = Object { is_sized: false, ..object("NewThing") };
        with("object-of-unknown-type-and-layout", unsized_object);
        let tagged = vec![
            TaggedValue::Byte(1),
            TaggedValue::Int16(-1),
            TaggedValue::Int32(1),
            TaggedValue::Int64(-1),
            TaggedValue::String("later".into()),
            TaggedValue::Blob(vec![6, 1, 5]),
        ];
        with("object-with-tagged-values", Object { tagged, ..object("EventBlock") });
        for (name, length) in [("negative", -1_i32), ("largest", i32::MAX)] {
            let raw = [&[14][..], &length.to_le_bytes()].concat();
            let tagged = vec![TaggedValue::Raw(raw)];
            with(
                &format!("object-with-a-tagged-blob-of-length-{name}"),
                Object { tagged, ..object("EventBlock") },
            );
        }
        with("block-empty", Object { content: Content::default(), ..object("EventBlock") });
    }
}

pub(super) fn blocks(cases: &mut Cases) {
    let content = || EventBlock::new([event(Version::V6, 2)]).content(Version::V6);
    let mut with = |name: &str, block: Block| {
        cases.between(Version::V6, name, |stream| {
            stream.block(&block);
        });
    };
    for kind in [9, 127, 255] {
        with(&format!("block-of-kind-{kind}"), Block::new(kind, content()));
    }
    let size = content().bytes.len() as u32;
    for (name, size) in
        [("largest", 0xff_ffff), ("0", 0), ("one-less", size - 1), ("one-more", size + 1)]
    {
        with(&format!("block-size-{name}"), Block { size: Some(size), ..Block::new(2, content()) });
    }
    for kind in 1..9 {
        with(&format!("block-of-kind-{kind}-empty"), Block::new(kind, Content::default()));
        with(&format!("block-of-kind-{kind}-of-one-byte"), Block::new(kind, Content::raw([1])));
    }
    with("end-with-content", Block::new(0, Content::raw(*b"last words")));
}

pub(super) fn ends(cases: &mut Cases) {
    for version in [Version::V3, Version::V4, Version::V6] {
        let last = |stream: &Stream| {
            stream.nth(PartKind::Event, stream.count(PartKind::Event) - 1).clone()
        };
        cases.damaged(version, "end-missing", |stream| Damage::Cut {
            at: stream.nth(PartKind::End, 0).start,
        });
        cases.damaged(version, "end-in-a-size", |stream| Damage::Cut {
            at: last(stream).size_field.map_or(0, |at| at + 2),
        });
        cases.damaged(version, "end-in-a-row", |stream| Damage::Cut {
            at: last(stream).rows[0].end - 2,
        });
        cases.damaged(version, "data-after-the-end", |stream| Damage::Insert {
            at: stream.bytes.len(),
            bytes: b"more".to_vec(),
        });
    }
    for version in FRAMED_BY_OBJECTS {
        cases.damaged(version, "end-in-an-object-header", |stream| Damage::Cut {
            at: stream.nth(PartKind::Event, 2).start + 2,
        });
        cases.damaged(version, "end-without-the-last-end-tag", |stream| Damage::Cut {
            at: stream.nth(PartKind::End, 0).start - 1,
        });
        cases.damaged(version, "bytes-between-objects", |stream| Damage::Insert {
            at: stream.nth(PartKind::Event, 1).start,
            bytes: vec![0x55; 37],
        });
        cases.damaged(version, "bytes-of-an-object-gone", |stream| {
            let start = stream.nth(PartKind::Event, 1).start;
            Damage::Delete { range: start + 3..start + 14 }
        });
        cases.damaged(version, "blocks-repeated", |stream| {
            let part = stream.nth(PartKind::Event, 1);
            Damage::Duplicate { range: part.start..part.end }
        });
    }
}
