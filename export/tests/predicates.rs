//! Conditions, asked of the events of a recorded trace.

use nettrace_export::{EventTypes, Filter, FilterOptions, Predicate, Trigger};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn trace() -> Vec<u8> {
    let of_all = |name: &str| name.contains("net10-linux-x64/all.");
    corpus::traces().into_iter().find(|trace| of_all(trace.name())).expect("it is there").bytes().to_vec()
}

/// How many events fire a condition of `--until`, and what is said of it.
fn fired(text: &str) -> (usize, Option<String>) {
    let bytes = trace();
    let predicate = Predicate::of_event(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut trigger = Trigger::new(vec![predicate]);
    let (mut reader, mut count) = (Reader::from_slice(&bytes), 0);
    while let Some(event) = reader.next_event().unwrap() {
        count += usize::from(trigger.fired(&event).is_some());
    }
    (count, trigger.why_not())
}

/// How many events pass conditions of `--where`.
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
    assert_eq!(fired("Nettrace-Workload/Request/Start").0, fired("Nettrace-Workload/RequestStart").0);
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
    assert!(why.contains("Depth of Microsoft-Windows-DotNETRuntime/GC/Start is a number, but much"), "{why}");
    let why = fired("*Runtime/GC/Strat").1.unwrap();
    assert!(why.starts_with("no event is *Runtime/GC/Strat"), "{why}");
}

#[test]
fn conditions_joined_by_words_choose_what_single_ones_choose() {
    let gc = passed(&["GC/Start and Count>0"]);
    assert!(gc > 0);
    assert_eq!(passed(&["Count>0", "GC/Start and Count=*"]), 0);
    assert_eq!(passed(&["Count>0 and Reason=AllocSmall"]), passed(&["Count>0", "Reason=AllocSmall"]));
    let both = passed(&["Reason=AllocSmall or Reason=Induced"]);
    assert_eq!(both, passed(&["Reason=AllocSmall"]) + passed(&["Reason=Induced"]));
    assert_eq!(passed(&["Size > 1KB"]), passed(&["Size > 1024"]));
    assert!(passed(&["Size > 1KB"]) > 0);
}
