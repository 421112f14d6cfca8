//! Traces of any size, written block by block in bounded memory.
//!
//! | name | events | bytes a header / a payload |
//! |---|---|---|
//! | `uniform` | one thread, flags 0x81 on every row but a block's first | 4.0 / 14.8 |
//! | `mixed` | 16 threads, 32 types, shapes that cannot be predicted | 4.4 / 12.5 |
//! | `fat` | one thread, 85 % like MethodDCEndVerbose with flags 0x80 | 5.1 / 251 |
//! | `v6` | version 6, uncompressed rows | 52 / 12.5 |
//! | `v6c` | version 6, compressed as one-collect writes: all flags, always | 11.1 / 12.5 |
//! | `heap` | a dump of the managed heap: objects, three references each | 30 / 64,000 |
//! | `heap-far` | such a dump, in which all references outside of the tree lead anywhere | 30 / 64,000 |
//! | `stacks`, `methods`, `threads`, `threads-v6`, `types`, `providers` | very many different stacks, methods, …: see [`scale`] | |
//! | a file | the events of the file, repeated with later times | as in the file |
//!
//! All are valid: complete, without losses or restarted threads, and no event is out of order
//! beyond what sequence points and sorted marks allow.

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
use std::path::{Path, PathBuf};

/// Size of a trace that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Number of events.
    pub events: u64,
    /// Number of bytes of the stream.
    pub bytes: u64,
}

/// A kind of trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Case {
    /// Events with one header shape: see [`uniform`].
    Uniform,
    /// Events with header shapes that cannot be predicted: see [`mixed`].
    Mixed,
    /// Events with large payloads of text: see [`fat`].
    Fat,
    /// The events of [`mixed`] in version 6, uncompressed.
    V6,
    /// The events of [`mixed`] in version 6, compressed as one-collect writes them.
    V6Compressed,
    /// A heap dump: see [`heap`].
    Heap,
    /// A heap dump in which references lead anywhere.
    HeapFar,
    /// A recorded mix: events that .NET 10 wrote about a program that causes many kinds of events.
    Net10,
    /// A recorded mix of events of .NET Core 3.1.
    Net31,
    /// Recorded events with large payloads: metrics of .NET 10, 1,885 bytes an event.
    Metrics,
    /// For reports: requests of a web application, and the methods at the end of each copy.
    Web,
    /// For conversions: CPU samples of .NET 10, and the list of methods at the end of
    /// each copy.
    Samples,
    /// For conversions: events of the runtime of .NET 10, with stacks, and hardly any CPU samples.
    Clr,
}

impl Case {
    /// All cases, with their names for tables, files and the command line.
    pub const ALL: [(Case, &'static str); 13] = [
        (Case::Uniform, "uniform"),
        (Case::Mixed, "mixed"),
        (Case::Fat, "fat"),
        (Case::V6, "v6"),
        (Case::V6Compressed, "v6c"),
        (Case::Heap, "heap"),
        (Case::HeapFar, "heap-far"),
        (Case::Net10, "net10-all"),
        (Case::Net31, "net3.1-all"),
        (Case::Metrics, "net10-metrics"),
        (Case::Web, "web"),
        (Case::Samples, "net10-samples"),
        (Case::Clr, "net10-clr"),
    ];

    /// Cases with which reading is measured.
    pub const READ: [Case; 8] = [
        Case::Uniform,
        Case::Mixed,
        Case::Fat,
        Case::Metrics,
        Case::V6,
        Case::V6Compressed,
        Case::Net10,
        Case::Net31,
    ];

    /// Returns the name of the case.
    pub fn name(self) -> &'static str {
        Case::ALL.into_iter().find(|(case, _)| *case == self).map_or("", |(_, name)| name)
    }

    /// Returns the case with this name.
    pub fn of_name(name: &str) -> Option<Case> {
        Case::ALL.into_iter().find(|(_, known)| *known == name).map(|(case, _)| case)
    }

    /// Writes a trace of at least `bytes` bytes. It has at most one block with its stacks more than
    /// necessary.
    ///
    /// # Errors
    /// Errors of `out`.
    ///
    /// # Panics
    /// If a trace of the repository is missing.
    pub fn write(self, out: impl Write, bytes: u64) -> io::Result<Written> {
        let repeated = match self {
            Case::Uniform => return session::write(out, &mut uniform::Uniform::new(), bytes),
            Case::Mixed => return session::write(out, &mut mixed::Mixed::v4(), bytes),
            Case::Fat => return session::write(out, &mut fat::Fat::new(), bytes),
            Case::V6 => {
                let mut events = mixed::Mixed::v6(rows::Layout::Uncompressed);
                return session::write(out, &mut events, bytes);
            }
            Case::V6Compressed => {
                let mut events = mixed::Mixed::v6(rows::Layout::Compressed);
                return session::write(out, &mut events, bytes);
            }
            Case::Heap => return session::write(out, &mut heap::Heap::new(bytes, 10), bytes),
            Case::HeapFar => return session::write(out, &mut heap::Heap::new(bytes, 100), bytes),
            Case::Net10 => "net10-linux-x64/all.nettrace",
            Case::Net31 => "net3.1-linux-x64/all.nettrace",
            Case::Metrics => "net10-linux-x64/metrics.nettrace",
            Case::Web => "dt-diag",
            Case::Samples => "net10-linux-x64/samples-only.nettrace",
            Case::Clr => "net10-linux-x64/clr.nettrace",
        };
        let trace = match self {
            Case::Web => nettrace_testdata::corpus::web(repeated),
            _ => nettrace_testdata::corpus::trace(repeated),
        };
        repeat::write(out, &repeat::Base::new(&trace.bytes())?, bytes)
    }

    /// Returns a trace of at least `bytes` bytes in memory.
    ///
    /// # Panics
    /// On the conditions of [`Case::write`].
    pub fn bytes(self, bytes: u64) -> Vec<u8> {
        let mut stream = Vec::new();
        self.write(&mut stream, bytes).expect("writing to memory does not fail");
        stream
    }

    /// Writes a trace of at least `bytes` bytes to a file of `folder`, and replaces an existing
    /// one.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn file(self, folder: &Path, bytes: u64) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}-{bytes}.nettrace", self.name()));
        let file = io::BufWriter::with_capacity(1 << 20, std::fs::File::create(&path)?);
        self.write(file, bytes)?;
        Ok(path)
    }
}
