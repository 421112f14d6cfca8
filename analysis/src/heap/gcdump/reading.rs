//! From the parts of a `.gcdump` to a dump: nodes become objects, and groups the kinds of their roots.

use super::super::dump::{HeapDump, HeapType, Root};
use super::super::gcdump_about::{GcDumpAbout, HeapEstimate};
use super::super::kinds::{HeapGeneration, RootKind};
use super::super::links::{Bits, Links, NONE, length};
use super::super::name::HeapName;
use super::error::GcDumpError;
use super::file::{self, GcDumpFile, HeapSegment};
use super::groups;
use super::nodes::{Node, Nodes, StoredObject};
use super::type_names::{self, without_suffix};
use crate::hash::HashMap;
use crate::model::{rounded, short_name};
use crate::numbering::Numbering;
use nettrace_parser::unstable::numbers;
use std::sync::Arc;

/// Beginnings of texts in place of names that a tool did not know.
const NAMELESS: [&str; 4] = [type_names::UNKNOWN, "Type(0x", "ArrayType(0x", "TypeID(0x"];

/// Text in place of a static variable's name.
const NO_VARIABLE: &str = "?";

/// Reads a `.gcdump`.
pub(super) fn read(bytes: &[u8]) -> Result<HeapDump, GcDumpError> {
    let file = file::parse(bytes)?;
    let mut dump = HeapDump { index: 1, starts: vec![0], ..HeapDump::default() };
    dump.process_id = u64::try_from(file.process_id).ok().filter(|id| *id > 0);
    dump.ranges = ranges(&file.segments);
    let mut types = StoredTypes::new(&file);
    let mut of_objects = Vec::new();
    let nodes = Nodes::new(&file, |object| {
        let row = types.row(object.type_index, &mut dump.type_rows);
        add_object(&mut dump, object, row);
        if !file.multipliers.is_empty() {
            of_objects.push(object.type_index);
        }
    })?;
    let mut about = file.about.clone();
    add_references(&mut dump, &nodes, &mut about)?;
    add_roots(&mut dump, &nodes, file.root)?;
    if is_sampled(&file) {
        about.sampled_from = Some(add_estimates(&mut dump, &file, &of_objects));
    }
    let is_known: Vec<bool> = dump.type_rows.iter().map(|row| row.name.is_known()).collect();
    let nameless = dump.types.iter().filter(|at| is_known.get(**at as usize) == Some(&false));
    dump.losses.undescribed_objects = nameless.count() as u64;
    dump.gcdump = Some(Box::new(about));
    Ok(dump)
}

fn add_object(dump: &mut HeapDump, object: StoredObject, row: u32) {
    // A size of 2 GiB or more has no place in the file.
    let bytes = u32::try_from(object.bytes).unwrap_or_else(|_| {
        dump.losses.faults = dump.losses.faults.saturating_add(1);
        0
    });
    dump.addresses.push(object.address);
    dump.bytes.push(bytes);
    dump.types.push(row);
}

fn add_references(
    dump: &mut HeapDump,
    nodes: &Nodes<'_>,
    about: &mut GcDumpAbout,
) -> Result<(), GcDumpError> {
    let HeapDump { targets, losses, starts, .. } = dump;
    for node in 0..nodes.count {
        match nodes.kind(node) {
            Some(Node::Object(_)) => {}
            Some(Node::Undumped) => {
                about.undumped_objects = about.undumped_objects.saturating_add(1);
                continue;
            }
            _ => continue,
        }
        nodes.children(node, |child| match child {
            Some((_, Node::Object(object))) => targets.push(object),
            Some((_, Node::Null)) => {}
            Some((_, Node::Undumped | Node::Group)) => {
                losses.unknown_references = losses.unknown_references.saturating_add(1);
            }
            None => losses.faults = losses.faults.saturating_add(1),
        })?;
        starts.push(length(targets));
    }
    Ok(())
}

