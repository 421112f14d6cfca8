//! Reads and writes files of the format `.gcdump`: those of all versions, as its description has them,
//! broken ones, and those that are written for real traces.

use crate::made_gcdump::{Made, number};
use nettrace_analysis::heap::{
    GcDumpFault, HeapDiff, HeapDump, HeapEstimate, HeapGeneration, HeapReader, HeapReport,
    HeapTypeDiff, Retained, RootKind,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn report(dump: &HeapDump) -> HeapReport {
    HeapReport::new(&[], dump, &Retained::from_dump(dump))
}

fn read(made: &Made) -> HeapDump {
    HeapDump::from_gcdump(&made.bytes()).unwrap()
}

#[track_caller]
fn refused(made: &Made) -> GcDumpFault {
    HeapDump::from_gcdump(&made.bytes()).unwrap_err().fault
}

/// Checks the objects of [`Made::default`].
#[track_caller]
fn assert_example(dump: &HeapDump) {
    let report = report(dump);
    assert_eq!((report.objects, report.bytes, report.edges), (5, 176, 5));
    // Nothing refers to the last object.
    assert_eq!((report.reachable_objects, report.reachable_bytes), (4, 136));
    let rows: Vec<_> =
        report.types.iter().map(|row| (&*row.name, &*row.module, row.count, row.bytes)).collect();
    assert_eq!(rows, [("Demo.Leaf", "Demo", 3, 128), ("Demo.Node", "Demo", 2, 48)]);
    let roots: Vec<_> = report.roots.iter().map(|row| (row.kind, row.count)).collect();
    assert_eq!(roots, [(RootKind::Static, 1), (RootKind::Stack, 2)]);
    assert_eq!(report.statics.len(), 1);
    assert_eq!((&*report.statics[0].name, &*report.statics[0].type_name), ("s_first", "Demo.Node"));
    // A local variable reaches the same objects.
    assert_eq!((report.statics[0].retained_bytes, report.roots[1].retained_bytes), (0, 0));
    assert!(dump.losses.is_complete(), "{:?}", dump.losses);
}

#[test]
fn each_version_gives_the_same_objects() {
    for version in [4, 5, 6, 7, 9, 10, 11] {
        for label_bytes in [4, 8] {
            let made = Made {
                version,
                minimum: version.min(8),
                label_bytes,
                has_unknown_fields: version == 11,
                ..Made::default()
            };
            assert!(HeapDump::is_gcdump(&made.bytes()[..64]), "{version}");
            let dump = read(&made);
            assert_example(&dump);
            let about = dump.gcdump().unwrap();
            assert_eq!((about.version, about.is_64_bit, about.lacks_end), (version, true, false));
            assert_eq!(about.tool.as_deref(), (version > 8).then_some("demo"));
            if version > 4 {
                assert_eq!(about.process.as_deref(), Some("shöp \u{1f600}"));
                assert_eq!(about.machine.as_deref(), Some("box"));
                assert_eq!(about.collected_ticks, Some(638_000_000_000_000_000));
                assert_eq!(
                    HeapReport::new(
                        std::slice::from_ref(&dump),
                        &dump,
                        &Retained::from_dump(&dump)
                    )
                    .dumps[0]
                        .process,
                    Some(4711)
                );
            }
        }
    }
}

#[test]
fn versions_that_no_reader_knows_are_refused() {
    for (version, minimum) in [(3, 3), (8, 8), (11, 11), (0, 0), (u32::MAX, u32::MAX)] {
        let made = Made { version, minimum, ..Made::default() };
        assert_eq!(refused(&made), GcDumpFault::Version(version, minimum));
    }
}

#[test]
fn segments_tell_the_generation_of_each_object() {
    // Nodes 1 to 5 lie at 0x40, 0x80, …; the last one is in no segment.
    let base = 0x7f00_0000_0000;
    let segments = vec![
        [base + 0x100, base + 0x120, 0, 0, 0, base + 0x120, 0],
        [base, base + 0xd0, base + 0xd0, base + 0x80, base + 0x60, 0, 0],
    ];
    for version in [6, 7, 9, 10] {
        let made = Made {
            version,
            minimum: version.min(8),
            segments: segments.clone(),
            ..Made::default()
        };
        let dump = read(&made);
        let generations: Vec<_> = (0..5).map(|object| dump.generation(object)).collect();
        use HeapGeneration::{Gen0, Gen2, Large, Unknown};
        assert_eq!(generations, [Gen2, Gen0, Gen0, Large, Unknown], "{version}");
    }
}

#[test]
fn com_wrappers_and_modules_far_apart_are_no_obstacle() {
    let dump = read(&Made { has_interop: true, ..Made::default() });
    assert_example(&dump);
    assert_eq!(dump.gcdump().unwrap().com_wrappers, 2);
}

#[test]
fn names_that_were_to_come_from_a_pdb_are_ids_with_their_module() {
    for size_bytes in [4, 8] {
        let mut made = Made { deferred: Some(size_bytes), ..Made::default() };
        made.types[2].0 = None;
        made.types[7].0 = None;
        let report = report(&read(&made));
        let row = report.types.iter().find(|row| row.count == 2).unwrap();
        assert_eq!((&*row.name, &*row.module), ("TypeID(0x2a)!", "Native"));
        assert!(!row.name.is_known());
        assert_eq!(report.missing.undescribed_objects, 2);
    }
}

#[test]
fn a_sampled_heap_is_estimated_by_type() {
    let multipliers = vec![0.0, 1.0, 10.0, f32::NAN, 1.0, 1.0, 1.0, 1.0];
    let dump = read(&Made { multipliers, ..Made::default() });
    assert_example(&dump);
    let whole = dump.gcdump().unwrap().sampled_from.unwrap();
    assert_eq!((whole.count, whole.bytes), (23, 128 + 480));
    let estimates: Vec<Option<HeapEstimate>> =
        report(&dump).types.iter().map(|row| row.estimate).collect();
    let [leaf, node] = [0, 1].map(|at| estimates[at].map(|row| (row.count, row.bytes)));
    assert_eq!((leaf, node), (Some((3, 128)), Some((20, 480))));
    assert_eq!(read(&Made::default()).gcdump().unwrap().sampled_from, None);
}

#[test]
fn types_that_differ_in_what_tools_append_are_one() {
    let mut made = Made::default();
    made.types[2] = (Some("System.Byte[] (Bytes > 10K)"), 24, Some("/a/Core.dll"));
    made.types[3] = (Some("System.Byte[]"), 40, Some("/b/Core.dll"));
    let report = report(&read(&made));
    assert_eq!(report.types.len(), 1);
    assert_eq!((&*report.types[0].name, report.types[0].count), ("System.Byte[]", 5));
}

/// Returns names, with modules, and growth in bytes of the types that differ between two dumps, whose
/// two types have these names and modules; the second type has 40 bytes more in the new dump.
fn differences(
    old: [(&'static str, Option<&'static str>); 2],
    new: [(&'static str, Option<&'static str>); 2],
) -> Vec<(String, i64)> {
    let of = |types: [(&'static str, Option<&'static str>); 2], bytes| {
        let mut made = Made::default();
        for (at, (name, module)) in [2, 3].into_iter().zip(types) {
            made.types[at] = (Some(name), 24, module);
        }
        made.nodes[3].0.as_mut().unwrap().1 = bytes;
        report(&read(&made))
    };
    let diff = HeapDiff::new(&of(old, 40), &of(new, 80));
    let shown = |row: &HeapTypeDiff| (format!("{}!{}", &*row.module, &*row.name), row.bytes_growth);
    // Those without a growth keep more alive.
    diff.types.iter().filter(|row| row.bytes_growth != 0).map(shown).collect()
}

#[test]
fn nested_types_are_compared_by_their_full_names_where_both_dumps_have_them() {
    let module = Some("/app/Demo.dll");
    let full = [("Demo.Table.Entry", module), ("Demo.List.Entry", module)];
    assert_eq!(differences(full, full), [("Demo!Demo.List.Entry".to_owned(), 40)]);
    // A type elsewhere has the same last name, and no module.
    let others = [("Entry", None), ("Demo.List.Entry", module)];
    let both = [("Entry", None), ("Demo.List.Entry", None)];
    for (old, new) in [(others, others), (others, both), (both, others)] {
        assert_eq!(differences(old, new), [("Demo!Demo.List.Entry".to_owned(), 40)]);
    }
}

#[test]
fn a_nested_type_is_compared_by_its_last_name_with_a_dump_that_has_no_more() {
    let module = Some("/app/Demo.dll");
    let full = [("Demo.Node", module), ("Demo.List.Entry", module)];
    for last in [module, None].map(|module| [("Demo.Node", module), ("Entry", module)]) {
        for (old, new) in [(full, last), (last, full)] {
            assert_eq!(differences(old, new), [("Demo!Demo.List.Entry".to_owned(), 40)]);
        }
    }
    // Two nested types share the last name.
    let full = [("Demo.Table.Entry", module), ("Demo.List.Entry", module)];
    let last = [("Entry", module), ("Demo.Node", module)];
    let found = differences(full, last);
    assert!(found.iter().any(|(name, _)| name == "Demo!Entry"), "{found:?}");
}

#[test]
fn nodes_that_were_not_dumped_are_counted_and_hold_nothing() {
    let mut made = Made::default();
    // One for references to nothing, and one for an object.
    made.nodes.extend([(None, 0), (None, 0x1000)]);
    made.nodes[3].0.as_mut().unwrap().2 = vec![9, 10, 10];
    made.nodes[8].0.as_mut().unwrap().2.extend([9, 10]);
    let dump = read(&made);
    assert_eq!(dump.gcdump().unwrap().undumped_objects, 1);
    assert_eq!((dump.losses.unknown_references, dump.losses.unknown_roots), (2, 1));
    assert_eq!(report(&dump).objects, 5);
}

#[test]
fn a_root_that_is_no_node_costs_only_the_roots() {
    for root in [-1, 9, i32::MAX] {
        let dump = read(&Made { root, ..Made::default() });
        assert_eq!((report(&dump).objects, dump.losses.roots), (5, true));
    }
}

#[test]
fn children_that_are_no_nodes_are_dropped_and_counted() {
    let mut made = Made::default();
    made.nodes[5].0.as_mut().unwrap().2 = vec![-1, 9, 4, i32::MAX];
    let dump = read(&made);
    assert_eq!((dump.losses.faults, report(&dump).edges), (3, 6));
}

#[test]
fn a_wrong_type_record_or_number_is_refused() {
    let mut made = Made::default();
    made.nodes[2].0.as_mut().unwrap().0 = 8;
    assert_eq!(refused(&made), GcDumpFault::TypeIndex(8));
    let good = Made::default().bytes();
    let at = |part: &[u8]| good.windows(part.len()).position(|window| window == part).unwrap();
    // The offsets of the first nodes, the first of which is behind the record of no node.
    let offsets = at(&[2, 0, 0, 0, 6, 0, 0, 0]);
    let with = |place: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        HeapDump::from_gcdump(&file).map(|_| ()).map_err(|error| error.fault)
    };
    assert_eq!(with(offsets, &[0xff; 4]), Err(GcDumpFault::CutOff));
    let blob = at(&[0, 0, 2, 2]);
    assert_eq!(with(blob + 2, &[0x80; 5]), Err(GcDumpFault::NumberTooLong));
    let children = [&[4], &number(i32::MAX)[..]].concat();
    assert_eq!(with(blob + 2, &children), Err(GcDumpFault::Children(i32::MAX)));
    assert_eq!(with(blob + 2, &[4, 0x40]), Err(GcDumpFault::Children(-64)));
}

