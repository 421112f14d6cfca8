//! Stack blocks, which contain the stacks of events.

use crate::bytes::{Sink, count32};
use crate::layout::Content;

/// A stack block, with one layout for versions 4 to 6 ([FORMAT.md 6.8] and 7.5): u32 first id, u32
/// count, then the stacks.
///
/// ```
/// use nettrace_writer::StackBlock;
/// let content = StackBlock::new(1, 8, &[vec![], vec![0x1000, 0x2000]]).content();
/// assert_eq!(content.rows, [8..12, 12..32]);
/// ```
///
/// [FORMAT.md 6.8]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.8
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackBlock {
    /// Id of the first stack. Each following stack has the next id.
    pub first_id: u32,
    /// Number of stacks to write instead of the correct one.
    pub count: Option<u32>,
    /// The stacks.
    pub stacks: Vec<Stack>,
    /// Bytes after the last stack.
    pub trailing: Vec<u8>,
}

/// A stack: its size in bytes as a u32, then the addresses, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// The addresses in the form in which they are stored.
    pub bytes: Vec<u8>,
    /// Size to write instead of the length of `bytes`.
    pub size: Option<u32>,
}

impl Stack {
    /// Creates a stack of these addresses.
    pub fn new(pointer_size: i32, frames: &[u64]) -> Self {
        Stack { bytes: addresses(pointer_size, frames), size: None }
    }
}

impl StackBlock {
    /// Creates a block of stacks with correct counts and sizes.
    pub fn new<F: AsRef<[u64]>>(first_id: u32, pointer_size: i32, stacks: &[F]) -> Self {
        let stacks =
            stacks.iter().map(|frames| Stack::new(pointer_size, frames.as_ref())).collect();
        StackBlock { first_id, count: None, stacks, trailing: Vec::new() }
    }

    /// Returns the content of the block.
    pub fn content(&self) -> Content {
        let mut content = Content::default();
        let mut header = Sink::new();
        header.u32(self.first_id).u32(self.count.unwrap_or(count32(self.stacks.len())));
        content.bytes = header.into_vec();
        for stack in &self.stacks {
            let mut row = Sink::new();
            row.u32(stack.size.unwrap_or(count32(stack.bytes.len()))).raw(&stack.bytes);
            content.row(row.as_slice());
        }
        content.bytes.extend_from_slice(&self.trailing);
        content
    }
}

/// Returns addresses in the form in which they are stored. If `pointer_size` is 4, an address takes
/// its low 4 bytes, otherwise 8 bytes.
pub fn addresses(pointer_size: i32, frames: &[u64]) -> Vec<u8> {
    let mut sink = Sink::new();
    if pointer_size == 4 {
        sink.u32s(&frames.iter().map(|frame| *frame as u32).collect::<Vec<_>>());
    } else {
        sink.u64s(frames);
    }
    sink.into_vec()
}
