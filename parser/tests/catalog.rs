//! Tests that the built-in catalog agrees with the extract of the runtime's manifest, and decodes
//! events that runtimes wrote.

mod by_name;
mod real_traces;
mod round_trip;

use nettrace_parser::Reader;
use nettrace_testdata::synth::Value as Written;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the extract of the runtime's manifest.
fn table() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog/clr-events.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("no text {key} in {value}"))
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {value}"))
}

fn array<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value}"))
}

/// Returns all rows of the table, with their providers.
fn rows(table: &Value) -> Vec<(&str, &Value, u8)> {
    array(table, "providers")
        .iter()
        .flat_map(|provider| {
            let name = text(provider, "name");
            array(provider, "events")
                .iter()
                .map(move |event| (name, event, number(event, "version") as u8))
        })
        .collect()
}

#[test]
fn a_payload_of_every_row_is_read_back() {
    let table = table();
    let rows = rows(&table);
    assert_eq!(rows.len(), 518);
    for pointer_size in [8, 4] {
        for seed in 0..8 {
            let payloads: Vec<_> = rows
                .iter()
                .map(|(_, event, _)| round_trip::payload(event, pointer_size, seed))
                .collect();
            let bytes = round_trip::stream(&rows, &payloads, pointer_size);
            let mut reader = Reader::from_slice(&bytes);
            let mut count = 0;
            while let Some(event) = reader.next_event().unwrap() {
                let ((provider, row, _), payload) = (&rows[count], &payloads[count]);
                let known = event.catalog().unwrap_or_else(|| panic!("{provider} {row}"));
                assert_eq!((known.symbol, known.name), (text(row, "symbol"), text(row, "name")));
                round_trip::check(event.fields(), &payload.expected, known.symbol);
                let mut fields = event.fields();
                fields.by_ref().for_each(drop);
                assert!(fields.rest().is_empty(), "{}", known.symbol);
                count += 1;
            }
            assert_eq!(count, rows.len());
        }
    }
}

#[test]
fn what_a_newer_version_appends_is_surplus() {
    let table = table();
    let newest: Vec<_> = rows(&table)
        .into_iter()
        .filter(|(provider, event, version)| {
            let above = nettrace_parser::catalog::find(provider, number(event, "id") as u32, 200);
            above.is_some_and(|newest| newest.version == u32::from(*version))
        })
        .map(|(provider, event, _)| (provider, event, 200))
        .collect();
    assert_eq!(newest.len(), 380);
    let appended = [0xee; 5];
    let payloads: Vec<_> = newest
        .iter()
        .map(|(_, event, _)| {
            let mut payload = round_trip::payload(event, 8, 7);
            payload.written.push(Written::Raw(appended.to_vec()));
            payload
        })
        .collect();
    let bytes = round_trip::stream(&newest, &payloads, 8);
    let mut reader = Reader::from_slice(&bytes);
    let mut count = 0;
    while let Some(event) = reader.next_event().unwrap() {
        let known = event.catalog().unwrap();
        assert_eq!(known.symbol, text(newest[count].1, "symbol"));
        round_trip::check(event.fields(), &payloads[count].expected, known.symbol);
        let mut fields = event.fields();
        fields.by_ref().for_each(drop);
        assert_eq!(fields.rest(), appended, "{}", known.symbol);
        count += 1;
    }
    assert_eq!(count, newest.len());
}

#[test]
fn rows_used_by_a_runtime_are_those_that_are_known_to_be_seen_there() {
    let table = table();
    for (folder, version) in [("net8-", "8.0"), ("net9-", "9.0"), ("net10-", "10.0")] {
        let seen: BTreeSet<(&str, u32, u32)> = rows(&table)
            .into_iter()
            .filter(|(_, event, _)| {
                event["seen"].as_array().is_some_and(|seen| seen.contains(&version.into()))
            })
            .map(|(provider, event, _)| {
                (provider, number(event, "id") as u32, number(event, "version") as u32)
            })
            .collect();
        let used = real_traces::rows_used_in(folder);
        assert!(used.len() > 20, "{folder}: {}", used.len());
        let unseen: Vec<_> = used.difference(&seen).collect();
        assert!(unseen.is_empty(), "{folder}: {unseen:?}");
    }
}
