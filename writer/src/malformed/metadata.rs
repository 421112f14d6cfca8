//! Malformed definitions of event types: payloads of version 4, tags, rows of version 6.

use super::{Cases, define, define_v4, definition, event, row};
use crate::{
    Blob, Content, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Optional,
    PartKind, Tag, Value, Version, payload,
};

fn int32(name: &str) -> Field {
    Field::new(name, FieldType::Int32)
}

pub(super) fn definitions(cases: &mut Cases) {
    for version in [Version::V3, Version::V4] {
        let good = || definition(2, vec![int32("a"), int32("b")]);
        let mut with = |name: &str, definition: Definition| {
            let payload = payload(&[Value::I32(1), Value::I32(2)]);
            let blob = Blob { metadata_id: 2, payload, ..event(version, 2) };
            cases.between(version, name, |stream| {
                define_v4(stream, definition);
                stream.event_block(&EventBlock::new([blob]));
            });
        };
        with("definition-ends-after-the-level", Definition { ends_after_level: true, ..good() });
        with("definition-of-id-0", Definition { metadata_id: 0, ..good() });
        with("definition-of-the-highest-id", Definition { metadata_id: u32::MAX, ..good() });
        with("definition-of-a-known-id-again", Definition { metadata_id: 1, ..good() });
        for (name, count) in
            [("negative", u32::MAX), ("largest", i32::MAX as u32), ("one-more", 3), ("one-less", 1)]
        {
            let definition = Definition { field_count: Some(count), ..good() };
            with(&format!("definition-field-count-{name}"), definition);
        }
        let whole = good().encode();
        for length in [0, 3, 9, 22, 46, whole.len() - 3] {
            cases.between(version, &format!("definition-cut-after-{length}"), |stream| {
                let blob = Blob::definition(1, 1, whole[..length].to_vec());
                stream.metadata_blobs(&EventBlock::new([blob]));
                stream
                    .event_block(&EventBlock::new([Blob { metadata_id: 2, ..event(version, 2) }]));
            });
        }
        cases.between(version, "definition-twice-the-same", |stream| {
            define(stream, 1, vec![Field::new("n", FieldType::Int32)]);
        });
    }
    cases.between(Version::V4, "definition-with-capture-flags", |stream| {
        let blobs = [2, 3].map(|id| Blob {
            flags: Some(0xc6),
            processor: id,
            ..Blob::definition(1, 1, definition(id, vec![]).encode())
        });
        stream.metadata_blobs(&EventBlock::new(blobs));
    });
}

pub(super) fn tags(cases: &mut Cases) {
    let arrays = || vec![Field::new("a", FieldType::UInt16.array())];
    let mut with = |name: &str, fields: Vec<Field>, tags: Vec<Tag>| {
        let values = [Value::Array(vec![Value::U16(1), Value::U16(2)])];
        let blob = Blob { metadata_id: 2, payload: payload(&values), ..event(Version::V5, 2) };
        cases.between(Version::V5, name, |stream| {
            define_v4(stream, Definition { tags, ..definition(2, fields) });
            stream.event_block(&EventBlock::new([blob]));
        });
    };
    let params = || Tag::v2_params(&arrays());
    with("tags-in-the-other-order", vec![], vec![params(), Tag::opcode(1)]);
    with("tag-unknown", vec![], vec![Tag::new(9, *b"anything"), params()]);
    with("tag-opcode-longer", vec![], vec![Tag::new(1, [1, 2, 3]), params()]);
    with("tag-opcode-empty", vec![], vec![Tag::new(1, []), params()]);
    with("tag-opcode-twice", vec![], vec![Tag::opcode(1), Tag::opcode(2)]);
    with("tag-params-besides-a-list", vec![int32("x")], vec![params()]);
    with("tag-params-twice", vec![], vec![params(), Tag::v2_params(&[int32("x")])]);
    for (name, size) in
        [("negative", u32::MAX), ("largest", i32::MAX as u32), ("one-more", 25), ("0", 0)]
    {
        let tag = Tag { size: Some(size), ..params() };
        with(&format!("tag-size-{name}"), vec![], vec![Tag::opcode(1), tag]);
    }
    for (name, size) in
        [("negative", u32::MAX), ("0", 0), ("4", 4), ("largest", i32::MAX as u32), ("longer", 24)]
    {
        let field = Field { size: Some(size), ..Field::new("a", FieldType::UInt16.array()) };
        with(&format!("tag-field-size-{name}"), vec![], vec![Tag::v2_params(&[field, int32("b")])]);
    }
    let longer = Field { extra: vec![0xee; 6], ..Field::new("a", FieldType::UInt16.array()) };
    with("tag-field-with-more", vec![], vec![Tag::v2_params(&[longer])]);
    let count = Tag::new(2, i32::MAX.to_le_bytes());
    with("tag-field-count-largest", vec![], vec![count]);
    let deep = FieldType::Raw([19, 0, 0, 0].repeat(10_000));
    with("tag-arrays-nested-deeply", vec![], vec![Tag::v2_params(&[Field::new("a", deep)])]);
}

