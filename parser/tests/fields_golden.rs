//! Compares names and values of payloads with the goldens of the reference reader (TraceEvent).
//!
//! A golden has the first 20 events of every type. Self-describing events must agree in names and
//! values. For native events the reference reader has names and an order of its own, so only values
//! are compared, each with the field of the manifest that it belongs to. Each intended difference
//! has a test of its own.

use nettrace_parser::{Event, Reader, Value};
use nettrace_testdata::corpus;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

/// One line of a golden.
struct Golden {
    line: Json,
    /// The line as text, which has the order of the names.
    text: String,
    payload_bytes: u64,
    payload_crc32: u32,
}

impl Golden {
    fn word(&self, key: &str) -> &str {
        self.line[key].as_str().unwrap_or_default()
    }

    fn number(&self, key: &str) -> i64 {
        self.line[key].as_i64().unwrap_or_default()
    }

    /// Returns the fields. The nameless object around the fields of some self-describing events is
    /// left out.
    fn fields(&self) -> Vec<(&str, &Json)> {
        let fields = self.line["fields"].as_object().expect("fields");
        let fields = match (fields.len(), fields.get("")) {
            (1, Some(Json::Object(inner))) => inner,
            _ => fields,
        };
        fields.iter().map(|(name, value)| (name.as_str(), value)).collect()
    }

    fn stands_for(&self, event: &Event<'_>) -> bool {
        event.payload().len() as u64 == self.payload_bytes
            && nettrace_testdata::crc32(event.payload()) == self.payload_crc32
    }
}

/// Key of an event: timestamp, thread, provider.
type Key = (i64, i64, String);

/// A trace and its golden lines, by event.
struct Trace {
    name: String,
    bytes: Vec<u8>,
    goldens: HashMap<Key, Vec<Golden>>,
}

/// Returns the traces that have goldens, read once for all tests.
fn traces() -> &'static [Trace] {
    static TRACES: OnceLock<Vec<Trace>> = OnceLock::new();
    TRACES.get_or_init(|| {
        let with_golden = |file: corpus::TraceFile| Trace {
            name: file.name().to_owned(),
            bytes: file.bytes(),
            goldens: goldens(file.name()),
        };
        corpus::traces_with_goldens().into_iter().map(with_golden).collect()
    })
}

fn goldens(trace: &str) -> HashMap<Key, Vec<Golden>> {
    let lines = corpus::golden_fields(trace);
    let events = corpus::golden_events(trace).events;
    let mut goldens: HashMap<Key, Vec<Golden>> = HashMap::new();
    for text in lines {
        let line: Json = serde_json::from_str(&text).expect("a line of JSON");
        // The golden of a cut stream ends with a line about the reference reader's exception.
        let Some(index) = line["index"].as_u64() else { continue };
        let event = &events[index as usize];
        let (payload_bytes, payload_crc32) = (event.payload_bytes, event.payload_crc32);
        let golden = Golden { line, text, payload_bytes, payload_crc32 };
        let key = (golden.number("ts"), golden.number("tid"), golden.word("provider").to_owned());
        goldens.entry(key).or_default().push(golden);
    }
    goldens
}

/// Calls `with` for each event of the wanted providers and its golden line. Returns the number of
/// golden lines, and fails if a golden line has no event.
fn compare(wanted: impl Fn(&str) -> bool, mut with: impl FnMut(&Event<'_>, &Golden)) -> usize {
    let mut count = 0;
    for Trace { name, bytes, goldens } in traces() {
        let expected: usize = goldens
            .iter()
            .filter(|((_, _, provider), _)| wanted(provider))
            .map(|(_, lines)| lines.len())
            .sum();
        let mut met = 0;
        let mut used: HashSet<*const Golden> = HashSet::new();
        let mut reader = Reader::from_slice(bytes);
        while let Some(event) = reader.next_event().expect("a readable stream") {
            if !wanted(event.provider()) {
                continue;
            }
            let thread = event.thread_id().unwrap_or_default() as i64;
            let key = (event.timestamp_ticks() as i64, thread, event.provider().to_owned());
            let lines = goldens.get(&key).into_iter().flatten();
            let mut left = lines.filter(|golden| !used.contains(&std::ptr::from_ref(*golden)));
            if let Some(golden) = left.find(|golden| golden.stands_for(&event)) {
                used.insert(golden);
                with(&event, golden);
                met += 1;
            }
        }
        assert_eq!(met, expected, "{name}: golden lines without an event");
        count += met;
    }
    count
}

/// Ways to compare numbers.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    Exactly,
    /// Only the bits have to be equal, because the reference reader has no unsigned 32-bit numbers
    /// and shows many addresses as signed numbers.
    InTheirBits,
}

