//! V8 heap snapshots of real dumps, read back and compared number by number.

use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::heap::HeapReader;
use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn numbers(document: &Value, key: &str) -> Vec<u64> {
    document[key].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn a_heapsnapshot_has_the_objects_types_and_references_of_the_dump() {
    let bytes = corpus::trace("net3.1-linux-x64/heap.nettrace").bytes();
    let mut out = Vec::new();
    let mut analysis = Analysis::new(AnalysisOptions::default());
    let format = Format::by_path("x.heapsnapshot").unwrap().0;
    analysis.add_format(format, &mut out, &ConvertOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    let (nodes, edges) = (numbers(&document, "nodes"), numbers(&document, "edges"));
    let snapshot = &document["snapshot"];
    let strings: Vec<&str> =
        document["strings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let rows: Vec<&[u64]> = nodes.chunks(6).collect();
    assert_eq!(snapshot["node_count"].as_u64(), Some(rows.len() as u64));
    assert_eq!(snapshot["edge_count"].as_u64(), Some(edges.len() as u64 / 3));
    assert_eq!(rows.iter().map(|row| row[4]).sum::<u64>(), edges.len() as u64 / 3);
    assert_eq!(snapshot["meta"]["node_fields"].as_array().unwrap().len(), 6);
    assert_eq!(snapshot["meta"]["node_types"].as_array().unwrap().len(), 6);
    let ids: BTreeSet<u64> = rows.iter().map(|row| row[2]).collect();
    assert!(ids.len() == rows.len() && ids.iter().all(|id| id % 2 == 1));
    assert!(edges.chunks(3).all(|edge| edge[2] % 6 == 0 && (edge[2] as usize) < nodes.len()));
    // Compares objects by type with the dump itself.
    let mut heap = HeapReader::default();
    assert!(heap.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let dumps = heap.finish();
    let dump = &dumps[0];
    let (mut expected, mut found) = (BTreeMap::new(), BTreeMap::new());
    let add = |sums: &mut BTreeMap<String, (u64, u64)>, name: &str, bytes: u64| {
        let sum = sums.entry(name.to_owned()).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    };
    (0..dump.objects())
        .for_each(|object| add(&mut expected, dump.type_name(object), dump.bytes_of(object)));
    let is_object = |row: &&&[u64]| row[0] == 3;
    rows.iter().filter(is_object).for_each(|row| add(&mut found, strings[row[1] as usize], row[3]));
    assert_eq!(found, expected);
    assert_eq!(
        (rows.iter().filter(is_object).count(), found.values().map(|sum| sum.1).sum()),
        (4602, 2_274_638)
    );
    // Follows edges from the root over a kind of roots to a static variable, whose edge has its
    // name.
    let mut first = 0;
    let mut begins = Vec::new();
    for row in &rows {
        begins.push(first);
        first += row[4] as usize * 3;
    }
    let edges_of = |node: usize| edges[begins[node]..].chunks(3).take(rows[node][4] as usize);
    assert_eq!(strings[rows[1][1] as usize], "(GC roots)");
    assert_eq!(edges_of(0).map(|edge| edge[2]).collect::<Vec<_>>(), [6]);
    let statics = edges_of(1)
        .map(|edge| edge[2] as usize / 6)
        .find(|node| strings[rows[*node][1] as usize] == "(Static variables)")
        .unwrap();
    let survivors =
        edges_of(statics).find(|edge| strings[edge[1] as usize] == "survivors").unwrap();
    assert_eq!(survivors[0], 2);
    assert_eq!(strings[nodes[survivors[2] as usize + 1] as usize], "System.Object[]");
}
