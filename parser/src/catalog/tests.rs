//! Tests that the catalog is consistent, and which events it describes.

use super::*;
use crate::block::metadata::Metadata;
use crate::error::Fault;
use crate::schema::{Count, Field, FieldType, Schema, Unit};
use std::collections::HashSet;

const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

/// Returns the row of a provider whose events are identified by name.
fn find_by_name(provider_name: &str, name: &str) -> Option<&'static CatalogEvent> {
    provider(provider_name).filter(|provider| provider.key == Key::Name)?.named(name)
}

fn metadata(
    provider: &str,
    event_id: u32,
    name: &str,
    version: u32,
    fields: &[FieldType],
) -> Metadata {
    let fields = fields.iter().map(|kind| Field::new("F", kind.clone())).collect();
    Metadata {
        id: 1,
        provider: provider.into(),
        event_id,
        name: name.into(),
        keywords: 0,
        version,
        level: 4,
        opcode: None,
        schema: Schema::from_stream(fields, None, false),
        extra: None,
        catalog: None,
        catalog_schema: None,
        split_name: None,
        known_provider: KnownProvider::from_name(provider),
        serial: Default::default(),
        shared: Default::default(),
    }
}

fn symbol(metadata: &Metadata) -> Option<&'static str> {
    metadata.known(metadata.version).map(|event| event.symbol)
}

#[test]
fn a_native_event_without_name_and_fields_is_read_by_the_catalog() {
    assert_eq!(symbol(&metadata(RUNTIME, 1, "", 2, &[])), Some("GCStart_V2"));
    assert_eq!(symbol(&metadata("Somebody-Else", 1, "", 2, &[])), None);
    assert_eq!(symbol(&metadata(RUNTIME, 9999, "", 0, &[])), None);
}

#[test]
fn a_native_event_with_name_or_fields_describes_itself() {
    assert_eq!(symbol(&metadata(RUNTIME, 50, "ThreadPoolWorkerThreadStart", 0, &[])), None);
    assert_eq!(symbol(&metadata(RUNTIME, 1, "", 2, &[FieldType::U32])), None);
}

#[test]
fn fields_that_cannot_be_read_are_not_no_fields() {
    let mut unreadable = metadata(RUNTIME, 1, "", 2, &[]);
    unreadable.schema.opaque = Some(Fault::Truncated);
    assert_eq!(symbol(&unreadable), None);
}

#[test]
fn unknown_with_the_id_is_no_name_and_the_version_comes_with_the_event() {
    let tick = metadata(RUNTIME, 10, "Unknown(10)", 0, &[]);
    assert_eq!(symbol(&tick), Some("GCAllocationTick"));
    assert_eq!(tick.known(4).map(|event| event.symbol), Some("GCAllocationTick_V4"));
    assert_eq!(symbol(&metadata(RUNTIME, 10, "Unknown(11)", 0, &[])), None);
}

#[test]
fn a_newer_version_is_read_as_the_newest_known_and_a_lower_unknown_one_is_not() {
    let symbol = |version| find(RUNTIME, 204, version).map(|event| event.symbol);
    assert_eq!(symbol(3), Some("GCPerHeapHistory_V3"));
    assert_eq!(symbol(4), Some("GCPerHeapHistory_V3"));
    assert_eq!(symbol(2), None);
}

#[test]
fn universal_system_is_always_read_by_the_catalog() {
    let declared = [FieldType::VarUInt, FieldType::Utf8CodeUnit];
    let metadata = |id| metadata("Universal.System", id, "ProcessSymbol", 0, &declared);
    assert_eq!(symbol(&metadata(4)), Some("ProcessSymbol"));
    assert_eq!(symbol(&metadata(77)), None);
}

#[test]
fn universal_events_describe_themselves_if_they_do() {
    let events = "Universal.Events";
    assert_eq!(symbol(&metadata(events, 1, "cpu", 0, &[])), Some("cpu"));
    assert_eq!(symbol(&metadata(events, 7, "sched_waking", 0, &[])), Some(""));
    assert_eq!(
        symbol(&metadata(events, 7, "sched_waking", 0, &[FieldType::VarUInt, FieldType::U32])),
        None
    );
}

#[test]
fn old_diagnostic_source_is_read_by_name() {
    let provider = "Microsoft-Diagnostics-DiagnosticSource";
    let start = find_by_name(provider, "Activity1Start").unwrap();
    assert_eq!(start.name, "Activity1/Start");
    assert_eq!(symbol(&metadata(provider, 4, "Activity1Start", 0, &[])), Some("Activity1Start"));
    assert_eq!(symbol(&metadata(provider, 1, "Message", 0, &[])), None);
    assert_eq!(symbol(&metadata(provider, 4, "Activity1Start", 0, &[FieldType::Utf16Text])), None);
    assert!(find(provider, 4, 0).is_none());
}

#[test]
fn scopes_of_old_loggers_are_read_by_name() {
    let provider = "Microsoft-Extensions-Logging";
    assert_eq!(symbol(&metadata(provider, 21, "ActivityStart", 0, &[])), Some("ActivityStart"));
    assert_eq!(symbol(&metadata(provider, 21, "ActivityStart", 0, &[FieldType::I32])), None);
    assert_eq!(symbol(&metadata(provider, 22, "FormattedMessage", 0, &[])), None);
}

