//! Synthetic heap dumps: every order in which events may come, and every kind of loss.

use crate::common;

use common::{RUNTIME, native};
use nettrace_analysis::heap::{
    HeapDump, HeapDumpRow, HeapGeneration, HeapNode, HeapPaths, HeapReader, HeapReport,
    HeapTreeNode, Retained, RootKind,
};
use nettrace_parser::Reader;
use nettrace_testdata::cases;
use nettrace_testdata::synth::{Session, SessionEvent, SessionThread, Step, Value, Version};
use proptest::prelude::*;
use std::collections::BTreeSet;

const TYPES: [(u32, u8); 12] = [
    (1, 2),
    (2, 1),
    (3, 1),
    (9, 1),
    (15, 0),
    (16, 0),
    (17, 0),
    (18, 0),
    (19, 0),
    (23, 0),
    (36, 0),
    (38, 0),
];

type Event = (u32, Vec<Value>);

fn read(events: &[Event]) -> Vec<HeapDump> {
    read_all(events).finish()
}

fn read_all(events: &[Event]) -> HeapReader {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = TYPES.iter().map(|(id, version)| native(RUNTIME, *id, *version)).collect();
    session.threads = vec![SessionThread::new(11)];
    session.steps = events
        .iter()
        .map(|(id, values)| {
            Step::Event(SessionEvent {
                event_type: TYPES.iter().position(|(known, _)| known == id).unwrap(),
                ticks_later: 1_000,
                values: values.clone(),
                ..SessionEvent::default()
            })
        })
        .collect();
    let bytes = session.record().stream.bytes;
    let mut heap = HeapReader::default();
    assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    heap
}

fn start(number: u32) -> Event {
    let numbers = [number, 2, 1, 0].map(Value::U32);
    (1, numbers.into_iter().chain([Value::U16(0), Value::U64(0)]).collect())
}

fn stop(number: u32) -> Event {
    (2, vec![Value::U32(number), Value::U32(2), Value::U16(0)])
}

/// Makes an event with rows: its index, if it has one, their number, and the rows.
fn rows(id: u32, index: Option<u32>, count: usize, rows: impl IntoIterator<Item = Value>) -> Event {
    let mut values: Vec<Value> = index.map(Value::U32).into_iter().collect();
    values.push(Value::U32(u32::try_from(count).unwrap()));
    if id == 38 {
        values.push(Value::U64(0));
    }
    values.push(Value::U16(0));
    values.extend(rows);
    (id, values)
}

fn types(named: &[(u64, &str)]) -> Event {
    let row = |(id, name): &(u64, &str)| {
        [
            Value::U64(*id),
            Value::U64(7),
            Value::U32(0x0200_0001),
            Value::U32(0),
            Value::U8(18),
            Value::Text((*name).to_owned()),
            Value::U32(0),
        ]
    };
    rows(15, None, named.len(), named.iter().flat_map(row))
}

/// An object: address, bytes, type, targets.
#[derive(Debug, Clone)]
struct Object(u64, u64, u64, Vec<u64>);

fn objects(index: u32, objects: &[Object]) -> Event {
    let row = |Object(address, bytes, type_id, targets): &Object| {
        [*address, *bytes, *type_id, targets.len() as u64].map(Value::U64)
    };
    rows(18, Some(index), objects.len(), objects.iter().flat_map(row))
}

fn references(index: u32, targets: &[u64]) -> Event {
    rows(
        19,
        Some(index),
        targets.len(),
        targets.iter().flat_map(|target| [Value::U64(*target), Value::U32(0)]),
    )
}

fn roots(index: u32, held: &[(u64, u8, u32)]) -> Event {
    let row = |(object, kind, flags): &(u64, u8, u32)| {
        [Value::U64(*object), Value::U8(*kind), Value::U32(*flags), Value::U64(1)]
    };
    rows(16, Some(index), held.len(), held.iter().flat_map(row))
}