pub(super) fn rows(cases: &mut Cases) {
    let good = || row(2, vec![int32("a")]);
    let mut with = |name: &str, row: MetadataRow| {
        let blob = Blob { metadata_id: 2, ..event(Version::V6, 2) };
        let after = super::row(3, vec![]);
        cases.between(Version::V6, name, |stream| {
            stream.metadata_rows(&MetadataBlock::new(vec![row, after]));
            stream.event_block(&EventBlock::new([blob]));
        });
    };
    for (name, size) in
        [("0", 0), ("5", 5), ("one-less", good().encode().len() as u16 - 3), ("largest", 0xffff)]
    {
        with(&format!("row-size-{name}"), MetadataRow { size: Some(size), ..good() });
    }
    with("row-of-id-0", MetadataRow { metadata_id: 0, ..good() });
    with("row-of-a-known-id-again", MetadataRow { metadata_id: 1, ..good() });
    with("row-without-optional-metadata", MetadataRow { ends_after_fields: true, ..good() });
    with("row-with-more", MetadataRow { extra: vec![0xee; 5], ..good() });
    for count in [0, 2, 0xffff] {
        with(
            &format!("row-field-count-{count}"),
            MetadataRow { field_count: Some(count), ..good() },
        );
    }
    for size in [0, 1, 2, 9, 0xffff] {
        let field = Field { size: Some(size), ..int32("a") };
        with(
            &format!("row-field-size-{size}"),
            MetadataRow { fields: vec![field, int32("b")], ..good() },
        );
    }
    let longer = Field { extra: vec![0xee; 3], ..int32("a") };
    with("row-field-with-more", MetadataRow { fields: vec![longer, int32("b")], ..good() });
    for size in [0, 1, 3, 0xffff] {
        with(
            &format!("row-optional-size-{size}"),
            MetadataRow { optional_size: Some(size), ..good() },
        );
    }
    let all = vec![
        Optional::OpCode(1),
        Optional::Keywords(1),
        Optional::MessageTemplate("{a}".into()),
        Optional::Description("odd".into()),
        Optional::KeyValue("k".into(), "v".into()),
        Optional::ProviderGuid([7; 16]),
        Optional::Level(5),
        Optional::Version(2),
        Optional::OpCode(2),
    ];
    with("row-with-all-optional-metadata", MetadataRow { optional: all, ..good() });
    for (name, bytes) in
        [("kind-2", &[2, 0][..]), ("kind-99", &[99, 1]), ("text-too-long", &[4, 200, b'x'])]
    {
        let optional = vec![Optional::OpCode(1), Optional::Raw(bytes.to_vec()), Optional::Level(1)];
        with(&format!("row-optional-{name}"), MetadataRow { optional, ..good() });
    }
    for size in [1, 0xffff] {
        cases.between(Version::V6, &format!("metadata-header-size-{size}"), |stream| {
            let block = MetadataBlock {
                header_size: Some(size),
                ..MetadataBlock::new(vec![row(2, vec![])])
            };
            stream.metadata_rows(&block);
        });
    }
    cases.between(Version::V6, "metadata-header-cut", |stream| {
        stream.part(PartKind::Metadata, Content::raw([0]));
    });
}

pub(super) fn types(cases: &mut Cases) {
    let ints = [Value::I32(1), Value::I32(2), Value::I32(3)];
    let fields = |odd: FieldType| vec![int32("a"), Field::new("odd", odd), int32("b")];
    for version in [Version::V3, Version::V4, Version::V6] {
        for code in [0, 2, 27, 255] {
            cases.typed(
                version,
                &format!("type-code-{code}"),
                fields(FieldType::Code(code)),
                &ints,
            );
        }
        cases.typed(
            version,
            "type-object-without-fields",
            fields(FieldType::Object(vec![])),
            &ints[..2],
        );
        let mut deep = FieldType::Byte;
        for _ in 0..100 {
            deep = FieldType::Object(vec![Field::new("", deep)]);
        }
        cases.typed(version, "type-objects-100-deep", fields(deep), &ints);
    }
    cases.typed(
        Version::V4,
        "type-array-in-the-first-list",
        fields(FieldType::Byte.array()),
        &ints,
    );
    cases.typed(Version::V4, "type-of-version-6", fields(FieldType::VarUInt), &ints);

    let mut v6 = |name: &str, odd: FieldType| {
        cases.typed(Version::V6, &format!("type-{name}"), fields(odd), &ints);
    };
    v6("arrays-60000-deep", FieldType::Raw([19].repeat(60_000)));
    v6("array-without-element", FieldType::Code(19));
    v6("rel-loc-of-strings", FieldType::RelLoc(Box::new(FieldType::Text)));
    v6("data-loc-of-varints", FieldType::DataLoc(Box::new(FieldType::VarInt)));
    v6("rel-loc-of-empty-objects", FieldType::RelLoc(Box::new(FieldType::Object(vec![]))));
    v6("fixed-array-of-0", FieldType::FixedLengthArray(Box::new(FieldType::Int32), 0));
    v6("fixed-array-of-65535", FieldType::FixedLengthArray(Box::new(FieldType::Guid), 0xffff));
    let mut product = FieldType::Object(vec![]);
    for _ in 0..6 {
        product = FieldType::FixedLengthArray(Box::new(product), 0xffff);
    }
    v6("fixed-arrays-multiplied", product);
}
