//! The traces that are measured, made when they are first asked for.

use std::io;
use std::path::{Path, PathBuf};

use crate::make::repeat::Base;
use crate::make::{Synthetic, Written, repeat};

/// A kind of trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Case {
    /// One header shape.
    Uniform,
    /// Shapes that cannot be predicted.
    Mixed,
    /// Large payloads of text.
    Fat,
    /// Version 6, uncompressed.
    V6,
    /// Version 6, compressed as one-collect writes.
    V6Compressed,
    /// The real mix: what .NET 10 wrote of a program of many kinds of events.
    Net10,
    /// The same of .NET Core 3.1.
    Net31,
    /// Large payloads of a real program: metrics of .NET 10, 1,885 bytes an event.
    Metrics,
    /// For conversions: CPU samples of .NET 10, and the list of methods at the end of
    /// each copy.
    Samples,
    /// For conversions: events of the runtime of .NET 10, with stacks, and hardly any CPU
    /// sample.
    Clr,
}

impl Case {
    /// All that reading is measured with.
    pub const ALL: [Case; 8] = [
        Case::Uniform,
        Case::Mixed,
        Case::Fat,
        Case::Metrics,
        Case::V6,
        Case::V6Compressed,
        Case::Net10,
        Case::Net31,
    ];

    /// What conversions are measured with.
    pub const CONVERTED: [Case; 2] = [Case::Samples, Case::Clr];

    /// The two halves of the real mix.
    pub const REAL_MIX: [Case; 2] = [Case::Net10, Case::Net31];

    /// A name for tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Case::Uniform => "uniform",
            Case::Mixed => "mixed",
            Case::Fat => "fat",
            Case::V6 => "v6",
            Case::V6Compressed => "v6c",
            Case::Net10 => "net10-all",
            Case::Net31 => "net3.1-all",
            Case::Metrics => "net10-metrics",
            Case::Samples => "net10-samples",
            Case::Clr => "net10-clr",
        }
    }

    fn source(self) -> Result<Synthetic, &'static str> {
        match self {
            Case::Uniform => Ok(Synthetic::Uniform),
            Case::Mixed => Ok(Synthetic::Mixed),
            Case::Fat => Ok(Synthetic::Fat),
            Case::V6 => Ok(Synthetic::V6),
            Case::V6Compressed => Ok(Synthetic::V6Compressed),
            Case::Net10 => Err("net10-linux-x64/all.nettrace"),
            Case::Net31 => Err("net3.1-linux-x64/all.nettrace"),
            Case::Metrics => Err("net10-linux-x64/metrics.nettrace"),
            Case::Samples => Err("net10-linux-x64/samples-only.nettrace"),
            Case::Clr => Err("net10-linux-x64/clr.nettrace"),
        }
    }

    /// Writes a trace of at least `bytes` bytes.
    ///
    /// # Errors
    /// What `out` reports.
    ///
    /// # Panics
    /// If a trace of the repository is not there.
    pub fn write(self, out: impl io::Write, bytes: u64) -> io::Result<Written> {
        match self.source() {
            Ok(synthetic) => synthetic.write(out, bytes),
            Err(name) => {
                let trace =
                    nettrace_testdata::corpus::trace(name).expect("it is in the repository");
                repeat::write(out, &Base::new(&trace.bytes())?, bytes)
            }
        }
    }

    /// A trace of at least `bytes` bytes in memory.
    ///
    /// # Panics
    /// As [`Case::write`].
    pub fn bytes(self, bytes: u64) -> Vec<u8> {
        let mut stream = Vec::new();
        self.write(&mut stream, bytes).expect("writing to memory does not fail");
        stream
    }

    /// A trace of at least `bytes` bytes in `folder`, made anew.
    ///
    /// # Errors
    /// What the file system reports.
    pub fn file(self, folder: &Path, bytes: u64) -> io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}-{bytes}.nettrace", self.name()));
        let file = io::BufWriter::with_capacity(1 << 20, std::fs::File::create(&path)?);
        self.write(file, bytes)?;
        Ok(path)
    }
}
