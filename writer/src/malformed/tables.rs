//! Malformed stacks, sequence points, threads and label lists.

use super::{Cases, event};
use crate::{
    Blob, Content, EventBlock, Label, LabelListBlock, PartKind, RemoveThreadBlock, SequencePoint,
    Stack, StackBlock, Stream, ThreadBlock, ThreadEntry, ThreadRow, Version,
};

pub(super) fn stacks(cases: &mut Cases) {
    for version in [Version::V4, Version::V6] {
        let good = || StackBlock::new(2, 8, &[vec![1, 2], vec![], vec![3]]);
        let mut with = |name: &str, block: StackBlock| {
            let blobs = [2, 3, 4].map(|number| Blob { stack_id: number, ..event(version, number) });
            cases.between(version, name, |stream| {
                stream.stack_block(&block).event_block(&EventBlock::new(blobs));
            });
        };
        with("stack-first-id-0", StackBlock { first_id: 0, ..good() });
        with("stack-first-id-highest", StackBlock { first_id: u32::MAX, ..good() });
        with("stack-of-a-known-id-again", StackBlock { first_id: 1, ..good() });
        for count in [0, 2, 4, u32::MAX] {
            with(&format!("stack-count-{count}"), StackBlock { count: Some(count), ..good() });
        }
        for size in [9, 0x7fff_ffff, 0xffff_ffff] {
            let mut block = good();
            block.stacks[1].size = Some(size);
            with(&format!("stack-size-{size}"), block);
        }
        let mut block = good();
        block.stacks[0] = Stack { bytes: vec![1; 13], size: None };
        with("stack-of-no-whole-address", block);
        with("stack-block-with-three-bytes-more", StackBlock { trailing: vec![1, 0, 0], ..good() });
        cases.between(version, "stack-block-of-six-bytes", |stream| {
            stream.part(PartKind::Stack, Content::raw([1, 0, 0, 0, 1, 0]));
        });
        cases.between(version, "stack-restarts-after-a-lost-block", |stream| {
            stream.event_block(&EventBlock {
                header_size: Some(0),
                ..EventBlock::new([event(version, 9)])
            });
            stream.stack_block(&StackBlock::new(1, 8, &[[0xabcd]]));
        });
    }
}

pub(super) fn sequence_points(cases: &mut Cases) {
    for version in [Version::V4, Version::V6] {
        let good = || SequencePoint {
            ticks: 1_000_102,
            threads: vec![(1, 1)],
            ..SequencePoint::default()
        };
        let mut with = |name: &str, point: SequencePoint| {
            cases.between(version, name, |stream| {
                stream.sequence_point(&point);
            });
        };
        with("point-as-such", good());
        for count in [0, 2, 0x7fff_ffff, u32::MAX] {
            with(
                &format!("point-count-{count}"),
                SequencePoint { thread_count: Some(count), ..good() },
            );
        }
        with("point-with-more", SequencePoint { extra: vec![0xee; 5], ..good() });
        with("point-at-the-last-tick", SequencePoint { ticks: u64::MAX, ..good() });
        with("point-in-the-past", SequencePoint { ticks: 1, ..good() });
        with("point-with-a-higher-number", SequencePoint { threads: vec![(1, 9)], ..good() });
        with("point-with-a-lower-number", SequencePoint { threads: vec![(1, 0)], ..good() });
        with(
            "point-with-the-highest-number",
            SequencePoint { threads: vec![(1, u32::MAX)], ..good() },
        );
        with(
            "point-with-a-thread-twice",
            SequencePoint { threads: vec![(1, 1), (1, 5)], ..good() },
        );
        with(
            "point-with-unknown-threads",
            SequencePoint { threads: vec![(7, 3), (u64::MAX, 1)], ..good() },
        );
        cases.between(version, "point-cut", |stream| {
            stream.part(PartKind::SequencePoint, Content::raw([1; 10]));
        });
    }
    for flags in [1, 2, 3, u32::MAX] {
        cases.between(Version::V6, &format!("point-with-flags-{flags}"), |stream| {
            stream.sequence_point(&SequencePoint {
                ticks: 1_000_102,
                flags,
                ..SequencePoint::default()
            });
        });
    }
}

