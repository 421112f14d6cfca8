//! The format `.gcdump` of dotnet-gcdump, PerfView and Visual Studio: one snapshot of a heap.
//!
//! A file has types, nodes and references between nodes. Nodes are objects, and groups in square brackets, which
//! are kinds of roots. There is no name of a field or a thread, and no content of an object.
//!
//! | file | what |
//! |---|---|
//! | `container` | tags, types, labels and strings: from bytes to objects with fields |
//! | `file` | the fields of each kind of object, of versions 4 to 7, 9 and 10 |
//! | `record`, `nodes` | the nodes of the graph |
//! | `groups`, `type_names` | what names mean |
//! | `reading` | from a file to a [`HeapDump`](super::HeapDump) |
//! | `graph`, `writing` | from a dump to a file |

mod container;
mod error;
mod file;
mod graph;
mod groups;
mod nodes;
mod reading;
mod record;
mod type_names;
mod writing;

pub use error::{GcDumpError, GcDumpFault};

use super::dump::HeapDump;
use super::gcdump_about::GcDumpAbout;
use std::io::{self, Write};

impl HeapDump {
    /// Returns whether a file begins as a `.gcdump`. The first 64 bytes are enough.
    pub fn is_gcdump(beginning: &[u8]) -> bool {
        container::begins(beginning, file::DUMP)
    }

    /// Reads a whole `.gcdump`. The dump has no time, no pause and no number of a collection; generations
    /// only if the file lists segments, as PerfView's do. What the file says of itself is
    /// [`HeapDump::gcdump`].
    ///
    /// # Errors
    /// If the file is none, is cut off before its addresses, or contradicts itself.
    pub fn from_gcdump(file: &[u8]) -> Result<HeapDump, GcDumpError> {
        reading::read(file)
    }

    /// Writes the dump as a `.gcdump` of version 10, which PerfView, Visual Studio and dotnet-gcdump open.
    /// Reading it gives the same objects, references, types, roots and generations. It has neither the
    /// time nor the pause, nor [what the dump lacks](HeapDump::losses), and an object above 2 GiB has
    /// the size 2^31 − 1.
    ///
    /// # Errors
    /// If writing fails, or the heap has more objects or references than the format can hold, which are
    /// 2^31 − 1 bytes of them.
    pub fn write_gcdump(&self, out: impl Write) -> io::Result<()> {
        writing::write(self, out)
    }

    /// Returns what a `.gcdump` says of itself; `None` for a dump of a trace.
    pub fn gcdump(&self) -> Option<&GcDumpAbout> {
        self.gcdump.as_deref()
    }
}
