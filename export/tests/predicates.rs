//! Conditions on the events of recorded traces.

use nettrace_export::{Answers, EventTypes, Fact, Filter, FilterOptions, Predicate, Trigger};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::requests::requests;

fn trace() -> Vec<u8> {
    corpus::trace("net10-linux-x64/all.nettrace").bytes()
}

/// Returns the number of events that satisfy a condition of `--until`, and the warning about the
/// condition.
fn fired(text: &str) -> (usize, Option<String>) {
    let bytes = trace();
    let predicate = Predicate::parse_event(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut trigger = Trigger::new(vec![predicate]);
    let (mut reader, mut count) = (Reader::from_slice(&bytes), 0);
    while let Some(event) = reader.next_event().unwrap() {
        count += usize::from(trigger.check(&event).is_some());
    }
    (count, trigger.why_not())
}

/// Returns the number of events that satisfy the conditions of `--where`.
fn passed(conditions: &[&str]) -> usize {
    let bytes = trace();
    let mut options = FilterOptions::default();
    options.conditions = conditions.iter().map(|text| text.parse().unwrap()).collect();
    let (mut filter, mut types) = (Filter::new(options), EventTypes::default());
    let (mut reader, mut count) = (Reader::from_slice(&bytes), 0);
    while let Some(event) = reader.next_event().unwrap() {
        let type_index = types.index_of(&event);
        count += usize::from(filter.accepts(&event, type_index, &types));
    }
    count
}

#[test]
fn events_are_known_by_any_of_their_names() {
    let by_name = fired("Microsoft-Windows-DotNETRuntime/GC/Start").0;
    assert!(by_name > 0);
    for text in [
        "*/GCStart",
        "GCStart",
        "GC/Start",
        "*DotNETRuntime/1",
        "Microsoft-Windows-DotNETRuntime/GCStart_V2",
        "*Runtime/GC/St?rt",
    ] {
        assert_eq!(fired(text).0, by_name, "{text}");
    }
    assert_eq!(
        fired("Nettrace-Workload/Request/Start").0,
        fired("Nettrace-Workload/RequestStart").0
    );
    assert!(fired("Nettrace-Workload/RequestStart").0 > 0);
}

#[test]
fn fields_are_compared_as_numbers_or_texts() {
    let all = fired("Microsoft-Windows-DotNETRuntime/GC/Start").0;
    let deep = fired("Microsoft-Windows-DotNETRuntime/GC/Start where Depth >= 1").0;
    let flat = fired("Microsoft-Windows-DotNETRuntime/GC/Start where depth<1").0;
    assert!(deep > 0 && flat > 0);
    assert_eq!(deep + flat, all);
    assert_eq!(fired("*Runtime/GC/Start where Depth=0 and Depth!=0").0, 0);
    assert_eq!(fired("*Runtime/GC/Start where Depth=0 or not Depth=0").0, all);
    assert_eq!(
        fired("Nettrace-Workload/RequestStart where url *= '/'").0,
        fired("RequestStart where url ~ /").0
    );
    assert!(fired("Nettrace-Workload/RequestStart where url ~ '^.*/'").0 > 0);
}

#[test]
fn what_cannot_be_fulfilled_is_said_with_what_may_have_been_meant() {
    let (count, why) = fired("*Runtime/GC/Start where Deepth>1");
    assert_eq!(
        (count, why.unwrap().ends_with("GC/Start has no field Deepth; did you mean Depth?")),
        (0, true)
    );
    let why = fired("*Runtime/GC/Start where Whatever=1").1.unwrap();
    assert!(why.contains("has no field Whatever; it has Count, Depth, Reason"), "{why}");
    let why = fired("*Runtime/GC/Start where Depth > much").1.unwrap();
    assert!(
        why.contains("Depth of Microsoft-Windows-DotNETRuntime/GC/Start is a number, but much"),
        "{why}"
    );
    let why = fired("*Runtime/GC/Strat").1.unwrap();
    assert!(why.starts_with("no event is *Runtime/GC/Strat"), "{why}");
}

#[test]
fn conditions_joined_by_words_choose_what_single_ones_choose() {
    let gc = passed(&["GC/Start and Count>0"]);
    assert!(gc > 0);
    assert_eq!(passed(&["Count>0", "GC/Start and Count=*"]), 0);
    assert_eq!(
        passed(&["Count>0 and Reason=AllocSmall"]),
        passed(&["Count>0", "Reason=AllocSmall"])
    );
    let both = passed(&["Reason=AllocSmall or Reason=Induced"]);
    assert_eq!(both, passed(&["Reason=AllocSmall"]) + passed(&["Reason=Induced"]));
    assert_eq!(passed(&["Size > 1KiB"]), passed(&["Size > 1024"]));
    assert_eq!(passed(&["Size > 1KB"]), passed(&["Size > 1000"]));
    assert!(passed(&["Size > 1KB"]) > 0);
}

/// Returns how often counters and instruments satisfy a condition, in a trace in which each is
/// published twice. Also returns the counters' values and the warning about the condition.
fn fired_by_counters(text: &str) -> (usize, Vec<(String, f64)>, Option<String>) {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    fired_in(&trace.bytes(), text)
}

fn fired_in(bytes: &[u8], text: &str) -> (usize, Vec<(String, f64)>, Option<String>) {
    let mut trigger = Trigger::new(vec![
        Predicate::parse_event(text).unwrap_or_else(|error| panic!("{text}: {error}")),
    ]);
    let (mut reader, mut count, mut values) = (Reader::from_slice(bytes), 0, Vec::new());
    while let Some(event) = reader.next_event().unwrap() {
        if trigger.check(&event).is_some() {
            count += 1;
            assert_eq!(trigger.all_fired(), [0]);
            values = trigger.values(0);
        }
    }
    (count, values, trigger.take_trouble().or_else(|| trigger.why_not()))
}

#[test]
fn counters_and_instruments_are_compared_by_name_unit_tags_and_percentile() {
    for (text, expected) in [
        ("System.Runtime/gc-heap-size > 10MB", 2),
        ("System.Runtime/gc-heap-size > 10MiB", 1),
        ("System.Runtime/gc-heap-size > 10", 2),
        ("system.runtime/GC-heap-size > 13", 1),
        ("System.Runtime/working-set > 0.05GB and System.Runtime/cpu-usage >= 8%", 1),
        ("System.Runtime/cpu-usage < 1 or System.Runtime/cpu-usage > 5", 2),
        ("System.Runtime/exception-count > 0", 0),
        // The counter is compared by its growth in a second.
        ("System.Runtime/alloc-rate > 28MB", 2),
        ("Nettrace.Workload/orders > 440", 2),
        ("Nettrace.Workload/orders{kind=book} > 440", 1),
        ("Nettrace.Workload/orders{kind=none} > 0", 0),
        ("Nettrace.Workload/orders.open > 500", 1),
        ("Nettrace.Workload/order.duration{kind=book} p95 > 19ms", 1),
        ("Nettrace.Workload/order.duration p99 > 0.019s", 2),
        // Each series has values of its own.
        ("Nettrace.Workload/load = 0.5", 4),
    ] {
        let (count, ..) = fired_by_counters(text);
        assert_eq!(count, expected, "{text}");
    }
    let (_, values, said) = fired_by_counters("System.Runtime/gc-heap-size > 13 for 1s");
    assert_eq!(said, None);
    assert_eq!(values, [("System.Runtime/gc-heap-size".to_owned(), 13.267_048)]);
}

#[test]
fn a_counter_that_nobody_publishes_does_not_matter_where_the_others_decide() {
    for (text, expected) in [
        // Known once a value of the next interval comes, and the trace has two.
        ("System.Runtime/gc-heap-size > 10MB or Nobody/nothing > 1", 1),
        ("Nobody/nothing > 1 or not Nobody/other > 1 or System.Runtime/gc-heap-size > 10MB", 1),
        ("System.Runtime/gc-heap-size > 10MB and Nobody/nothing > 1", 0),
        ("System.Runtime/gc-heap-size > 10MB and not Nobody/nothing > 1", 0),
        ("System.Runtime/gc-heap-size > 900MB or Nobody/nothing > 1", 0),
    ] {
        assert_eq!(fired_by_counters(text).0, expected, "{text}");
    }
}

#[test]
fn counters_that_cannot_be_compared_are_named_with_what_helps() {
    for (text, reason) in [
        (
            "System.Runtime/cpu-usgae > 1",
            "System.Runtime has no counter cpu-usgae; did you mean cpu-usage?",
        ),
        ("Nettrace.Workload/order.duration > 1", "is a histogram: write which percentile"),
        ("Nettrace.Workload/order.duration p98 > 1", "published are p50, p95, p99"),
        ("Nettrace.Workload/load p99 > 1", "is no histogram"),
        (
            "System.Runtime/cpu-usage > 10MB",
            "System.Runtime/cpu-usage has %: 10MB cannot be compared with it",
        ),
        ("Nobody/nothing > 1", "no value of Nobody/nothing came"),
    ] {
        let (count, _, said) = fired_by_counters(text);
        assert_eq!(count, 0, "{text}");
        assert!(said.as_ref().is_some_and(|said| said.contains(reason)), "{text}: {said:?}");
    }
}

#[test]
fn a_condition_may_have_to_hold_for_a_time_or_be_fulfilled_several_times() {
    for (text, expected) in [
        ("System.Runtime/gc-heap-size > 10 for 2s", 1),
        ("System.Runtime/gc-heap-size > 13 for 2s", 0),
        ("System.Runtime/gc-heap-size > 10 for 3s", 0),
        ("System.Runtime/gc-heap-size > 10 and System.Runtime/cpu-usage < 50 for 1s", 2),
    ] {
        assert_eq!(fired_by_counters(text).0, expected, "{text}");
    }
    let all = fired("GC/Start").0;
    assert!(all >= 6, "{all}");
    assert_eq!(fired("GC/Start 3 times in 1h").0, all / 3);
    assert_eq!(fired("GC/Start 3 times in 1ns").0, 0);
    // A counter came before most collections. A counter that never comes satisfies nothing.
    let after_counters = fired("GC/Start and System.Runtime/cpu-usage > 0").0;
    assert_eq!((after_counters, all), (42, 62));
    let without = corpus::trace("net3.1-linux-x64/heap.nettrace");
    let fired = |text| fired_in(&without.bytes(), text).0;
    assert!(fired("GC/Start") > 0);
    assert_eq!(fired("GC/Start and System.Runtime/cpu-usage > 0"), 0);
    // A value may end in words that also mean a duration.
    let message = Predicate::parse_event("A/B where Message = wait for 10s").unwrap();
    assert_eq!(message.to_string(), "A/B and Message = \"wait for 10s\"");
}

#[test]
fn conditions_of_counters_are_printed_as_what_they_mean() {
    for (text, meant) in [
        ("P/c>80% for 90s", "P/c > 80% for 90s"),
        ("P/c{a=x y, b=>} p99.9 >= 1.5ms FOR 60s", "P/c{a=x y,b=>} p99.9 >= 1.5ms for 1min"),
        ("not (P/c > 1 or P/d < 2) and P/e != 3", "not (P/c > 1 or P/d < 2) and P/e != 3"),
        ("A/B where x=1 2 times in 10s", "A/B and x = 1 2 times in 10s"),
        ("A/B and P/c > 1", "A/B and P/c > 1"),
    ] {
        let predicate =
            Predicate::parse_event(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(predicate.to_string(), meant);
        assert_eq!(Predicate::parse_event(meant).unwrap().to_string(), meant);
    }
}

#[test]
fn what_is_no_condition_of_counters_is_refused_with_its_place() {
    for (text, column, reason) in [
        ("P/c > much", 7, "is no number"),
        ("P/c > 1 and P/d ~ 5", 19, "does not go with it"),
        ("P/c x > 1", 1, "is no percentile"),
        ("P/* > 1", 1, "without * and ?"),
        ("/c > 1", 1, "is no counter"),
        ("P/c{a} > 1", 1, "is no TAG=VALUE"),
        ("P/c > 1 5 times in 10s", 9, "counters are no events"),
        ("A/B and P/c > 1 for 10s", 17, "an event lasts no time"),
        ("A/B for 10s", 5, "an event lasts no time"),
    ] {
        let error = Predicate::parse_event(text).unwrap_err();
        assert!(error.to_string().contains(reason) && error.column() == column, "{text}: {error}");
    }
    let error = "P/c > 1".parse::<Predicate>().unwrap_err();
    assert!(error.to_string().contains("only --until and --rules wait for counters"), "{error}");
    assert_eq!("\"P/c\" > 1".parse::<Predicate>().unwrap().to_string(), "\"P/c\" > 1");
}

#[test]
fn instruments_are_compared_by_the_interval_in_which_they_are_published() {
    let route = "Microsoft.AspNetCore.Hosting/http.server.request.duration{http.route=/buy}";
    let count = "Microsoft.AspNetCore.Hosting/http.server.requests";
    for (text, expected) in [
        (format!("{route} p99 > 500ms"), 8),
        (format!("{route} p95 > 500ms"), 0),
        // Values that are five seconds apart are consecutive.
        (format!("{route} p99 > 0.5 for 10s"), 4),
        (format!("{route} p99 > 0.5 for 40s"), 1),
        (format!("{route} p99 > 0.5 for 45s"), 0),
        (format!("{}/sell}} p99 > 500ms", route.trim_end_matches("/buy}")), 0),
        // 120 in a second.
        (format!("{count} > 119"), 8),
        (format!("{count} > 121"), 0),
    ] {
        assert_eq!(fired_in(&requests(), &text).0, expected, "{text}");
    }
    let (_, values, _) = fired_in(&requests(), &format!("{count} > 1 and {route} p99 > 1ms"));
    let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [120.0, 0.75]);
}

#[test]
fn tags_have_slashes_braces_and_words_of_conditions_in_their_values() {
    let text = "Microsoft.AspNetCore.Hosting/http.server.request.duration{http.route=/api/v1/{kind}/or = {id:int},\
                url.scheme=http} p95 > 250ms and System.Runtime/dotnet.thread_pool.thread.count > 5 for 3s";
    let predicate = Predicate::parse_event(text).unwrap();
    let names: Vec<(&str, &str, bool)> = predicate
        .counters()
        .iter()
        .map(|counter| (counter.provider(), counter.name(), counter.is_histogram()))
        .collect();
    assert_eq!(
        names,
        [
            ("Microsoft.AspNetCore.Hosting", "http.server.request.duration", true),
            ("System.Runtime", "dotnet.thread_pool.thread.count", false)
        ]
    );
    let written = predicate.counters()[0].to_string();
    let tags = "{http.route=/api/v1/{kind}/or = {id:int},url.scheme=http} p95";
    assert!(written.ends_with(tags), "{written}");
}

#[test]
fn instruments_of_a_meter_may_come_after_the_event_counters_of_its_name() {
    let trace = corpus::trace("net10-linux-x64/metrics.nettrace");
    let bytes = trace.bytes();
    let text = "System.Runtime/dotnet.thread_pool.thread.count >= 0";
    let mut trigger = Trigger::new(vec![Predicate::parse_event(text).unwrap()]);
    let mut count = 0;
    for is_instrument in [false, true] {
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            if (event.provider() == "System.Diagnostics.Metrics") == is_instrument {
                count += usize::from(trigger.check(&event).is_some());
                assert_eq!(trigger.take_trouble(), None);
            }
        }
        assert_eq!(count > 0, is_instrument);
    }
}

