//! Tests of the events that one-collect writes in version 6 (FORMAT.md 15).

use crate::snapshot::read;
use crate::streams::{event, events, opened, row};
use crate::v6::*;
use nettrace_parser::{Reader, catalog};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::*;

#[test]
fn t166_one_collect_s_universal_system_events_decode_by_the_built_in_table() {
    // What one-collect says of its fields: texts are of type 23, one code unit.
    let misdescribed = |id, event_id, name: &str, fields: Vec<Field>| MetadataRow {
        provider: "Universal.System".into(),
        event_id,
        name: name.into(),
        fields,
        ..row(id)
    };
    let mut stream = opened(Version::V6);
    stream.metadata_rows(&MetadataBlock::new(vec![
        misdescribed(
            1,
            0,
            "ExistingProcess",
            vec![
                field("NamespaceId", FieldType::VarUInt),
                field("Name", FieldType::Utf8CodeUnit),
                field("NamespaceName", FieldType::Utf8CodeUnit),
            ],
        ),
        misdescribed(2, 2, "ProcessExit", vec![]),
        misdescribed(3, 3, "ProcessMapping", vec![field("Id", FieldType::VarUInt)]),
        misdescribed(4, 4, "ProcessSymbol", vec![]),
        misdescribed(5, 5, "ProcessMappingMetadata", vec![field("Id", FieldType::Utf8CodeUnit)]),
    ]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let (number, name) = (Value::VarUInt, |name: &str| Value::CountedText(name.into()));
    let payloads = [
        vec![number(4026531836), name("dotnet"), name("größe")],
        vec![],
        vec![
            number(1),
            number(0x7f00_0000_0000),
            number(0x7f00_0010_0000),
            number(300),
            name("/lib/libc.so"),
            number(2),
            name("{}"),
            name(""),
        ],
        vec![number(1), number(2), number(0x1000), number(0x2000), name("main")],
        vec![number(2), name("{\"type\":\"ELF\"}"), name("")],
    ];
    let blobs = payloads.iter().zip(1..);
    events(
        &mut stream,
        blobs.map(|(values, id)| Blob {
            metadata_id: id,
            payload: payload(values),
            ..event(id, 1)
        }),
    );
    stream.end();
    let outcome = read(&stream.bytes);
    let fields: Vec<_> = outcome.events.iter().map(|event| event.fields.join("; ")).collect();
    assert_eq!(
        fields,
        [
            "NamespaceId = 4026531836u64; Name = b\"dotnet\"; NamespaceName = b\"größe\"",
            "",
            "Id = 1u64; StartAddress = 139637976727552u64; EndAddress = 139637977776128u64; FileOffset = 300u64; \
         FileName = b\"/lib/libc.so\"; MetadataId = 2u64",
            "Id = 1u64; MappingId = 2u64; StartAddress = 4096u64; EndAddress = 8192u64; Name = b\"main\"",
            "Id = 2u64; SymbolMetadata = b\"{\\\"type\\\":\\\"ELF\\\"}\"; VersionMetadata = b\"\"",
        ]
    );
    // The two more texts of a mapping are what is left.
    let rests: Vec<_> = outcome.events.iter().map(|event| event.rest.len()).collect();
    assert_eq!(rests, [0, 0, 6, 0, 0]);
    // Real ones: every such event decodes, to its end but for those texts.
    for name in ["one-collect-v6/cpu.nettrace", "one-collect-v6/cpu-and-switches.nettrace"] {
        let bytes = corpus::trace(name).bytes();
        let mut reader = Reader::from_slice(&bytes);
        let mut decoded = 0;
        while let Some(event) = reader.next_event().unwrap() {
            if event.provider() != "Universal.System" {
                continue;
            }
            let known = catalog::find("Universal.System", event.id(), 0).expect("the table has it");
            assert_eq!(event.catalog().map(|event| event.name), Some(known.name));
            let mut fields = event.fields();
            assert!(fields.by_ref().all(|field| field.value.is_ok()), "{event:?}");
            assert!(fields.rest().is_empty() || known.name == "ProcessMapping", "{event:?}");
            decoded += 1;
        }
        assert!(decoded > 40, "{decoded}");
    }
}
