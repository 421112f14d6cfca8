//! What holds most of a heap: static variables and other roots, and the collection or event
//! below them.

use super::kinds::RootKind;
use super::name::HeapName;
use super::tree::{HeapTreeKind, HeapTreeNode};
use crate::model::{is_framework_module, is_framework_name};
use crate::sorted::SortFew;
use std::fmt;

/// Minimum percentage of everything reachable for a holder to be listed.
pub(super) const MIN_PERCENT: f64 = 5.0;
/// Maximum number of holders.
const MAX_HOLDERS: usize = 3;
/// Minimum share of a node's retained bytes in its largest child for the walk to go on.
const MIN_SHARE: f64 = 0.5;
/// Minimum number of elements of a collection.
const MIN_ELEMENTS: u64 = 2;

/// What a part of a heap hangs on. It is written as text: `static s_items`, `stack`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeldBy {
    /// No single root.
    SeveralRoots,
    /// A root of this kind.
    Root(RootKind),
    /// The static variable of this name.
    Static(HeapName),
}

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeldBy::SeveralRoots => f.write_str("several roots"),
            HeldBy::Root(kind) => write!(f, "{kind}"),
            HeldBy::Static(name) => write!(f, "static {name}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for HeldBy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What holds a part of a heap.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapHolder {
    /// The static variable or kind of roots: `static s_items`, `stack`; `several roots` if no
    /// single one holds it.
    #[cfg_attr(feature = "serde", serde(rename = "name"))]
    pub held_by: HeldBy,
    /// Bytes that it keeps alive.
    pub retained_bytes: u64,
    /// Percentage of everything reachable that it keeps alive.
    pub percent: f64,
    /// Type of the collection or event; otherwise type of the held object.
    pub type_name: String,
    /// The object of the program's own that has it, if that is not what the root holds.
    pub through: Option<String>,
    /// Number of elements of the collection, or of subscribers of the event; 0 if it is none.
    pub elements: u64,
    /// The type of most elements; of an event, that of its subscribers.
    pub element_type: String,
    /// Number of objects of that type below the elements.
    pub element_type_count: u64,
    /// Bytes that these keep alive.
    pub element_bytes: u64,
    /// Whether it is an event: a delegate of delegates.
    pub is_event: bool,
}

impl HeapHolder {
    /// Returns what holds most, by a dominator tree.
    pub(super) fn all(tree: &HeapTreeNode) -> Vec<HeapHolder> {
        let mut roots: Vec<(HeldBy, &HeapTreeNode, Option<&HeapTreeNode>)> = Vec::new();
        for below in &tree.children {
            let HeapTreeKind::Root(kind) = below.kind else {
                roots.push((HeldBy::SeveralRoots, below, Some(below)));
                continue;
            };
            for held in &below.children {
                roots.push(match held.kind {
                    HeapTreeKind::Static => {
                        (HeldBy::Static(held.name.clone()), held, held.children.first())
                    }
                    _ => (HeldBy::Root(kind), held, Some(held)),
                });
            }
        }
        let mut holders: Vec<HeapHolder> = roots
            .into_iter()
            .filter(|(_, node, _)| node.percent >= MIN_PERCENT && node.retained_bytes > 0)
            .map(|(held_by, node, first)| HeapHolder::from_tree(held_by, node, first))
            .collect();
        holders.sort_few_by(|a, b| {
            let by_name = || a.held_by.to_string().cmp(&b.held_by.to_string());
            b.retained_bytes.cmp(&a.retained_bytes).then_with(by_name)
        });
        holders.truncate(MAX_HOLDERS);
        holders
    }

    fn from_tree(held_by: HeldBy, root: &HeapTreeNode, first: Option<&HeapTreeNode>) -> HeapHolder {
        let mut holder = HeapHolder {
            held_by,
            retained_bytes: root.retained_bytes,
            percent: root.percent,
            type_name: first.map_or_else(String::new, |first| first.name.to_string()),
            through: None,
            elements: 0,
            element_type: String::new(),
            element_type_count: 0,
            element_bytes: 0,
            is_event: false,
        };
        // Down to the first level with several objects.
        let (mut node, mut collection, mut own) = (first, first, None);
        while let Some(here) = node {
            if here.count >= MIN_ELEMENTS {
                holder.elements(collection, here);
                break;
            }
            if !is_storage(&here.name) {
                collection = Some(here);
            }
            if is_own(&here.name, &here.module) {
                own = Some(here);
            }
            let least = here.retained_bytes as f64 * MIN_SHARE;
            node = here.children.first().filter(|child| child.retained_bytes as f64 >= least);
        }
        if holder.elements > 0 {
            holder.type_name = collection.map_or(holder.type_name, |it| it.name.to_string());
        }
        holder.through = own.map(|own| own.name.to_string()).filter(|own| *own != holder.type_name);
        holder
    }

    /// Descends to the elements of a collection. `here`: the objects below it.
    fn elements(&mut self, collection: Option<&HeapTreeNode>, here: &HeapTreeNode) {
        self.elements = here.count;
        self.is_event = collection.is_some_and(|it| it.name == here.name && it.count == 1);
        // Nodes and delegates are no elements themselves, what they hold is.
        let inner = here.children.first().filter(|_| self.is_event || is_storage(&here.name));
        let element = inner.unwrap_or(here);
        self.element_type = element.name.to_string();
        self.element_type_count = element.count;
        self.element_bytes = element.retained_bytes;
    }
}

/// Returns whether a type is the program's own, by its module or else by its namespace.
pub(super) fn is_own(name: &HeapName, module: &HeapName) -> bool {
    let is_plain = name.contains(['[', '<']) || **name == *"Free" || !name.is_known();
    let is_of_framework =
        is_framework_name(name) || module.is_known() && is_framework_module(module);
    !is_plain && !is_of_framework
}

/// Returns whether a type only stores the elements of a collection.
fn is_storage(name: &str) -> bool {
    let base = name.split(['<', '[']).next().unwrap_or(name);
    let base = base.rsplit('.').next().unwrap_or(base);
    name.ends_with("[]") || ["Entry", "Node", "Tables", "VolatileNode", "Bucket"].contains(&base)
}
