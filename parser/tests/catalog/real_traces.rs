//! Tests that the catalog decodes events of real traces.

use nettrace_parser::catalog::CatalogEvent;
use nettrace_parser::{Event, Reader, Value};
use nettrace_testdata::corpus;
use std::collections::BTreeSet;

/// Visits a value and everything in it.
fn walk(value: &Value<'_>, at: &str) {
    match value {
        Value::Array(elements) => {
            assert_eq!(elements.iter().count(), elements.len(), "{at}");
            elements.iter().for_each(|element| walk(&element, at));
        }
        Value::Object(object) => {
            for field in object.fields() {
                let value =
                    field.value.unwrap_or_else(|fault| panic!("{at} {}: {fault}", field.name()));
                assert!(!matches!(value, Value::Absent), "{at} {}", field.name());
                walk(&value, at);
            }
        }
        _ => {}
    }
}

/// Visits a payload. Returns the names of its absent fields, and the bytes after the last field.
fn walk_event<'r>(event: &Event<'r>, at: &str) -> (Vec<&'r str>, &'r [u8]) {
    let mut absent = Vec::new();
    let mut fields = event.fields();
    for field in fields.by_ref() {
        let value = field.value.unwrap_or_else(|fault| panic!("{at} {}: {fault}", field.name()));
        match value {
            Value::Absent => absent.push(field.name()),
            value => walk(&value, at),
        }
    }
    (absent, fields.rest())
}

/// Returns provider and display name of each event of a trace of this repository.
fn names_in(trace: &str) -> BTreeSet<(String, String)> {
    let bytes = corpus::trace(trace).bytes();
    let mut reader = Reader::from_slice(&bytes);
    let mut names = BTreeSet::new();
    while let Some(event) = reader.next_event().unwrap() {
        let metadata = event.metadata().unwrap();
        assert!(!event.display_name().is_empty(), "{}/{}", event.provider(), event.id());
        // Only version 6 has events with a version of their own, and so with names of their own.
        assert!(event.label_list_id() != 0 || event.display_name() == metadata.display_name());
        names.insert((event.provider().to_owned(), event.display_name().to_owned()));
    }
    names
}

#[test]
fn every_event_of_a_runtime_has_a_name_for_people() {
    let has = |names: &BTreeSet<(String, String)>, provider: &str, name: &str| {
        assert!(
            names.contains(&(provider.to_owned(), name.to_owned())),
            "{provider}/{name} {names:#?}"
        );
    };
    let names = names_in("net10-linux-x64/all.nettrace");
    has(&names, "Microsoft-Windows-DotNETRuntime", "GC/Start");
    has(&names, "Microsoft-Windows-DotNETRuntimeRundown", "Method/DCStopVerbose");
}

fn is_native(provider: &str) -> bool {
    provider.starts_with("Microsoft-Windows-DotNETRuntime")
        || provider == "Microsoft-DotNETCore-SampleProfiler"
}

/// Key of a row of the manifest's extract: provider, event id, version.
pub(crate) type Key = (&'static str, u32, u32);

fn key(known: &CatalogEvent) -> Key {
    (known.provider, known.id, known.version)
}

/// Returns the rows that were used for the traces in `folder`.
pub(crate) fn rows_used_in(folder: &str) -> BTreeSet<Key> {
    let mut used = BTreeSet::new();
    for trace in corpus::of_repository().iter().filter(|trace| trace.name().starts_with(folder)) {
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            used.extend(event.catalog().filter(|known| is_native(known.provider)).map(key));
        }
    }
    used
}

#[test]
fn every_native_event_of_every_trace_is_read_to_the_last_byte() {
    let (mut events, mut rows) = (0u64, BTreeSet::new());
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            if !is_native(event.provider()) {
                continue;
            }
            let at = format!(
                "{} {} {} v{}",
                trace.name(),
                event.provider(),
                event.id(),
                event.version()
            );
            let known = event.catalog().unwrap_or_else(|| panic!("{at} is not in the catalog"));
            assert_eq!(known.version, event.version(), "{at}");
            let (absent, rest) = walk_event(&event, &at);
            assert!(absent.is_empty(), "{at}: no {absent:?}");
            assert!(rest.is_empty(), "{at}: {rest:02x?}");
            events += 1;
            rows.insert(key(known));
        }
    }
    eprintln!("{events} native events of {} rows", rows.len());
    assert!(rows.len() > 60, "{} rows", rows.len());
}

#[test]
fn what_recorders_say_of_processes_is_read_by_the_catalog() {
    let mut seen = BTreeSet::new();
    for trace in corpus::traces().iter().filter(|trace| trace.name().starts_with("one-collect-v6/"))
    {
        let bytes = trace.bytes();
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            if event.provider() != "Universal.System" {
                continue;
            }
            let at = format!("{} at {}", trace.name(), event.offset());
            let known = event.catalog().unwrap_or_else(|| panic!("{at} is not in the catalog"));
            assert_eq!(known.name, event.name(), "{at}");
            let (absent, rest) = walk_event(&event, &at);
            assert!(absent.is_empty(), "{at}: no {absent:?}");
            // The payload goes on with the two counted texts of ProcessMappingMetadata (FORMAT.md
            // Q13).
            let surplus = if known.name == "ProcessMapping" { 2 } else { 0 };
            assert_eq!(counted_texts(rest), Some(surplus), "{at}: {rest:02x?}");
            for name in ["Name", "FileName", "NamespaceName"] {
                let text = event.field(name).map(|text| text.to_string()).unwrap_or_default();
                assert!(!text.contains(|letter: char| letter.is_control()), "{at}: {text:?}");
            }
            seen.insert(known.name);
        }
    }
    assert!(seen.contains("ProcessMapping") && seen.contains("ProcessSymbol"), "{seen:?}");
}

/// Returns the number of texts, each with a u16 length, that take all of `bytes`.
fn counted_texts(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        bytes = rest.get(usize::from(u16::from_le_bytes(*length))..)?;
        count += 1;
    }
    bytes.is_empty().then_some(count)
}
