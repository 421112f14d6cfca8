//! The command line of what talks to running processes.

mod collect;
mod process;

pub(crate) use collect::{BufferingMode, CollectArgs};
pub(crate) use process::{AskArgs, DumpChoice, PerfMapChoice, ProcessArgs, ProcessRequest};

use super::{EventFilterArgs, EventFormat};
use crate::args::amount::Span;
use crate::args::providers::{ClrEvents, EventIds, ProviderList};
use clap::{Args, ValueEnum};
use nettrace_export::{GRAMMAR, Predicate};
use std::path::PathBuf;

const PS_EXAMPLES: &str = "\
Examples:
  nettrace ps
  nettrace ps --json | jq '.processes[] | select(.reachable) | .pid'";

/// The .NET processes of this machine, and what can be asked of them
#[derive(Debug, Args)]
#[command(after_help = PS_EXAMPLES)]
pub(crate) struct PsArgs {
    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Show command lines whole, and sockets that dead processes left behind
    #[arg(long, short)]
    pub(crate) all: bool,

    /// Write everything that crosses the connections to this file; nettrace replay plays it
    #[arg(long, value_name = "TRANSCRIPT")]
    pub(crate) record: Option<PathBuf>,

    /// Replace the transcript if it is there already
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
}

/// Which process.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct TargetArgs {
    /// The process of this id
    #[arg(long, short, value_name = "PID", help_heading = "Which process")]
    pub(crate) process_id: Option<u32>,

    /// The only process of this name
    #[arg(long, short, value_name = "NAME", help_heading = "Which process")]
    pub(crate) name: Option<String>,

    /// A diagnostic port: PATH or tcp://HOST:PORT to listen there for runtimes that are told to connect;
    /// with ,connect behind it to connect to one that listens
    #[arg(long, visible_aliases = ["diagnostic-port", "dport"], value_name = "ADDRESS")]
    #[arg(help_heading = "Which process")]
    pub(crate) port: Option<String>,
}

/// Options of everything that talks to a process.
#[derive(Debug, Args)]
pub(crate) struct TalkArgs {
    /// Write everything that crosses the connections to this file; nettrace replay plays it
    #[arg(long, value_name = "TRANSCRIPT")]
    pub(crate) record: Option<PathBuf>,

    /// Replace files that are there already
    #[arg(long)]
    pub(crate) force: bool,

    /// How long a process may take to answer; without: 10 s, to begin a session 30 s, to end one 60 s and
    /// 10 s of silence, to write a dump 10 min
    #[arg(long, value_name = "TIME")]
    pub(crate) patience: Option<Span>,
}

/// What a session asks for.
#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// Providers, as Name[:KEYWORDS[:LEVEL[:KEY=VALUE;…]]], separated by commas
    ///
    /// KEYWORDS are hexadecimal or * for all; LEVEL is 0 to 5 or a name. Without keywords all are meant; of
    /// the runtime's own provider those of the profile dotnet-common. Commas between double quotes do not
    /// separate. What several options say of one provider is united.
    #[arg(long, value_name = "LIST", help_heading = "Which events")]
    pub(crate) providers: Vec<ProviderList>,

    /// Ready-made sets of providers, united; without any option of this kind: dotnet-common, and to record
    /// dotnet-sampled-thread-time too
    #[arg(long, value_name = "PROFILE", value_enum, value_delimiter = ',', help_heading = "Which events")]
    pub(crate) profile: Vec<ProfileName>,

    /// Keywords of the runtime's provider by name, joined by +: gc+exception
    #[arg(long, value_name = "NAMES", help_heading = "Which events")]
    pub(crate) clrevents: Option<ClrEvents>,

    /// Level of --clrevents: 0 to 5, or logalways, critical, error, warning, informational, verbose
    #[arg(long, value_name = "LEVEL", default_value = "4", hide_default_value = true)]
    #[arg(value_parser = crate::args::providers::level, help_heading = "Which events")]
    pub(crate) clreventlevel: nettrace_ipc::Level,

    /// Only these event ids of a provider: Name=1,2,3; Name!=4,5: all but these (.NET 10)
    #[arg(long, value_name = "PROVIDER=IDS", help_heading = "Which events")]
    pub(crate) events: Vec<EventIds>,

    /// Events without stacks: smaller and cheaper (.NET 9)
    #[arg(long, help_heading = "Which events")]
    pub(crate) no_stacks: bool,

    /// Memory that the process may spend on events not yet sent, in MB
    #[arg(long, value_name = "MB", default_value = "256")]
    pub(crate) buffersize: std::num::NonZeroU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// GC, loader, JIT, exceptions, threads of the runtime; cheap
    DotnetCommon,
    /// Stacks of all threads about 100 times a second
    DotnetSampledThreadTime,
    /// GC and allocations, every 100 kB
    GcVerbose,
    /// GC only; cheapest
    GcCollect,
    /// Commands of ADO.NET and Entity Framework
    Database,
    /// What cpu-sampling was before 2025: stacks and a wide choice of the runtime's events
    CpuSampling,
}

