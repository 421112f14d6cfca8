//! By what a block of version 6 is known: nothing marks its beginning, but content of each kind begins in
//! a way of its own (FORMAT.md 13.3).

use super::{event, label_list, metadata, sequence_point, stack, thread, trace};
use crate::frame::BlockKind;

/// So much of a content is looked at.
pub(crate) const SIGNS: usize = 40;
/// Larger blocks are possible, and not written; a length that damage made is mostly larger.
const MOST_BYTES: u32 = 4 << 20;
/// The same for what is not events.
pub(crate) const MOST_OTHER_BYTES: u32 = 1 << 20;

/// Whether content of `len` bytes that begins with `content` (all of it, or its first [`SIGNS`] bytes) may
/// be that of a block of the kind. Of an unknown kind nothing can be said: `false`.
pub(crate) fn begins_as(kind: BlockKind, len: u32, content: &[u8]) -> bool {
    if len > if kind == BlockKind::Event { MOST_BYTES } else { MOST_OTHER_BYTES } {
        return false;
    }
    let len = len as usize;
    match kind {
        BlockKind::Event => event::begins(len, content),
        BlockKind::Metadata => metadata::begins_v6(len, content),
        BlockKind::SequencePoint => sequence_point::begins_v6(len, content),
        BlockKind::Stack => stack::begins(len, content),
        BlockKind::Thread => thread::begins(len, content),
        BlockKind::RemoveThread => sequence_point::begins_removals(len, content),
        BlockKind::LabelList => label_list::begins(len, content),
        BlockKind::Trace => trace::begins_v6(content),
        BlockKind::Unknown(_) => false,
    }
}
