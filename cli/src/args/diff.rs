//! `nettrace diff`.

use super::{FormArg, ReadArgs, RowsArg, SampleArgs};
use clap::{Args, ValueEnum};
use nettrace_analysis::diff::Condition;
use std::path::PathBuf;

const DIFF_EXAMPLES: &str = "\
Each trace is cut into slices of its time. A change is beyond noise if a figure differs more between the sides than \
it varies within them; only such changes are listed, the heaviest first. Several traces of a side make smaller changes \
visible. `docs/diff.md` explains the columns, the statistics and the grammar of --fail-if.

Conditions of --fail-if, which may be repeated:
  cpu>5%                  more running time, by over 5 % and beyond noise
  method(*Parse*)>20%     the same for methods; also method.total(NAME),
                          type(NAME), exception(NAME), counter(NAME)
  gc.pause.p99>10ms       the new value is over 10 ms, whatever the old is;
                          also gc.pause.max, gc.count, alloc, exceptions,
                          contention, contention.count, waits, jit,
                          jit.methods, startup.program, startup.first_request
  alloc>+1MB              it grew by over 1 MB

Exit codes besides those of all commands:
  5  a condition of --fail-if holds

Examples:
  nettrace diff before.nettrace after.nettrace
  nettrace diff before.nettrace after.nettrace -o diff.html
  nettrace diff --old main-1.nettrace main-2.nettrace \\
      --new pr-1.nettrace pr-2.nettrace --per request
  nettrace gate main.nettrace pr.nettrace --fail-if 'cpu>5%' \\
      --fail-if 'gc.pause.p99>10ms'";

#[derive(Debug, Args)]
#[command(after_help = DIFF_EXAMPLES)]
#[command(
    override_usage = "nettrace diff <OLD> <NEW> [OPTIONS]\n       nettrace diff --old <FILE>... --new <FILE>... [OPTIONS]"
)]
pub(crate) struct DiffArgs {
    /// The trace from before the change
    #[arg(value_name = "OLD", requires = "new_file", conflicts_with_all = ["old", "new"])]
    pub(crate) old_file: Option<PathBuf>,

    /// The trace from after the change
    #[arg(value_name = "NEW")]
    pub(crate) new_file: Option<PathBuf>,

    /// Traces from before the change, if there are several
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "new")]
    pub(crate) old: Vec<PathBuf>,

    /// Traces from after the change
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "old")]
    pub(crate) new: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    /// What totals are divided by, so that traces of different length can be compared
    #[arg(long, value_enum, value_name = "UNIT", default_value_t)]
    pub(crate) per: PerArg,

    /// Fail with exit code 5 if this condition holds, such as cpu>5% or gc.pause.p99>10ms
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    /// Also list changes that are within noise
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) rows: RowsArg,

    #[command(flatten)]
    pub(crate) form: FormArg,

    /// Write a page with the rows and a differential flame graph
    #[arg(long, short = 'o', value_name = "FILE.html", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing output file
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerArg {
    #[default]
    Second,
    Request,
    Sample,
}
