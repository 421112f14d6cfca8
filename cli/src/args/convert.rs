//! Other tools' formats.

use super::samples::KindArg;
use super::{InputArgs, ReadArgs, SampleArgs, SampleThreadArgs};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(crate) const CONVERT_EXAMPLES: &str = "\
The format is taken from the name of the output if --format does not say it. Several formats or outputs are \
written in one pass. Without -o the output lies beside the trace. Formats that show every event in its place \
in time (chromium, perfetto, firefox, ndjson) are read with one of the --threads.

Examples:
  nettrace convert trace.nettrace --format speedscope
  nettrace convert trace.nettrace.gz -o profile.pb.gz
  nettrace convert trace.nettrace -o a.speedscope.json -o b.folded --state managed
  nettrace convert trace.nettrace --format folded --kind alloc -o - | flamegraph.pl > alloc.svg
  nettrace convert dump.nettrace --kind heap -o retained.svg -o retained.pb.gz
  nettrace convert dump.nettrace -o dump.heapsnapshot";

/// Write a trace's stacks in another tool's format
#[derive(Debug, Args)]
#[command(override_usage = "nettrace convert [OPTIONS] <FILE>")]
pub(crate) struct ConvertArgs {
    /// The trace: a file, plain or gzip, or - for standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    pub(crate) threads: SampleThreadArgs,

    /// One of the formats below; may be given several times. `--format list` shows them too
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// Where to write, - for standard output; may be given several times
    #[arg(long, short = 'o', value_name = "OUT")]
    pub(crate) output: Vec<PathBuf>,

    /// What to count: cpu, alloc, exceptions, contention, waits, threads, off-cpu; heap: objects of a heap dump, on the
    /// path of those that alone keep them alive; or an event: GC/Start, GCStart, Provider/Name, Provider/ID
    #[arg(long, visible_alias = "event", value_name = "KIND")]
    pub(crate) kind: Vec<KindArg>,

    /// With an event as --kind: the field whose value is its weight
    #[arg(long, value_name = "FIELD")]
    pub(crate) weight: Option<String>,

    /// heapsnapshot, --kind heap: the dump of this number, from 1; without: the first
    #[arg(long, value_name = "N")]
    pub(crate) dump: Option<usize>,

    /// folded, svg: the thread in front of each stack
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// folded: what the numbers count
    #[arg(long, value_enum, value_name = "UNIT", default_value_t)]
    pub(crate) unit: UnitArg,

    /// Overwrite files that are there
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

impl ConvertArgs {
    /// Which trace. Only `--format list` needs none.
    pub(crate) fn input(&self) -> Result<InputArgs, Failure> {
        let file = self.file.clone();
        let file = file.ok_or_else(|| {
            Failure::Usage("give the trace to convert: a file, or - for standard input".to_owned())
        })?;
        Ok(InputArgs { file, read: self.read })
    }

    /// The events that are to be counted.
    pub(crate) fn event_names(&self) -> Vec<&str> {
        self.kind.iter().filter_map(KindArg::event_name).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitArg {
    /// Weight: nanoseconds, bytes, or whatever the kind has
    #[default]
    Ns,
    Samples,
}
