//! Typed views: on real traces, and on payloads of every version that their documentation names.

use nettrace_parser::view::{
    Activity, ActivityEdge, Allocation, ContentionStart, ContentionStop, Counter, CounterValue, Exception,
    GcEnd, GcStart, LogMessage, Message, Method, MethodChange, Metric, MetricKind, Module, ModuleChange,
    ProcessInfo, RuntimeInformation, Sample, SampleState, Tier,
};
use nettrace_parser::{Event, Reader};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, Stream, Tag, Trace, Value, Version, payload,
};
use std::collections::BTreeMap;

/// Shows all events of a real trace. False without it.
fn in_trace(name: &str, mut with: impl FnMut(&Event<'_>)) -> bool {
    let Some(file) = corpus::trace(name) else { return false };
    let bytes = file.bytes();
    let mut reader = Reader::from_slice(&bytes);
    while let Some(event) = reader.next_event().expect("a readable stream") {
        with(&event);
    }
    true
}

/// Counts by name.
#[derive(Default)]
struct Counts(BTreeMap<String, usize>);

impl Counts {
    fn add(&mut self, name: impl Into<String>) {
        *self.0.entry(name.into()).or_default() += 1;
    }

    fn of(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }
}

const ALL: &str = "net10-linux-x64/all.nettrace";
const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const RUNDOWN: &str = "Microsoft-Windows-DotNETRuntimeRundown";

#[test]
fn every_event_of_the_net10_trace_has_the_view_it_should_have() {
    let mut counts = Counts::default();
    let is_there = in_trace(ALL, |event| {
        let views = [
            ("sample", Sample::of(event).is_some()),
            ("method", Method::of(event).is_some()),
            ("module", Module::of(event).is_some()),
            ("gc start", GcStart::of(event).is_some()),
            ("gc end", GcEnd::of(event).is_some()),
            ("exception", Exception::of(event).is_some()),
            ("contention start", ContentionStart::of(event).is_some()),
            ("contention stop", ContentionStop::of(event).is_some()),
            ("counter", Counter::of(event).is_some()),
            ("process", ProcessInfo::of(event).is_some()),
            ("runtime", RuntimeInformation::of(event).is_some()),
            ("allocation", Allocation::of(event).is_some()),
            ("metric", Metric::of(event).is_some()),
            ("activity", Activity::of(event).is_some()),
            ("log", LogMessage::of(event).is_some()),
            ("message", Message::of(event).is_some()),
        ];
        assert!(views.iter().filter(|(_, is)| *is).count() <= 1, "{event:?} {views:?}");
        views.iter().filter(|(_, is)| *is).for_each(|(name, _)| counts.add(*name));
    });
    let expected = [
        ("sample", 19_716),
        // 292 that went, 3,184 at the end.
        ("method", 3476),
        ("module", 18),
        ("gc start", 62),
        ("gc end", 62),
        ("exception", 940),
        ("contention start", 207),
        ("contention stop", 207),
        ("counter", 90),
        ("process", 1),
        ("runtime", 1),
    ];
    if is_there {
        let expected: BTreeMap<String, usize> = expected.map(|(name, count)| (name.to_owned(), count)).into();
        assert_eq!(counts.0, expected);
    }
}

#[test]
fn exceptions_are_named_with_their_messages_of_any_script() {
    let mut types = Counts::default();
    let mut messages = Counts::default();
    let is_there = in_trace(ALL, |event| {
        let Some(exception) = Exception::of(event) else { return };
        types.add(exception.type_name.to_string());
        messages.add(exception.message.to_string());
        let is_widget = exception.type_name == "Workload.WidgetException";
        assert_eq!(exception.has_inner(), is_widget);
        assert!(!exception.is_rethrown());
        assert_eq!(
            exception.hresult >> 16,
            0x8000 | if exception.hresult & 0xffff == 0x4003 { 0 } else { 0x13 }
        );
    });
    if is_there {
        assert_eq!(types.of("Workload.WidgetException"), 470);
        assert_eq!(types.of("System.NullReferenceException"), 282);
        assert_eq!(types.of("System.InvalidOperationException"), 188);
        assert_eq!(types.0.len(), 3);
        for number in 0..5 {
            assert_eq!(messages.of(&format!("widget λ {number}")), 94);
        }
        assert_eq!(messages.of("Object reference not set to an instance of an object."), 282);
        assert_eq!(messages.of("round 50"), 2);
    }
}

#[test]
fn samples_say_where_the_thread_was() {
    let mut states = Counts::default();
    let is_there = in_trace(ALL, |event| {
        if let Some(sample) = Sample::of(event) {
            states.add(format!("{:?}", sample.state));
        }
    });
    if is_there {
        assert_eq!(states.0.keys().collect::<Vec<_>>(), ["External", "Managed"]);
        assert_eq!(states.of("External") + states.of("Managed"), 19_716);
    }
}

#[test]
fn methods_have_names_addresses_and_tiers() {
    let mut counts = Counts::default();
    let mut fibonacci = Vec::new();
    let is_there = in_trace(ALL, |event| {
        let Some(method) = Method::of(event) else { return };
        counts.add(format!("{:?}", method.change));
        assert!(method.start > 0x1000 && method.size > 0 && !method.name.is_empty());
        assert_eq!(method.rejit_id.is_some(), event.version() >= 2);
        if method.name == "Fibonacci" {
            assert_eq!(method.namespace, "Workload.Program");
            assert_eq!(method.signature, "int64  (int32)");
            fibonacci.push((method.change, method.tier(), method.is_jitted()));
        }
        if method.namespace == "dynamicClass" {
            assert!(method.is_dynamic() && method.token == 0);
        }
    });
    if is_there {
        assert_eq!((counts.of("Unload"), counts.of("AtEnd")), (292, 3184));
        assert!(fibonacci.iter().all(|(change, _, is_jitted)| *change == MethodChange::AtEnd && *is_jitted));
        assert!(fibonacci.iter().any(|(_, tier, _)| *tier == Tier::OptimizedTier1), "{fibonacci:?}");
    }
}

#[test]
fn methods_that_are_jitted_are_seen_as_they_come() {
    for (trace, expected) in [("net3.1-linux-x64/clr.nettrace", 279), ("net10-linux-x64/clr.nettrace", 1031)]
    {
        let mut loads = 0;
        let is_there = in_trace(trace, |event| {
            loads += usize::from(Method::of(event).is_some_and(|method| method.change == MethodChange::Load));
        });
        assert!(!is_there || loads == expected, "{trace}: {loads}");
    }
}

#[test]
fn modules_have_paths_and_pdbs() {
    let mut names = Vec::new();
    let is_there = in_trace(ALL, |event| {
        let Some(module) = Module::of(event) else { return };
        assert_eq!(module.change, ModuleChange::AtEnd);
        assert!(module.pdb_signature.is_some() && module.pdb_age.is_some() && module.pdb_path.is_some());
        let path = module.il_path.to_string();
        if path.ends_with("System.Private.CoreLib.dll") {
            assert!(module.is_ready_to_run());
            let signature = module.pdb_signature.unwrap().to_string();
            assert_eq!(signature, "c0c96581-69b7-ba38-8a41-8680bc2a7220");
            assert_eq!(module.pdb_age, Some(1));
            assert!(module.pdb_path.unwrap().to_string().ends_with("/System.Private.CoreLib.pdb"));
        }
        names.push(path.rsplit('/').next().unwrap_or_default().to_owned());
    });
    if is_there {
        assert!(names.contains(&"workload.dll".to_owned()), "{names:?}");
    }
}

#[test]
fn collections_start_and_end_in_turn() {
    let (mut open, mut numbers) = (None, Vec::new());
    let is_there = in_trace(ALL, |event| {
        if let Some(start) = GcStart::of(event) {
            assert!(open.is_none(), "no background collections in this trace");
            assert!(start.generation.is_some_and(|generation| generation <= 2));
            assert_eq!(start.kind, Some(0));
            open = Some((start.number, start.generation));
        }
        if let Some(end) = GcEnd::of(event) {
            assert_eq!(open.take(), Some((end.number, Some(end.generation))));
            numbers.push(end.number);
        }
    });
    if is_there {
        assert_eq!(numbers, (numbers[0]..numbers[0] + 62).collect::<Vec<_>>());
    }
}

#[test]
fn waits_for_locks_name_lock_and_owner_and_take_their_time() {
    let (mut starts, mut stops, mut nanos) = (0, 0, 0.0);
    let is_there = in_trace(ALL, |event| {
        if let Some(start) = ContentionStart::of(event) {
            starts += 1;
            assert_eq!(start.flags, 0);
            assert!(start.lock_id.is_some_and(|id| id != 0) && start.object_id.is_some_and(|id| id != 0));
            assert!(start.owner_thread_id.is_some_and(|id| Some(id) != event.thread_id()));
        }
        if let Some(stop) = ContentionStop::of(event) {
            stops += 1;
            nanos += stop.duration_nanos.expect("from version 1 on");
        }
    });
    if is_there {
        assert_eq!((starts, stops), (207, 207));
        assert!((1e8..1e10).contains(&nanos), "{nanos}");
    }
}

#[test]
fn allocations_name_type_and_size() {
    let (mut ticks, mut bytes) = (0, 0);
    let is_there = in_trace("net10-linux-x64/clr.nettrace", |event| {
        let Some(allocation) = Allocation::of(event) else { return };
        assert!(!allocation.is_random_sample && !allocation.type_name.is_empty() && allocation.type_id != 0);
        assert!(allocation.address.is_some() && allocation.object_bytes.is_some());
        ticks += 1;
        bytes += allocation.bytes_since_last.expect("a tick");
    });
    assert!(!is_there || (ticks == 5733 && bytes > 500_000_000), "{ticks} {bytes}");
    let (mut sampled, mut ticks) = (0, 0);
    let is_there = in_trace("net10-linux-x64/alloc-sampled.nettrace", |event| match Allocation::of(event) {
        Some(allocation) if allocation.is_random_sample => {
            assert!(
                allocation.bytes_since_last.is_none() && allocation.object_bytes.is_some_and(|size| size > 0)
            );
            sampled += 1;
        }
        Some(_) => ticks += 1,
        None => {}
    });
    assert!(!is_there || (sampled, ticks) == (122_775, 0), "{sampled} {ticks}");
}

#[test]
fn counters_of_all_runtimes_are_means_and_sums() {
    // .NET Core 3.1 orders the fields differently.
    for (trace, means, sums) in [(ALL, 60, 30), ("net3.1-linux-x64/all.nettrace", 52, 30)] {
        let mut counts = Counts::default();
        let mut latest = BTreeMap::new();
        let is_there = in_trace(trace, |event| {
            let Some(counter) = Counter::of(event) else { return };
            assert_eq!(counter.series, "Interval=1000");
            assert!((0.0..2.0).contains(&counter.interval_seconds), "{counter:?}");
            assert!(!counter.name.is_empty() && !counter.display_name.is_empty());
            counts.add(match counter.value {
                CounterValue::Mean { mean, min, max, count, .. } => {
                    assert!(count == 0 || min <= mean && mean <= max, "{counter:?}");
                    "mean"
                }
                CounterValue::Sum { .. } => "sum",
                _ => "other",
            });
            latest.insert(
                counter.name.to_string(),
                (counter.display_name.to_string(), counter.display_units.to_string()),
            );
        });
        if is_there {
            assert_eq!((counts.of("mean"), counts.of("sum")), (means, sums), "{trace}: {:?}", counts.0);
            assert_eq!(latest["latency"], ("Request latency".into(), "ms".into()));
            assert_eq!(latest["requests"], ("Requests".into(), String::new()));
        }
    }
}

#[test]
fn metrics_of_all_kinds_are_read() {
    let mut kinds = Counts::default();
    let mut tags = Counts::default();
    let is_there = in_trace("net10-linux-x64/metrics.nettrace", |event| {
        let Some(metric) = Metric::of(event) else { return };
        kinds.add(format!("{:?}", metric.kind));
        assert_eq!(metric.session_id, "SHARED");
        assert!(metric.instrument_id.is_some());
        match metric.kind {
            MetricKind::Histogram => {
                assert_eq!((metric.meter.to_string(), metric.meter_version.to_string()), workload());
                assert_eq!(metric.instrument, "order.duration");
                assert!(metric.quantiles.unwrap().to_string().starts_with("0.5="));
                assert!(
                    metric.count.is_some_and(|count| count > 0) && metric.sum.is_some_and(|sum| sum > 0.0)
                );
            }
            MetricKind::Gauge => assert!(metric.value.is_some() && metric.rate.is_none()),
            _ => assert!(metric.value.is_some() && metric.rate.is_some() && metric.quantiles.is_none()),
        }
        if metric.instrument == "orders" {
            tags.add(metric.tags.to_string());
        }
    });
    if is_there {
        assert_eq!(kinds.of("Counter"), 32);
        assert_eq!(kinds.of("UpDownCounter"), 32);
        assert_eq!(kinds.of("Gauge"), 4);
        assert_eq!(kinds.of("Histogram"), 2);
        assert_eq!(tags.0.keys().collect::<Vec<_>>(), ["kind=book", "kind=tëä"]);
    }
}

fn workload() -> (String, String) {
    ("Nettrace.Workload".into(), "1.2.3".into())
}

#[test]
fn activities_start_and_stop_with_their_arguments() {
    let mut counts = Counts::default();
    let mut tagged = 0;
    let is_there = in_trace("net10-linux-x64/metrics.nettrace", |event| {
        let Some(activity) = Activity::of(event) else { return };
        assert_eq!(activity.source, "Nettrace.Workload");
        counts.add(format!("{:?} {}", activity.edge, activity.name));
        assert_eq!(activity.argument("OperationName").unwrap().to_string(), activity.name.to_string());
        assert_eq!(activity.argument("no such key"), None);
        assert!(activity.arguments().count() > 10);
        tagged += usize::from(activity.arguments().any(|(_, value)| value.to_string().contains("number")));
    });
    if is_there {
        assert_eq!(counts.of("Start order") + counts.of("Start pay"), 4072);
        assert_eq!(counts.of("Stop order") + counts.of("Stop pay"), 4070);
        assert_eq!(counts.0.len(), 4);
        assert!(tagged > 2000, "{tagged}");
    }
}

#[test]
fn process_and_runtime_say_what_they_are() {
    let mut met = 0;
    let is_there = in_trace(ALL, |event| {
        if let Some(info) = ProcessInfo::of(event) {
            met += 1;
            assert_eq!(info.command_line, "/app/w10/workload /app/w10/workload.dll all 5");
            assert_eq!(info.os.unwrap(), "Linux");
            assert_eq!(info.architecture.unwrap(), "x64");
        }
        if let Some(runtime) = RuntimeInformation::of(event) {
            met += 1;
            assert_eq!(runtime.version, [10, 0, 12]);
            assert!(runtime.runtime_path.to_string().ends_with("/10.0.12/libcoreclr.so"));
        }
    });
    assert!(!is_there || met == 2);
    let mut met = 0;
    let is_there = in_trace("net3.1-linux-x64/all.nettrace", |event| {
        if let Some(info) = ProcessInfo::of(event) {
            met += 1;
            assert!(info.os.is_none() && info.architecture.is_none(), "version 0 does not say");
        }
        if let Some(runtime) = RuntimeInformation::of(event) {
            met += 1;
            assert_eq!(runtime.version, [4, 0, 0]);
            assert!(runtime.runtime_path.to_string().contains("/3.1.23/"), "{}", runtime.runtime_path);
        }
    });
    assert!(!is_there || met == 2);
}

#[test]
fn texts_of_the_workload_come_out_as_the_program_wrote_them() {
    let mut rounds = [0; 4];
    for trace in [ALL, "net3.1-linux-x64/all.nettrace", "net10-linux-x64/all.netperf"] {
        in_trace(trace, |event| match (event.provider(), event.name()) {
            ("Nettrace-Workload", "Text") => {
                let round = rounds[0];
                rounds[0] += 1;
                let texts: Vec<String> =
                    event.fields().map(|field| field.value.unwrap().to_string()).collect();
                let number = texts[0].strip_prefix("text 日本語 🚀 ").expect(&texts[0]);
                assert!(number.parse::<u32>().is_ok(), "{round}: {number}");
                // Empty and null are the same bytes.
                assert_eq!(texts[1..], ["", ""]);
            }
            ("Nettrace-Workload", "Item") => {
                rounds[1] += 1;
                let name = event.field("name").and_then(|value| value.as_utf16()).expect("a null text");
                assert!(name.is_empty() && name.is_terminated());
            }
            ("Nettrace-Workload-Dynamic", "Nested") => {
                rounds[2] += 1;
                let x =
                    event.field("First").and_then(|first| first.as_object()?.field("X")?.as_i64()).unwrap();
                let first = event.field("First").unwrap().to_string();
                assert_eq!(first, format!("{{X={x}, Label=first {x}}}"));
                let second = event.field("Second").unwrap().to_string();
                assert_eq!(second, format!("{{X={}, Label=}}", -x));
            }
            ("Nettrace-Workload-Dynamic", "Arrays") => {
                // Undescribed (an object with arrays): the bytes are there, with their text.
                rounds[3] += 1;
                let fields = event.fields();
                assert_eq!(fields.clone().count(), 0);
                let name: Vec<u8> = "näme 😀 ".encode_utf16().flat_map(u16::to_le_bytes).collect();
                assert!(fields.rest().windows(name.len()).any(|bytes| bytes == name));
            }
            _ => {}
        });
    }
    assert!(corpus::shared_folder().is_none() || rounds.iter().all(|count| *count > 100), "{rounds:?}");
}

// -- every version, from synth

/// An event type, described or native, and one payload.
struct Case<'c> {
    provider: &'c str,
    id: u32,
    version: u32,
    name: &'c str,
    fields: Vec<Field>,
    pointer_size: i32,
    values: Vec<Value>,
}

