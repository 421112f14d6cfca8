//! The command line of `nettrace diff`.

use super::input::trace_file;
use super::samples::percent_up_to;
use super::{FormArg, ReadArgs, RowsArg, SampleArgs};
use clap::{Args, ValueEnum};
#[cfg(feature = "page")]
use nettrace_analysis::diff::Condition;
use std::path::PathBuf;
// A build without the page compares nothing.
#[cfg(not(feature = "page"))]
use std::string::String as Condition;

const DIFF_EXAMPLES: &str = "\
One run of a program differs from the next, and one trace does not show how much. With two or more traces on each side (three or five \
are better), runs are compared with runs: a change is listed if it is beyond what runs of one program differ. With one trace on a \
side, differences are listed by weight, and those that are large by experience are marked. `docs/diff.md` has the tests, how many \
runs show which change, and the grammar of --fail-if.

Conditions of --fail-if, which may be repeated:
  cpu>5%                  more running time, by over 5 %, and it is a finding
  method(*Parse*)>20%     the same for methods; also method.total(NAME),
                          type(NAME), exception(NAME), counter(NAME)
  gc.pause.p99>10ms       the new value is over 10 ms, whatever the old is;
                          also gc.pause.max, gc.count, alloc, exceptions,
                          contention, contention.count, waits, open_waits,
                          deadlocks, jit, jit.methods, startup.program,
                          startup.first_request
  alloc>+1MB              it grew by over 1 MB

Exit codes besides those of all commands:
  5  a condition of --fail-if holds, or the traces cannot show
     whether it does (--allow-missing lets that pass)

Examples:
  nettrace diff before.nettrace after.nettrace
  nettrace diff before.nettrace after.nettrace -o diff.html
  nettrace diff --old main-1.nettrace main-2.nettrace \\
      --new pr-1.nettrace pr-2.nettrace --per request
  nettrace diff trace.nettrace@1s..2s trace.nettrace@5s..6s
  nettrace diff old-benchmarks new-benchmarks
  nettrace gate --old main-*.nettrace --new pr-*.nettrace \\
      --fail-if 'cpu>5%' --fail-if 'gc.pause.p99>10ms' --format markdown";

#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
#[command(
    override_usage = "nettrace diff <OLD> <NEW> [OPTIONS]\n       nettrace diff --old <FILE>... --new <FILE>... [OPTIONS]"
)]
pub(crate) struct DiffArgs {
    /// The trace from before the change, or FILE@1s..2s for a part of it, or a folder, whose traces
    /// are compared with those of the same benchmark or name in NEW
    #[arg(value_name = "OLD", requires = "new_file", conflicts_with_all = ["old", "new"])]
    #[arg(value_parser = trace_file())]
    pub(crate) old_file: Option<PathBuf>,

    /// The trace from after the change
    #[arg(value_name = "NEW", value_parser = trace_file())]
    pub(crate) new_file: Option<PathBuf>,

    /// Traces from before the change, if there are several
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "new")]
    pub(crate) old: Vec<PathBuf>,

    /// Traces from after the change
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "old")]
    pub(crate) new: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// What totals are divided by. Default: what fits the traces. Whole runs are compared by run,
    /// benchmarks by operation, servers by request, all else by second
    #[arg(long, value_enum, value_name = "UNIT")]
    pub(crate) per: Option<PerArg>,

    /// Changes of less than this percentage are no findings
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = |text: &str| percent_up_to(1000.0, text))]
    pub(crate) threshold: f64,

    /// Fail with exit code 5 if this condition holds, such as cpu>5% or gc.pause.p99>10ms
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    /// Let a condition pass that the traces cannot show: no data, too few runs, lost events
    #[arg(long)]
    pub(crate) allow_missing: bool,

    /// Also list changes that are no findings
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) rows: RowsArg,

    #[command(flatten)]
    pub(crate) form: FormArg,

    /// Output format: text for people, markdown for a job's summary, junit for build servers
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, conflicts_with = "json")]
    pub(crate) format: DiffFormat,

    /// Write a page with the rows and a differential flame graph
    #[arg(long, short = 'o', value_name = "FILE.html", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing output file
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerArg {
    Run,
    Second,
    Request,
    Operation,
    Sample,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    #[default]
    Text,
    Markdown,
    Junit,
}
