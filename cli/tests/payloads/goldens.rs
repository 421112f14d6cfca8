//! Compares the payloads in NDJSON with those of the reference reader. The goldens are in a folder
//! beside the checkout; without that folder the tests compare nothing, and a note says so.
//!
//! The parser's own test compares every value of every provider. This test is about the way from a
//! value to JSON.

use crate::common::Json as _;
use crate::common::nettrace;
use nettrace_testdata::{corpus, crc32};
use serde_json::Value as Json;
use std::collections::HashMap;

/// Providers whose events describe themselves.
const PROVIDERS: [&str; 6] = [
    "Nettrace-*",
    "System.*",
    "Microsoft-Diagnostics-*",
    "Microsoft-Extensions-*",
    "Microsoft-DotNETCore-EventPipe",
    "Demo",
];

/// Returns the lines of events that describe themselves, or the lines of the native runtime's
/// events.
fn lines(path: &str, is_native: bool) -> Vec<Json> {
    let mut args = vec!["events", path, "--format", "ndjson", "--raw", "--quiet"];
    if is_native {
        args.extend([
            "--provider",
            "Microsoft-Windows-DotNETRuntime*",
            "--provider",
            "Microsoft-DotNETCore-SampleProfiler",
        ]);
    } else {
        args.extend(PROVIDERS.iter().flat_map(|provider| ["--provider", provider]));
    }
    nettrace(&args).lines()
}

/// Key of an event: ticks, thread, provider, id, and checksum of the payload.
type Key = (u64, i64, String, u64, u32);

fn key_of(line: &Json) -> Key {
    let hex = line["payload_hex"].text();
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let payload: Vec<u8> = digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect();
    let provider = line["provider"].text().to_owned();
    (
        line["ticks"].int(),
        line["tid"].as_i64().unwrap(),
        provider,
        payload.len() as u64,
        crc32(&payload),
    )
}

/// Calls a function with each golden line and the line of the same event.
fn compare(is_native: bool, most_bytes: u64, mut with: impl FnMut(&Json, &str, &Json)) -> usize {
    let mut compared = 0;
    for trace in corpus::traces_with_goldens() {
        if std::fs::metadata(trace.path()).unwrap().len() > most_bytes {
            continue;
        }
        let (goldens, events) =
            (corpus::golden_fields(trace.name()), corpus::golden_events(trace.name()));
        let mut ours: HashMap<Key, Vec<Json>> = HashMap::new();
        for line in lines(&trace.path().display().to_string(), is_native) {
            ours.entry(key_of(&line)).or_default().push(line);
        }
        for text in goldens {
            let golden: Json = serde_json::from_str(&text).expect("a line of JSON");
            let Some(event) =
                golden["index"].as_u64().and_then(|index| events.events.get(index as usize))
            else {
                continue;
            };
            let is_of_native = event.provider.starts_with("Microsoft-Windows-DotNETRuntime")
                || event.provider.ends_with("SampleProfiler");
            // The reference reader does not know the fields of these events.
            let is_unknown = event.provider.starts_with("Universal.")
                || event.provider == "Microsoft-DotNETRuntimeMonoProfiler";
            if is_of_native != is_native || is_unknown {
                continue;
            }
            let key = (
                event.ticks,
                event.thread_id,
                event.provider.clone(),
                event.payload_bytes,
                event.payload_crc32,
            );
            let found =
                ours.get(&key).unwrap_or_else(|| panic!("{}: no line for {text}", trace.name()));
            with(&found[0], &text, &golden["fields"]);
            compared += 1;
        }
    }
    compared
}

fn whole(json: &Json) -> Option<i128> {
    match json {
        Json::Number(number) => number.to_string().parse().ok(),
        Json::String(text) => match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            // The value of an enumeration is written as `number:name`.
            None => text.split(':').next()?.parse().ok(),
        },
        _ => None,
    }
}

/// Returns whether the JSON has the reference reader's value. The reader's numbers are often signed
/// where ours are unsigned.
fn agrees(ours: &Json, theirs: &Json, may_differ_in_sign: bool) -> bool {
    match (ours, theirs) {
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b, may_differ_in_sign))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, ours)| {
                    b.get(name).is_some_and(|theirs| agrees(ours, theirs, may_differ_in_sign))
                })
        }
        (a, b) if a == b => true,
        (a, b) => match (whole(a), whole(b)) {
            (Some(a), Some(b)) if a == b => true,
            (Some(a), Some(b)) => {
                may_differ_in_sign && (a as u64 == b as u64 || a as u32 == b as u32 && a < 1 << 32)
            }
            _ => {
                let float = |json: &Json| json.as_f64().or_else(|| json.as_str()?.parse().ok());
                float(a).zip(float(b)).is_some_and(|(a, b)| a == b || a as f32 == b as f32)
            }
        },
    }
}

/// Events with fields that the reference reader makes up or shows in another way. The parser's
/// `fields_golden` tests each of them.
const SHOWN_OTHERWISE: [u64; 14] = [4, 10, 15, 29, 39, 81, 143, 144, 152, 154, 202, 204, 141, 142];

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn ndjson_of_events_that_describe_themselves_agrees_in_names_and_values() {
        let count = compare(false, u64::MAX, |line, golden, theirs| {
            // The nameless object around self-describing fields is left out.
            let theirs = theirs
                .get("")
                .filter(|_| theirs.as_object().is_some_and(|fields| fields.len() == 1))
                .unwrap_or(theirs);
            let ours = &line["payload"];
            assert!(agrees(ours, theirs, false), "{line}\nnot {golden}");
            assert!(line.get("payload_faults").is_none(), "{line}");
            let is_undescribed = ours.as_object().unwrap().is_empty();
            assert!(is_undescribed || line.get("payload_rest").is_none(), "{line}");
        });
        assert!(count > 4500, "{count}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn ndjson_of_native_events_agrees_in_the_values_of_common_names() {
        // The largest traces take long in a build without optimisation and show nothing new.
        let mut values = 0;
        let count = compare(true, 600_000, |line, golden, theirs| {
            assert!(
                line.get("payload_faults").is_none() && line.get("payload_rest").is_none(),
                "{line}"
            );
            if SHOWN_OTHERWISE.contains(&line["id"].int()) {
                return;
            }
            for (name, theirs) in theirs.as_object().unwrap() {
                let Some(ours) = line["payload"].get(name) else { continue };
                assert!(agrees(ours, theirs, true), "{name}: {line}\nnot {golden}");
                values += 1;
            }
        });
        assert!(count > 3000 && values > 10_000, "{count} {values}");
    }
}
