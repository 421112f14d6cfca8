//! Payloads in the output of `nettrace events` and `nettrace schema`.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../common/mod.rs"]
mod common;
mod goldens;
mod memory;
mod names;
mod python;
mod schema;
mod texts;
mod values;

use common::{event_type, file, nettrace, session_of};
use nettrace_testdata::synth::{Field, FieldType, Session, Value, Version};
use serde_json::Value as Json;

/// Recorded traces of one workload, which writes the same events in each.
const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const ALL_31: &str = "testdata/traces/net3.1-linux-x64/all.nettrace.gz";
const NETPERF: &str = "testdata/traces/net3.1-linux-x64/all.netperf.gz";

fn fields(fields: &[(&str, FieldType)]) -> Vec<Field> {
    fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect()
}

/// Creates a session with events of one type, `Synth/E`.
fn session(version: Version, fields: Vec<Field>, payloads: Vec<Vec<Value>>) -> Session {
    session_of(version, event_type("Synth", 1, "E", fields), payloads)
}

/// Writes a stream of such events to a file.
fn trace(version: Version, fields: Vec<Field>, payloads: Vec<Vec<Value>>) -> String {
    file("synth.nettrace", &session(version, fields, payloads).record().stream.into_bytes())
}

/// Returns the documents of `events --format ndjson` for a file.
fn ndjson(path: &str, args: &[&str]) -> Vec<Json> {
    let ran = nettrace(&[&["events", path, "--format", "ndjson"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.lines()
}
