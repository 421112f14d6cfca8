//! What holds most of a heap, in a sentence each: static variables and other roots, and the
//! collection or event below them.

use super::report::HeapTypeRow;
use super::tree::HeapTreeNode;
use crate::model::Folding;
use crate::sorted::SortFew;
use nettrace_export::units::{bytes, count, counted};
use std::collections::BTreeSet;

/// What holds a smaller percentage of what is reachable is not listed.
const LEAST_PERCENT: f64 = 5.0;
/// Maximum number of holders, and of types of the program's own.
const MOST: usize = 3;
/// Of what a holder holds, the next thing on the way has at least this share.
const LEAST_SHARE: f64 = 0.5;
/// A collection has at least so many elements.
const LEAST_ELEMENTS: u64 = 2;

/// What holds a part of a heap.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapHolder {
    /// The static variable or kind of roots: `static s_items`, `stack`; `several roots` if no
    /// single one holds it.
    pub name: String,
    /// Bytes that it keeps alive.
    pub retained_bytes: u64,
    /// The same as a percentage of everything reachable.
    pub percent: f64,
    /// The type of what has the elements, or else of what is held.
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
    /// What holds most, from a dominator tree.
    pub(super) fn all(tree: &HeapTreeNode) -> Vec<HeapHolder> {
        let mut roots: Vec<(String, &HeapTreeNode, Option<&HeapTreeNode>)> = Vec::new();
        for kind in &tree.children {
            match kind.kind {
                "type" => roots.push(("several roots".to_owned(), kind, Some(kind))),
                _ if kind.children.iter().any(|child| child.kind == "static") => {
                    for variable in &kind.children {
                        let name = match variable.kind {
                            "static" => format!("static {}", variable.name),
                            _ => kind.name.to_string(),
                        };
                        let first = match variable.kind {
                            "static" => variable.children.first(),
                            _ => Some(variable),
                        };
                        roots.push((name, variable, first));
                    }
                }
                _ => roots.extend(
                    kind.children.iter().map(|held| (kind.name.to_string(), held, Some(held))),
                ),
            }
        }
        let mut holders: Vec<HeapHolder> = roots
            .into_iter()
            .filter(|(_, node, _)| node.percent >= LEAST_PERCENT && node.retained_bytes > 0)
            .map(|(name, node, first)| HeapHolder::of(name, node, first))
            .collect();
        holders.sort_few_by(|a, b| {
            b.retained_bytes.cmp(&a.retained_bytes).then_with(|| a.name.cmp(&b.name))
        });
        holders.truncate(MOST);
        holders
    }

    fn of(name: String, root: &HeapTreeNode, first: Option<&HeapTreeNode>) -> HeapHolder {
        let mut holder = HeapHolder {
            name,
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
            if here.count >= LEAST_ELEMENTS {
                holder.elements(collection, here);
                break;
            }
            if !is_storage(&here.name) {
                collection = Some(here);
            }
            if is_own(&here.name, &here.module) {
                own = Some(here);
            }
            let least = here.retained_bytes as f64 * LEAST_SHARE;
            node = here.children.first().filter(|child| child.retained_bytes as f64 >= least);
        }
        if holder.elements > 0 {
            holder.type_name = collection.map_or(holder.type_name, |it| it.name.to_string());
        }
        holder.through = own.map(|own| own.name.to_string()).filter(|own| *own != holder.type_name);
        holder
    }

    /// `here`: the objects below a collection.
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

    /// `a Dictionary<string, Order> of 20,000 entries`.
    pub(super) fn what(&self) -> String {
        let through =
            self.through.as_ref().map_or_else(String::new, |own| format!("{}, in it ", short(own)));
        let type_name = short(&self.type_name);
        let what = match self.elements {
            0 if type_name.is_empty() => return String::new(),
            0 => a(&type_name),
            elements if self.is_event => {
                let all = if self.element_type_count == elements { "all" } else { "most" };
                format!(
                    "an event with {}, {all} {} ({})",
                    counted(elements, "subscriber"),
                    short(&self.element_type),
                    bytes(self.element_bytes)
                )
            }
            elements if self.type_name == self.element_type => {
                format!("{} {type_name}", count(elements))
            }
            elements => format!("{} of {} entries", a(&type_name), count(elements)),
        };
        format!("{through}{what}")
    }

    /// `15.7 MiB of 22.1 MiB (71 %) are held by static ByKey: a Dictionary<string, Order> of
    /// 20,000 entries`.
    pub(super) fn text(&self, reachable_bytes: u64) -> String {
        let what = Some(self.what()).filter(|what| !what.is_empty());
        format!(
            "{} of {} ({:.0} %) are held by {}{}",
            bytes(self.retained_bytes),
            bytes(reachable_bytes),
            self.percent,
            self.name,
            what.map_or_else(String::new, |what| format!(": {what}"))
        )
    }
}