/// Returns whether a value is equal to the reference reader's.
fn agrees(value: &Value<'_>, golden: &Json, numbers: Numbers) -> bool {
    match (value, golden) {
        (Value::Array(array), Json::Array(elements)) => {
            array.len() == elements.len()
                && array.iter().zip(elements).all(|(ours, theirs)| agrees(&ours, theirs, numbers))
        }
        (Value::Object(object), Json::Object(members)) => {
            object.fields().count() == members.len()
                && object.fields().all(|field| {
                    let theirs = members.get(field.name());
                    theirs.is_some_and(|theirs| {
                        field.value.is_ok_and(|ours| agrees(&ours, theirs, numbers))
                    })
                })
        }
        (Value::Bool(ours), Json::Bool(theirs)) => ours == theirs,
        (_, Json::Number(theirs)) => {
            theirs.as_i64().is_some_and(|theirs| is_number(value, theirs, numbers))
        }
        (_, Json::String(theirs)) => is_text(value, theirs, numbers),
        _ => false,
    }
}

fn is_number(value: &Value<'_>, theirs: i64, numbers: Numbers) -> bool {
    match *value {
        _ if value.as_i64() == Some(theirs) => true,
        _ if numbers == Numbers::Exactly => false,
        Value::U32(ours) => i64::from(ours.cast_signed()) == theirs,
        Value::U64(ours) | Value::Pointer(ours) => ours.cast_signed() == theirs,
        _ => false,
    }
}

fn is_text(value: &Value<'_>, theirs: &str, numbers: Numbers) -> bool {
    match *value {
        Value::F32(ours) => theirs.parse() == Ok(ours),
        Value::F64(ours) => theirs.parse() == Ok(ours),
        Value::Utf16(_) | Value::Utf8(_) | Value::Guid(_) | Value::DateTime(_) | Value::Char(_) => {
            value.to_string() == theirs
        }
        _ if theirs.parse().is_ok_and(|theirs: u64| value.as_u64() == Some(theirs)) => true,
        // `number:name`; the manifest may have another name for it.
        _ => leading_number(theirs).is_some_and(|theirs| is_number(value, theirs, numbers)),
    }
}

fn leading_number(text: &str) -> Option<i64> {
    text.split(':').next()?.parse().ok()
}

/// Returns whether the golden's line has the names in this order.
fn are_in_order(line: &str, names: &[&str]) -> bool {
    let mut rest = line.split_once("\"fields\":").map_or("", |(_, fields)| fields);
    names.iter().all(|name| match rest.split_once(&format!("{}:", Json::from(*name))) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

/// Returns the bytes after all fields.
fn surplus<'r>(event: &Event<'r>) -> &'r [u8] {
    let mut fields = event.fields();
    assert!(fields.by_ref().all(|field| field.value.is_ok()), "{event:?}");
    fields.rest()
}

fn is_native(provider: &str) -> bool {
    provider.starts_with("Microsoft-Windows-DotNETRuntime")
        || provider == "Microsoft-DotNETCore-SampleProfiler"
}

/// Returns whether the names of a provider's events come from the stream: those of self-describing
/// events, and Mono's own events, for which the reference reader has no names.
fn describes_itself(provider: &str) -> bool {
    !is_native(provider)
        && !provider.starts_with("Universal.")
        && provider != "Microsoft-DotNETRuntimeMonoProfiler"
}