#[test]
fn values_of_counters_are_counted_also_where_they_do_not_fulfil_anything() {
    for (text, expected) in [
        ("Microsoft.AspNetCore.Hosting/http.server.requests > 1000000", 8),
        ("Microsoft.AspNetCore.Hosting/http.server.requets > 0", 0),
        ("Microsoft.AspNetCore.Hosting/http.server.requests{a=b} > 0", 0),
    ] {
        let bytes = requests();
        let mut trigger = Trigger::new(vec![Predicate::parse_event(text).unwrap()]);
        let mut reader = Reader::from_slice(&bytes);
        while let Some(event) = reader.next_event().unwrap() {
            let _ = trigger.check(&event);
        }
        assert_eq!(trigger.value_count(), expected, "{text}");
    }
}

#[test]
fn conditions_may_be_about_several_events_together_and_what_is_known_of_them() {
    let bytes = trace();
    // Whether a condition holds for all events of the trace together, and some facts.
    let holds = |text: &str, facts: &[(&str, Fact<'_>)]| {
        let mut options = FilterOptions::default();
        options.conditions = vec![text.parse().unwrap()];
        let (mut filter, mut types) = (Filter::new(options), EventTypes::default());
        let mut reader = Reader::from_slice(&bytes);
        let mut all = filter.answers_of(facts);
        while let Some(event) = reader.next_event().unwrap() {
            let place = types.index_of(&event);
            all |= filter.answers(&event, place, &types);
        }
        (filter.accepts_answers(Answers::from_bits(all.bits())), filter.unmatched(&types))
    };
    let (nanos, text) = (Fact::Nanos(20_000_000), Fact::Text("Error".into()));
    let facts = [("duration", nanos), ("level", text), ("workers", Fact::Number(3.0))];
    for (condition, expected) in [
        // Each of another event.
        ("Depth = 2 and ExceptionType ~ WidgetException", true),
        ("Depth = 2 and ExceptionType = Nothing", false),
        ("not Depth = 2", false),
        ("duration > 10ms and level = error", true),
        ("duration > 10ms and level = warning", false),
        ("duration = 20000000", true),
        ("duration > 1MB", false),
        // A word is not less than a number.
        ("level < 5", false),
        ("level ~ ^Err and workers >= 3", true),
        ("workers !*= 3", false),
    ] {
        let (is_so, unmatched) = holds(condition, &facts);
        assert_eq!((is_so, unmatched.is_empty()), (expected, expected), "{condition}");
    }
    let (_, unmatched) = holds("durations > 1s", &facts);
    assert!(unmatched[0].contains("durations"), "{unmatched:?}");
    // One event with all of it there is not.
    assert_eq!(passed(&["Depth = 2 and ExceptionType ~ WidgetException"]), 0);
}

#[test]
fn more_comparisons_than_answers_have_room_for_are_told() {
    for (count, is_too_many) in [(Answers::MAX_PARTS, false), (Answers::MAX_PARTS + 1, true)] {
        let mut options = FilterOptions::default();
        options.conditions = (0..count).map(|n| format!("A={n}").parse().unwrap()).collect();
        assert_eq!(Filter::new(options).has_too_many_parts(), is_too_many);
    }
}
