//! Names for stacks of a stream that is read once, with bounded memory.

use crate::common;

use common::*;
use nettrace_analysis::{NameOptions, NamesSoFar};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{Session, Step, Value};

/// Returns the names in all stacks, innermost frame first, as they are known when each event comes.
fn stacks(session: &Session, names: &mut NamesSoFar) -> Vec<Vec<String>> {
    let bytes = session.record().stream.bytes;
    let mut events = Reader::from_slice(&bytes).time_ordered();
    let mut stacks = Vec::new();
    while let Some(event) = events.next_event().unwrap() {
        names.learn(&event);
        if !event.stack().is_empty() {
            stacks.push(names.stack_names(&event).into_iter().map(String::from).collect());
        }
    }
    stacks
}

fn new() -> NamesSoFar {
    NamesSoFar::new(NameOptions::default())
}

fn entry_point(start: u64, name: &str) -> Step {
    let (type_name, name) = name.rsplit_once('.').unwrap();
    let text = |text: &str| Value::Text(text.to_owned());
    let values =
        vec![Value::U64(9), text(type_name), text(name), text("void  ()"), Value::U64(start)];
    event(ENTRY, 2, 1, &[], [values, vec![Value::U16(0)]].concat())
}

#[test]
fn a_method_has_its_name_from_its_load_to_its_unload() {
    let session = session(vec![
        module(),
        sample(0, 1, &[0x1010]),
        method(LOAD, 1, 0x1000, 0x100, "N.T.Main"),
        // A return address may be the first byte after its method.
        sample(0, 1, &[0x10ff, 0x1100]),
        sample(0, 1, &[0x1100]),
        method(UNLOAD, 1, 0x1000, 0x100, "N.T.Main"),
        sample(0, 1, &[0x1010]),
    ]);
    let mut names = new();
    let name = "app!N.T.Main(int)";
    assert_eq!(
        stacks(&session, &mut names),
        [vec!["0x1010"], vec![name, name], vec!["0x1100"], vec!["0x1010"]]
    );
    assert_eq!((names.method_count(), names.left_out()), (0, 0));
}

#[test]
fn code_that_is_loaded_over_other_code_takes_all_its_place() {
    let session = session(vec![
        module(),
        method(LOAD, 1, 0x1000, 0x100, "N.T.Reaches"),
        method(LOAD, 2, 0x1180, 0x10, "N.T.Within"),
        method(LOAD, 3, 0x11f0, 0x100, "N.T.Begins"),
        method(LOAD, 4, 0x1300, 0x10, "N.T.Stays"),
        method(LOAD, 5, 0x1080, 0x180, "N.T.New"),
        sample(0, 1, &[0x1080]),
        sample(0, 1, &[0x1010]),
        sample(0, 1, &[0x11ff]),
        sample(0, 1, &[0x1200]),
        sample(0, 1, &[0x1300]),
    ]);
    let mut names = new();
    let (new, stays) = ("app!N.T.New(int)", "app!N.T.Stays(int)");
    assert_eq!(
        stacks(&session, &mut names),
        [vec![new], vec!["0x1010"], vec![new], vec!["0x1200"], vec![stays]]
    );
    assert_eq!(names.method_count(), 2);
}

#[test]
fn memory_is_bounded_by_the_code_that_is_alive() {
    let mut steps = vec![module()];
    for id in 0..10_000 {
        let start = 0x1000 + id % 7 * 0x100;
        if id >= 7 && id % 3 == 0 {
            steps.push(method(UNLOAD, id - 7, start, 0x100, "N.T.Old"));
        }
        steps.push(method(LOAD, id, start, 0x100, &format!("N.T.Made{id}")));
    }
    steps.push(sample(0, 1, &[0x1000]));
    // The limit has room for about ten methods.
    let mut names = new().limit(2500);
    // The last method at the first address.
    let last = 9_999 - 9_999 % 7;
    let expected = format!("app!N.T.Made{last}(int)");
    assert_eq!(stacks(&session(steps), &mut names), [vec![expected]]);
    assert_eq!((names.method_count(), names.left_out()), (7, 0));
}

#[test]
fn more_names_than_there_is_room_for_are_left_out_and_counted() {
    let load = |id: u64| method(LOAD, id, 0x1000 * id, 0x100, &format!("N.T.M{id}"));
    let steps = [module()].into_iter().chain((1..=20).map(load));
    let steps = steps.chain([sample(0, 1, &[0x1010]), sample(0, 1, &[0x14_010])]);
    let mut names = new().limit(2500);
    let stacks = stacks(&session(steps.collect()), &mut names);
    assert_eq!(stacks, [vec!["app!N.T.M1(int)"], vec!["0x14010"]]);
    let kept = names.method_count() as u64;
    assert!((5..20).contains(&kept), "{kept}");
    assert_eq!(kept + names.left_out(), 20);
}

#[test]
fn precompiled_code_is_named_as_a_guess_after_its_entry_point() {
    let session = session(vec![
        entry_point(0x5000, "N.T.Ready"),
        entry_point(0x5080, "N.T.Next"),
        sample(0, 1, &[0x5000]),
        sample(0, 1, &[0x5010]),
        sample(0, 1, &[0x5080 + 0xff]),
        sample(0, 1, &[0x5080 + 0x100]),
        // With a known size, the name is no guess any more.
        method(LOAD, 9, 0x5000, 0x40, "N.T.Ready"),
        sample(0, 1, &[0x5010]),
    ]);
    let expected =
        ["N.T.Ready()", "~N.T.Ready()+0x10", "~N.T.Next()+0xff", "0x5180", "N.T.Ready(int)"];
    assert_eq!(stacks(&session, &mut new()).concat(), expected);
}

#[test]
fn a_module_reported_after_its_methods_is_in_their_names_from_then_on() {
    let session = session(vec![
        method(AT_END, 1, 0x1000, 0x100, "N.T.Main"),
        sample(0, 1, &[0x1010]),
        module(),
        sample(0, 1, &[0x1010]),
    ]);
    assert_eq!(stacks(&session, &mut new()).concat(), ["N.T.Main(int)", "app!N.T.Main(int)"]);
}

#[test]
fn code_without_a_name_is_shown_as_what_it_lies_in() {
    let session = session(vec![
        module(),
        method(LOAD, 1, 0x1000, 0x100, "N.T.Main"),
        sample(0, 1, &[0x1010, 0x5010, 0x6010, 0x7010]),
    ]);
    let bytes = session.record().stream.bytes;
    let process = Reader::from_slice(&bytes).next_event().unwrap().unwrap().process_id();
    let mut names = new();
    let mappings = [(0x1000, 0x5FFF, "/usr/lib/libcoreclr.so"), (0x6000, 0x6FFF, "")];
    names.set_mappings(process, mappings);
    let shown = &stacks(&session, &mut names)[0];
    assert_eq!(shown[0], "app!N.T.Main(int)");
    assert!(shown[1].starts_with("libcoreclr") && shown[1].ends_with("!(no name)"), "{shown:?}");
    assert_eq!(&shown[2..], ["(generated code)", "0x7010"]);
    names.set_mappings(process, []);
    assert_eq!(stacks(&session, &mut names)[0][1], "0x5010");
}