fn statics(held: &[(u64, u32, &str)]) -> Event {
    let row = |(object, flags, name): &(u64, u32, &str)| {
        [
            Value::U64(1),
            Value::U64(*object),
            Value::U64(1),
            Value::U32(*flags),
            Value::Text((*name).to_owned()),
        ]
    };
    rows(38, None, held.len(), held.iter().flat_map(row))
}

fn dependents(held: &[(u64, u64)]) -> Event {
    let row = |(key, value): &(u64, u64)| [Value::U64(*key), Value::U64(*value), Value::U64(1)];
    rows(17, Some(0), held.len(), held.iter().flat_map(row))
}

fn range(generation: u8, begin: u64, used: u64) -> Event {
    let values = vec![
        Value::U8(generation),
        Value::U64(begin),
        Value::U64(used),
        Value::U64(used),
        Value::U16(0),
    ];
    (23, values)
}

/// Returns the events of objects, with limited numbers of rows in each event.
fn blocks(all: &[Object], objects_each: usize, references_each: usize) -> Vec<Event> {
    let mut events: Vec<Event> =
        (0..).zip(all.chunks(objects_each)).map(|(index, chunk)| objects(index, chunk)).collect();
    let targets: Vec<u64> = all.iter().flat_map(|object| object.3.iter().copied()).collect();
    events.extend(
        (0..).zip(targets.chunks(references_each)).map(|(index, chunk)| references(index, chunk)),
    );
    events
}

fn address(at: usize) -> u64 {
    0x1000 + 24 * at as u64
}

/// Returns the addresses to which an object refers.
fn targets(dump: &HeapDump, object: u32) -> Vec<u64> {
    dump.references_of(object).iter().map(|target| dump.address(*target)).collect()
}

/// Returns `count` objects, each of which refers to the next and to one further on.
fn list(count: usize) -> Vec<Object> {
    (0..count)
        .map(|at| {
            let targets_of =
                [at + 1, (at * 7 + 3) % count].into_iter().filter(|next| *next < count);
            Object(
                address(at),
                24 + at as u64 % 5 * 8,
                1 + at as u64 % 2,
                targets_of.map(address).collect(),
            )
        })
        .collect()
}

fn whole(all: &[Object]) -> Vec<Event> {
    let mut events = vec![start(3), types(&[(1, "N.A"), (2, "N.B")])];
    events.extend(blocks(all, 4, 7));
    events.extend([roots(0, &[(address(0), 0, 0)]), stop(3)]);
    events
}

/// Returns the rows of a report about the dumps of a trace.
fn listed(dumps: &[HeapDump]) -> Vec<HeapDumpRow> {
    HeapReport::new(dumps, &dumps[0], &Retained::from_dump(&dumps[0])).dumps
}

#[track_caller]
fn assert_same(dump: &HeapDump, all: &[Object]) {
    assert_eq!(dump.objects() as usize, all.len());
    for (object, Object(address, bytes, _, targets_of)) in (0..).zip(all) {
        assert_eq!((dump.address(object), dump.bytes_of(object)), (*address, *bytes));
        assert_eq!(&targets(dump, object), targets_of, "{object}");
    }
}

#[test]
fn objects_have_their_references_in_any_order_of_blocks() {
    let all = list(33);
    let events = whole(&all);
    let dumps = read(&events);
    assert_eq!(dumps.len(), 1);
    assert!(dumps[0].losses.is_complete());
    assert_same(&dumps[0], &all);
    let mut turned = events.clone();
    let end = turned.len() - 1;
    turned[1..end].reverse();
    let dumps = read(&turned);
    assert_eq!(dumps.len(), 1);
    assert!(dumps[0].losses.is_complete(), "{:?}", dumps[0].losses);
    assert_same(&dumps[0], &all);
}