/// Walks from the root through the groups, and makes a root of each object that one holds.
fn add_roots(dump: &mut HeapDump, nodes: &Nodes<'_>, root: i32) -> Result<(), GcDumpError> {
    let top = u32::try_from(root).ok().and_then(|root| Some((root, nodes.kind(root)?)));
    let Some((root, kind)) = top else {
        dump.losses.roots = true;
        return Ok(());
    };
    let mut static_names = Numbering::default();
    let mut seen = Bits::new(nodes.count as usize);
    let mut open = vec![(root, RootKind::Other)];
    if let Node::Object(object) = kind {
        dump.roots.push(Root { object, kind: RootKind::Other, name: NONE });
        open.clear();
    }
    while let Some((group, kind)) = open.pop() {
        if !seen.insert(group) {
            continue;
        }
        let mut below = Vec::new();
        let mut objects = Vec::new();
        nodes.children(group, |child| match child {
            Some((node, Node::Object(object))) => objects.push((node, object)),
            Some((node, Node::Group)) => below.push(node),
            Some((_, Node::Null)) => {}
            Some((_, Node::Undumped)) | None => {
                dump.losses.unknown_roots = dump.losses.unknown_roots.saturating_add(1);
            }
        })?;
        let text = nodes.type_name(group)?;
        let kind = groups::kind_of(text).unwrap_or(kind);
        let is_static = matches!(kind, RootKind::Static | RootKind::ThreadStatic);
        let variable = groups::variable(text);
        for (node, object) in objects {
            let name = match variable {
                Some(variable) => {
                    let type_name = without_suffix(nodes.type_name(node)?);
                    let field = variable.strip_prefix(type_name);
                    let field = field.and_then(|field| field.strip_prefix('.'));
                    // Where the text has the class that declares the variable, all of it is shown.
                    static_names.number(field.unwrap_or(variable).to_owned())
                }
                None if is_static => static_names.number(NO_VARIABLE.to_owned()),
                None => NONE,
            };
            dump.roots.push(Root { object, kind, name });
        }
        open.extend(below.into_iter().rev().map(|below| (below, kind)));
    }
    dump.static_names = static_names.into_values();
    Ok(())
}

/// The rows of types that have objects, by the types of the file. Types that differ only in what tools
/// append to their names have one row.
struct StoredTypes<'f> {
    file: &'f GcDumpFile<'f>,
    modules: ModuleNames<'f>,
    joined: HashMap<(&'f str, HeapName), u32>,
    /// Row of each type; [`NONE`] until an object has the type.
    rows: Links,
}

impl<'f> StoredTypes<'f> {
    fn new(file: &'f GcDumpFile<'f>) -> StoredTypes<'f> {
        StoredTypes {
            file,
            modules: ModuleNames::default(),
            joined: HashMap::default(),
            rows: Links::filled(file.types.len(), NONE),
        }
    }

    /// Returns the row of a type, and adds it if it is the first of its name and module.
    #[inline]
    fn row(&mut self, type_index: usize, rows: &mut Vec<HeapType>) -> u32 {
        let at = u32::try_from(type_index).unwrap_or(NONE);
        match self.rows.get(at) {
            NONE => {}
            row => return row,
        }
        let Some(of) = self.file.types.get(type_index) else { return NONE };
        let object = of.module_object.and_then(|module| self.file.modules.get(module));
        let (module, path) = self.modules.name(object.unwrap_or(&of.module));
        let own = without_suffix(&of.name);
        let next = length(rows);
        let row = *self.joined.entry((own, module.clone())).or_insert(next);
        if row == next {
            rows.push(heap_type(own, module, path));
        }
        self.rows.set(at, row);
        row
    }
}

fn heap_type(name: &str, module: HeapName, module_path: Arc<str>) -> HeapType {
    let stored_name = type_names::to_stored(name).unwrap_or_else(|| name.to_owned());
    let name = match name.strip_prefix(type_names::UNKNOWN) {
        Some(id) => {
            let id = id.to_ascii_lowercase();
            HeapName::unknown(format!("{}{id}", type_names::NUMBERED))
        }
        None if NAMELESS.iter().any(|front| name.starts_with(front)) => HeapName::unknown(name),
        None => HeapName::known(type_names::shown(name)),
    };
    HeapType { name, stored_name, module, module_path }
}

