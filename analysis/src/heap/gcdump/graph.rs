//! The graph that is written for a dump: groups of roots, then the objects in the order of the dump.

use super::super::dump::HeapDump;
use super::super::kinds::RootKind;
use super::super::links::{NONE, length};
use super::groups;
use super::nodes::UNDEFINED;
use super::record::push_number;
use super::type_names;
use crate::hash::HashMap;
use std::borrow::Cow;

/// A type of nodes that is written.
#[derive(Debug)]
pub(super) struct WrittenType<'d> {
    pub(super) name: Cow<'d, str>,
    /// Size of the first object of the type; −1 if there is none.
    pub(super) bytes: i32,
    /// Path of the module; `None` for groups.
    pub(super) module: Option<Cow<'d, str>>,
}

/// A group of roots: its type, and the groups and objects that it holds.
#[derive(Debug, Default)]
struct WrittenGroup {
    type_index: u32,
    groups: Vec<u32>,
    objects: Vec<u32>,
}

/// The graph of a dump. Node 0 is the topmost group.
pub(super) struct WrittenGraph<'d> {
    dump: &'d HeapDump,
    pub(super) types: Vec<WrittenType<'d>>,
    groups: Vec<WrittenGroup>,
    /// Number of types before those of objects.
    first_type: u32,
}

impl<'d> WrittenGraph<'d> {
    pub(super) fn new(dump: &'d HeapDump) -> WrittenGraph<'d> {
        let undefined = WrittenType { name: Cow::Borrowed(UNDEFINED), bytes: 0, module: None };
        let mut graph =
            WrittenGraph { dump, types: vec![undefined], groups: Vec::new(), first_type: 0 };
        let names: Vec<String> = dump.type_rows.iter().map(type_names::of_type).collect();
        graph.add_groups(&names);
        graph.first_type = length(&graph.types);
        let types = dump.type_rows.iter().zip(names).map(|(row, name)| WrittenType {
            name: Cow::Owned(name),
            bytes: -1,
            module: type_names::of_module(row),
        });
        graph.types.extend(types);
        for object in 0..dump.objects() {
            let of = graph.type_index(object) as usize;
            if let Some(of) = graph.types.get_mut(of).filter(|of| of.bytes == -1) {
                of.bytes = bytes_of(dump, object);
            }
        }
        graph
    }

    fn add_groups(&mut self, names: &[String]) {
        let dump = self.dump;
        let top = self.group(Cow::Borrowed(groups::TOP), None);
        let has = |kind| dump.roots.iter().any(|root| root.kind == kind);
        let mut others = None;
        for kind in RootKind::ALL.into_iter().filter(|kind| groups::is_high(*kind)) {
            if kind == RootKind::Com {
                others = Some(self.group(Cow::Borrowed(groups::OTHER_ROOTS), Some(top)));
            }
            // These groups are always there, but for the one of thread statics.
            if kind != RootKind::ThreadStatic || has(kind) {
                self.add_roots(kind, top, names);
            }
        }
        for kind in RootKind::ALL.into_iter().filter(|kind| !groups::is_high(*kind) && has(*kind)) {
            self.add_roots(kind, others.unwrap_or(top), names);
        }
    }

    /// Adds a group below another one. Returns its number.
    fn group(&mut self, name: Cow<'d, str>, above: Option<u32>) -> u32 {
        let number = length(&self.groups);
        self.groups
            .push(WrittenGroup { type_index: length(&self.types), ..WrittenGroup::default() });
        self.types.push(WrittenType { name, bytes: 0, module: None });
        let above = above.and_then(|above| self.groups.get_mut(above as usize));
        if let Some(above) = above {
            above.groups.push(number);
        }
        number
    }

    fn add_roots(&mut self, kind: RootKind, above: u32, names: &[String]) {
        let dump = self.dump;
        let all = self.group(Cow::Borrowed(groups::name_of(kind)), Some(above));
        // Variables of one name, whose objects have one type, share a group.
        let mut variables: HashMap<(u32, u32), u32> = HashMap::default();
        for root in dump.roots.iter().filter(|root| root.kind == kind) {
            let group = match dump.root_name(root) {
                None => all,
                Some(field) => {
                    let of = dump.type_of(root.object);
                    match variables.get(&(of, root.name)) {
                        Some(group) => *group,
                        None => {
                            let of_type = names.get(of as usize).map_or("?", String::as_str);
                            let name = groups::name_of_variable(kind, of_type, field);
                            let group = self.group(Cow::Owned(name), Some(all));
                            variables.insert((of, root.name), group);
                            group
                        }
                    }
                }
            };
            if let Some(group) = self.groups.get_mut(group as usize) {
                group.objects.push(root.object);
            }
        }
    }

    /// Returns the number of nodes.
    pub(super) fn nodes(&self) -> u32 {
        length(&self.groups).saturating_add(self.dump.objects())
    }

    /// Returns the size of all nodes, in bytes.
    pub(super) fn bytes(&self) -> i64 {
        let objects = 0..self.dump.objects();
        objects.fold(0, |sum: i64, object| sum.saturating_add(bytes_of(self.dump, object).into()))
    }

    /// Returns the address of each node; 0 for groups.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let groups = self.groups.iter().map(|_| 0);
        groups.chain(self.dump.addresses.iter().copied())
    }

    fn type_index(&self, object: u32) -> u32 {
        match self.dump.type_of(object) {
            NONE => 0,
            of => self.first_type.saturating_add(of),
        }
    }

    /// Writes the record of a node over another one.
    pub(super) fn record(&self, node: u32, out: &mut Vec<u8>) {
        out.clear();
        let first_object = length(&self.groups);
        let Some(object) = node.checked_sub(first_object) else {
            let Some(group) = self.groups.get(node as usize) else { return };
            let objects = group.objects.iter().map(|object| first_object.saturating_add(*object));
            let children = group.groups.iter().copied().chain(objects);
            return record(node, group.type_index, None, children, out);
        };
        let (of, bytes) = (self.type_index(object), bytes_of(self.dump, object));
        let own = self.types.get(of as usize).is_none_or(|of| of.bytes != bytes).then_some(bytes);
        let references = self.dump.references_of(object);
        let children = references.iter().map(|object| first_object.saturating_add(*object));
        record(node, of, own, children, out);
    }
}

/// Appends a record.
fn record(
    node: u32,
    type_index: u32,
    bytes: Option<i32>,
    children: impl Iterator<Item = u32> + Clone,
    out: &mut Vec<u8>,
) {
    let x = type_index.wrapping_shl(1) | u32::from(bytes.is_some());
    push_number(out, x.cast_signed());
    if let Some(bytes) = bytes {
        push_number(out, bytes);
    }
    push_number(out, i32::try_from(children.clone().count()).unwrap_or(i32::MAX));
    for child in children {
        push_number(out, child.wrapping_sub(node).cast_signed());
    }
}

/// Returns the size of an object. Sizes that do not fit into the format become the largest one.
fn bytes_of(dump: &HeapDump, object: u32) -> i32 {
    i32::try_from(dump.bytes_of(object)).unwrap_or(i32::MAX)
}
