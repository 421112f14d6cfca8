//! Converts a heap dump to stacks, for formats that show stacks: [`Kind::Heap`].
//!
//! Each stack is a path down the dominator tree, by type: from a root, through the objects that it
//! keeps alive, to the counted objects. So the weight below a frame is the memory that the frame's
//! objects retain.

use super::heap_dump::of_heap_dump;
use super::{Convert, ConvertOptions};
use crate::heap::{HeapName, HeapTreeKind, HeapTreeNode, Retained};
use crate::model::{
    Frame, FrameHandle, FrameKind, Kind, Mode, Profile, ProfileKey, Resolved, StackHandle,
    ThreadHandle, Totals,
};
use crate::numbering::Numbering;

/// Returns the converter itself, or a wrapper that passes a heap dump to it instead of samples if
/// the options ask for [`Kind::Heap`].
pub(super) fn or_samples<'o>(
    options: &ConvertOptions,
    converter: impl Convert + 'o,
) -> Box<dyn Convert + 'o> {
    if !options.kinds.contains(&Kind::Heap) {
        return Box::new(converter);
    }
    of_heap_dump(options, move |dump, resolved| {
        let tree = HeapTreeNode::from_dump(&dump, &Retained::from_dump(&dump), 0.0);
        let mut paths = Paths { nanos: dump.start_nanos, ..Paths::default() };
        paths.walk(&tree);
        let Paths { frames, stacks, profile, .. } = paths;
        let of_paths = Resolved::of_things(resolved.model(), &profile, frames, &stacks);
        Box::new(converter).finish(&of_paths, &profile)
    })
}

/// Makes the frame that stands for objects of a type.
fn of_type(name: &str, module: &str) -> Frame {
    let front = name.split('<').next().unwrap_or(name);
    let short = front.rfind('.').and_then(|dot| name.get(dot.saturating_add(1)..)).unwrap_or(name);
    Frame {
        module: module.to_owned(),
        method: short.to_owned(),
        ..Frame::group(name.to_owned(), FrameKind::Managed)
    }
}

/// The stacks that the paths of the tree become.
#[derive(Default)]
struct Paths {
    nanos: i64,
    frames: Vec<Frame>,
    places: Numbering<(HeapTreeKind, HeapName, HeapName)>,
    /// Frames of each stack, innermost first.
    stacks: Vec<Vec<FrameHandle>>,
    profile: Profile,
}

impl Paths {
    fn walk(&mut self, tree: &HeapTreeNode) {
        // Paths are never longer than the depth of the tree, which is limited.
        let mut open = vec![(tree, Vec::new())];
        while let Some((node, mut path)) = open.pop() {
            path.insert(0, self.frame(node));
            let below = |part: fn(&HeapTreeNode) -> u64| {
                node.children.iter().fold(0u64, |sum, child| sum.saturating_add(part(child)))
            };
            let bytes = node.retained_bytes.saturating_sub(below(|child| child.retained_bytes));
            let count = node.retained_count.saturating_sub(below(|child| child.retained_count));
            open.extend(node.children.iter().rev().map(|child| (child, path.clone())));
            if count > 0 {
                let key = ProfileKey {
                    kind: Kind::Heap,
                    thread: ThreadHandle::next(0),
                    stack: StackHandle::next(self.stacks.len()),
                    mode: Mode::Unknown,
                    label: None,
                    endpoint: None,
                };
                self.stacks.push(path);
                self.profile.add_totals(key, &Totals::at(self.nanos, count, bytes));
            }
        }
    }

    fn frame(&mut self, node: &HeapTreeNode) -> FrameHandle {
        let key = (node.kind, node.name.clone(), node.module.clone());
        let (place, is_new) = self.places.add(key);
        if is_new {
            self.frames.push(match node.kind {
                HeapTreeKind::Type => of_type(&node.name, &node.module),
                HeapTreeKind::Static => {
                    Frame::group(format!("static {}", node.name), FrameKind::Unknown)
                }
                _ => Frame::group(node.name.to_string(), FrameKind::Unknown),
            });
        }
        FrameHandle(place)
    }
}
