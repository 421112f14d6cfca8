//! Compares events that the parser serialises with the lines of `events --format ndjson`.

use nettrace_export::{EventForm, EventWriter, WriteOptions};
use nettrace_parser::{Error, Reader};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{tiny_v4, tiny_v6};
use serde_json::Value;

/// Asserts that all events of a stream serialise to equal objects. Returns their number.
fn assert_same(bytes: &[u8], name: &str) -> u64 {
    let (mut writer, mut line, mut count) =
        (EventWriter::new(EventForm::Ndjson, WriteOptions::default()), Vec::new(), 0);
    let each = |event: nettrace_parser::Event<'_>| -> Result<(), Error> {
        line.clear();
        writer.write(&mut line, &event);
        let written: Value = serde_json::from_slice(&line).unwrap();
        let text = serde_json::to_string(&event).unwrap();
        let serialized: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(serialized, written, "{name}, event {count}");
        count += 1;
        Ok(())
    };
    Reader::from_slice(bytes).try_for_each(each).unwrap();
    count
}

#[test]
fn every_event_of_real_traces_is_the_object_that_the_command_writes() {
    let mut events = 0;
    for trace in corpus::traces() {
        let bytes = trace.bytes();
        // One trace of each writer, with all its providers.
        let is_one = trace.name().contains("/all.") || trace.name().starts_with("one-collect");
        if is_one && bytes.len() < 12_000_000 {
            events += assert_same(&bytes, trace.name());
        }
    }
    assert!(events > 50_000, "{events}");
}

#[test]
fn worked_examples_and_broken_payloads_are_the_objects_that_the_command_writes() {
    for bytes in [tiny_v4().bytes, tiny_v6().bytes] {
        assert_same(&bytes, "an example");
        for at in 0x40..bytes.len() {
            for mask in [1, 0x40, 0xff] {
                let mut broken = bytes.clone();
                broken[at] ^= mask;
                if Reader::from_slice(&broken).trace().is_ok() {
                    assert_same(&broken, "a broken example");
                }
            }
        }
    }
}