/// The ready-made sets of providers of collect --profile
#[derive(Debug, Args)]
pub(crate) struct ListProfilesArgs {}

const WATCH_EXAMPLES: &str = "\
Examples:
  nettrace watch -p 4711 --show gc
  nettrace watch -n shop --show logs --format ndjson | jq -c .
  nettrace watch -p 4711 --providers System.Net.Http --event RequestStart --limit 10";

/// Events of a running process as they happen, one a line
#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{WATCH_EXAMPLES}"))]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Ready-made choices of events
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', help_heading = "Which events")]
    pub(crate) show: Vec<Show>,

    /// text for reading, ndjson for programs: one JSON object a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    #[command(flatten)]
    pub(crate) filter: EventFilterArgs,

    /// Only events that fulfil this, such as Count>3, 'Name=abc and not Message~timeout'; see below
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) conditions: Vec<Predicate>,

    /// Stop after this many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    /// When standard output is not read, as in a pager, and 16 MiB wait for it
    #[arg(long, value_enum, value_name = "WHAT", default_value = "drop")]
    pub(crate) on_stall: OnStall,

    /// Show stacks, innermost frame first: names as text, addresses for programs
    ///
    /// For names the runtime's events of loaded methods are asked for, which are not shown unless they were asked
    /// for otherwise; they make its provider verbose. Those of methods that were loaded before come from a second
    /// session, which ends at once. Names that are likely but not certain begin with ~.
    #[arg(long)]
    pub(crate) stacks: bool,

    /// Addresses instead of names (text)
    #[arg(long, requires = "stacks", conflicts_with = "frames")]
    pub(crate) raw_stacks: bool,

    /// Names of the stacks' frames in "frames", beside the addresses in "stack" (ndjson, csv)
    #[arg(long, requires = "stacks")]
    pub(crate) frames: bool,

    /// Show what is stored: ticks, keywords, opcode, processor, sequence number, offset, payload in hex
    #[arg(long)]
    pub(crate) raw: bool,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Garbage collections: start, end, heap sizes
    Gc,
    /// Exceptions as they are thrown
    Exceptions,
    /// Locks that somebody had to wait for
    Contention,
    /// Messages of Microsoft.Extensions.Logging
    Logs,
}

/// What happens when standard output is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnStall {
    /// Throw away what does not fit, and say how much
    Drop,
    /// End the session, after a second
    Stop,
    /// Wait; the process may have to wait too
    Wait,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  nettrace process info -p 4711 --record run.transcript
  nettrace replay run.transcript --listen /tmp/replayed &
  nettrace process info --port /tmp/replayed,connect";

/// Play a transcript that --record made: behaves as the process did
#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The transcript
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// Where to listen: PATH or tcp://HOST:PORT; without: a socket in the temporary folder
    #[arg(long, value_name = "ADDRESS", conflicts_with = "connect")]
    pub(crate) listen: Option<String>,

    /// Connect to this port instead, as the recorded processes did
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) connect: Option<String>,

    /// Without the recorded pauses
    #[arg(long)]
    pub(crate) at_once: bool,

    /// End when everything has been played
    #[arg(long)]
    pub(crate) once: bool,
}
