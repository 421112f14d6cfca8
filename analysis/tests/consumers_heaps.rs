//! Heap dumps, opened by the programs for which their formats are made: memlab, the loader of
//! Chromium's DevTools, and `go tool pprof`. `analysis/consumers/install` gets them.

use super::common::of_kinds;
use super::consumers_stacks::{ran, script};
use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::heap::{HeapDump, HeapNode, HeapReader, Retained};
use nettrace_analysis::{Analysis, Kind};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const TRACE: &str = "net3.1-linux-x64/heap.nettrace";

/// Writes a trace's dump in a format. Returns the file and the dump.
fn converted(format: &str, name: &str) -> (PathBuf, HeapDump) {
    let bytes = corpus::trace(TRACE).bytes();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut options = ConvertOptions::default();
    options.kinds = vec![Kind::Heap];
    let mut analysis = Analysis::new(of_kinds(&[Kind::Heap]));
    let file = std::fs::File::create(&path).unwrap();
    analysis.add_format(Format::by_name(format).unwrap(), file, &options);
    let _ = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    analysis.finish().unwrap();
    let mut heap = HeapReader::default();
    let _ = heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    (path, heap.finish().remove(0))
}

fn bytes_of(dump: &HeapDump) -> u64 {
    (0..dump.objects()).map(|object| dump.bytes_of(object)).sum()
}

/// Returns objects, own bytes and retained bytes by type name. Types of one name are joined,
/// because the formats have no modules.
fn types(dump: &HeapDump) -> BTreeMap<String, [u64; 3]> {
    let mut names: Vec<&str> = dump.types().iter().map(|row| &*row.name).collect();
    names.sort_unstable();
    names.dedup();
    let place = |object: u32| names.binary_search(&dump.type_name(object)).ok();
    let retained = Retained::from_dump(dump);
    assert!(
        (0..dump.objects()).all(|object| retained.dominator(HeapNode::Object(object)).is_some())
    );
    let kept = retained.bytes_by_group(names.len(), place);
    let mut sums: Vec<[u64; 3]> = kept.into_iter().map(|bytes| [0, 0, bytes]).collect();
    for object in 0..dump.objects() {
        let sum = &mut sums[place(object).unwrap()];
        (sum[0], sum[1]) = (sum[0] + 1, sum[1] + dump.bytes_of(object));
    }
    let sums = names.iter().map(|name| (*name).to_owned()).zip(sums);
    sums.filter(|(_, [count, ..])| *count > 0).collect()
}

mod with_go {
    use super::*;

    #[test]
    #[ignore = "needs go"]
    fn pprof_shows_what_types_have_and_retain() {
        let (path, dump) = converted("pprof", "consumers-heap.pb.gz");
        let path = path.to_str().unwrap();
        let top = |index: &str, unit: &str| {
            let (index, unit) = (format!("-sample_index={index}"), format!("-unit={unit}"));
            let arguments = [
                "tool",
                "pprof",
                "-top",
                &index,
                &unit,
                "-nodecount=100000",
                "-nodefraction=0",
                path,
            ];
            let text = ran("go", &arguments);
            let mut rows: BTreeMap<String, [u64; 2]> = BTreeMap::new();
            for line in text.lines().skip_while(|line| !line.contains("flat%")).skip(1) {
                let columns: Vec<&str> = line.split_whitespace().collect();
                let number = |text: &str| text.trim_end_matches('B').parse().unwrap();
                rows.insert(columns[5..].join(" "), [number(columns[0]), number(columns[3])]);
            }
            rows
        };
        let bytes = top("inuse_space", "B");
        let objects = top("inuse_objects", "minimum");
        for (name, [count, own, retained]) in types(&dump) {
            assert_eq!((bytes[&name], objects[&name][0]), ([own, retained], count), "{name}");
        }
        assert_eq!(
            (bytes["roots"], objects["roots"]),
            ([0, bytes_of(&dump)], [0, dump.objects().into()])
        );
    }
}

mod with_node {
    use super::*;

    #[test]
    #[ignore = "needs node"]
    fn memlab_finds_the_same_objects_and_what_each_retains() {
        let (path, dump) = converted("heapsnapshot", "consumers-memlab.heapsnapshot");
        let text = script("memlab.cjs", &path, &[]);
        let seen: Json = serde_json::from_str(&text).unwrap();
        let theirs: BTreeMap<String, [u64; 2]> =
            serde_json::from_value(seen["types"].clone()).unwrap();
        let ours: BTreeMap<String, [u64; 2]> = types(&dump)
            .into_iter()
            .map(|(name, [count, bytes, _])| (name, [count, bytes]))
            .collect();
        assert_eq!(theirs, ours);
        // The last ids are those of the objects, in their order.
        let theirs: BTreeMap<u64, u64> = serde_json::from_value(seen["retained"].clone()).unwrap();
        let retained = Retained::from_dump(&dump);
        let ours: Vec<u64> =
            (0..dump.objects()).map(|object| retained.bytes(HeapNode::Object(object))).collect();
        assert_eq!(theirs.into_values().collect::<Vec<_>>(), ours);
    }

    #[test]
    #[ignore = "needs node"]
    fn devtools_of_chromium_shows_the_same_classes_and_what_they_retain() {
        let (path, dump) = converted("heapsnapshot", "consumers-devtools.heapsnapshot");
        let text = script("devtools.cjs", &path, &[]);
        let seen: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(seen["total"].as_u64(), Some(bytes_of(&dump)));
        let mut theirs: BTreeMap<String, [u64; 3]> =
            serde_json::from_value(seen["types"].clone()).unwrap();
        // Roots and kinds of roots have no bytes.
        theirs.retain(|_, [_, bytes, _]| *bytes > 0);
        assert_eq!(theirs, types(&dump));
    }
}
