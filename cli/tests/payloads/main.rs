//! What `nettrace events` and `nettrace schema` say of payloads, as a user sees it.
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

use common::{file, nettrace};
use nettrace_testdata::synth::{
    EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
};
use serde_json::Value as Json;

/// Real traces with a workload that says the same in all.
const ALL: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";
const ALL_31: &str = "testdata/traces/net3.1-linux-x64/all.nettrace.gz";
const NETPERF: &str = "testdata/traces/net3.1-linux-x64/all.netperf.gz";

fn fields(fields: &[(&str, FieldType)]) -> Vec<Field> {
    fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect()
}

/// Events of one type, `Synth/E`.
fn session(version: Version, fields: Vec<Field>, payloads: Vec<Vec<Value>>) -> Session {
    let event_type = EventType {
        provider: "Synth".into(),
        event_id: 1,
        name: "E".into(),
        fields,
        ..EventType::default()
    };
    Session {
        types: vec![event_type],
        threads: vec![SessionThread::new(11)],
        steps: payloads.into_iter().map(|values| Step::event(0, 0, 10, values)).collect(),
        ..Session::new(version)
    }
}

/// The file of a stream with such events.
fn trace(version: Version, fields: Vec<Field>, payloads: Vec<Vec<Value>>) -> String {
    file("synth.nettrace", &session(version, fields, payloads).record().stream.into_bytes())
}

/// What `events --format ndjson` says of a file.
fn ndjson(path: &str, args: &[&str]) -> Vec<Json> {
    let ran = nettrace(&[&["events", path, "--format", "ndjson"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.lines()
}
