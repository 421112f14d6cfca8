//! Tests of views on payloads of every version.

use super::case::{Case, text};
use super::{RUNDOWN, RUNTIME};
use nettrace_parser::view::{
    Activity, ActivityEdge, Allocation, ContentionStart, ContentionStop, Counter, Exception, GcEnd,
    GcStart, LogMessage, Message, Method, MethodChange, Metric, MetricKind, Module, ModuleChange,
    ProcessInfo, RuntimeInformation, Sample, SampleState, Tier, View,
};
use nettrace_testdata::synth::{Field, FieldType, Value};

#[test]
fn an_exception_without_message_bytes_has_an_empty_message() {
    // .NET Core 3.1 writes nothing for a null message, not even a terminator.
    for (pointer_size, address) in [(8, Value::U64(0x7f12_3456_789a)), (4, Value::U32(0x1234_5678))]
    {
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
                let exception = Exception::from_event(event).expect("a view");
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
                let exception = Exception::from_event(event).expect("a view");
                assert_eq!(exception.message, message);
                assert_eq!(exception.address, address);
                assert!(exception.has_inner() && exception.is_rethrown());
            });
        }
    }
}

#[test]
fn texts_of_two_places_that_may_be_missing_are_not_guessed_at() {
    // Either text of this event may be missing. Because of the guid between them, the payload fits
    // in one way only.
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
        let runtime = RuntimeInformation::from_event(event).expect("a view");
        assert_eq!(
            (runtime.command_line.to_string(), runtime.runtime_path.to_string()),
            (String::new(), "path".into())
        );
        assert_eq!(event.field("ComObjectGuid").unwrap().as_guid().unwrap().to_bytes(), [7; 16]);
    });
    let second_missing = with(&|values| values.extend([text("command"), guid.clone()]));
    Case::native(187, 0, second_missing).show(|event| {
        let runtime = RuntimeInformation::from_event(event).expect("a view");
        assert_eq!(
            (runtime.command_line.to_string(), runtime.runtime_path.to_string()),
            ("command".into(), String::new())
        );
    });
    let both_missing = with(&|values| values.push(guid.clone()));
    Case::native(187, 0, both_missing).show(|event| {
        let runtime = RuntimeInformation::from_event(event).expect("a view");
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
        let exception = Exception::from_event(event).expect("a view");
        assert_eq!((exception.message.to_string().as_str(), exception.hresult), ("m", 2));
        let mut fields = event.fields();
        fields.by_ref().for_each(drop);
        assert_eq!(fields.rest(), 77u64.to_le_bytes());
    });
}

#[test]
fn an_exception_of_version_0_has_no_fields_and_no_view() {
    Case::native(80, 0, vec![]).show(|event| assert!(Exception::from_event(event).is_none()));
}

fn method(version: u32, has_names: bool) -> Vec<Value> {
    let mut values = vec![
        Value::U64(1),
        Value::U64(2),
        Value::U64(0x7000),
        Value::U32(64),
        Value::U32(0x0600_0001),
    ];
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
                Case::native(id, version, method(version, has_names)).with_provider(provider).show(
                    |event| {
                        let method =
                            Method::from_event(event).unwrap_or_else(|| panic!("{event:?}"));
                        assert_eq!(method.change, change);
                        assert_eq!(
                            (method.method_id, method.module_id, method.start),
                            (1, 2, 0x7000)
                        );
                        assert_eq!(
                            (method.size, method.token, method.extent()),
                            (64, 0x0600_0001, 1)
                        );
                        assert_eq!(method.rejit_id, (version == 2).then_some(5));
                        assert_eq!(method.name, if has_names { "M" } else { "" });
                        assert_eq!(method.namespace, if has_names { "N.T" } else { "" });
                        assert_eq!(method.signature, if has_names { "void  ()" } else { "" });
                        assert!(method.is_jitted() && !method.is_dynamic());
                        assert_eq!(method.tier(), Tier::OptimizedTier1);
                    },
                );
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
            Case::native(id, version, values).with_provider(provider).show(|event| {
                let module = Module::from_event(event).unwrap_or_else(|| panic!("{event:?}"));
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
        let start = GcStart::from_event(event).unwrap();
        assert_eq!((start.number, start.generation, start.reason, start.kind), (7, None, 1, None));
    });
    for version in 1..=2 {
        let mut values = [7, 2, 1, 1].map(Value::U32).to_vec();
        values.push(Value::U16(9));
        values.extend((version == 2).then_some(Value::U64(3)));
        Case::native(1, version, values).show(|event| {
            let start = GcStart::from_event(event).unwrap();
            assert_eq!(
                (start.number, start.generation, start.reason, start.kind),
                (7, Some(2), 1, Some(1))
            );
        });
    }
    for (version, depth) in [(0, Value::U16(2)), (1, Value::U32(2))] {
        Case::native(2, version, vec![Value::U32(7), depth, Value::U16(9)]).show(|event| {
            let end = GcEnd::from_event(event).unwrap();
            assert_eq!((end.number, end.generation), (7, 2));
        });
    }
}

