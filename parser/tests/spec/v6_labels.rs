//! Tests of label lists of version 6 (FORMAT.md 7.8).

use crate::snapshot::{Outcome, ordered, read};
use crate::streams::{event, events, opened, row};
use crate::v6::*;
use nettrace_parser::{Class, Fault, Guid};
use nettrace_testdata::synth::*;

fn labelled(number: u32, label_list_id: u32) -> Blob {
    Blob { label_list_id, ..event(number, u64::from(number)) }
}

fn labels_of(outcome: &Outcome) -> Vec<String> {
    outcome.events.iter().map(|event| event.labels.join(" ")).collect()
}

#[test]
fn t158_label_lists_are_counted_from_firstindex_and_0_is_the_empty_list() {
    let mut stream = v6();
    let lists = (1..=3).map(|version| vec![Label::Version(version)]).collect::<Vec<_>>();
    stream.label_list_block(&LabelListBlock::new(10, lists));
    // A list of index 0 is noted; the next one has index 1.
    stream.label_list_block(&LabelListBlock::new(
        0,
        vec![vec![Label::Version(90)], vec![Label::Version(91)]],
    ));
    let zero = last_part(&stream).rows[0].start as u64;
    let block = LabelListBlock::new(50, vec![vec![Label::Version(50)]]);
    stream.label_list_block(&LabelListBlock { count: Some(7), ..block });
    let content = last_part(&stream).content.start as u64;
    events(
        &mut stream,
        [12, 10, 0, 1, 11, 50].into_iter().zip(1..).map(|(list, number)| labelled(number, list)),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    let expected = ["Version(3)", "Version(1)", "", "Version(91)", "Version(2)", "Version(50)"];
    assert_eq!(labels_of(&outcome), expected);
    assert_eq!(
        outcome.damage(),
        [
            (Class::Note, zero, Fault::DefinesNothing(0)),
            (Class::Contradiction, content + 4, Fault::Count { stated: 7, found: 1 }),
        ]
    );
    // An index defined again: the new list counts for what follows.
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Version(1)]]));
    events(&mut stream, [labelled(1, 1)]);
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Version(2)]]));
    let again = last_part(&stream).rows[0].start as u64;
    events(&mut stream, [labelled(2, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["Version(1)", "Version(2)"]);
    assert_eq!(outcome.damage(), [(Class::Note, again, Fault::Redefined(1))]);
}

#[test]
fn t159_the_high_bit_ends_a_label_list() {
    let mut stream = v6();
    // By hand: 7 = 1, then last 9 = 2; last 10 = 3; last 7 = 4.
    let lists =
        [&1_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), &[7, 1, 0x89, 2], &[0x8a, 3], &[0x87, 4]]
            .concat();
    stream.part(PartKind::LabelList, Content::raw(lists));
    events(&mut stream, [labelled(1, 1), labelled(2, 2), labelled(3, 3)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["Opcode(1) Level(2)", "Version(3)", "Opcode(4)"]);
    assert!(outcome.is_flawless());
    // A list without an end is no list.
    let mut stream = v6();
    let open = [&1_u32.to_le_bytes()[..], &2_u32.to_le_bytes(), &[0x87, 4], &[7, 1, 9, 2]].concat();
    stream.part(PartKind::LabelList, Content::raw(open));
    let content = last_part(&stream).content.start as u64;
    events(&mut stream, [labelled(1, 1), labelled(2, 2)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["Opcode(4)", ""]);
    assert_eq!(outcome.damage()[0], (Class::RestOfBlockLost, content + 10, Fault::Truncated));
    assert_eq!(outcome.damage()[1].2, Fault::UndefinedLabels(2));
}

#[test]
fn t160_every_label_kind_is_read_numbers_zigzag() {
    let list = vec![
        Label::ActivityId([1; 16]),
        Label::RelatedActivityId([2; 16]),
        Label::TraceId([3; 16]),
        Label::SpanId(0x1122_3344_5566_7788),
        Label::Text("key".into(), "größe".into()),
        Label::Number("n".into(), -3),
        Label::Number("n".into(), i64::MIN),
        Label::Number("m".into(), i64::MAX),
        Label::Text(String::new(), String::new()),
        Label::OpCode(7),
        Label::Keywords(8),
        Label::Level(9),
        Label::Version(10),
        // Of these the last counts.
        Label::SpanId(5),
        Label::ActivityId([9; 16]),
    ];
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(1, vec![list]));
    events(&mut stream, [labelled(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let event = &outcome.events[0];
    assert_eq!(
        event.labels,
        [
            "ActivityId(01010101-0101-0101-0101-010101010101)",
            "RelatedActivityId(02020202-0202-0202-0202-020202020202)",
            "TraceId(TraceId([3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]))",
            "SpanId(1234605616436508552)",
            "Text { key: [107, 101, 121], value: [103, 114, 195, 182, 195, 159, 101] }",
            "Number { key: [110], value: -3, raw: 5 }",
            "Number { key: [110], value: -9223372036854775808, raw: 18446744073709551615 }",
            "Number { key: [109], value: 9223372036854775807, raw: 18446744073709551614 }",
            "Text { key: [], value: [] }",
            "Opcode(7)",
            "Keywords(8)",
            "Level(9)",
            "Version(10)",
            "SpanId(5)",
            "ActivityId(09090909-0909-0909-0909-090909090909)",
        ]
    );
    assert_eq!(event.activity, Some(Guid::from_bytes([9; 16])));
    assert_eq!(event.related_activity, Some(Guid::from_bytes([2; 16])));
    assert_eq!((event.span_id, event.trace_id.unwrap().0), (Some(5), [3; 16]));
    assert!(outcome.is_flawless());
}

#[test]
fn t161_an_unknown_label_kind_keeps_the_complete_lists_before_it() {
    for kind in [0, 11, 0x7f] {
        let mut stream = v6();
        let lists = vec![
            vec![Label::OpCode(1), Label::Level(2)],
            vec![Label::OpCode(3), Label::Raw(kind, vec![1, 2]), Label::Level(4)],
            vec![Label::OpCode(5)],
        ];
        stream.label_list_block(&LabelListBlock::new(1, lists));
        let part = last_part(&stream);
        stream.label_list_block(&LabelListBlock::new(4, vec![vec![Label::OpCode(6)]]));
        events(&mut stream, (1..=4).map(|id| labelled(id, id)));
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(labels_of(&outcome), ["Opcode(1) Level(2)", "", "", "Opcode(6)"]);
        let row = part.rows[1].start as u64;
        let undefined =
            |id| (Class::Note, outcome.events[id as usize - 1].offset, Fault::UndefinedLabels(id));
        assert_eq!(
            outcome.damage(),
            [(Class::RestOfBlockLost, row, Fault::UnknownEntry(kind)), undefined(2), undefined(3),]
        );
        assert_eq!(outcome.findings[0].lost_bytes, part.content.end as u64 - row);
        assert!(outcome.is_complete);
    }
}

#[test]
fn t162_opcode_keywords_level_and_version_labels_override_metadata_a_zero_too() {
    let optional =
        vec![Optional::OpCode(9), Optional::Keywords(99), Optional::Level(5), Optional::Version(8)];
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![
        with_optional(optional),
        MetadataRow { optional: vec![], ..row(2) },
    ]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let all = |opcode, keywords, level, version| {
        vec![
            Label::OpCode(opcode),
            Label::Keywords(keywords),
            Label::Level(level),
            Label::Version(version),
        ]
    };
    let lists = vec![
        all(1, 2, 3, 4),
        all(0, 0, 0, 0),
        vec![Label::Level(1)],
        [all(7, 7, 7, 7), all(6, 6, 6, 6)].concat(),
    ];
    stream.label_list_block(&LabelListBlock::new(1, lists));
    let of = |metadata_id, number, list| Blob { metadata_id, ..labelled(number, list) };
    events(
        &mut stream,
        [of(1, 1, 0), of(1, 2, 1), of(1, 3, 2), of(1, 4, 3), of(1, 5, 4), of(2, 6, 0), of(2, 7, 1)],
    );
    stream.end();
    for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
        let seen: Vec<_> = outcome
            .events
            .iter()
            .map(|event| (event.opcode, event.keywords, event.level, event.version))
            .collect();
        assert_eq!(
            seen,
            [
                (Some(9), 99, 5, 8),
                (Some(1), 2, 3, 4),
                (Some(0), 0, 0, 0),
                (Some(9), 99, 1, 8),
                (Some(6), 6, 6, 6),
                (None, 0, 0, 0),
                (Some(1), 2, 3, 4),
            ]
        );
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t163_an_undefined_label_list_is_noted_and_means_none() {
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(5, vec![vec![Label::Level(1)]]));
    events(&mut stream, [labelled(1, 4), labelled(2, 5), labelled(3, 6)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(labels_of(&outcome), ["", "Level(1)", ""]);
    let note =
        |nth: usize, class, id| (class, outcome.events[nth].offset, Fault::UndefinedLabels(id));
    assert_eq!(outcome.damage(), [note(0, Class::Contradiction, 4), note(2, Class::Note, 6)]);
    assert_eq!((outcome.events[0].level, outcome.events[1].level), (4, 1));
}

#[test]
fn t164_a_sequence_point_forgets_label_lists() {
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(
        1,
        vec![vec![Label::Level(1)], vec![Label::Level(2)]],
    ));
    events(&mut stream, [labelled(1, 1), labelled(2, 2)]);
    flagged(&mut stream, 0);
    stream.label_list_block(&LabelListBlock::new(1, vec![vec![Label::Level(3)]]));
    events(&mut stream, [labelled(6, 1), labelled(7, 2)]);
    stream.end();
    for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
        assert_eq!(labels_of(&outcome), ["Level(1)", "Level(2)", "Level(3)", ""]);
        let undefined = (Class::Contradiction, outcome.events[3].offset, Fault::UndefinedLabels(2));
        assert_eq!(outcome.damage(), [undefined]);
    }
}

#[test]
fn t165_a_trace_id_is_shown_in_stored_byte_order() {
    let id: [u8; 16] = std::array::from_fn(|at| at as u8 * 0x11);
    let mut stream = v6();
    stream.label_list_block(&LabelListBlock::new(
        1,
        vec![vec![Label::TraceId(id), Label::ActivityId(id)]],
    ));
    events(&mut stream, [labelled(1, 1), labelled(2, 0)]);
    stream.end();
    let outcome = read(&stream.bytes);
    let shown = outcome.events[0].trace_id.unwrap().to_string();
    assert_eq!(shown, "00112233445566778899aabbccddeeff");
    // A guid of the same bytes is shown in another order.
    let activity = outcome.events[0].activity.unwrap().to_string();
    assert_eq!(activity, "33221100-5544-7766-8899-aabbccddeeff");
    assert_eq!(outcome.events[1].trace_id, None);
}
