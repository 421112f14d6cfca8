//! The dominator tree in which the objects of one type below the same node are joined to one node.

use super::dump::HeapDump;
use super::kinds::RootKind;
use super::name::HeapName;
use super::retained::{HeapNode, Retained};
use crate::document::percent;
use crate::hash::HashMap;
use crate::sorted::SortFew;

/// Maximum depth of the tree; deeper nodes are left out.
const DEPTH: usize = 64;

/// A node of the tree. It stands for the objects of a type directly below the parent node, or for
/// roots.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapTreeNode {
    /// Name of the type, the kind of roots, or the static variable.
    pub name: HeapName,
    /// Kind of the node; in JSON `root`, `static` or `type`.
    pub kind: HeapTreeKind,
    /// Module of the type; empty if it is unknown.
    pub module: HeapName,
    /// Number of roots or objects. Objects below others of the same type, as in a linked list,
    /// belong to the same node and count, too.
    pub count: u64,
    /// Size of the objects themselves, in bytes.
    pub bytes: u64,
    /// Bytes that the node keeps alive, including its own.
    pub retained_bytes: u64,
    /// Number of objects that the node keeps alive, including its own.
    pub retained_count: u64,
    /// Retained bytes in percent of all reachable bytes.
    pub percent: f64,
    /// Nodes that the node keeps alive directly, most retained bytes first.
    pub children: Vec<HeapTreeNode>,
}

/// Kind of a node of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeapTreeKind {
    /// The root of the tree, above all reachable objects.
    All,
    /// All roots of a kind.
    Root(RootKind),
    /// A static variable.
    Static,
    /// Objects of a type.
    Type,
}

impl HeapTreeKind {
    /// Returns the name of the kind in JSON documents.
    pub fn name(self) -> &'static str {
        match self {
            HeapTreeKind::All | HeapTreeKind::Root(_) => "root",
            HeapTreeKind::Static => "static",
            HeapTreeKind::Type => "type",
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for HeapTreeKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Label {
    All,
    Kind(RootKind),
    /// A static variable, by the index of its name, and the type of its object.
    Static(u32, u32),
    Type(u32),
}

/// Nodes of the dominator tree that become one node of this tree, and their totals.
#[derive(Debug, Default)]
struct Group {
    /// Indices in `Tree::order`.
    places: Vec<usize>,
    retained: u64,
    /// Number of objects that the nodes keep alive.
    objects: u64,
}

impl HeapTreeNode {
    /// Computes the tree of a dump. Its root stands for everything reachable. Nodes that retain
    /// less than `min_percent` of that are left out.
    pub fn from_dump(dump: &HeapDump, retained: &Retained, min_percent: f64) -> HeapTreeNode {
        let order: Vec<(HeapNode, usize)> = retained.walk().collect();
        let all = retained.bytes(HeapNode::Root);
        let min = all as f64 * min_percent.max(0.0) / 100.0;
        let statics = dump.static_names.iter().map(|name| HeapName::known(&**name)).collect();
        let none = HeapName::known("");
        let tree = Tree { dump, retained, order, all, min, statics, none };
        let objects = tree.objects(HeapNode::Root, 0, tree.order.len());
        tree.grown(Label::All, Group { places: vec![0], retained: all, objects }, 0)
    }
}

struct Tree<'t> {
    dump: &'t HeapDump,
    retained: &'t Retained,
    order: Vec<(HeapNode, usize)>,
    all: u64,
    min: f64,
    /// Names of static variables. Nodes share them, because there may be as many nodes as objects.
    statics: Vec<HeapName>,
    none: HeapName,
}

impl Tree<'_> {
    fn label(&self, node: HeapNode) -> Label {
        match node {
            HeapNode::Root => Label::All,
            HeapNode::Kind(kind) => Label::Kind(kind),
            HeapNode::Static(root) => {
                let root = self.dump.roots.get(root as usize);
                root.map_or(Label::All, |root| {
                    Label::Static(root.name, self.dump.type_of(root.object))
                })
            }
            HeapNode::Object(object) => Label::Type(self.dump.type_of(object)),
        }
    }

    /// Builds the node of a group, with the nodes below. The recursion is at most [`DEPTH`] deep.
    fn grown(&self, label: Label, group: Group, depth: usize) -> HeapTreeNode {
        let mut below: HashMap<Label, Group> = HashMap::default();
        let (mut count, mut bytes) = (0u64, 0u64);
        let mut open = group.places;
        while let Some(place) = open.pop() {
            let Some((node, end)) = self.order.get(place).copied() else { continue };
            count = count.saturating_add(1);
            if let HeapNode::Object(object) = node {
                bytes = bytes.saturating_add(self.dump.bytes_of(object));
            }
            let mut child = place.saturating_add(1);
            while child < end {
                let Some((node, next)) = self.order.get(child).copied() else { break };
                let of_child = self.label(node);
                if of_child == label {
                    // A list of any length is one level.
                    open.push(child);
                } else {
                    let group = below.entry(of_child).or_default();
                    group.places.push(child);
                    group.retained = group.retained.saturating_add(self.retained.bytes(node));
                    group.objects = group.objects.saturating_add(self.objects(node, child, next));
                }
                child = next.max(child.saturating_add(1));
            }
        }
        let mut below: Vec<(Label, Group)> = below
            .into_iter()
            .filter(|(_, group)| {
                depth < DEPTH && group.retained > 0 && group.retained as f64 >= self.min
            })
            .collect();
        below.sort_few_by(|a, b| b.1.retained.cmp(&a.1.retained).then(a.0.cmp(&b.0)));
        let children = below
            .into_iter()
            .map(|(label, group)| self.grown(label, group, depth.saturating_add(1)))
            .collect();
        let (name, module, kind) = self.name(label);
        HeapTreeNode {
            name,
            kind,
            module,
            count,
            bytes,
            retained_bytes: group.retained,
            retained_count: group.objects,
            percent: percent(group.retained, self.all),
            children,
        }
    }