#[test]
fn a_dump_that_lacks_one_event_has_all_others_and_says_what_it_lacks() {
    let all = list(33);
    let events = whole(&all);
    for (at, (id, values)) in events.iter().enumerate() {
        let mut left = events.clone();
        left.remove(at);
        let dumps = read(&left);
        assert_eq!(dumps.len(), 1, "{id} at {at}");
        let (dump, losses) = (&dumps[0], dumps[0].losses);
        // Nothing shows the loss of the start (1), or of the only event with types (15) or roots
        // (16).
        assert_eq!(losses.is_complete(), matches!(id, 1 | 15 | 16), "{id} at {at}: {losses:?}");
        let of_true =
            |object: u32| all.iter().find(|known| known.0 == dump.address(object)).unwrap();
        let mut lacking = 0;
        for object in 0..dump.objects() {
            let Object(_, bytes, _, targets_of) = of_true(object);
            assert_eq!(dump.bytes_of(object), *bytes);
            let found = targets(dump, object);
            let known =
                |target: &&u64| (0..dump.objects()).any(|object| dump.address(object) == **target);
            match id {
                // An object around the gap keeps some references.
                19 => {
                    assert!(
                        found.iter().all(|target| targets_of.contains(target)),
                        "{at}: {found:?} {targets_of:?}"
                    );
                    lacking += targets_of.len() - found.len();
                }
                _ => assert_eq!(
                    found,
                    targets_of.iter().filter(known).copied().collect::<Vec<_>>(),
                    "{id} at {at}"
                ),
            }
        }
        match (id, &values[1]) {
            (19, Value::U32(count)) => {
                assert!(
                    lacking >= *count as usize && lacking <= *count as usize + 2,
                    "{at}: {lacking}"
                );
                // The last event leaves no gap of indices; the objects' counts of references show
                // its loss.
                let is_last = at + 3 == events.len();
                assert_eq!((losses.reference_events, is_last), (u64::from(!is_last), is_last));
                assert_eq!(losses.references as usize, lacking);
            }
            (18, Value::U32(count)) => {
                assert_eq!(dump.objects() as usize + *count as usize, all.len())
            }
            (15, _) => assert_eq!(losses.undescribed_objects, all.len() as u64),
            _ => {}
        }
    }
}

#[test]
fn a_dump_that_is_cut_off_anywhere_is_delivered_and_marked() {
    let all = list(33);
    let events = whole(&all);
    for end in 3..events.len() {
        let dumps = read(&events[..end]);
        assert_eq!(dumps.len(), 1, "{end}");
        assert!(dumps[0].losses.is_cut_off && !dumps[0].losses.is_complete());
        for (object, known) in (0..dumps[0].objects()).zip(&all) {
            assert_eq!(dumps[0].address(object), known.0);
            assert!(targets(&dumps[0], object).iter().all(|target| known.3.contains(target)));
        }
        Retained::from_dump(&dumps[0]);
    }
    assert!(read(&events[..2]).is_empty());
}

#[test]
fn two_dumps_are_separate_even_without_events_of_their_collections() {
    let (first, second) = (list(10), list(21));
    let mut events = whole(&first);
    events.extend(whole(&second));
    for with_collections in [true, false] {
        events.retain(|(id, _)| with_collections || !matches!(id, 1 | 2));
        let dumps = read(&events);
        assert_eq!(dumps.len(), 2);
        assert_eq!((dumps[0].index, dumps[1].index), (1, 2));
        assert_same(&dumps[0], &first);
        assert_same(&dumps[1], &second);
        assert!(dumps.iter().all(|dump| dump.losses.is_cut_off != with_collections));
    }
}

/// Returns the events as a collection up to a generation writes them.
fn collected(mut events: Vec<Event>, number: u32, generation: u32) -> Vec<Event> {
    for (id, values) in &mut events {
        let (count_at, depth_at) = (0, 1);
        if matches!(id, 1 | 2) {
            values[count_at] = Value::U32(number);
            values[depth_at] = Value::U32(generation);
        }
    }
    events
}

