//! Traces of any size, written block by block in bounded memory.
//!
//! | what | events | bytes a header / a payload |
//! |---|---|---|
//! | `uniform` | one thread, flags 0x81 on every row but a block's first | 4.0 / 14.8 |
//! | `mixed` | 16 threads, 32 types, shapes that cannot be predicted | 4.4 / 12.5 |
//! | `fat` | one thread, 85 % like MethodDCEndVerbose with flags 0x80 | 5.1 / 251 |
//! | `v6` | version 6, uncompressed rows | 52 / 12.5 |
//! | `v6c` | version 6, compressed as one-collect writes: all flags, always | 11.1 / 12.5 |
//! | `heap` | a dump of the managed heap: objects, three references each | 30 / 64,000 |
//! | `heap-far` | the same, but all references that are no tree lead anywhere | 30 / 64,000 |
//! | `stacks`, `methods`, `threads`, `threads-v6`, `types`, `providers` | very many different ones, see [`scale`] | |
//! | a file | its events again and again, later and later | as they are |
//!
//! All are valid: complete, no event missing by the numbers, no thread restarted, none
//! out of order beyond what sequence points and sorted marks put right.

pub mod fat;
pub mod heap;
pub mod mixed;
pub mod repeat;
pub mod rows;
pub mod scale;
pub mod session;
pub mod stream;
pub mod uniform;

use std::io::{self, Write};

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Events.
    pub events: u64,
    /// Bytes of the stream.
    pub bytes: u64,
}

/// Synthetic traces by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synthetic {
    /// See [`uniform`].
    Uniform,
    /// See [`mixed`].
    Mixed,
    /// See [`fat`].
    Fat,
    /// [`mixed`] in version 6, uncompressed.
    V6,
    /// [`mixed`] in version 6, compressed.
    V6Compressed,
    /// See [`heap`].
    Heap,
    /// [`heap`], but references lead anywhere.
    HeapFar,
}

impl Synthetic {
    /// All of them.
    pub const ALL: [Synthetic; 7] = [
        Synthetic::Uniform,
        Synthetic::Mixed,
        Synthetic::Fat,
        Synthetic::V6,
        Synthetic::V6Compressed,
        Synthetic::Heap,
        Synthetic::HeapFar,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Synthetic::Uniform => "uniform",
            Synthetic::Mixed => "mixed",
            Synthetic::Fat => "fat",
            Synthetic::V6 => "v6",
            Synthetic::V6Compressed => "v6c",
            Synthetic::Heap => "heap",
            Synthetic::HeapFar => "heap-far",
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<Synthetic> {
        Synthetic::ALL.into_iter().find(|synthetic| synthetic.name() == name)
    }

    /// Writes a trace of at least `bytes` bytes, by less than a block and its stacks
    /// more.
    pub fn write(self, out: impl Write, bytes: u64) -> io::Result<Written> {
        match self {
            Synthetic::Uniform => session::write(out, &mut uniform::Uniform::new(), bytes),
            Synthetic::Mixed => session::write(out, &mut mixed::Mixed::v4(), bytes),
            Synthetic::Fat => session::write(out, &mut fat::Fat::new(), bytes),
            Synthetic::Heap => session::write(out, &mut heap::Heap::new(bytes, 10), bytes),
            Synthetic::HeapFar => session::write(out, &mut heap::Heap::new(bytes, 100), bytes),
            Synthetic::V6 => {
                session::write(out, &mut mixed::Mixed::v6(rows::Layout::Uncompressed), bytes)
            }
            Synthetic::V6Compressed => {
                session::write(out, &mut mixed::Mixed::v6(rows::Layout::Compressed), bytes)
            }
        }
    }
}
