//! The heap on a page, from a dump: its types, the dominator tree, and paths to objects.

use super::{Page, pass};
use crate::driver::AnalysisOptions;
use crate::fact::thinned::{PagePart, Thinning};
use crate::hash::HashSet;
use crate::heap::{
    HeapDump, HeapPathGroup, HeapPaths, HeapReport, HeapTreeNode, HeapTypeRow, Retained,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of types and of static variables.
const MAX_ROWS: usize = 3000;
/// Minimum share of the heap that a node of the tree keeps alive, in percent. It bounds the number
/// of nodes of a level.
const MIN_TREE_PERCENT: f64 = 0.25;
/// Maximum number of types with paths, among the types with most bytes and again among those that
/// keep most alive.
const TYPES_WITH_PATHS: usize = 25;
/// Maximum number of paths of a type.
const PATHS: usize = 5;

const HEAP: PagePart = PagePart::Report("heap");

impl Page {
    /// Makes the page of a heap dump without a trace, as a `.gcdump` has it.
    pub fn from_heap(dump: &HeapDump) -> Page {
        let mut page = pass(AnalysisOptions::default()).finish().output;
        page.summary = None;
        let retained = Retained::from_dump(dump);
        let report = HeapReport::new(std::slice::from_ref(dump), dump, &retained);
        page.add_heap(dump, report, &retained);
        page
    }

    /// Adds the heap of a dump. The caller reads the dump if the summary says that there is one,
    /// because reading dumps takes more memory than a page.
    pub fn add_heap(&mut self, dump: &HeapDump, mut report: HeapReport, retained: &Retained) {
        let tree = HeapTreeNode::from_dump(dump, retained, MIN_TREE_PERCENT);
        let paths = paths(dump, retained, &report.types);
        let (types, statics) = (report.types.len(), report.statics.len());
        report.types.truncate(MAX_ROWS);
        report.statics.truncate(MAX_ROWS);
        let kept = MAX_ROWS as u64;
        if types > MAX_ROWS {
            self.thin(HEAP, Thinning::FirstTypes { kept, all: types as u64 });
        }
        if statics > MAX_ROWS {
            self.thin(HEAP, Thinning::FirstStatics { kept, all: statics as u64 });
        }
        self.add("heap", &HeapPart { report, tree, paths });
    }
}

/// What a page shows of a heap.
#[derive(Serialize)]
struct HeapPart {
    report: HeapReport,
    tree: HeapTreeNode,
    paths: BTreeMap<String, Vec<HeapPathGroup>>,
}

/// Returns paths to objects of the largest types, by type.
fn paths(
    dump: &HeapDump,
    retained: &Retained,
    types: &[HeapTypeRow],
) -> BTreeMap<String, Vec<HeapPathGroup>> {
    let mut by_retained: Vec<&HeapTypeRow> = types.iter().collect();
    by_retained.sort_by_key(|row| std::cmp::Reverse(row.retained_bytes));
    let largest = types.iter().take(TYPES_WITH_PATHS);
    let wanted: HashSet<&str> = largest
        .chain(by_retained.into_iter().take(TYPES_WITH_PATHS))
        .map(|row| &*row.name)
        .collect();
    let is_wanted: Vec<bool> = dump.types().iter().map(|row| wanted.contains(&*row.name)).collect();
    let is_wanted = |object| is_wanted.get(dump.type_of(object) as usize) == Some(&true);
    let groups = HeapPaths::from_dump(dump).groups(dump, retained, is_wanted).groups;
    let mut by_type: BTreeMap<String, Vec<HeapPathGroup>> = BTreeMap::new();
    for group in groups {
        let Some(name) = group.steps.last().map(|step| step.type_name.clone()) else { continue };
        let of_type = by_type.entry(name).or_default();
        if of_type.len() < PATHS {
            of_type.push(group);
        }
    }
    by_type
}