impl<'c> Case<'c> {
    fn native(id: u32, version: u32, values: Vec<Value>) -> Case<'c> {
        Case { provider: RUNTIME, id, version, name: "", fields: Vec::new(), pointer_size: 8, values }
    }

    fn of(self, provider: &'c str) -> Case<'c> {
        Case { provider, ..self }
    }

    fn named(provider: &'c str, name: &'c str, fields: &[(&str, FieldType)], values: Vec<Value>) -> Case<'c> {
        let fields = fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect();
        Case { name, fields, ..Case::native(1, 0, values).of(provider) }
    }

    /// Shows the event.
    fn show<T>(&self, with: impl FnOnce(&Event<'_>) -> T) -> T {
        let definition = Definition {
            metadata_id: 1,
            provider: self.provider.into(),
            event_id: self.id,
            version: self.version,
            name: self.name.into(),
            tags: if self.fields.is_empty() { vec![] } else { vec![Tag::v2_params(&self.fields)] },
            ..Definition::default()
        };
        let event =
            Blob { metadata_id: 1, sequence_number: 1, payload: payload(&self.values), ..Blob::default() };
        let mut stream = Stream::new(Version::V5);
        stream
            .trace(&Trace { pointer_size: self.pointer_size, ..Trace::default() })
            .metadata_blobs(&EventBlock::new([Blob::definition(0, 0, definition.encode())]))
            .event_block(&EventBlock::new([event]))
            .end();
        let mut reader = Reader::from_slice(&stream.bytes);
        let event = reader.next_event().expect("a readable stream").expect("an event");
        with(&event)
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn an_exception_without_message_bytes_has_an_empty_message() {
    // As .NET Core 3.1 writes it: the null message leaves out even its terminator.
    for (pointer_size, address) in [(8, Value::U64(0x7f12_3456_789a)), (4, Value::U32(0x1234_5678))] {
        for type_name in ["System.Exception", "Größe.日本語Exception", "E"] {
            let values = vec![
                text(type_name),
                address.clone(),
                Value::U32(0x8013_1500),
                Value::U16(16),
                Value::U16(9),
            ];
            let case = Case { pointer_size, ..Case::native(80, 1, values) };
            case.show(|event| {
                let exception = Exception::of(event).expect("a view");
                assert_eq!(exception.type_name, type_name);
                assert!(exception.message.is_empty());
                let expected = if pointer_size == 8 { 0x7f12_3456_789a } else { 0x1234_5678 };
                assert_eq!(
                    (exception.address, exception.hresult, exception.flags),
                    (expected, 0x8013_1500, 16)
                );
                assert!(event.field("ExceptionMessage").unwrap().is_absent());
                assert_eq!(event.field("ClrInstanceID").unwrap().as_u64(), Some(9));
            });
        }
    }
}

#[test]
fn messages_that_are_not_latin_stay_whole() {
    for message in ["widget λ", "日本語", "🚀", "\u{1}\u{2}", "NULL", ""] {
        for address in [0u64, 0x7f12_3456_789a, u64::MAX] {
            let values = vec![
                text("T"),
                text(message),
                Value::U64(address),
                Value::U32(0),
                Value::U16(5),
                Value::U16(0),
            ];
            Case::native(80, 1, values).show(|event| {
                let exception = Exception::of(event).expect("a view");
                assert_eq!(exception.message, message);
                assert_eq!(exception.address, address);
                assert!(exception.has_inner() && exception.is_rethrown());
            });
        }
    }
}

#[test]
fn texts_of_two_places_that_may_be_missing_are_not_guessed_at() {
    // Either text of this event may be the missing one: with the guid between them, the payload fits one way
    // only, and that is found.
    let guid = Value::Guid([7; 16]);
    let numbers = [0, 2, 3, 1, 0, 0, 0, 0, 0, 0].map(Value::U16);
    let with = |texts: &dyn Fn(&mut Vec<Value>)| {
        let mut values = numbers.to_vec();
        values.extend([Value::U32(1), Value::U8(0)]);
        texts(&mut values);
        values
    };
    let first_missing = with(&|values| values.extend([guid.clone(), text("path")]));
    Case::native(187, 0, first_missing).show(|event| {
        let runtime = RuntimeInformation::of(event).expect("a view");
        assert_eq!(
            (runtime.command_line.to_string(), runtime.runtime_path.to_string()),
            (String::new(), "path".into())
        );
        assert_eq!(event.field("ComObjectGuid").unwrap().as_guid().unwrap().to_bytes(), [7; 16]);
    });
    let second_missing = with(&|values| values.extend([text("command"), guid.clone()]));
    Case::native(187, 0, second_missing).show(|event| {
        let runtime = RuntimeInformation::of(event).expect("a view");
        assert_eq!(
            (runtime.command_line.to_string(), runtime.runtime_path.to_string()),
            ("command".into(), String::new())
        );
    });
    let both_missing = with(&|values| values.push(guid.clone()));
    Case::native(187, 0, both_missing).show(|event| {
        let runtime = RuntimeInformation::of(event).expect("a view");
        assert!(runtime.command_line.is_empty() && runtime.runtime_path.is_empty());
        assert_eq!(event.field("ComObjectGuid").unwrap().as_guid().unwrap().to_bytes(), [7; 16]);
    });
}

#[test]
fn a_newer_version_of_an_event_keeps_its_texts_and_has_surplus_bytes() {
    let values = vec![
        text("T"),
        text("m"),
        Value::U64(1),
        Value::U32(2),
        Value::U16(0),
        Value::U16(9),
        Value::U64(77),
    ];
    Case::native(80, 200, values).show(|event| {
        let exception = Exception::of(event).expect("a view");
        assert_eq!((exception.message.to_string().as_str(), exception.hresult), ("m", 2));
        let mut fields = event.fields();
        fields.by_ref().for_each(drop);
        assert_eq!(fields.rest(), 77u64.to_le_bytes());
    });
}

#[test]
fn an_exception_of_version_0_has_no_fields_and_no_view() {
    Case::native(80, 0, vec![]).show(|event| assert!(Exception::of(event).is_none()));
}

fn method(version: u32, has_names: bool) -> Vec<Value> {
    let mut values =
        vec![Value::U64(1), Value::U64(2), Value::U64(0x7000), Value::U32(64), Value::U32(0x0600_0001)];
    values.push(Value::U32(0x1000_0000 | 4 << 7 | 0b1010));
    if has_names {
        values.extend([text("N.T"), text("M"), text("void  ()")]);
    }
    if version >= 1 {
        values.push(Value::U16(9));
    }
    if version >= 2 {
        values.push(Value::U64(5));
    }
    values
}

#[test]
fn methods_of_every_version_and_reason_are_read() {
    let reasons = [
        (RUNTIME, [141, 143], MethodChange::Load),
        (RUNTIME, [142, 144], MethodChange::Unload),
        (RUNDOWN, [141, 143], MethodChange::AtStart),
        (RUNDOWN, [142, 144], MethodChange::AtEnd),
    ];
    for (provider, ids, change) in reasons {
        for (id, has_names) in ids.into_iter().zip([false, true]) {
            for version in 0..=2 {
                Case::native(id, version, method(version, has_names)).of(provider).show(|event| {
                    let method = Method::of(event).unwrap_or_else(|| panic!("{event:?}"));
                    assert_eq!(method.change, change);
                    assert_eq!((method.method_id, method.module_id, method.start), (1, 2, 0x7000));
                    assert_eq!((method.size, method.token, method.extent()), (64, 0x0600_0001, 1));
                    assert_eq!(method.rejit_id, (version == 2).then_some(5));
                    assert_eq!(method.name, if has_names { "M" } else { "" });
                    assert_eq!(method.namespace, if has_names { "N.T" } else { "" });
                    assert_eq!(method.signature, if has_names { "void  ()" } else { "" });
                    assert!(method.is_jitted() && method.is_generic() && !method.is_dynamic());
                    assert_eq!(method.tier(), Tier::OptimizedTier1);
                });
            }
        }
    }
}

#[test]
fn modules_of_every_version_and_reason_are_read() {
    let reasons = [
        (RUNTIME, 152, ModuleChange::Load),
        (RUNTIME, 153, ModuleChange::Unload),
        (RUNDOWN, 153, ModuleChange::AtStart),
        (RUNDOWN, 154, ModuleChange::AtEnd),
    ];
    for (provider, id, change) in reasons {
        for version in 0..=3 {
            let mut values = vec![
                Value::U64(1),
                Value::U64(2),
                Value::U32(0x24),
                Value::U32(0),
                text("/a/b.dll"),
                text(""),
            ];
            if version >= 1 {
                values.push(Value::U16(9));
            }
            if version >= 2 {
                values.extend([Value::Guid([1; 16]), Value::U32(3), text("b.pdb")]);
                values.extend([Value::Guid([2; 16]), Value::U32(4), text("n.pdb")]);
            }
            if version >= 3 {
                values.push(text("build"));
            }
            Case::native(id, version, values).of(provider).show(|event| {
                let module = Module::of(event).unwrap_or_else(|| panic!("{event:?}"));
                assert_eq!((module.change, module.module_id, module.assembly_id), (change, 1, 2));
                assert!(module.is_ready_to_run() && module.is_dynamic());
                assert_eq!(module.il_path, "/a/b.dll");
                assert!(module.native_path.is_empty());
                assert_eq!(
                    module.pdb_signature.map(|guid| guid.to_bytes()),
                    (version >= 2).then_some([1; 16])
                );
                assert_eq!(module.pdb_age, (version >= 2).then_some(3));
                assert_eq!(
                    module.pdb_path.map(|path| path.to_string()),
                    (version >= 2).then(|| "b.pdb".into())
                );
            });
        }
    }
}

#[test]
fn collections_of_every_version_are_read() {
    Case::native(1, 0, vec![Value::U32(7), Value::U32(1)]).show(|event| {
        let start = GcStart::of(event).unwrap();
        assert_eq!((start.number, start.generation, start.reason, start.kind), (7, None, 1, None));
    });
    for version in 1..=2 {
        let mut values = [7, 2, 1, 1].map(Value::U32).to_vec();
        values.push(Value::U16(9));
        values.extend((version == 2).then_some(Value::U64(3)));
        Case::native(1, version, values).show(|event| {
            let start = GcStart::of(event).unwrap();
            assert_eq!((start.number, start.generation, start.reason, start.kind), (7, Some(2), 1, Some(1)));
        });
    }
    for (version, depth) in [(0, Value::U16(2)), (1, Value::U32(2))] {
        Case::native(2, version, vec![Value::U32(7), depth, Value::U16(9)]).show(|event| {
            let end = GcEnd::of(event).unwrap();
            assert_eq!((end.number, end.generation), (7, 2));
        });
    }
}

#[test]
fn allocations_of_every_version_are_read() {
    let head = [Value::U32(1), Value::U32(2), Value::U16(9)];
    for version in 0..=1 {
        let values = head[..2 + version as usize].to_vec();
        Case::native(10, version, values).show(|event| assert!(Allocation::of(event).is_none()));
    }
    for version in 2..=4 {
        for pointer_size in [4, 8] {
            let address =
                |value: u32| if pointer_size == 4 { Value::U32(value) } else { Value::U64(value.into()) };
            let mut values = head.to_vec();
            values.extend([Value::U64(1 << 33), address(0x1000), text("T[]"), Value::U32(0)]);
            values.extend((version >= 3).then(|| address(0x2000)));
            values.extend((version >= 4).then_some(Value::U64(24)));
            let case = Case { pointer_size, ..Case::native(10, version, values) };
            case.show(|event| {
                let tick = Allocation::of(event).unwrap();
                assert!(!tick.is_random_sample);
                assert_eq!((tick.kind, tick.bytes_since_last, tick.type_id), (2, Some(1 << 33), 0x1000));
                assert_eq!(tick.type_name, "T[]");
                assert_eq!(tick.address, (version >= 3).then_some(0x2000));
                assert_eq!(tick.object_bytes, (version >= 4).then_some(24));
            });
        }
    }
    let mut values = vec![Value::U32(1), Value::U16(9), Value::U64(0x1000), text("T"), Value::U64(0x2000)];
    values.extend([Value::U64(24), Value::U64(3)]);
    Case::native(303, 0, values).show(|event| {
        let sampled = Allocation::of(event).unwrap();
        assert!(sampled.is_random_sample && sampled.bytes_since_last.is_none());
        assert_eq!((sampled.address, sampled.object_bytes), (Some(0x2000), Some(24)));
    });
}

#[test]
fn waits_of_every_version_are_read() {
    Case::native(81, 0, vec![]).show(|event| assert!(ContentionStart::of(event).is_none()));
    let head = [Value::U8(1), Value::U16(9)];
    Case::native(81, 1, head.to_vec()).show(|event| {
        let start = ContentionStart::of(event).unwrap();
        assert_eq!(
            (start.flags, start.lock_id, start.object_id, start.owner_thread_id),
            (1, None, None, None)
        );
    });
    let with_lock = [&head[..], &[5, 6, 7].map(Value::U64)].concat();
    Case::native(81, 2, with_lock).show(|event| {
        let start = ContentionStart::of(event).unwrap();
        assert_eq!((start.lock_id, start.object_id, start.owner_thread_id), (Some(5), Some(6), Some(7)));
    });
    Case::native(91, 0, head.to_vec()).show(|event| {
        assert_eq!(ContentionStop::of(event).unwrap().duration_nanos, None);
    });
    Case::native(91, 1, [&head[..], &[Value::F64(1.5e6)]].concat()).show(|event| {
        assert_eq!(ContentionStop::of(event).unwrap().duration_nanos, Some(1.5e6));
    });
}

#[test]
fn samples_of_every_state_are_read() {
    let states = [
        (0, SampleState::Error),
        (1, SampleState::External),
        (2, SampleState::Managed),
        (77, SampleState::Unknown(77)),
    ];
    for (stored, state) in states {
        let case = Case::native(0, 0, vec![Value::U32(stored)]).of("Microsoft-DotNETCore-SampleProfiler");
        case.show(|event| assert_eq!(Sample::of(event).unwrap().state, state));
    }
    let cut = Case::native(0, 0, vec![Value::U16(1)]).of("Microsoft-DotNETCore-SampleProfiler");
    cut.show(|event| assert!(Sample::of(event).is_none()));
}

#[test]
fn log_messages_of_both_forms_are_read() {
    let provider = "Microsoft-Extensions-Logging";
    let string = || FieldType::String;
    let fields = [
        ("Level", FieldType::Int32),
        ("FactoryID", FieldType::Int32),
        ("LoggerName", string()),
        ("EventId", string()),
        ("EventName", string()),
        ("FormattedMessage", string()),
    ];
    let mut values = vec![Value::I32(3), Value::I32(1)];
    values.extend(["Shop.Orders", "17", "Accepted", "order λ 🚀 accepted"].map(text));
    Case::named(provider, "FormattedMessage", &fields, values).show(|event| {
        let message = LogMessage::of(event).unwrap();
        assert_eq!(message.level, 3);
        assert_eq!(message.logger, "Shop.Orders");
        assert_eq!((message.event_id, message.event_name.to_string()), (message.event_id, "Accepted".into()));
        assert_eq!(message.event_id, "17");
        assert_eq!(message.message, "order λ 🚀 accepted");
        assert!(message.arguments_json.is_none() && message.exception_json.is_none());
    });
    let fields = [
        ("Level", FieldType::Int32),
        ("FactoryID", FieldType::Int32),
        ("LoggerName", string()),
        ("EventId", string()),
        ("EventName", string()),
        ("ExceptionJson", string()),
        ("ArgumentsJson", string()),
        ("FormattedMessage", string()),
    ];
    let mut values = vec![Value::I32(4), Value::I32(1)];
    values.extend(["Shop", "0", "", "{}", "{\"n\":\"1\"}", ""].map(text));
    Case::named(provider, "MessageJson", &fields, values).show(|event| {
        let message = LogMessage::of(event).unwrap();
        assert_eq!((message.level, message.message.is_empty()), (4, true));
        assert_eq!(message.arguments_json.unwrap(), "{\"n\":\"1\"}");
        assert_eq!(message.exception_json.unwrap(), "{}");
    });
    // Other events of the provider are no messages.
    let fields = [("ID", FieldType::Int32), ("LoggerName", string())];
    let values = vec![Value::I32(4), text("x")];
    Case::named(provider, "ActivityJsonStop", &fields, values)
        .show(|event| assert!(LogMessage::of(event).is_none()));
}

#[test]
fn messages_of_event_sources_are_read() {
    let fields = [("message", FieldType::String)];
    let case = Case::named("Any-Source", "EventSourceMessage", &fields, vec![text("ERROR: 日本")]);
    Case { id: 0, ..case }.show(|event| assert_eq!(Message::of(event).unwrap().text, "ERROR: 日本"));
}

#[test]
fn activities_of_old_runtimes_are_read_without_fields_in_the_metadata() {
    let pair = |key: &str, value: &str| Value::Object(vec![text(key), text(value)]);
    let values =
        |name: &str| vec![text("Http"), text(name), Value::Array(vec![pair("Url", "/λ"), pair("Empty", "")])];
    for (name, edge) in [
        ("Activity1Start", ActivityEdge::Start),
        ("Activity2Stop", ActivityEdge::Stop),
        ("RecursiveActivity1Start", ActivityEdge::Start),
        ("Event", ActivityEdge::Instant),
    ] {
        let provider = "Microsoft-Diagnostics-DiagnosticSource";
        Case::named(provider, name, &[], values("Request")).show(|event| {
            let activity = Activity::of(event).unwrap_or_else(|| panic!("{event:?}"));
            assert_eq!((activity.edge, activity.source.to_string().as_str()), (edge, "Http"));
            assert_eq!(activity.name, "Request");
            let arguments: Vec<(String, String)> =
                activity.arguments().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            assert_eq!(arguments, [("Url".into(), "/λ".into()), ("Empty".into(), String::new())]);
            assert_eq!(activity.argument("Url").unwrap(), "/λ");
        });
    }
}

#[test]
fn metrics_of_the_first_version_have_no_sums() {
    let provider = "System.Diagnostics.Metrics";
    let names = ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags", "rate"];
    let fields = names.map(|name| (name, FieldType::String));
    let values = ["S", "M", "", "i", "By", "k=v", "1.5"].map(text).to_vec();
    Case::named(provider, "CounterRateValuePublished", &fields, values).show(|event| {
        let metric = Metric::of(event).unwrap();
        assert_eq!((metric.kind, metric.rate.unwrap().to_string().as_str()), (MetricKind::Counter, "1.5"));
        assert!(metric.value.is_none() && metric.sum.is_none() && metric.instrument_id.is_none());
    });
    let values = ["S", "M", "", "i", "By", "k=v", "1.5"].map(text).to_vec();
    Case::named(provider, "CollectionStart", &fields, values)
        .show(|event| assert!(Metric::of(event).is_none()));
}

#[test]
fn a_counter_without_a_name_or_a_value_has_no_view() {
    let counter = |fields: &[(&str, FieldType)], values: Vec<Value>| {
        let members = fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect();
        let outer = FieldType::Object(vec![Field::new("Payload", FieldType::Object(members))]);
        let values = vec![Value::Object(vec![Value::Object(values)])];
        Case::named("Any", "EventCounters", &[("", outer)], values).show(|event| Counter::of(event).is_some())
    };
    let (name, increment) = (("Name", FieldType::String), ("Increment", FieldType::Double));
    assert!(counter(&[name.clone(), increment.clone()], vec![text("n"), Value::F64(1.0)]));
    assert!(!counter(&[increment], vec![Value::F64(1.0)]));
    assert!(!counter(&[name], vec![text("n")]));
}

#[test]
fn events_of_other_providers_have_no_view_whatever_their_id() {
    for id in [0, 1, 2, 10, 80, 81, 91, 143, 152, 187, 303] {
        Case::native(id, 2, vec![Value::U64(0); 20]).of("Somebody-Else").show(|event| {
            assert!(
                Sample::of(event).is_none() && Method::of(event).is_none() && Module::of(event).is_none()
            );
            assert!(
                GcStart::of(event).is_none() && GcEnd::of(event).is_none() && Exception::of(event).is_none()
            );
            assert!(Allocation::of(event).is_none() && ContentionStart::of(event).is_none());
            assert!(ContentionStop::of(event).is_none() && ProcessInfo::of(event).is_none());
            assert!(RuntimeInformation::of(event).is_none() && Counter::of(event).is_none());
        });
    }
}