#[test]
fn allocations_of_every_version_are_read() {
    let head = [Value::U32(1), Value::U32(2), Value::U16(9)];
    for version in 0..=1 {
        let values = head[..2 + version as usize].to_vec();
        Case::native(10, version, values)
            .show(|event| assert!(Allocation::from_event(event).is_none()));
    }
    for version in 2..=4 {
        for pointer_size in [4, 8] {
            let address = |value: u32| {
                if pointer_size == 4 { Value::U32(value) } else { Value::U64(value.into()) }
            };
            let mut values = head.to_vec();
            values.extend([Value::U64(1 << 33), address(0x1000), text("T[]"), Value::U32(0)]);
            values.extend((version >= 3).then(|| address(0x2000)));
            values.extend((version >= 4).then_some(Value::U64(24)));
            let case = Case { pointer_size, ..Case::native(10, version, values) };
            case.show(|event| {
                let tick = Allocation::from_event(event).unwrap();
                assert!(!tick.is_random_sample);
                assert_eq!(
                    (tick.kind, tick.bytes_since_last, tick.type_id),
                    (2, Some(1 << 33), 0x1000)
                );
                assert_eq!(tick.type_name, "T[]");
                assert_eq!(tick.address, (version >= 3).then_some(0x2000));
                assert_eq!(tick.object_bytes, (version >= 4).then_some(24));
            });
        }
    }
    let mut values =
        vec![Value::U32(1), Value::U16(9), Value::U64(0x1000), text("T"), Value::U64(0x2000)];
    values.extend([Value::U64(24), Value::U64(3)]);
    Case::native(303, 0, values).show(|event| {
        let sampled = Allocation::from_event(event).unwrap();
        assert!(sampled.is_random_sample && sampled.bytes_since_last.is_none());
        assert_eq!((sampled.address, sampled.object_bytes), (Some(0x2000), Some(24)));
    });
}

#[test]
fn waits_of_every_version_are_read() {
    Case::native(81, 0, vec![]).show(|event| assert!(ContentionStart::from_event(event).is_none()));
    let head = [Value::U8(1), Value::U16(9)];
    Case::native(81, 1, head.to_vec()).show(|event| {
        let start = ContentionStart::from_event(event).unwrap();
        assert_eq!(
            (start.flags, start.lock_id, start.object_id, start.owner_thread_id),
            (1, None, None, None)
        );
    });
    let with_lock = [&head[..], &[5, 6, 7].map(Value::U64)].concat();
    Case::native(81, 2, with_lock).show(|event| {
        let start = ContentionStart::from_event(event).unwrap();
        assert_eq!(
            (start.lock_id, start.object_id, start.owner_thread_id),
            (Some(5), Some(6), Some(7))
        );
    });
    Case::native(91, 0, head.to_vec()).show(|event| {
        assert_eq!(ContentionStop::from_event(event).unwrap().duration_nanos, None);
    });
    Case::native(91, 1, [&head[..], &[Value::F64(1.5e6)]].concat()).show(|event| {
        assert_eq!(ContentionStop::from_event(event).unwrap().duration_nanos, Some(1.5e6));
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
        let case = Case::native(0, 0, vec![Value::U32(stored)])
            .with_provider("Microsoft-DotNETCore-SampleProfiler");
        case.show(|event| assert_eq!(Sample::from_event(event).unwrap().state, state));
    }
    let cut = Case::native(0, 0, vec![Value::U16(1)])
        .with_provider("Microsoft-DotNETCore-SampleProfiler");
    cut.show(|event| assert!(Sample::from_event(event).is_none()));
}

#[test]
fn log_messages_of_both_forms_are_read() {
    let provider = "Microsoft-Extensions-Logging";
    let string = || FieldType::Text;
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
        let message = LogMessage::from_event(event).unwrap();
        assert_eq!(message.level, 3);
        assert_eq!(message.logger, "Shop.Orders");
        assert_eq!(
            (message.event_id, message.event_name.to_string()),
            (message.event_id, "Accepted".into())
        );
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
        let message = LogMessage::from_event(event).unwrap();
        assert_eq!((message.level, message.message.is_empty()), (4, true));
        assert_eq!(message.arguments_json.unwrap(), "{\"n\":\"1\"}");
        assert_eq!(message.exception_json.unwrap(), "{}");
    });
    // Other events of the provider are not messages.
    let fields = [("ID", FieldType::Int32), ("LoggerName", string())];
    let values = vec![Value::I32(4), text("x")];
    Case::named(provider, "ActivityJsonStop", &fields, values)
        .show(|event| assert!(LogMessage::from_event(event).is_none()));
}

