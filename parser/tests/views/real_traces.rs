//! Tests of views on events of real programs.

use nettrace_parser::view::{
    Activity, Allocation, ContentionStart, ContentionStop, Counter, CounterValue, Exception, GcEnd,
    GcStart, LogMessage, Message, Method, MethodChange, Metric, MetricKind, Module, ModuleChange,
    ProcessInfo, RuntimeInformation, Sample, Tier, View,
};
use nettrace_parser::{Event, Reader};
use nettrace_testdata::corpus;
use std::collections::BTreeMap;

/// Calls `with` for all events of a real trace.
fn in_trace(name: &str, mut with: impl FnMut(&Event<'_>)) {
    let bytes = corpus::trace(name).bytes();
    let mut reader = Reader::from_slice(&bytes);
    while let Some(event) = reader.next_event().expect("a readable stream") {
        with(&event);
    }
}

/// Number of events by name of the view.
#[derive(Default)]
struct Counts(BTreeMap<String, usize>);

impl Counts {
    fn add(&mut self, name: impl Into<String>) {
        *self.0.entry(name.into()).or_default() += 1;
    }

    fn get(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }
}

const ALL: &str = "net10-linux-x64/all.nettrace";

#[test]
fn every_event_of_the_net10_trace_has_the_view_it_should_have() {
    let mut counts = Counts::default();
    in_trace(ALL, |event| {
        let views = [
            ("sample", Sample::from_event(event).is_some()),
            ("method", Method::from_event(event).is_some()),
            ("module", Module::from_event(event).is_some()),
            ("gc start", GcStart::from_event(event).is_some()),
            ("gc end", GcEnd::from_event(event).is_some()),
            ("exception", Exception::from_event(event).is_some()),
            ("contention start", ContentionStart::from_event(event).is_some()),
            ("contention stop", ContentionStop::from_event(event).is_some()),
            ("counter", Counter::from_event(event).is_some()),
            ("process", ProcessInfo::from_event(event).is_some()),
            ("runtime", RuntimeInformation::from_event(event).is_some()),
            ("allocation", Allocation::from_event(event).is_some()),
            ("metric", Metric::from_event(event).is_some()),
            ("activity", Activity::from_event(event).is_some()),
            ("log", LogMessage::from_event(event).is_some()),
            ("message", Message::from_event(event).is_some()),
        ];
        assert!(views.iter().filter(|(_, is)| *is).count() <= 1, "{event:?} {views:?}");
        views.iter().filter(|(_, is)| *is).for_each(|(name, _)| counts.add(*name));
    });
    let expected = [
        ("sample", 19_716),
        // 292 unloaded methods, and 3,184 in the rundown.
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
    let expected: BTreeMap<String, usize> =
        expected.map(|(name, count)| (name.to_owned(), count)).into();
    assert_eq!(counts.0, expected);
}

#[test]
fn exceptions_are_named_with_their_messages_of_any_script() {
    let mut types = Counts::default();
    let mut messages = Counts::default();
    in_trace(ALL, |event| {
        let Some(exception) = Exception::from_event(event) else { return };
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
    assert_eq!(types.get("Workload.WidgetException"), 470);
    assert_eq!(types.get("System.NullReferenceException"), 282);
    assert_eq!(types.get("System.InvalidOperationException"), 188);
    assert_eq!(types.0.len(), 3);
    for number in 0..5 {
        assert_eq!(messages.get(&format!("widget λ {number}")), 94);
    }
    assert_eq!(messages.get("Object reference not set to an instance of an object."), 282);
    assert_eq!(messages.get("round 50"), 2);
}

#[test]
fn samples_say_where_the_thread_was() {
    let mut states = Counts::default();
    in_trace(ALL, |event| {
        if let Some(sample) = Sample::from_event(event) {
            states.add(format!("{:?}", sample.state));
        }
    });
    assert_eq!(states.0.keys().collect::<Vec<_>>(), ["External", "Managed"]);
    assert_eq!(states.get("External") + states.get("Managed"), 19_716);
}

#[test]
fn methods_have_names_addresses_and_tiers() {
    let mut counts = Counts::default();
    let mut fibonacci = Vec::new();
    in_trace(ALL, |event| {
        let Some(method) = Method::from_event(event) else { return };
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
    assert_eq!((counts.get("Unload"), counts.get("AtEnd")), (292, 3184));
    assert!(
        fibonacci.iter().all(|(change, _, is_jitted)| *change == MethodChange::AtEnd && *is_jitted)
    );
    assert!(fibonacci.iter().any(|(_, tier, _)| *tier == Tier::OptimizedTier1), "{fibonacci:?}");
}

#[test]
fn modules_have_paths_and_pdbs() {
    let mut names = Vec::new();
    in_trace(ALL, |event| {
        let Some(module) = Module::from_event(event) else { return };
        assert_eq!(module.change, ModuleChange::AtEnd);
        assert!(
            module.pdb_signature.is_some() && module.pdb_age.is_some() && module.pdb_path.is_some()
        );
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
    assert!(names.contains(&"workload.dll".to_owned()), "{names:?}");
}

#[test]
fn collections_start_and_end_in_turn() {
    let (mut open, mut numbers) = (None, Vec::new());
    in_trace(ALL, |event| {
        if let Some(start) = GcStart::from_event(event) {
            assert!(open.is_none(), "no background collections in this trace");
            assert!(start.generation.is_some_and(|generation| generation <= 2));
            assert_eq!(start.kind, Some(0));
            open = Some((start.number, start.generation));
        }
        if let Some(end) = GcEnd::from_event(event) {
            assert_eq!(open.take(), Some((end.number, Some(end.generation))));
            numbers.push(end.number);
        }
    });
    assert_eq!(numbers, (numbers[0]..numbers[0] + 62).collect::<Vec<_>>());
}

#[test]
fn waits_for_locks_name_lock_and_owner_and_take_their_time() {
    let (mut starts, mut stops, mut nanos) = (0, 0, 0.0);
    in_trace(ALL, |event| {
        if let Some(start) = ContentionStart::from_event(event) {
            starts += 1;
            assert_eq!(start.flags, 0);
            assert!(
                start.lock_id.is_some_and(|id| id != 0)
                    && start.object_id.is_some_and(|id| id != 0)
            );
            assert!(start.owner_thread_id.is_some_and(|id| Some(id) != event.thread_id()));
        }
        if let Some(stop) = ContentionStop::from_event(event) {
            stops += 1;
            nanos += stop.duration_nanos.expect("from version 1 on");
        }
    });
    assert_eq!((starts, stops), (207, 207));
    assert!((1e8..1e10).contains(&nanos), "{nanos}");
}

#[test]
fn counters_of_all_runtimes_are_means_and_sums() {
    // .NET Core 3.1 orders the fields differently.
    for (trace, means, sums) in [(ALL, 60, 30), ("net3.1-linux-x64/all.nettrace", 52, 30)] {
        let mut counts = Counts::default();
        let mut latest = BTreeMap::new();
        in_trace(trace, |event| {
            let Some(counter) = Counter::from_event(event) else { return };
            assert_eq!(counter.series, "Interval=1000");
            assert!(
                counter.interval_seconds.is_none_or(|seconds| (0.0..2.0).contains(&seconds)),
                "{counter:?}"
            );
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
        assert_eq!(
            (counts.get("mean"), counts.get("sum")),
            (means, sums),
            "{trace}: {:?}",
            counts.0
        );
        assert_eq!(latest["latency"], ("Request latency".into(), "ms".into()));
        assert_eq!(latest["requests"], ("Requests".into(), String::new()));
    }
}

#[test]
fn metrics_of_all_kinds_are_read() {
    let mut kinds = Counts::default();
    let mut tags = Counts::default();
    in_trace("net10-linux-x64/metrics.nettrace", |event| {
        let Some(metric) = Metric::from_event(event) else { return };
        kinds.add(format!("{:?}", metric.kind));
        assert_eq!(metric.session_id, "SHARED");
        assert!(metric.instrument_id.is_some());
        match metric.kind {
            MetricKind::Histogram => {
                assert_eq!(
                    (metric.meter.to_string(), metric.meter_version.to_string()),
                    workload()
                );
                assert_eq!(metric.instrument, "order.duration");
                assert!(metric.quantiles.unwrap().to_string().starts_with("0.5="));
                assert!(
                    metric.count.is_some_and(|count| count > 0)
                        && metric.sum.is_some_and(|sum| sum > 0.0)
                );
            }
            MetricKind::Gauge => assert!(metric.value.is_some() && metric.rate.is_none()),
            _ => assert!(
                metric.value.is_some() && metric.rate.is_some() && metric.quantiles.is_none()
            ),
        }
        if metric.instrument == "orders" {
            tags.add(metric.tags.to_string());
        }
    });
    assert_eq!(kinds.get("Counter"), 32);
    assert_eq!(kinds.get("UpDownCounter"), 32);
    assert_eq!(kinds.get("Gauge"), 4);
    assert_eq!(kinds.get("Histogram"), 2);
    assert_eq!(tags.0.keys().collect::<Vec<_>>(), ["kind=book", "kind=tëä"]);
}

fn workload() -> (String, String) {
    ("Nettrace.Workload".into(), "1.2.3".into())
}

#[test]
fn activities_start_and_stop_with_their_arguments() {
    let mut counts = Counts::default();
    let mut tagged = 0;
    in_trace("net10-linux-x64/metrics.nettrace", |event| {
        let Some(activity) = Activity::from_event(event) else { return };
        assert_eq!(activity.source, "Nettrace.Workload");
        counts.add(format!("{:?} {}", activity.edge, activity.name));
        let (_, operation) =
            activity.arguments().find(|(name, _)| *name == *"OperationName").unwrap();
        assert_eq!(operation.to_string(), activity.name.to_string());
        assert!(activity.arguments().count() > 10);
        tagged += usize::from(
            activity.arguments().any(|(_, value)| value.to_string().contains("number")),
        );
    });
    assert_eq!(counts.get("Start order") + counts.get("Start pay"), 4072);
    assert_eq!(counts.get("Stop order") + counts.get("Stop pay"), 4070);
    assert_eq!(counts.0.len(), 4);
    assert!(tagged > 2000, "{tagged}");
}

#[test]
fn process_and_runtime_say_what_they_are() {
    let mut met = 0;
    in_trace(ALL, |event| {
        if let Some(info) = ProcessInfo::from_event(event) {
            met += 1;
            assert_eq!(info.command_line, "/app/w10/workload /app/w10/workload.dll all 5");
            assert_eq!(info.os.unwrap(), "Linux");
            assert_eq!(info.architecture.unwrap(), "x64");
        }
        if let Some(runtime) = RuntimeInformation::from_event(event) {
            met += 1;
            assert_eq!(runtime.version, [10, 0, 12]);
            assert!(runtime.runtime_path.to_string().ends_with("/10.0.12/libcoreclr.so"));
        }
    });
    assert!(met == 2);
    let mut met = 0;
    in_trace("net3.1-linux-x64/all.nettrace", |event| {
        if let Some(info) = ProcessInfo::from_event(event) {
            met += 1;
            assert!(info.os.is_none() && info.architecture.is_none(), "version 0 does not say");
        }
        if let Some(runtime) = RuntimeInformation::from_event(event) {
            met += 1;
            assert_eq!(runtime.version, [4, 0, 0]);
            assert!(
                runtime.runtime_path.to_string().contains("/3.1.23/"),
                "{}",
                runtime.runtime_path
            );
        }
    });
    assert!(met == 2);
}

#[test]
fn texts_of_the_workload_come_out_as_the_program_wrote_them() {
    assert_texts_are_as_written(&[ALL, "net3.1-linux-x64/all.nettrace"]);
}

fn assert_texts_are_as_written(traces: &[&str]) {
    let mut rounds = [0; 4];
    for trace in traces {
        in_trace(trace, |event| match (event.provider(), event.name()) {
            ("Nettrace-Workload", "Text") => {
                let round = rounds[0];
                rounds[0] += 1;
                let texts: Vec<String> =
                    event.fields().map(|field| field.value.unwrap().to_string()).collect();
                let number = texts[0].strip_prefix("text 日本語 🚀 ").expect(&texts[0]);
                assert!(number.parse::<u32>().is_ok(), "{round}: {number}");
                // An empty and a null text have the same bytes.
                assert_eq!(texts[1..], ["", ""]);
            }
            ("Nettrace-Workload", "Item") => {
                rounds[1] += 1;
                let name =
                    event.field("name").and_then(|value| value.as_utf16()).expect("a null text");
                assert!(name.is_empty() && name.is_terminated());
            }
            ("Nettrace-Workload-Dynamic", "Nested") => {
                rounds[2] += 1;
                let x = event
                    .field("First")
                    .and_then(|first| first.as_object()?.field("X")?.as_i64())
                    .unwrap();
                let first = event.field("First").unwrap().to_string();
                assert_eq!(first, format!("{{X={x}, Label=first {x}}}"));
                let second = event.field("Second").unwrap().to_string();
                assert_eq!(second, format!("{{X={}, Label=}}", -x));
            }
            ("Nettrace-Workload-Dynamic", "Arrays") => {
                // An object with arrays is not described, but its bytes are in the payload.
                rounds[3] += 1;
                let fields = event.fields();
                assert_eq!(fields.clone().count(), 0);
                let name: Vec<u8> = "näme 😀 ".encode_utf16().flat_map(u16::to_le_bytes).collect();
                assert!(fields.rest().windows(name.len()).any(|bytes| bytes == name));
            }
            _ => {}
        });
    }
    assert!(rounds.iter().all(|count| *count > 60), "{rounds:?}");
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn methods_that_are_jitted_are_seen_as_they_come() {
        for (trace, expected) in
            [("net3.1-linux-x64/clr.nettrace", 279), ("net10-linux-x64/clr.nettrace", 1031)]
        {
            let mut loads = 0;
            in_trace(trace, |event| {
                loads += usize::from(
                    Method::from_event(event)
                        .is_some_and(|method| method.change == MethodChange::Load),
                );
            });
            assert!(loads == expected, "{trace}: {loads}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn allocations_name_type_and_size() {
        let (mut ticks, mut bytes) = (0, 0);
        in_trace("net10-linux-x64/clr.nettrace", |event| {
            let Some(allocation) = Allocation::from_event(event) else { return };
            assert!(
                !allocation.is_random_sample
                    && !allocation.type_name.is_empty()
                    && allocation.type_id != 0
            );
            assert!(allocation.address.is_some() && allocation.object_bytes.is_some());
            ticks += 1;
            bytes += allocation.bytes_since_last.expect("a tick");
        });
        assert!(ticks == 5733 && bytes > 500_000_000, "{ticks} {bytes}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn allocations_picked_at_random_name_the_size_of_the_object() {
        let (mut sampled, mut ticks) = (0, 0);
        in_trace("net10-linux-x64/alloc-sampled.nettrace", |event| {
            match Allocation::from_event(event) {
                Some(allocation) if allocation.is_random_sample => {
                    assert!(
                        allocation.bytes_since_last.is_none()
                            && allocation.object_bytes.is_some_and(|size| size > 0)
                    );
                    sampled += 1;
                }
                Some(_) => ticks += 1,
                None => {}
            }
        });
        assert!((sampled, ticks) == (122_775, 0), "{sampled} {ticks}");
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn texts_in_netperf_come_out_as_the_program_wrote_them() {
        assert_texts_are_as_written(&["net10-linux-x64/all.netperf"]);
    }
}