#[test]
fn a_dump_of_a_younger_collection_is_whole_but_not_the_one_that_is_meant() {
    let (garbage_too, held) = (list(21), list(10));
    let younger = collected(whole(&garbage_too), 3, 1);
    let dumps = read(&[younger.clone(), collected(whole(&held), 4, 2)].concat());
    assert_eq!(dumps.len(), 2);
    assert_same(&dumps[0], &garbage_too);
    assert_same(&dumps[1], &held);
    let rows = listed(&dumps);
    for ((dump, row), expected) in dumps.iter().zip(rows).zip([(3, 1, false), (4, 2, true)]) {
        let (number, generation, is_of_all) = expected;
        assert!(dump.losses.is_complete(), "{:?}", dump.losses);
        assert_eq!((row.collection, row.collected_generation), (Some(number), Some(generation)));
        assert_eq!(dump.is_of_all_generations(), is_of_all);
    }
    assert_eq!(HeapDump::usual(&dumps), Some(1));
    // A dump of younger generations is better than none.
    assert_eq!(HeapDump::usual(&read(&younger)), Some(0));
    // A session goes on until there is a dump of all generations.
    let resumed: Event = (3, vec![Value::U16(0)]);
    let mut events = younger.clone();
    events.push(resumed.clone());
    assert!(!read_all(&events).has_dump());
    events.extend(collected(whole(&held), 4, 2));
    assert!(!read_all(&events).has_dump());
    events.push(resumed);
    assert!(read_all(&events).has_dump());
    // During a background collection of all generations, the dump is of the younger one that ran.
    let mut background = vec![start(2)];
    background.extend(younger);
    background.push(stop(2));
    let dumps = read(&background);
    assert_eq!((dumps.len(), listed(&dumps)[0].collection), (1, Some(3)));
    assert!(dumps[0].losses.is_complete() && !dumps[0].is_of_all_generations());
}

#[test]
fn unknown_addresses_are_skipped_and_the_first_of_repeated_objects_counts() {
    let mut all = list(5);
    all[1].3.insert(0, 0xdead_0000);
    all.insert(3, Object(address(1), 9_999, 2, vec![address(4)]));
    let mut events = vec![start(3), types(&[(1, "N.A"), (2, "N.B")])];
    events.extend(blocks(&all, 100, 100));
    events.extend([
        roots(0, &[(address(0), 0, 0), (0xbeef, 2, 0), (0, 0, 0), (address(1), 2, 2)]),
        stop(3),
    ]);
    let dumps = read(&events);
    let losses = dumps[0].losses;
    assert_eq!(
        (losses.unknown_references, losses.unknown_roots, losses.repeated_objects),
        (1, 1, 1)
    );
    assert_eq!(dumps[0].roots.len(), 1);
    assert_same(&dumps[0], &list(5));
}

#[test]
fn roots_have_their_kinds() {
    let all: Vec<Object> = (0..9).map(|at| Object(address(at), 24, 1, vec![])).collect();
    let mut events = vec![start(3), types(&[(1, "N.A")])];
    events.extend(blocks(&all, 100, 100));
    let handle = |at: usize, flags| (address(at), 2, flags);
    events.extend([
        statics(&[(address(0), 0, "s_all"), (address(1), 1, "t_mine")]),
        roots(
            0,
            &[(address(2), 0, 0), (address(3), 1, 0), handle(4, 0), handle(5, 1), handle(6, 8)],
        ),
        dependents(&[(address(4), address(7)), (0x77, address(8))]),
        stop(3),
    ]);
    let dumps = read(&events);
    let retained = Retained::from_dump(&dumps[0]);
    let kind = |kind| retained.bytes(HeapNode::Kind(kind));
    assert_eq!([RootKind::Static, RootKind::ThreadStatic, RootKind::Stack].map(kind), [24; 3]);
    assert_eq!(
        [RootKind::FinalizerQueue, RootKind::PinnedHandle, RootKind::Com].map(kind),
        [24; 3]
    );
    // The value of a dependent handle lives as long as its key.
    assert_eq!((kind(RootKind::StrongHandle), kind(RootKind::DependentHandle)), (48, 24));
    assert_eq!(retained.dominator(HeapNode::Object(7)), Some(HeapNode::Object(4)));
    let named = dumps[0].roots.iter().map(|root| (root.kind, dumps[0].root_name(root)));
    let named: Vec<_> = named.collect();
    assert!(
        named.contains(&(RootKind::Static, Some("s_all")))
            && named.contains(&(RootKind::ThreadStatic, Some("t_mine")))
    );
}