#[test]
fn messages_of_event_sources_are_read() {
    let fields = [("message", FieldType::Text)];
    let case = Case::named("Any-Source", "EventSourceMessage", &fields, vec![text("ERROR: 日本")]);
    Case { id: 0, ..case }
        .show(|event| assert_eq!(Message::from_event(event).unwrap().text, "ERROR: 日本"));
}

#[test]
fn activities_of_old_runtimes_are_read_without_fields_in_the_metadata() {
    let pair = |key: &str, value: &str| Value::Object(vec![text(key), text(value)]);
    let values = |name: &str| {
        vec![text("Http"), text(name), Value::Array(vec![pair("Url", "/λ"), pair("Empty", "")])]
    };
    for (name, edge) in [
        ("Activity1Start", ActivityEdge::Start),
        ("Activity2Stop", ActivityEdge::Stop),
        ("RecursiveActivity1Start", ActivityEdge::Start),
        ("Event", ActivityEdge::Instant),
    ] {
        let provider = "Microsoft-Diagnostics-DiagnosticSource";
        Case::named(provider, name, &[], values("Request")).show(|event| {
            let activity = Activity::from_event(event).unwrap_or_else(|| panic!("{event:?}"));
            assert_eq!((activity.edge, activity.source.to_string().as_str()), (edge, "Http"));
            assert_eq!(activity.name, "Request");
            let arguments: Vec<(String, String)> = activity
                .arguments()
                .map(|(key, value)| (key.to_string(), value.to_string()))
                .collect();
            assert_eq!(arguments, [("Url".into(), "/λ".into()), ("Empty".into(), String::new())]);
        });
    }
}

#[test]
fn metrics_of_the_first_version_have_no_sums() {
    let provider = "System.Diagnostics.Metrics";
    let names =
        ["sessionId", "meterName", "meterVersion", "instrumentName", "unit", "tags", "rate"];
    let fields = names.map(|name| (name, FieldType::Text));
    let values = ["S", "M", "", "i", "By", "k=v", "1.5"].map(text).to_vec();
    Case::named(provider, "CounterRateValuePublished", &fields, values).show(|event| {
        let metric = Metric::from_event(event).unwrap();
        assert_eq!(
            (metric.kind, metric.rate.unwrap().to_string().as_str()),
            (MetricKind::Counter, "1.5")
        );
        assert!(metric.value.is_none() && metric.sum.is_none() && metric.instrument_id.is_none());
    });
    let values = ["S", "M", "", "i", "By", "k=v", "1.5"].map(text).to_vec();
    Case::named(provider, "CollectionStart", &fields, values)
        .show(|event| assert!(Metric::from_event(event).is_none()));
}

#[test]
fn a_counter_without_a_name_or_a_value_has_no_view() {
    let counter = |fields: &[(&str, FieldType)], values: Vec<Value>| {
        let members = fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect();
        let outer = FieldType::Object(vec![Field::new("Payload", FieldType::Object(members))]);
        let values = vec![Value::Object(vec![Value::Object(values)])];
        Case::named("Any", "EventCounters", &[("", outer)], values)
            .show(|event| Counter::from_event(event).is_some())
    };
    let (name, increment) = (("Name", FieldType::Text), ("Increment", FieldType::Double));
    assert!(counter(&[name.clone(), increment.clone()], vec![text("n"), Value::F64(1.0)]));
    assert!(!counter(&[increment], vec![Value::F64(1.0)]));
    assert!(!counter(&[name], vec![text("n")]));
}