/// Checks that counts are stored before they are used, each in a register of its own.
fn check_registers(fields: &[Field], kept: &mut Vec<u8>, symbol: &str) {
    for field in fields {
        let mut kind = &field.kind;
        if let FieldType::Repeated(element, Count::Earlier { register }) = kind {
            assert!(kept.contains(register), "{symbol}: {} counts by {register}", field.name);
            kind = element;
        }
        if let FieldType::Object(inner) = kind {
            check_registers(inner, kept, symbol);
        }
        if let Some(register) = field.register {
            assert!(
                register < 8 && !kept.contains(&register),
                "{symbol}: {} keeps {register}",
                field.name
            );
            assert!(
                matches!(field.kind, FieldType::U16 | FieldType::U32),
                "{symbol}: {}",
                field.name
            );
            kept.push(register);
        }
    }
}

#[test]
fn every_row_makes_a_schema_whose_counts_are_known_before_they_are_used() {
    let mut counting = 0;
    let records = super::gc_dynamic::records();
    for event in events().chain(records) {
        let schema = event.schema();
        assert_eq!(schema.opaque, None);
        assert!(std::ptr::eq(schema, event.schema()), "made once");
        let mut kept = Vec::new();
        check_registers(&schema.fields, &mut kept, event.symbol);
        counting += usize::from(!kept.is_empty());
    }
    assert!(counting > 30, "{counting}");
}

#[test]
fn every_event_is_there_once_and_sorted() {
    let mut keys = HashSet::new();
    for provider in providers() {
        assert!(provider.events().all(|event| event.provider == provider.name));
        assert!(
            provider.keywords.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "{}",
            provider.name
        );
        for group in provider.groups {
            let is_sorted = |pair: &[CatalogEvent]| {
                (pair[0].id, pair[0].version) < (pair[1].id, pair[1].version)
            };
            assert!(
                provider.key == Key::Name || group.windows(2).all(is_sorted),
                "{}",
                provider.name
            );
        }
        for event in provider.events() {
            let name = if provider.key == Key::Name { event.symbol } else { "" };
            assert!(
                keys.insert((provider.name, event.id, event.version, name)),
                "{}",
                event.symbol
            );
            let found = match provider.key {
                Key::Id => find(provider.name, event.id, event.version),
                Key::Name => find_by_name(provider.name, event.symbol),
            };
            assert_eq!(found, Some(event));
        }
    }
    assert_eq!(
        events().filter(|event| find(event.provider, event.id, event.version).is_some()).count(),
        525
    );
}

#[test]
fn an_id_is_in_one_group_only() {
    for provider in providers() {
        let mut seen = HashSet::new();
        for group in provider.groups {
            let ids: HashSet<u32> = group.iter().map(|event| event.id).collect();
            assert!(seen.is_disjoint(&ids), "{}", provider.name);
            seen.extend(ids);
        }
    }
}

#[test]
fn only_native_events_leave_out_null_texts() {
    let texts = |event: &CatalogEvent| event.schema().ambiguity != crate::schema::Ambiguity::NONE;
    assert!(texts(find(RUNTIME, 80, 1).unwrap()));
    assert!(!texts(find_by_name("Microsoft-Diagnostics-DiagnosticSource", "Event").unwrap()));
}

#[test]
fn a_typed_name_may_be_any_that_people_use() {
    let verbose = find(RUNTIME, 143, 1).unwrap();
    for typed in
        ["MethodLoadVerbose", "Method/LoadVerbose", "methodloadverbose_v1", "MethodLoadVerbose_V1"]
    {
        assert!(verbose.matches_name(typed), "{typed}");
    }
    for typed in ["", "MethodLoad", "MethodLoadVerbose_V2", "Method/Load/Verbose"] {
        assert!(!verbose.matches_name(typed), "{typed}");
    }
    let end = find(RUNTIME, 2, 1).unwrap();
    assert!(end.matches_name("GC/Stop") && end.matches_name("GCStop") && end.matches_name("GCEnd"));
}

#[test]
fn numbers_have_the_units_that_are_known_and_no_other() {
    let unit = |id, version, name: &str| {
        let event = find("Microsoft-Windows-DotNETRuntime", id, version).unwrap();
        let field =
            event.schema().payload_fields().iter().find(|field| field.name == name).unwrap();
        field.unit
    };
    assert_eq!(unit(91, 1, "DurationNs"), Some(Unit::Nanoseconds));
    assert_eq!(unit(56, 0, "Duration"), Some(Unit::Seconds));
    assert_eq!(unit(4, 2, "GenerationSize4"), Some(Unit::Bytes));
    assert_eq!(unit(145, 1, "MethodILSize"), Some(Unit::Bytes));
    // Counts of things, indices and non-numbers have no unit.
    assert_eq!(unit(4, 2, "FinalizationPromotedCount"), None);
    assert_eq!(unit(303, 0, "SampledByteOffset"), None);
    assert_eq!(unit(1, 2, "Count"), None);
    assert_eq!(unit(10, 4, "TypeName"), None);
}

#[test]
fn keywords_have_names() {
    assert!(keywords(RUNTIME).contains(&(0x1, "GCKeyword")));
    assert!(keywords("Somebody-Else").is_empty());
}