#[test]
fn an_object_is_of_the_generation_of_its_memory_range() {
    let all: Vec<Object> = (0..4).map(|at| Object(address(at), 24, 1, vec![])).collect();
    let mut events = vec![start(3), range(1, address(0), 96), types(&[(1, "N.A")])];
    events.extend(blocks(&all, 100, 100));
    // The ranges are reported again after the collection.
    events.extend([
        range(2, address(0), 24),
        range(0, address(1), 24),
        range(3, address(2), 24),
        stop(3),
    ]);
    let dump = &read(&events)[0];
    let found: Vec<HeapGeneration> = (0..4).map(|object| dump.generation(object)).collect();
    let expected =
        [HeapGeneration::Gen2, HeapGeneration::Gen0, HeapGeneration::Large, HeapGeneration::Frozen];
    assert_eq!(found, expected);
}

#[test]
fn paths_are_grouped_by_types_and_begin_at_statics() {
    // s_all → A → B, B; a local variable holds a B through B through B.
    let all = [
        Object(address(0), 24, 1, vec![address(1), address(2)]),
        Object(address(1), 32, 2, vec![]),
        Object(address(2), 32, 2, vec![]),
        Object(address(3), 32, 2, vec![address(4)]),
        Object(address(4), 32, 2, vec![address(3), address(2)]),
    ];
    let mut events = vec![start(3), types(&[(1, "N.A"), (2, "N.B")])];
    events.extend(blocks(&all, 2, 2));
    events.extend([statics(&[(address(0), 0, "s_all")]), roots(0, &[(address(3), 0, 0)]), stop(3)]);
    let dump = &read(&events)[0];
    let (retained, paths) = (Retained::from_dump(dump), HeapPaths::from_dump(dump));
    let groups = paths.groups(dump, &retained, |object| dump.type_name(object) == "N.B").groups;
    let shown: Vec<_> = groups
        .iter()
        .map(|group| {
            let steps =
                group.steps.iter().map(|step| (&*step.type_name, step.is_repeated)).collect();
            let root = group.root_name.clone().unwrap_or_else(|| group.root_kind.to_string());
            (root, steps, group.count, group.bytes, group.retained_bytes)
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("s_all".to_owned(), vec![("N.A", false), ("N.B", false)], 2, 64, 64),
            ("local variable".to_owned(), vec![("N.B", true)], 2, 64, 64),
        ]
    );
    // An object of the choice that holds others of the choice keeps them alive, too.
    let groups = paths.groups(dump, &retained, |_| true).groups;
    let retained_bytes: Vec<u64> = groups.iter().map(|group| group.retained_bytes).collect();
    assert_eq!(retained_bytes, [64, 64, 56]);
    let path = paths.path(4).unwrap();
    assert_eq!((path.objects, dump.roots[path.root as usize].kind), (vec![3, 4], RootKind::Stack));
    let tree = HeapTreeNode::from_dump(dump, &retained, 0.0);
    let children: Vec<(&str, u64, u64)> =
        tree.children.iter().map(|node| (&*node.name, node.count, node.retained_bytes)).collect();
    // The B that both roots hold is below neither.
    assert_eq!(children, [("local variable", 1, 64), ("static variable", 1, 56), ("N.B", 1, 32)]);
    let below = &tree.children[0].children[0];
    assert_eq!((&*below.name, below.count, below.children.len()), ("N.B", 2, 0));
}