    /// Returns the number of objects in the range of positions that a node dominates.
    fn objects(&self, node: HeapNode, place: usize, end: usize) -> u64 {
        let nodes = end.saturating_sub(place) as u64;
        match node {
            HeapNode::Object(_) => nodes,
            HeapNode::Static(_) => nodes.saturating_sub(1),
            HeapNode::Root | HeapNode::Kind(_) => {
                let nodes = self.order.get(place..end).unwrap_or_default();
                nodes.iter().filter(|(node, _)| matches!(node, HeapNode::Object(_))).count() as u64
            }
        }
    }

    /// Returns the name, the module and the kind of a node.
    fn name(&self, label: Label) -> (HeapName, HeapName, HeapTreeKind) {
        let none = || self.none.clone();
        match label {
            Label::All => (HeapName::known("roots"), none(), HeapTreeKind::All),
            Label::Kind(kind) => {
                (HeapName::known(kind.to_string()), none(), HeapTreeKind::Root(kind))
            }
            Label::Static(name, _) => {
                let name = self.statics.get(name as usize).cloned();
                (name.unwrap_or_else(none), none(), HeapTreeKind::Static)
            }
            Label::Type(at) => match self.dump.types().get(at as usize) {
                Some(row) => (row.name.clone(), row.module.clone(), HeapTreeKind::Type),
                None => (HeapName::unknown("?"), none(), HeapTreeKind::Type),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dump::{HeapType, Root};
    use super::super::paths::HeapPaths;
    use super::*;

    /// Makes a dump of a linked list whose objects have several types.
    fn list(count: u32, types: u32) -> HeapDump {
        let named = |at: u32| HeapType {
            name: HeapName::known(format!("N.T{at}")),
            stored_name: format!("N.T{at}"),
            module: HeapName::known(""),
            module_path: Default::default(),
        };
        HeapDump {
            addresses: (0..u64::from(count)).map(|at| 0x1000 + at * 24).collect(),
            bytes: vec![24; count as usize],
            types: (0..count).map(|at| at % types).collect(),
            starts: (0..count).chain([count - 1]).collect(),
            targets: (1..count).collect(),
            type_rows: (0..types).map(named).collect(),
            roots: vec![Root { object: 0, kind: RootKind::Stack, name: u32::MAX }],
            ..HeapDump::default()
        }
    }

    #[test]
    fn a_list_of_a_million_objects_is_one_row_of_a_tree_and_one_path() {
        let dump = list(1_000_000, 1);
        let retained = Retained::from_dump(&dump);
        assert_eq!(retained.bytes(HeapNode::Object(0)), 24_000_000);
        let tree = HeapTreeNode::from_dump(&dump, &retained, 1.0);
        let row = &tree.children[0].children[0];
        assert_eq!((row.count, row.bytes, row.children.len()), (1_000_000, 24_000_000, 0));
        let paths = HeapPaths::from_dump(&dump);
        assert_eq!(paths.path(999_999).unwrap().objects.len(), 1_000_000);
        let groups = paths.groups(&dump, &retained, |_| true).groups;
        assert_eq!((groups.len(), groups[0].count, groups[0].steps.len()), (1, 1_000_000, 1));
    }

    #[test]
    fn a_list_of_two_types_in_turn_is_as_deep_as_is_shown() {
        let dump = list(100_000, 2);
        let retained = Retained::from_dump(&dump);
        let (mut depth, tree) = (0, HeapTreeNode::from_dump(&dump, &retained, 0.0));
        let mut node = &tree;
        while let Some(below) = node.children.first() {
            (depth, node) = (depth + 1, below);
        }
        assert_eq!(depth, DEPTH);
        let paths = HeapPaths::from_dump(&dump);
        let groups = paths.groups(&dump, &retained, |object| object == 99_999).groups;
        assert_eq!((groups[0].steps.len(), groups[0].steps_left_out), (64, 100_000 - 64));
        let names: Vec<&str> = groups[0].steps.iter().map(|step| &*step.type_name).collect();
        assert_eq!((names[0], names[1], names[62], names[63]), ("N.T0", "N.T1", "N.T0", "N.T1"));
        assert_eq!(groups[0].root_kind, RootKind::Stack);
        // Each object has a path of its own, 50,000 steps long on average.
        let all = paths.groups(&dump, &retained, |_| true);
        assert!(all.groups.len() > 1000 && all.left_out > 10_000, "{}", all.groups.len());
        assert_eq!(all.groups.len() as u64 + all.left_out, 100_000);
    }
}