/// Event id and name of each field that the reference reader makes up or shows in another way. Each
/// has a test below.
const MADE_OTHERWISE: [(u32, &str); 32] = [
    (4, "Depth"),
    (4, "TotalHeapSize"),
    (4, "TotalPromoted"),
    (4, "GenerationSize4"),
    (4, "TotalPromotedSize4"),
    (10, "ObjectSize"),
    (15, "TypeID_0"),
    (15, "TypeName_0"),
    (29, "TypeName"),
    (39, "TotalBookkeepingCommitted"),
    (39, "TotalCommittedInFree"),
    (39, "TotalCommittedInGlobalDecommit"),
    (39, "TotalCommittedInGlobalFree"),
    (39, "TotalCommittedInUse"),
    (39, "Version"),
    (81, "AssociatedObjectID"),
    (81, "LockID"),
    (81, "LockOwnerThreadID"),
    (143, "MethodFlags"),
    (143, "OptimizationTier"),
    (143, "ReJITID"),
    (144, "MethodFlags"),
    (144, "OptimizationTier"),
    (144, "ReJITID"),
    (152, "ModuleILFileName"),
    (153, "ModuleILFileName"),
    (154, "ModuleILFileName"),
    (202, "Promoted"),
    (204, "CompactMechanisms"),
    (204, "ConcurrentCompactMechanisms"),
    (204, "ExpandMechanisms"),
    (204, "MemoryPressure"),
];

