//! Holders of a heap: the static variables and other roots that keep most alive, each with the
//! collection or the event through which it does so.

use super::kinds::RootKind;
use super::name::HeapName;
use super::tree::{HeapTreeKind, HeapTreeNode};
use crate::model::{is_framework_module, is_framework_name};
use crate::sorted::SortFew;
use std::fmt;

/// Minimum of the bytes that a holder keeps alive to be listed, in percent of all reachable bytes.
pub(super) const MIN_PERCENT: f64 = 5.0;
/// Maximum number of holders that are listed.
const MAX_HOLDERS: usize = 3;
/// The search for a collection goes on below a node only if its largest child has at least this
/// share of its retained bytes.
const MIN_SHARE: f64 = 0.5;
/// Minimum number of objects that count as the elements of a collection.
const MIN_ELEMENTS: u64 = 2;

/// What holds a part of a heap. JSON documents have its text, such as `static s_items`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeldBy {
    /// Several roots hold the part together.
    SeveralRoots,
    /// Roots of this kind hold the part.
    Root(RootKind),
    /// The static variable with this name holds the part.
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

/// A holder: a root, and the collection or object through which it holds a part of a heap.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapHolder {
    /// The root that holds the part. Its text names a static variable or a kind of root, such as
    /// `static s_items` or `local variable`; it is `several roots` if no single root holds the
    /// part.
    #[cfg_attr(feature = "serde", serde(rename = "name"))]
    pub held_by: HeldBy,
    /// Bytes that the holder keeps alive.
    pub retained_bytes: u64,
    /// Bytes that the holder keeps alive, in percent of all reachable bytes.
    pub percent: f64,
    /// Type of the collection or event; if there is none, type of the object that the root holds.
    pub type_name: String,
    /// Innermost of the program's own types between root and elements; `None` if there is none in
    /// addition to `type_name`.
    pub through: Option<String>,
    /// Number of elements of the collection, or of subscribers of the event; 0 if there is neither.
    pub elements: u64,
    /// The most frequent type of the elements or subscribers.
    pub element_type: String,
    /// Number of objects of `element_type` among the elements.
    pub element_type_count: u64,
    /// Bytes that objects of `element_type` keep alive.
    pub element_bytes: u64,
    /// Whether the collection is an event: a delegate that holds delegates.
    pub is_event: bool,
}

impl HeapHolder {
    /// Returns the largest holders, by a dominator tree.
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
        // Goes down to the first level with several objects: the elements.
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

    /// Sets the fields about the elements. `here` is the node with the objects directly below the
    /// collection.
    fn elements(&mut self, collection: Option<&HeapTreeNode>, here: &HeapTreeNode) {
        self.elements = here.count;
        self.is_event = collection.is_some_and(|it| it.name == here.name && it.count == 1);
        // Nodes of a collection and delegates hold the actual elements.
        let inner = here.children.first().filter(|_| self.is_event || is_storage(&here.name));
        let element = inner.unwrap_or(here);
        self.element_type = element.name.to_string();
        self.element_type_count = element.count;
        self.element_bytes = element.retained_bytes;
    }
}

/// Returns whether a type is the program's own, judging by its module and its namespace.
pub(super) fn is_own(name: &HeapName, module: &HeapName) -> bool {
    let is_plain = name.contains(['[', '<']) || **name == *"Free" || !name.is_known();
    let is_of_framework =
        is_framework_name(name) || module.is_known() && is_framework_module(module);
    !is_plain && !is_of_framework
}

/// Returns whether objects of a type are internal storage of a collection, such as an array or a
/// node of a list.
fn is_storage(name: &str) -> bool {
    let base = name.split(['<', '[']).next().unwrap_or(name);
    let base = base.rsplit('.').next().unwrap_or(base);
    name.ends_with("[]") || ["Entry", "Node", "Tables", "VolatileNode", "Bucket"].contains(&base)
}