/// Whether a type is the program's own, by its module or else by its namespace.
pub(super) fn is_own(name: &str, module: &str) -> bool {
    // Where the trace does not name modules, they have numbers.
    let module = if module.starts_with("0x") { "" } else { module };
    let is_plain =
        name.contains(['[', '<']) || matches!(name, "?" | "Free") || name.starts_with("type 0x");
    !is_plain && !Folding::is_framework(name) && !Folding::is_framework(&format!("{module}!{name}"))
}

/// The sentence about the program's own types that keep most alive: `of your types 20,000 Order
/// keep 13.9 MiB alive, 3,000 View 5.9 MiB`; `None` if there are none.
pub(super) fn own_types(rows: &[HeapTypeRow], reachable: u64) -> Option<(u64, String)> {
    let least = (reachable as f64 * LEAST_PERCENT / 100.0).max(1.0);
    // A nested type may have no namespace, and a module no name.
    let framework: BTreeSet<&str> = rows
        .iter()
        .filter(|row| Folding::is_framework(&row.name))
        .map(|row| &*row.module)
        .collect();
    let mut own: Vec<_> = rows
        .iter()
        .filter(|row| is_own(&row.name, &row.module) && row.retained_bytes as f64 >= least)
        .filter(|row| !framework.contains(&*row.module))
        .collect();
    own.sort_few_by(|a, b| {
        b.retained_bytes.cmp(&a.retained_bytes).then_with(|| a.name.cmp(&b.name))
    });
    own.truncate(MOST);
    let most = own.first()?.retained_bytes;
    let mut texts = own.iter().enumerate().map(|(at, row)| {
        let alive = if at == 0 { " alive" } else { "" };
        let keep = match (at, row.count) {
            (0, 1) => "keeps ",
            (0, _) => "keep ",
            _ => "",
        };
        format!(
            "{} {} {keep}{}{alive}",
            count(row.count),
            short(&row.name),
            bytes(row.retained_bytes)
        )
    });
    let first = texts.next()?;
    let rest: String = texts.map(|text| format!(", {text}")).collect();
    Some((most, format!("of your types {first}{rest}")))
}

/// A type's name with its article.
fn a(name: &str) -> String {
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Whether a type only stores the elements of a collection.
fn is_storage(name: &str) -> bool {
    let base = name.split(['<', '[']).next().unwrap_or(name);
    let base = base.rsplit('.').next().unwrap_or(base);
    name.ends_with("[]") || ["Entry", "Node", "Tables", "VolatileNode", "Bucket"].contains(&base)
}

/// A type's name without namespaces: `Dictionary<string, Order>`.
pub(super) fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut word = String::new();
    for letter in name.chars() {
        match letter {
            '<' | '>' | ',' | '[' | ']' => {
                out.push_str(word.rsplit('.').next().unwrap_or(&word));
                word.clear();
                out.push(letter);
                if letter == ',' {
                    out.push(' ');
                }
            }
            _ => word.push(letter),
        }
    }
    out.push_str(word.rsplit('.').next().unwrap_or(&word));
    out
}