/// Calls `with` for the native events with these ids in all traces.
fn of_native(ids: &[u32], mut with: impl FnMut(&Event<'_>, &HashMap<&str, &Json>)) {
    let mut met = 0;
    compare(is_native, |event, golden| {
        // Event 10 of the rundown provider has another meaning.
        let is_other = event.id() == 10 && event.provider().ends_with("Rundown");
        if ids.contains(&event.id()) && !is_other {
            with(event, &golden.fields().into_iter().collect());
            met += 1;
        }
    });
    assert!(met > 0, "no events {ids:?}");
}

fn unsigned(event: &Event<'_>, name: &str) -> u64 {
    event.field(name).and_then(|value| value.as_u64()).unwrap_or_else(|| panic!("{event:?} {name}"))
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn events_that_describe_themselves_agree_in_names_order_and_values() {
        let count = compare(describes_itself, |event, golden| {
            let theirs: HashMap<&str, &Json> = golden.fields().into_iter().collect();
            let names: Vec<&str> = event.fields().map(|field| field.name()).collect();
            assert_eq!(names.len(), theirs.len(), "{event:?}: {names:?}, not {}", golden.text);
            assert!(
                are_in_order(&golden.text, &names),
                "{event:?}: {names:?}, not {}",
                golden.text
            );
            for field in event.fields() {
                let value = field.value.expect("a whole field");
                let theirs = theirs[field.name()];
                let name = field.name();
                assert!(
                    agrees(&value, theirs, Numbers::Exactly),
                    "{event:?} {name}: {value:?}, not {theirs}"
                );
            }
            let is_undescribed = names.is_empty() && surplus(event) == event.payload();
            assert!(is_undescribed || surplus(event).is_empty(), "{event:?}");
        });
        assert!(count > 4500, "{count} events");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_nameless_object_around_self_describing_fields_is_left_out() {
        let mut unwrapped = BTreeSet::new();
        compare(describes_itself, |event, golden| {
            if golden.line["fields"].get("").is_some() {
                assert!(event.fields().all(|field| !field.name().is_empty()), "{event:?}");
                unwrapped.insert(event.name().to_owned());
            }
        });
        let expected: BTreeSet<String> =
            ["Anonymous", "EventCounters", "Nested"].map(str::to_owned).into();
        assert!(unwrapped == expected, "{unwrapped:?}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn native_events_agree_in_every_value_that_both_take_from_the_payload() {
        let count = compare(is_native, |event, golden| {
            for (name, theirs) in golden.fields() {
                let is_known = MADE_OTHERWISE.contains(&(event.id(), name));
                match event.field(name) {
                    Some(ours) if agrees(&ours, theirs, Numbers::InTheirBits) => {}
                    None if theirs.is_null() => {}
                    ours => assert!(is_known, "{event:?} {name}: {ours:?}, not {theirs}"),
                }
            }
            assert!(surplus(event).is_empty(), "{event:?}");
        });
        assert!(count > 14_000, "{count} events");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn we_show_what_the_reference_reader_leaves_out() {
        let mut left_out = BTreeSet::new();
        compare(is_native, |event, golden| {
            let theirs: Vec<&str> = golden.fields().into_iter().map(|(name, _)| name).collect();
            for field in event.fields().filter(|field| !theirs.contains(&field.name())) {
                left_out.insert(format!("{} {}", event.id(), field.name()));
            }
        });
        let expected = [
            // Arrays.
            "15 Values",
            "150 ILOffsets",
            "150 NativeOffsets",
            "16 Values",
            "18 Values",
            "19 Values",
            "190 ILOffsets",
            "190 NativeOffsets",
            "204 Values",
            "205 Values",
            "209 Values",
            "21 Values",
            "22 Values",
            "38 Values",
            // Fields with other names, or that the reference reader derives from the event id.
            "202 Bytes",
            "39 ClrInstanceID",
            "39 DataSize",
            "39 Name",
            // The rest.
            "150 ILVersionID",
            "151 Reserved1",
            "152 ClrInstanceID",
            "152 Reserved1",
            "153 ClrInstanceID",
            "153 Reserved1",
            "154 ClrInstanceID",
            "154 Reserved1",
            "190 ILVersionID",
            "200 BytesAllocated",
            "200 ClrInstanceID",
            "201 BytesFreed",
            "201 ClrInstanceID",
        ];
        let expected: BTreeSet<String> = expected.map(str::to_owned).into();
        assert!(left_out == expected, "{:?}", left_out.symmetric_difference(&expected));
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_field_of_a_later_version_is_missing_and_not_zero() {
        let later = [
            (4, 2, "GenerationSize4"),
            (4, 2, "TotalPromotedSize4"),
            (10, 4, "ObjectSize"),
            (81, 2, "LockID"),
            (81, 2, "AssociatedObjectID"),
            (81, 2, "LockOwnerThreadID"),
            (143, 2, "ReJITID"),
            (144, 2, "ReJITID"),
        ];
        of_native(&[4, 10, 81, 143, 144], |event, theirs| {
            for (_, since, name) in later.iter().filter(|(id, _, _)| *id == event.id()) {
                if event.version() < *since {
                    assert!(event.field(name).is_none(), "{event:?} {name}");
                    assert!(
                        matches!(theirs[name].to_string().trim_matches('"'), "0"),
                        "{event:?} {name}"
                    );
                }
            }
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn sums_over_generations_are_left_to_the_caller() {
        of_native(&[4], |event, theirs| {
            let sum = |what: &str| {
                let sizes =
                    (0..=4).filter_map(|generation| event.field(&format!("{what}{generation}")));
                sizes.filter_map(|size| size.as_u64()).sum::<u64>()
            };
            assert_eq!(theirs["TotalHeapSize"].as_u64(), Some(sum("GenerationSize")));
            assert_eq!(theirs["TotalPromoted"].as_u64(), Some(sum("TotalPromotedSize")));
            // The reference reader takes the depth from the preceding GCStart.
            assert!(event.field("Depth").is_none());
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn types_of_a_bulk_event_are_an_array_and_not_numbered_fields() {
        of_native(&[15], |event, theirs| {
            let types = event.field("Values").and_then(|value| value.as_array()).unwrap();
            let first = types.iter().next().unwrap().as_object().unwrap();
            assert!(agrees(
                &first.field("TypeID").unwrap(),
                theirs["TypeID_0"],
                Numbers::InTheirBits
            ));
            assert!(agrees(
                &first.field("Name").unwrap(),
                theirs["TypeName_0"],
                Numbers::InTheirBits
            ));
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn a_name_that_stands_in_another_event_is_not_joined_to_this_one() {
        // The reference reader takes the type's name from an earlier BulkType event.
        of_native(&[29], |event, _| {
            let names: Vec<&str> = event.fields().map(|field| field.name()).collect();
            assert_eq!(names, ["TypeID", "ObjectID", "ClrInstanceID"]);
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_record_in_a_dynamic_event_has_its_fields_in_the_place_of_its_data() {
        of_native(&[39], |event, theirs| {
            let name = event.field("Name").and_then(|value| value.as_utf16()).unwrap();
            assert_eq!(name, "CommittedUsage");
            assert_eq!(unsigned(event, "DataSize"), 42);
            // 4 in the traces of Windows, as in all events of the runtime.
            assert!(matches!(unsigned(event, "ClrInstanceID"), 0 | 4));
            assert!(event.field("Data").is_none());
            let totals = ["InUse", "InGlobalDecommit", "InFree", "InGlobalFree"]
                .map(|of| format!("TotalCommitted{of}"));
            let names = ["Version"].into_iter().chain(totals.iter().map(String::as_str));
            for name in names.chain(["TotalBookkeepingCommitted"]) {
                assert_eq!(theirs[name].as_u64(), Some(unsigned(event, name)), "{name}");
            }
            assert!(event.fields().all(|field| field.value.is_ok()));
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn flags_of_a_method_keep_the_bits_of_its_tier() {
        of_native(&[143, 144], |event, theirs| {
            let flags = unsigned(event, "MethodFlags");
            let theirs = |name| {
                theirs.get(name).and_then(|value| leading_number(value.as_str()?)).unwrap() as u64
            };
            assert_eq!(theirs("MethodFlags"), flags & !(7 << 7));
            // The tier is undefined for code that was not jitted.
            let is_jitted = flags & 8 != 0;
            assert_eq!(theirs("OptimizationTier"), if is_jitted { flags >> 7 & 7 } else { 0 });
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn the_file_name_is_left_to_the_caller() {
        of_native(&[152, 153, 154], |event, theirs| {
            let Some(theirs) = theirs.get("ModuleILFileName").and_then(|name| name.as_str()) else {
                return;
            };
            let path = event.field("ModuleILPath").and_then(|value| value.to_text()).unwrap();
            assert_eq!(path.rsplit('/').next(), Some(theirs));
            assert!(event.field("ModuleILFileName").is_none());
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn bytes_that_were_marked_have_the_name_of_the_manifest() {
        of_native(&[202], |event, theirs| {
            assert_eq!(theirs["Promoted"].as_u64(), Some(unsigned(event, "Bytes")));
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn mechanisms_of_a_collection_are_stored_numbers() {
        // The reference reader shows the highest bit of a mechanism that was used (bit 31 is set),
        // and two mechanisms that the payload does not have.
        of_native(&[204], |event, theirs| {
            for name in ["CompactMechanisms", "ExpandMechanisms"] {
                let stored = unsigned(event, name);
                let shown =
                    theirs.get(name).and_then(|value| leading_number(value.as_str()?)).unwrap();
                if stored >> 31 == 1 {
                    assert_eq!(stored & 0x7fff_ffff, 1 << shown, "{name}");
                } else {
                    assert_eq!(shown, 1024, "{name}: not specified");
                }
            }
            assert!(
                theirs["ConcurrentCompactMechanisms"].is_null()
                    && theirs["MemoryPressure"].is_null()
            );
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn texts_of_universal_system_are_whole_and_not_the_first_byte_of_their_length() {
        // The stream declares the texts as one UTF-8 code unit. The reference reader believes this,
        // and misreads all fields after the first text.
        let count = compare(
            |provider| provider.starts_with("Universal."),
            |event, golden| {
                let theirs: HashMap<&str, &Json> = golden.fields().into_iter().collect();
                let mut is_first = true;
                for field in event.fields() {
                    let (name, ours) = (field.name(), field.value.expect("a whole field"));
                    let theirs = theirs[name];
                    match ours {
                        Value::Utf8(text) => {
                            assert!(
                                text.as_str()
                                    .is_some_and(|text| text.chars().all(|c| !c.is_control()))
                            );
                            let unit =
                                theirs.as_str().and_then(|text| text.chars().next()).unwrap();
                            assert!(
                                !is_first || text.bytes().len() & 0xff == unit as usize,
                                "{event:?} {name}"
                            );
                            is_first = false;
                        }
                        _ if is_first => {
                            assert!(agrees(&ours, theirs, Numbers::Exactly), "{event:?} {name}")
                        }
                        _ => {}
                    }
                }
            },
        );
        assert!(count > 140, "{count} events");
    }
}