#[test]
fn records_that_overlap_are_refused() {
    let mut made = Made::default();
    // 100 nodes have the record of one, which has 20 children.
    made.nodes[4].0.as_mut().unwrap().2 = vec![1; 20];
    made.nodes.extend(std::iter::repeat_n((Some((3, 40, vec![])), 0x9000), 100));
    let mut file = made.bytes();
    let offsets = file.windows(8).position(|window| window == [2, 0, 0, 0, 6, 0, 0, 0]).unwrap();
    let shared = file[offsets + 16..offsets + 20].repeat(100);
    file[offsets + 36..offsets + 436].copy_from_slice(&shared);
    assert_eq!(HeapDump::from_gcdump(&file).unwrap_err().fault, GcDumpFault::Overlap);
}

#[test]
fn a_file_without_its_end_is_read_and_says_so() {
    for label_bytes in [4, 8] {
        let file = Made { label_bytes, ..Made::default() }.bytes();
        // The tag behind the last object, and the table of labels.
        let end = 1 + 4 + 3 * label_bytes;
        for cut in 1..=end {
            let dump = HeapDump::from_gcdump(&file[..file.len() - cut]).unwrap();
            assert_example(&dump);
            assert!(dump.gcdump().unwrap().lacks_end, "{cut}");
        }
        for cut in 0..file.len() - end {
            assert!(HeapDump::from_gcdump(&file[..cut]).is_err(), "{cut}");
        }
    }
}

