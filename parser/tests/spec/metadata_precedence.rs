//! Tests which description of an event type counts, if there are several (FORMAT.md 9.2, 15).

use crate::described::*;
use crate::snapshot::read;
use crate::streams::{EACH, START, at, begun, define, definition, event, events, opened, row};
use nettrace_parser::{Class, Fault, catalog};
use nettrace_testdata::synth::*;

#[test]
fn t090_an_identical_second_definition_is_ignored_a_different_one_counts_from_there_on() {
    for version in EACH {
        let mut stream = begun(version);
        let again = |stream: &mut Stream, name: &str| match version {
            Version::V6 => {
                stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow {
                    name: name.into(),
                    ..row(1)
                }]));
            }
            _ => define(stream, &[Definition { name: name.into(), ..definition(1) }]),
        };
        events(&mut stream, [event(1, 1)]);
        again(&mut stream, "Hi");
        events(&mut stream, [event(2, 2)]);
        again(&mut stream, "Other");
        let changed = stream.parts.last().unwrap().clone();
        events(&mut stream, [event(3, 3)]);
        again(&mut stream, "Other");
        events(&mut stream, [event(4, 4)]);
        stream.end();
        for outcome in [read(&stream.bytes), crate::snapshot::ordered(&stream.bytes)] {
            let names: Vec<_> = outcome.events.iter().map(|event| event.name.as_str()).collect();
            assert_eq!(names, ["Hi", "Hi", "Other", "Other"]);
            assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
            let finding = outcome.findings[0];
            assert_eq!((finding.class, finding.fault), (Class::Note, Fault::Redefined(1)));
            // The place is that of the definition itself.
            let row = changed.rows[0].clone();
            let place = match version {
                Version::V6 => row.start + 2,
                Version::V3 => row.start + 56,
                _ => row.end - Definition { name: "Other".into(), ..definition(1) }.encode().len(),
            };
            assert_eq!(
                (finding.offset, finding.block_offset),
                (place as u64, changed.start as u64)
            );
        }
    }
    // A definition of id 0 has no use.
    let mut stream = opened(Version::V4);
    define(&mut stream, &[definition(0), definition(1)]);
    events(&mut stream, [event(1, 1)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.findings[0].fault, Fault::DefinesNothing(0));
    assert_eq!((outcome.findings.len(), outcome.events[0].name.as_str()), (1, "Hi"));
}

