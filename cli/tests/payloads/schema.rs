//! `nettrace schema`: fields with their types, their sources and their numbers of events.

use crate::common::Json as _;
use crate::common::{event_type, file, nettrace};
use crate::{ALL, fields, session};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{FieldType, Step, Value, Version};
use serde_json::{Value as Json, json};

fn schema(path: &str, args: &[&str]) -> Json {
    let ran = nettrace(&[&["schema", path, "--json"], args].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    ran.json()
}

fn with_all_sources(version: Version) -> String {
    let inner = fields(&[("X", FieldType::Int32), ("Label", FieldType::Text)]);
    let outer = fields(&[
        ("id", FieldType::Guid),
        ("inner", FieldType::Object(inner)),
        ("when", FieldType::DateTime),
    ]);
    let mut session = session(version, outer, Vec::new());
    let bare = |provider, event_id, name| event_type(provider, event_id, name, vec![]);
    session.types.push(bare("Microsoft-Windows-DotNETRuntime", 2, ""));
    session.types.push(bare("Synth", 5, "Bytes"));
    session.types.push(bare("Synth", 6, "Never"));
    let types = [1, 0, 2, 1];
    session.steps = types.map(|at| Step::event(at, 0, 10, vec![Value::Raw(vec![0; 8])])).to_vec();
    file("sources.nettrace", &session.record().stream.into_bytes())
}

#[test]
fn fields_are_from_the_stream_or_the_catalog_or_not_described() {
    for version in [Version::V4, Version::V5, Version::V6] {
        let json = schema(&with_all_sources(version), &[]);
        assert_eq!((&json["schema"], &json["events"]), (&json!(1), &json!(4)));
        let rows = json["types"].list();
        let summary = |row: &Json| json!([row["name"], row["id"], row["source"], row["events"]]);
        let mut expected = vec![
            json!(["GC/Stop", 2, "catalog", 2]),
            json!(["E", 1, "stream", 1]),
            json!(["Bytes", 5, "none", 1]),
        ];
        // The writer defines a type right before its first event.
        if rows.len() > expected.len() {
            expected.push(json!(["Never", 6, "none", 0]));
        }
        assert_eq!(rows.iter().map(summary).collect::<Vec<_>>(), expected, "{version:?}");
        assert_eq!(rows[0]["symbol"], "GCEnd");
        assert_eq!(
            rows[1]["fields"],
            json!([
                { "name": "id", "type": "guid" },
                { "name": "inner", "type": "object", "fields": [
                    { "name": "X", "type": "int32" },
                    { "name": "Label", "type": "utf16" },
                ]},
                { "name": "when", "type": "datetime" },
            ])
        );
    }
}

#[test]
fn values_of_enumerations_and_flags_have_their_names() {
    let json = schema(
        ALL,
        &["--event", "GC/Start", "--event", "Microsoft-Windows-DotNETRuntimeRundown/144"],
    );
    let field = |symbol: &str, name: &str| {
        let rows = json["types"].list();
        let row = rows
            .iter()
            .find(|row| row["symbol"].as_str().is_some_and(|known| known.starts_with(symbol)));
        let fields = row.expect(symbol)["fields"].list();
        fields.iter().find(|field| field["name"] == name).expect(name).clone()
    };
    let reason = &field("GCStart", "Reason")["values"];
    assert_eq!((&reason["name"], &reason["is_bitmap"]), (&json!("GCReasonMap"), &json!(false)));
    assert_eq!(
        (&reason["entries"][0], &reason["entries"][1]),
        (&json!({ "value": 0, "name": "AllocSmall" }), &json!({ "value": 1, "name": "Induced" }))
    );
    let flags = &field("MethodDCEndVerbose", "MethodFlags");
    assert_eq!(
        (&flags["values"]["is_bitmap"], &flags["values"]["entries"][0]),
        (&json!(true), &json!({ "value": 1, "name": "Dynamic" }))
    );
    assert_eq!(field("MethodDCEndVerbose", "MethodStartAddress")["hex"], json!(true));
    assert_eq!(field("GCStart", "Count").get("values"), None);
}

#[test]
fn types_and_events_are_those_of_stats_and_fields_are_those_of_events() {
    for trace in corpus::traces() {
        // Large traces take long in a build without optimisation and show nothing new.
        if std::fs::metadata(trace.path()).unwrap().len() > 250_000 {
            continue;
        }
        let path = trace.path().display().to_string();
        let json = schema(&path, &["--quiet"]);
        let stats = nettrace(&["stats", "--json", "--quiet", &path]).json();
        assert_eq!(json["events"], stats["events"], "{path}");
        let types = json["types"].list();
        let sum: u64 = types.iter().map(|row| row["events"].int()).sum();
        assert_eq!(json["events"], sum, "{path}");
        let events = nettrace(&["events", "--format", "ndjson", "--quiet", &path]).lines();
        for event in events.iter().step_by(7) {
            let is_of = |row: &&Json| {
                ["provider", "id", "version", "name"]
                    .iter()
                    .all(|key| row[*key] == event[if *key == "name" { "event" } else { *key }])
            };
            let keys: Vec<&String> = event["payload"].as_object().unwrap().keys().collect();
            let mut names = types.iter().filter(is_of).map(|row| {
                let fields = row["fields"].list();
                let mut names: Vec<&str> =
                    fields.iter().map(|field| field["name"].text()).collect();
                names.sort_unstable();
                names
            });
            let mut keys: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
            keys.sort_unstable();
            assert!(names.any(|names| names == keys), "{path}: {event}");
        }
    }
}