#[test]
fn any_changed_byte_ends_in_a_dump_or_an_error() {
    let made = Made {
        segments: vec![[0x1000, 0x2000, 0x2000, 0, 0, 0, 0]; 2],
        multipliers: vec![2.0; 8],
        has_interop: true,
        deferred: Some(4),
        has_unknown_fields: true,
        version: 11,
        ..Made::default()
    };
    let good = made.bytes();
    let (mut read, mut refused) = (0, 0);
    for (at, value) in
        (0..good.len()).flat_map(|at| [0, 1, 2, 4, 6, 0x7f, 0x80, 0xff].map(|value| (at, value)))
    {
        let mut file = good.clone();
        file[at] = value;
        match HeapDump::from_gcdump(&file) {
            Ok(dump) => {
                let report = report(&dump);
                assert!(report.reachable_objects <= report.objects);
                read += 1;
            }
            Err(error) => {
                assert!(error.offset <= file.len() as u64, "{error}");
                refused += 1;
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} {refused}");
}

/// Reads the dumps of a trace.
fn dumps_of(bytes: &[u8]) -> Vec<HeapDump> {
    let mut heap = HeapReader::default();
    let _ = heap.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    heap.finish()
}

#[test]
fn what_is_written_for_a_trace_gives_the_same_report() {
    for name in ["heap/HeapZoo"] {
        let dump = &dumps_of(&corpus::known(name).bytes())[0];
        let mut file = Vec::new();
        dump.write_gcdump(&mut file).unwrap();
        let again = HeapDump::from_gcdump(&file).unwrap();
        let (mut old, mut new) = (report(dump), report(&again));
        assert!(new.gcdump.take().is_some_and(|about| about.tool.as_deref() == Some("nettrace")));
        // Neither times nor losses have a place in the file.
        (old.pause_ns, old.missing) = (None, new.missing);
        assert_eq!(old, new, "{name}");
        for object in 0..dump.objects() {
            assert_eq!(dump.references_of(object), again.references_of(object), "{name}");
            assert_eq!(dump.generation(object), again.generation(object), "{name} {object}");
        }
    }
}

mod with_shared {
    use super::*;
    use std::io::Read;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn types_of_a_program_are_those_of_its_trace_and_of_the_truth() {
        let packed =
            std::fs::File::open(corpus::shared().join("known/heap/HeapZoo.gcdump.gz")).unwrap();
        let mut file = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut file).unwrap();
        let dump = HeapDump::from_gcdump(&file).unwrap();
        assert_eq!(dump.gcdump().unwrap().stored_bytes, 17_003_579);
        let (gcdump, trace) =
            (report(&dump), report(&dumps_of(&corpus::known("heap/HeapZoo").bytes())[0]));
        assert_eq!((gcdump.bytes, gcdump.missing.is_complete()), (17_003_579, true));
        let own = |report: &HeapReport| -> Vec<(String, u64, u64)> {
            let rows = report.types.iter().filter(|row| &*row.module == "HeapZoo");
            let mut rows: Vec<_> =
                rows.map(|row| (row.name.to_string(), row.count, row.bytes)).collect();
            rows.sort_unstable();
            rows
        };
        for (name, count, bytes) in [
            ("Zoo.Session", 5_000, 200_000),
            ("Zoo.Subscriber", 2_000, 48_000),
            ("Zoo.Derived", 10, 320),
            ("Zoo.TimerState", 300, 9_600),
            ("Zoo.Captured", 700, 16_800),
            ("Zoo.Node", 100_000, 3_200_000),
            ("Zoo.KeyObj", 250, 6_000),
            ("Zoo.DepValue", 250, 8_000),
            ("Zoo.Fin", 60, 1_440),
        ] {
            for report in [&gcdump, &trace] {
                assert!(own(report).contains(&(name.to_owned(), count, bytes)), "{name}");
            }
        }
        // Where no outer type is known, the trace shows only the arguments of the innermost one.
        let count = |report: &HeapReport| {
            (own(report).len(), own(report).iter().map(|row| row.2).sum::<u64>())
        };
        assert_eq!(count(&gcdump), count(&trace));
        for kept in ["Zoo.Session", "Zoo.TimerState", "Zoo.Captured", "Zoo.Node"] {
            let of = |report: &HeapReport| {
                report.types.iter().find(|row| row.name == kept).map(|row| row.retained_bytes)
            };
            assert_eq!(of(&gcdump), of(&trace), "{kept}");
        }
    }
}