#[test]
fn t091_an_event_with_an_undefined_metadata_id_is_delivered_untyped() {
    for version in EACH {
        let mut stream = begun(version);
        let unknown = |id| Blob { metadata_id: id, payload: vec![1, 2, 3], ..event(2, 2) };
        events(&mut stream, [event(1, 1), unknown(9), event(3, 3)]);
        stream.end();
        let outcome = read(&stream.bytes);
        let untyped = &outcome.events[1];
        let class = if version == Version::V3 { Class::Note } else { Class::Contradiction };
        assert_eq!(outcome.damage(), [(class, untyped.offset, Fault::UndefinedMetadata(9))]);
        assert_eq!((untyped.metadata_id, untyped.metadata.as_ref()), (9, None));
        assert_eq!((untyped.provider.as_str(), untyped.name.as_str(), untyped.id), ("", "", 0));
        assert_eq!(
            (untyped.version, untyped.level, untyped.keywords, untyped.opcode),
            (0, 0, 0, None)
        );
        assert_eq!((untyped.ticks, &untyped.payload[..]), (START + 2, &[1, 2, 3][..]));
        assert_eq!((untyped.fields.len(), &untyped.rest[..]), (0, &[1, 2, 3][..]));
        assert_eq!(outcome.ticks(), at([1, 2, 3]));
    }
    // In version 4 no event may have id 0; there it is such an id, too.
    let mut stream = begun(Version::V4);
    events(&mut stream, [event(1, 1), Blob { metadata_id: 0, ..event(1, 2) }, event(2, 3)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(
        outcome.damage(),
        [(Class::Contradiction, outcome.events[1].offset, Fault::UndefinedMetadata(0))]
    );
    assert_eq!((outcome.ticks(), outcome.lost, outcome.restarts), (at([1, 2, 3]).to_vec(), 0, 0));
}

#[test]
fn t092_a_native_event_has_an_empty_name_and_no_fields_and_is_looked_up_by_provider_id_and_version()
{
    const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
    let native = |id, provider: &str, event_id, version| Definition {
        metadata_id: id,
        provider: provider.into(),
        event_id,
        name: String::new(),
        version,
        fields: vec![],
        ..definition(id)
    };
    let definitions = [
        // GCStart in versions 1 and 2, and one newer than is known.
        native(1, RUNTIME, 1, 1),
        native(2, RUNTIME, 1, 2),
        native(3, RUNTIME, 1, 9),
        // An id that does not exist, another provider's, one with a name, one with
        // fields.
        native(4, RUNTIME, 60_000, 0),
        native(5, "Nobody", 1, 1),
        Definition { name: "GCStart".into(), ..native(6, RUNTIME, 1, 1) },
        Definition { fields: vec![field("own", FieldType::UInt32)], ..native(7, RUNTIME, 1, 1) },
    ];
    // Count, Depth, Reason, Type, ClrInstanceID, then in version 2 ClientSequenceNumber.
    let values =
        [7, 2, 1, 0].map(Value::U32).into_iter().chain([Value::U16(13)]).collect::<Vec<_>>();
    let bytes = payload(&values);
    for version in [Version::V3, Version::V4] {
        let outcome = described(version, &definitions, &bytes);
        assert!(
            outcome.events.iter().all(|event| event.name.is_empty() || event.name == "GCStart")
        );
        let shapes: Vec<_> = (0..7).map(|nth| shape_of(&outcome, nth)).collect();
        assert_eq!(shapes, ["", "", "", "", "", "", "own: U32"]);
        let start = "Count = 7u32; Depth = 2u32; Reason = 1u32; Type = 0u32; ClrInstanceID = 13u16";
        let fields: Vec<_> = outcome.events.iter().map(|event| event.fields.join("; ")).collect();
        assert_eq!(
            fields,
            [
                start,
                &format!("{start}; ClientSequenceNumber = absent"),
                &format!("{start}; ClientSequenceNumber = absent"),
                "",
                "",
                "",
                "own = 7u32",
            ]
        );
        let rests: Vec<_> = outcome.events.iter().map(|event| event.rest.len()).collect();
        assert_eq!(rests, [0, 0, 0, 18, 18, 18, 14]);
        assert!(outcome.is_flawless());
    }
    let found =
        |version| catalog::find(RUNTIME, 1, version).map(|event| (event.symbol, event.name));
    assert_eq!(
        [1, 2, 9].map(found),
        [
            Some(("GCStart_V1", "GC/Start")),
            Some(("GCStart_V2", "GC/Start")),
            Some(("GCStart_V2", "GC/Start")),
        ]
    );
}

#[test]
fn t093_the_diagnosticsource_events_without_fields_get_their_known_layout() {
    let names = [
        "Event",
        "Activity1Start",
        "Activity1Stop",
        "Activity2Start",
        "Activity2Stop",
        "RecursiveActivity1Start",
        "RecursiveActivity1Stop",
    ];
    let undescribed = |name: &str, id| Definition {
        provider: "Microsoft-Diagnostics-DiagnosticSource".into(),
        event_id: 100 + id,
        name: name.into(),
        fields: vec![],
        ..definition(id)
    };
    let mut definitions: Vec<_> =
        names.iter().zip(1..).map(|(name, id)| undescribed(name, id)).collect();
    definitions.push(undescribed("NewEvent", 8));
    definitions.push(Definition {
        fields: vec![field("own", FieldType::Char)],
        ..undescribed("Event", 9)
    });
    let text = |text: &str| Value::Text(text.into());
    let pair = Value::Object(vec![text("k"), text("v")]);
    let bytes = payload(&[text("Source"), text("Name"), Value::Array(vec![pair.clone(), pair])]);
    for version in [Version::V3, Version::V4] {
        let outcome = described(version, &definitions, &bytes);
        for event in &outcome.events[..7] {
            assert_eq!(
                event.fields,
                [
                    "SourceName = \"Source\"",
                    "EventName = \"Name\"",
                    "Arguments = [{Key = \"k\", Value = \"v\"}, {Key = \"k\", Value = \"v\"}]",
                ]
            );
            assert_eq!(event.rest, []);
        }
        assert_eq!((outcome.events[7].fields.len(), &outcome.events[7].rest), (0, &bytes));
        assert_eq!(outcome.events[8].fields, ["own = char 0x53"]);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t094_names_ending_in_start_and_stop_imply_opcodes_only_when_there_is_none() {
    let cases = [
        ("RequestStart", 1),
        ("RequestStop", 2),
        ("requestSTART", 1),
        ("sToP", 2),
        ("Start", 1),
        ("Startup", 0),
        ("Stopped", 0),
        ("StartStop", 2),
        ("tart", 0),
        ("", 0),
        ("ÄStart", 1),
        ("Größe", 0),
    ];
    let definitions: Vec<_> = cases
        .iter()
        .zip(1..)
        .map(|((name, _), id)| Definition { name: (*name).into(), ..definition(id) })
        .collect();
    for version in [Version::V3, Version::V5] {
        let outcome = described(version, &definitions, &[0; 4]);
        for (event, (name, implied)) in outcome.events.iter().zip(cases) {
            assert_eq!((event.opcode, event.implied_opcode), (None, implied), "{name:?}");
        }
        // What is stored counts, even a zero.
        let stored: Vec<_> = definitions
            .iter()
            .map(|definition| Definition { tags: vec![Tag::opcode(0)], ..definition.clone() })
            .collect();
        let outcome = described(version, &stored, &[0; 4]);
        assert!(outcome.events.iter().all(|event| event.opcode == Some(0)));
    }
}
