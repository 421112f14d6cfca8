//! Reports.

use super::{ReadArgs, SampleArgs, SampleThreadArgs};
use clap::{Args, ValueEnum};
use regex::Regex;
use std::ffi::OsString;

const REPORT_EXAMPLES: &str = "
Times of topN, tree and threads are wall time between samples, not time on a processor: the runtime's sampler \
stops threads whether they run or wait. topN and tree leave out what is known to wait and say how much that was; \
--state waiting shows where, --state all counts both, --state managed leaves out native code, too.

topN, tree, threads and modules can be read with several --threads, the others with one.

Examples:
  nettrace report topN trace.nettrace
  nettrace report topN trace.nettrace --inclusive -n 50 --state managed
  nettrace report tree trace.nettrace --from 'Program.Main' --min 2
  nettrace report threads trace.nettrace --json | jq '.threads[0]'
  nettrace report gc trace.nettrace --timeline
  nettrace report activities trace.nettrace --id //1/5
  nettrace report counters trace.nettrace --format openmetrics
  nettrace report jit trace.nettrace --before 500ms --top 50
  nettrace report alloc trace.nettrace --thread 17401 --json | jq '.sources[0].types[0]'";

fn report_help() -> String {
    format!("Reports:\n{}{REPORT_EXAMPLES}", crate::commands::reports())
}

/// Where time went and what the runtime did
#[derive(Debug, Args)]
#[command(after_help = report_help(), override_usage = "nettrace report [OPTIONS] <REPORT> <FILE>")]
pub(crate) struct ReportArgs {
    /// One of the reports below, and the trace; in either order
    #[arg(value_names = ["REPORT", "FILE"], num_args = 1..=2, required = true)]
    pub(crate) what: Vec<OsString>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,

    #[command(flatten)]
    pub(crate) threads: SampleThreadArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Rows
    #[arg(long, short = 'n', visible_alias = "top", value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,

    /// topN: order by total instead of self
    #[arg(long)]
    pub(crate) inclusive: bool,

    /// topN: each thread by itself
    #[arg(long)]
    pub(crate) by_thread: bool,

    /// topN: what rows stand for
    #[arg(long, value_enum, value_name = "GROUP", default_value_t)]
    pub(crate) by: GroupByArg,

    /// tree: begin at frames like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) from: Option<Regex>,

    /// tree: turned around, callers below whom they call
    #[arg(long)]
    pub(crate) callers: bool,

    /// tree: leave out what has less of all time, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub(crate) min: f64,

    /// gc, jit: in the order of time
    #[arg(long)]
    pub(crate) timeline: bool,

    /// activities, http: the events of this activity and of those inside of it: a path such as //1/5, or
    /// another id
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// counters: how to write them
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: CounterFormat,

    /// Only what was before this time since the session's start, such as 500ms; jit: in the order of time
    #[arg(long, value_name = "TIME", value_parser = crate::time_range::nanos, conflicts_with = "time")]
    pub(crate) before: Option<i64>,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CounterFormat {
    /// For reading: least, mean, most, last, trend
    #[default]
    Table,
    /// All values, with the columns of dotnet-counters
    Csv,
    /// All values, as one object
    Json,
    /// All values, one a line
    Ndjson,
    /// All values, for Prometheus and others
    Openmetrics,
}

/// `1`, `0.5`, `2%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a percentage is due, such as 1 or 0.5%".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupByArg {
    #[default]
    Method,
    Module,
    Namespace,
    Type,
}