/// Names of modules by their paths. Types share them.
#[derive(Default)]
struct ModuleNames<'f>(HashMap<&'f str, (HeapName, Arc<str>)>);

impl<'f> ModuleNames<'f> {
    /// Returns the name of a module, and its path.
    fn name(&mut self, path: &'f str) -> (HeapName, Arc<str>) {
        let make = || {
            let id = path.strip_prefix(type_names::UNKNOWN_MODULE);
            match id.and_then(|id| id.strip_suffix(')')) {
                Some(id) => (HeapName::unknown(id), Arc::default()),
                None => (HeapName::known(short_name(path)), path.into()),
            }
        };
        self.0.entry(path).or_insert_with(make).clone()
    }
}

/// Returns the ranges of memory with their generations, without gaps.
fn ranges(segments: &[HeapSegment]) -> Vec<(u64, u64, HeapGeneration)> {
    let mut segments: Vec<[u64; 7]> =
        segments.iter().map(|segment| segment.map(i64::cast_unsigned)).collect();
    segments.sort_unstable();
    let mut ranges = Vec::new();
    let mut next = 0u64;
    for [start, end, gen0, gen1, gen2, large, pinned] in segments {
        if start > next {
            ranges.push((next, start, HeapGeneration::Unknown));
            next = start;
        }
        for (limit, generation) in [
            (pinned, HeapGeneration::Pinned),
            (large, HeapGeneration::Large),
            (gen2, HeapGeneration::Gen2),
            (gen1, HeapGeneration::Gen1),
            (gen0, HeapGeneration::Gen0),
            // Memory that the collector does not touch has no generation.
            (end, HeapGeneration::Frozen),
        ] {
            let limit = limit.min(end);
            if limit > next {
                ranges.push((next, limit, generation));
                next = limit;
            }
        }
    }
    if !ranges.is_empty() {
        ranges.push((next, u64::MAX, HeapGeneration::Unknown));
    }
    ranges
}

fn is_sampled(file: &GcDumpFile<'_>) -> bool {
    let is_more = |factor: f32| factor.is_finite() && factor > 1.0;
    let (counts, bytes) = file.mean_multipliers;
    is_more(counts) || is_more(bytes) || numbers(file.multipliers).any(is_more)
}

/// Sets the estimates of types, and returns those of the heap. The file has one factor for each type,
/// for counts and bytes alike.
fn add_estimates(dump: &mut HeapDump, file: &GcDumpFile<'_>, of_objects: &[usize]) -> HeapEstimate {
    let factors: Vec<f64> = numbers::<f32>(file.multipliers)
        .map(|factor| if factor.is_finite() && factor > 0.0 { f64::from(factor) } else { 1.0 })
        .collect();
    let mut sums = vec![(0.0, 0.0); dump.type_rows.len()];
    let mut all = (0.0, 0.0);
    for (object, bytes) in (0usize..).zip(&dump.bytes) {
        let of = of_objects.get(object).and_then(|of| factors.get(*of)).copied();
        let row = dump.types.get(object).copied().unwrap_or(NONE);
        let (counts, sizes) = match of {
            Some(factor) => (factor, factor),
            None => (f64::from(file.mean_multipliers.0), f64::from(file.mean_multipliers.1)),
        };
        let more = (counts, f64::from(*bytes) * sizes);
        for sum in sums.get_mut(row as usize).into_iter().chain([&mut all]) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }
    let estimate = |(count, bytes): &(f64, f64)| HeapEstimate {
        count: rounded(*count),
        bytes: rounded(*bytes),
    };
    dump.estimates = sums.iter().map(estimate).collect();
    estimate(&all)
}