#[test]
fn a_counter_has_the_interval_that_its_event_says_and_none_otherwise() {
    let interval = |length: Option<f64>, series: &str| {
        let mut fields = vec![Field::new("Name", FieldType::Text)];
        fields.push(Field::new("Increment", FieldType::Double));
        fields.push(Field::new("Series", FieldType::Text));
        fields.extend(length.map(|_| Field::new("IntervalSec", FieldType::Double)));
        let mut values = vec![text("n"), Value::F64(1.0), text(series)];
        values.extend(length.map(Value::F64));
        let outer = FieldType::Object(vec![Field::new("Payload", FieldType::Object(fields))]);
        let values = vec![Value::Object(vec![Value::Object(values)])];
        Case::named("Any", "EventCounters", &[("", outer)], values).show(|event| {
            let counter = Counter::from_event(event).unwrap();
            (counter.interval_seconds, counter.publication_seconds())
        })
    };
    assert_eq!(interval(Some(2.5), "Interval=5000"), (Some(2.5), Some(5.0)));
    assert_eq!(interval(Some(2.5), ""), (Some(2.5), Some(2.5)));
    assert_eq!(interval(Some(0.0), "Interval=5000"), (None, Some(5.0)));
    assert_eq!([interval(Some(0.0), ""), interval(None, "")], [(None, None); 2]);
}

#[test]
fn events_of_other_providers_have_no_view_whatever_their_id() {
    for id in [0, 1, 2, 10, 80, 81, 91, 143, 152, 187, 303] {
        Case::native(id, 2, vec![Value::U64(0); 20]).with_provider("Somebody-Else").show(|event| {
            assert!(
                Sample::from_event(event).is_none()
                    && Method::from_event(event).is_none()
                    && Module::from_event(event).is_none()
            );
            assert!(
                GcStart::from_event(event).is_none()
                    && GcEnd::from_event(event).is_none()
                    && Exception::from_event(event).is_none()
            );
            assert!(
                Allocation::from_event(event).is_none()
                    && ContentionStart::from_event(event).is_none()
            );
            assert!(
                ContentionStop::from_event(event).is_none()
                    && ProcessInfo::from_event(event).is_none()
            );
            assert!(
                RuntimeInformation::from_event(event).is_none()
                    && Counter::from_event(event).is_none()
            );
        });
    }
}

/// Leaves out the bytes of null texts, as .NET Core 3.1 does.
#[test]
fn texts_of_a_log_message_stand_where_they_would_without_a_null_before_them() {
    let provider = "Microsoft-Extensions-Logging";
    let string = || FieldType::Text;
    let log = [
        ("Level", FieldType::Int32),
        ("FactoryID", FieldType::Int32),
        ("LoggerName", string()),
        ("EventId", FieldType::Int32),
        ("EventName", string()),
    ];
    let begin = |texts: &[&str]| {
        let mut values = vec![Value::I32(3), Value::I32(1), text("Shop"), Value::I32(7)];
        values.extend(texts.iter().copied().map(text));
        values
    };
    let formatted = [&log[..], &[("FormattedMessage", string())]].concat();
    for (texts, name) in [(&["stock is low"][..], ""), (&["Low", "stock is low"], "Low")] {
        Case::named(provider, "FormattedMessage", &formatted, begin(texts)).show(|event| {
            let message = LogMessage::from_event(event).unwrap();
            assert_eq!(message.event_name, name);
            assert_eq!(message.message, "stock is low");
        });
    }
    let json = [&log[..], &[("ExceptionJson", string()), ("ArgumentsJson", string())]].concat();
    for (texts, name) in [(&["{}", "{\"n\":1}"][..], ""), (&["Low", "{}", "{\"n\":1}"], "Low")] {
        Case::named(provider, "MessageJson", &json, begin(texts)).show(|event| {
            let message = LogMessage::from_event(event).unwrap();
            assert_eq!(message.event_name, name);
            assert_eq!(message.exception_json.unwrap(), "{}");
            assert_eq!(message.arguments_json.unwrap(), "{\"n\":1}");
        });
    }
}