#[test]
fn an_object_of_more_than_four_gigabytes_has_its_size() {
    let all = [Object(address(0), 5 << 32, 1, vec![]), Object(address(1), 24, 1, vec![])];
    let mut events = vec![start(3), types(&[(1, "N.A[]")])];
    events.extend(blocks(&all, 1, 1));
    events.push(stop(3));
    events[2..4].reverse();
    assert_same(&read(&events)[0], &all);
}

/// Returns the objects that are reachable from `from` without passing through `without`.
fn reached(
    all: &[Vec<usize>],
    from: &BTreeSet<usize>,
    without: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = from.iter().copied().collect();
    while let Some(at) = open.pop() {
        if !without.contains(&at) && seen.insert(at) {
            open.extend(&all[at]);
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(50)))]
    #[test]
    fn what_is_retained_is_what_cannot_be_reached_without_it(
        count in 1usize..24,
        edges in prop::collection::vec((0usize..24, 0usize..24), 0..60),
        held in prop::collection::vec((0usize..24, 0u8..3), 0..5),
        each in (1usize..9, 1usize..9),
        turns in any::<bool>(),
    ) {
        let mut graph = vec![Vec::new(); count];
        for (source, target) in edges {
            if source < count && target < count {
                graph[source].push(target);
            }
        }
        let held: Vec<(usize, u8)> = held.into_iter().filter(|(at, _)| *at < count).collect();
        let all: Vec<Object> = graph.iter().enumerate().map(|(at, targets_of)| {
            let targets_of = targets_of.iter().map(|at| address(*at)).collect();
            Object(address(at), 24 + at as u64, 1 + at as u64 % 3, targets_of)
        }).collect();
        let mut events = vec![start(3), types(&[(1, "N.A"), (2, "N.B"), (3, "N.C")])];
        events.extend(blocks(&all, each.0, each.1));
        let listed: Vec<(u64, u8, u32)> = held.iter().map(|(at, kind)| (address(*at), *kind, 0)).collect();
        events.extend([roots(0, &listed), stop(3)]);
        if turns {
            let end = events.len() - 1;
            events[1..end].reverse();
        }
        let dumps = read(&events);
        let dump = &dumps[0];
        prop_assert!(dump.losses.is_complete(), "{:?}", dump.losses);
        let retained = Retained::from_dump(dump);
        let from: BTreeSet<usize> = held.iter().map(|(at, _)| *at).collect();
        let alive = reached(&graph, &from, &BTreeSet::new());
        let without = |gone: BTreeSet<usize>| -> u64 {
            let left = reached(&graph, &from, &gone);
            alive.difference(&left).map(|at| 24 + *at as u64).sum()
        };
        for (object, at) in (0u32..).zip(0..count) {
            let expected = if alive.contains(&at) { without(BTreeSet::from([at])) } else { 0 };
            prop_assert_eq!(retained.bytes(HeapNode::Object(object)), expected, "{}", at);
            let path = HeapPaths::from_dump(dump).path(object);
            prop_assert_eq!(path.is_some(), alive.contains(&at));
            if let Some(path) = path {
                prop_assert!(from.contains(&(path.objects[0] as usize)));
                prop_assert!(path.objects.windows(2).all(|pair| dump.references_of(pair[0]).contains(&pair[1])));
            }
        }
        // A type keeps alive what is below any of its objects, counted once.
        let of_types = retained.bytes_by_group(3, |object| Some(object as usize % 3));
        for (group, bytes) in of_types.into_iter().enumerate() {
            let below = |at: &usize| {
                let left = reached(&graph, &from, &BTreeSet::from([*at]));
                alive.difference(&left).copied().collect::<BTreeSet<usize>>()
            };
            let own = alive.iter().filter(|at| *at % 3 == group);
            let all: BTreeSet<usize> = own.flat_map(below).collect();
            prop_assert_eq!(bytes, all.iter().map(|at| 24 + *at as u64).sum::<u64>());
        }
    }
}
