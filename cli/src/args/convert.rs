//! The command line of `nettrace convert`.

use super::samples::KindArg;
use super::{ActivityArg, InputArgs, ReadArgs, SampleArgs, UnusedThreadArgs};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use nettrace_analysis::convert::FORMATS;
use std::path::PathBuf;
use unicode_width::UnicodeWidthStr;

const CONVERT_EXAMPLES: &str = "\
Without --format, the name of the output decides the format. Several formats or outputs are written in one pass. \
Without -o, the output is placed beside the trace.

Examples:
  nettrace convert trace.nettrace --format speedscope
  nettrace convert trace.nettrace.gz -o profile.pb.gz
  nettrace convert trace.nettrace -o a.speedscope.json -o b.folded \\
      --state managed
  nettrace convert trace.nettrace --format folded --kind alloc -o - \\
      | flamegraph.pl > alloc.svg
  nettrace convert dump.nettrace --kind heap -o retained.svg -o retained.pb.gz
  nettrace convert dump.nettrace -o dump.heapsnapshot";

#[derive(Debug, Args)]
#[command(override_usage = "nettrace convert [OPTIONS] <FILE>")]
#[command(after_help = format!("Formats:\n{}\n{CONVERT_EXAMPLES}", formats_for_help()))]
pub(crate) struct ConvertArgs {
    /// The trace: a file, plain, gzip or zstd, or - for standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    threads: UnusedThreadArgs,

    /// One of the formats below; may be repeated. `--format list` prints them
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// The file to write, or - for standard output; may be repeated
    #[arg(long, short = 'o', value_name = "OUT")]
    pub(crate) output: Vec<PathBuf>,

    /// What to count: cpu, alloc, exceptions, contention, waits, threads, off-cpu; heap
    /// (objects of a heap dump, each below the objects that alone keep it alive); or an
    /// event: GC/Start, GCStart, Provider/Name, Provider/ID, Provider/*
    #[arg(long, visible_alias = "event", value_name = "KIND")]
    pub(crate) kind: Vec<KindArg>,

    /// If --kind is an event: the field that holds its weight
    #[arg(long, value_name = "FIELD")]
    pub(crate) weight: Option<String>,

    /// Which heap dump of the trace, for heapsnapshot and --kind heap; default: the first of a
    /// collection of all generations
    #[arg(long, value_name = "N")]
    pub(crate) dump: Option<usize>,

    /// Put the thread at the root of each stack (folded, svg)
    #[arg(long)]
    pub(crate) by_thread: bool,

    #[command(flatten)]
    pub(crate) activity: ActivityArg,

    /// Show the pauses of the sampler too, about a thousand a second (chromium, perfetto,
    /// firefox)
    #[arg(long)]
    pub(crate) sampler_pauses: bool,

    /// What the numbers mean (folded)
    #[arg(long, value_enum, value_name = "UNIT", default_value_t)]
    pub(crate) unit: UnitArg,

    /// Put an apostrophe before texts that a spreadsheet would run as formulas (csv).
    /// Default: on if stdout or stderr is a terminal, off in scripts
    #[arg(long, value_name = "WHETHER", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) csv_safe: Option<bool>,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

impl ConvertArgs {
    /// Returns the trace to convert. Fails if none was given, which only `--format list` allows.
    pub(crate) fn input(&self) -> Result<InputArgs, Failure> {
        let file = self.file.clone();
        let file = file.ok_or_else(|| {
            Failure::usage("give the trace to convert: a file, or - for standard input")
        })?;
        Ok(InputArgs { file, read: self.read })
    }

    /// Returns the names of the events that `--kind` counts.
    pub(crate) fn event_names(&self) -> Vec<&str> {
        self.kind.iter().filter_map(KindArg::event_name).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitArg {
    /// The weight: nanoseconds, bytes, or whatever the kind is measured in
    #[default]
    Ns,
    Samples,
}

/// Returns the help on formats in lines of 78 columns: name and endings, and below them what opens
/// such a file.
fn formats_for_help() -> String {
    let mut text = String::new();
    for format in FORMATS {
        let endings = format.extensions.iter().map(|ending| format!(" .{ending}"));
        text.push_str(&format!("  {:<12}{}\n", format.name, endings.collect::<String>()));
        let mut line = " ".repeat(14);
        for word in format.about.split(' ') {
            if line.width() + 1 + word.width() > 78 {
                text.push_str(&line);
                text.push('\n');
                line = " ".repeat(14);
            }
            line.push_str(&format!(" {word}"));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}
