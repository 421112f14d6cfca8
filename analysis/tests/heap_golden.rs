//! Compares heap dumps with the reference tool's, type by type.
//!
//! The tool mangles names, and gives objects of more than 1,000 bytes types by their size, so the
//! test does so, too.

use flate2::read::GzDecoder;
use nettrace_analysis::heap::{HeapDump, HeapNode, HeapReader, Retained, Root, RootKind};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::Path;

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn dumps(trace: &str) -> Vec<HeapDump> {
    let path = corpus::shared().join("traces").join(format!("{trace}.nettrace.gz"));
    let bytes = unpacked(&path);
    let mut heap = HeapReader::default();
    assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    heap.finish()
}

/// Returns a type's name as the reference tool writes it: the runtime's name without outer types.
fn mangled(stored: &str, bytes: u64) -> String {
    let end = stored.find('[').unwrap_or(stored.len());
    let (path, arguments) = stored.split_at(end);
    let own = path.rsplit('+').next().unwrap();
    let mut name = String::new();
    let text = format!("{own}{arguments}");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '`' => while chars.next_if(char::is_ascii_digit).is_some() {},
            '[' => name.push('<'),
            ']' => name.push('>'),
            other => name.push(other),
        }
    }
    let name = name.replace("<>", "[]");
    let classes = [
        (1_000_000_000, "1G"),
        (1_000_000, "1M"),
        (100_000, "100K"),
        (10_000, "10K"),
        (1_000, "1K"),
    ];
    match classes.iter().find(|(least, _)| bytes > *least) {
        Some((_, class)) => format!("{name} (Bytes > {class})"),
        None => name,
    }
}

/// Count, bytes and retained bytes by name and module.
type Rows = BTreeMap<(String, String), [u64; 3]>;

fn golden(file: &str) -> (Rows, BTreeMap<String, u64>) {
    let path = corpus::shared().join("golden").join(format!("{file}.gcdump-types.tsv.gz"));
    let text = String::from_utf8(unpacked(&path)).unwrap();
    let (mut rows, mut totals) = (Rows::new(), BTreeMap::new());
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        if line.starts_with('#') {
            if let Some(number) = columns.get(1).and_then(|text| text.parse().ok()) {
                totals.insert(columns[0].to_owned(), number);
            }
            continue;
        }
        let (name, module) = (columns[0], columns[1]);
        // Skips groups of roots, and the node for unknown objects.
        if module.is_empty() && !name.starts_with("UNKNOWN ") {
            continue;
        }
        let module =
            module.trim_end_matches(".dll").trim_start_matches("Module(").trim_end_matches(')');
        let numbers = [2, 3, 4].map(|at| columns[at].parse().unwrap());
        rows.insert((name.to_owned(), module.to_owned()), numbers);
    }
    (rows, totals)
}

fn rows(dump: &HeapDump, retained: &Retained) -> Rows {
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let groups: Vec<usize> = (0..dump.objects())
        .map(|object| {
            let row = &dump.types()[dump.type_of(object) as usize];
            let key = (mangled(&row.stored_name, dump.bytes_of(object)), row.module.to_string());
            let next = places.len();
            *places.entry(key).or_insert(next)
        })
        .collect();
    let kept = retained.bytes_by_group(places.len(), |object| Some(groups[object as usize]));
    let mut sums = vec![[0u64; 3]; places.len()];
    for object in 0..dump.objects() {
        sums[groups[object as usize]][0] += 1;
        sums[groups[object as usize]][1] += dump.bytes_of(object);
    }
    places.into_iter().map(|(key, at)| (key, [sums[at][0], sums[at][1], kept[at]])).collect()
}

#[track_caller]
fn compare(dump: &HeapDump, file: &str) {
    let retained = Retained::from_dump(dump);
    let (expected, totals) = golden(file);
    let ours = rows(dump, &retained);
    // The tool shows the address of a core library that has no name in the trace.
    let core =
        |rows: &Rows| rows.keys().find(|(name, _)| name == "System.String").unwrap().1.clone();
    let (theirs, named) = (core(&expected), core(&ours));
    for ((name, module), numbers) in &expected {
        let module = if *module == theirs { &named } else { module };
        let key = (name.clone(), module.clone());
        assert_eq!(ours.get(&key), Some(numbers), "{file}: {key:?}");
    }
    assert_eq!(ours.len(), expected.len(), "{file}");
    assert_eq!(u64::from(dump.objects()), totals["#objects"], "{file}");
    assert_eq!(
        (0..dump.objects()).map(|object| dump.bytes_of(object)).sum::<u64>(),
        totals["#total bytes"],
        "{file}"
    );
    assert_eq!(
        (0..dump.objects()).map(|object| dump.references_of(object).len() as u64).sum::<u64>(),
        totals["#edges from objects"],
        "{file}"
    );
    assert_eq!(retained.bytes(HeapNode::Root), totals["#reachable bytes"], "{file}");
    assert!(dump.losses.is_complete(), "{file}: {:?}", dump.losses);
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn objects_bytes_and_retained_bytes_of_each_type_are_those_of_the_reference_tool() {
        for (trace, goldens) in [
            ("net10-linux-x64/heap", &["net10-linux-x64/heap"][..]),
            (
                "net10-linux-x64/heap-2",
                &["net10-linux-x64/heap-2", "net10-linux-x64/heap-2.second"],
            ),
            ("net3.1-linux-x64/heap", &["net3.1-linux-x64/heap"]),
        ] {
            let dumps = dumps(trace);
            assert_eq!(dumps.len(), goldens.len(), "{trace}");
            for (at, (dump, golden)) in dumps.iter().zip(goldens).enumerate() {
                assert_eq!(dump.index, at + 1);
                compare(dump, golden);
            }
        }
    }

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn statics_are_what_keeps_objects_alive_and_not_the_arrays_that_the_runtime_keeps_them_in() {
        for trace in ["net10-linux-x64/heap", "net3.1-linux-x64/heap"] {
            let dumps = dumps(trace);
            let dump = &dumps[0];
            let retained = Retained::from_dump(dump);
            let named = |name| move |root: &&Root| dump.root_name(root) == Some(name);
            let survivors = dump.roots.iter().find(named("survivors")).unwrap();
            assert_eq!(survivors.kind, RootKind::Static);
            assert_eq!(dump.type_name(survivors.object), "System.Object[]");
            // A local variable holds the array, too.
            let others = dump.roots.iter().filter(|root| root.object == survivors.object);
            assert!(others.clone().any(|root| root.kind == RootKind::Stack));
            assert_eq!(
                retained.dominator(HeapNode::Object(survivors.object)),
                Some(HeapNode::Root)
            );
            let statics =
                (0u32..).zip(&dump.roots).filter(|(_, root)| root.kind == RootKind::Static);
            let alone = statics.clone().filter(|(at, root)| {
                retained.dominator(HeapNode::Object(root.object)) == Some(HeapNode::Static(*at))
            });
            assert!(alone.count() * 2 > statics.count(), "{trace}");
            let kinds: HashSet<RootKind> = dump.roots.iter().map(|root| root.kind).collect();
            let all: u64 = kinds.into_iter().map(|kind| retained.bytes(HeapNode::Kind(kind))).sum();
            assert!(all <= retained.bytes(HeapNode::Root));
        }
    }
}