pub(super) fn threads(cases: &mut Cases) {
    let v6 = Version::V6;
    let events = |stream: &mut Stream| {
        let of = |number, thread_id| Blob {
            thread_id,
            capture_thread_id: thread_id,
            ..event(v6, number)
        };
        stream.event_block(&EventBlock::new([of(1, 2), of(2, 2), of(1, 3)]));
    };
    let mut with = |name: &str, rows: Vec<ThreadRow>| {
        cases.between(v6, name, |stream| {
            stream.thread_block(&ThreadBlock::new(rows));
            events(stream);
        });
    };
    let good = |index| ThreadRow::new(index, 42, 301);
    for size in [0, 2, 4, 6, 0xffff] {
        with(
            &format!("thread-row-size-{size}"),
            vec![ThreadRow { size: Some(size), ..good(2) }, good(3)],
        );
    }
    for (name, bytes) in
        [("kind-99", &[99, 1][..]), ("text-too-long", &[1, 200, b'x']), ("cut", &[3, 0x80])]
    {
        let mut row = good(2);
        row.entries.insert(1, ThreadEntry::Raw(bytes.to_vec()));
        with(&format!("thread-entry-{name}"), vec![row, good(3)]);
    }
    with("thread-without-entries", vec![ThreadRow { entries: vec![], ..good(2) }, good(3)]);
    with("thread-defined-twice", vec![good(2), good(3), ThreadRow::new(2, 43, 302)]);
    with("thread-index-highest", vec![good(u64::MAX), good(2), good(3)]);
    let pairs = vec![ThreadEntry::KeyValue("k".into(), "v".into()), ThreadEntry::Name("w".into())];
    with("thread-with-pairs", vec![ThreadRow { entries: pairs, ..good(2) }, good(3)]);
    cases.between(v6, "thread-undefined", events);
    let mut removed = |name: &str, threads: Vec<(u64, u32)>, trailing: Vec<u8>| {
        cases.between(v6, name, |stream| {
            stream.remove_thread_block(&RemoveThreadBlock { threads, trailing });
        });
    };
    removed("thread-removed-and-used", vec![(1, 1)], vec![]);
    removed("thread-removed-twice", vec![(1, 1), (1, 1)], vec![]);
    removed("thread-removed-but-unknown", vec![(8, 1)], vec![]);
    removed("thread-removed-with-losses", vec![(1, 8)], vec![]);
    removed("thread-removed-and-a-byte-more", vec![(1, 1)], vec![0x80]);
}

pub(super) fn label_lists(cases: &mut Cases) {
    let v6 = Version::V6;
    let lists = || {
        vec![
            vec![Label::OpCode(1), Label::Level(0)],
            vec![Label::SpanId(7)],
            vec![Label::TraceId([3; 16])],
        ]
    };
    let good = || LabelListBlock::new(1, lists());
    let mut with = |name: &str, block: LabelListBlock| {
        let blobs = [1, 2, 3].map(|number| Blob { label_list_id: number, ..event(v6, number + 1) });
        cases.between(v6, name, |stream| {
            stream.label_list_block(&block).event_block(&EventBlock::new(blobs));
        });
    };
    with("labels-as-such", good());
    with("labels-first-index-0", LabelListBlock { first_index: 0, ..good() });
    with("labels-first-index-highest", LabelListBlock { first_index: u32::MAX, ..good() });
    for count in [0, 1, 4, u32::MAX] {
        with(&format!("labels-count-{count}"), LabelListBlock { count: Some(count), ..good() });
    }
    with("labels-without-an-end", LabelListBlock { trailing: vec![7, 1], ..good() });
    with("labels-cut", LabelListBlock { trailing: vec![0x81, 1, 2], ..good() });
    for kind in [0, 11, 127] {
        let list = vec![Label::OpCode(3), Label::Raw(kind, vec![1, 2])];
        with(
            &format!("labels-of-kind-{kind}"),
            LabelListBlock::new(1, vec![lists().remove(0), list]),
        );
    }
    let twice = vec![
        Label::Level(1),
        Label::Level(2),
        Label::ActivityId([1; 16]),
        Label::ActivityId([2; 16]),
    ];
    with("labels-of-one-kind-twice", LabelListBlock::new(1, vec![twice]));
    let long = Label::Raw(5, vec![1, b'k', 0xff, 0xff, 0xff, 0xff, 0x0f]);
    with(
        "labels-with-a-text-too-long",
        LabelListBlock::new(1, vec![lists().remove(0), vec![long]]),
    );
    cases.between(v6, "labels-defined-twice", |stream| {
        stream
            .label_list_block(&good())
            .label_list_block(&LabelListBlock::new(1, vec![vec![Label::Level(5)]]));
        stream.event_block(&EventBlock::new([Blob { label_list_id: 1, ..event(v6, 2) }]));
    });
    cases.between(v6, "labels-undefined", |stream| {
        stream.event_block(&EventBlock::new([Blob { label_list_id: 77, ..event(v6, 2) }]));
    });
}
