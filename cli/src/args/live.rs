//! The command line of what talks to running processes.

use super::EventFormat;
use crate::filter::{EventPattern, ProviderPattern};
use crate::live::amount::{Bytes, Rotation, Span};
use crate::live::condition::Condition;
use crate::live::providers::{ClrEvents, EventIds, ProviderList, RundownChoice};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
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

    /// How long a process may take to answer, or to end a session; without: 10 s, and 60 s
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

    /// Ready-made sets of providers, united; without any option of this kind: dotnet-common and
    /// dotnet-sampled-thread-time
    #[arg(long, value_name = "PROFILE", value_enum, value_delimiter = ',', help_heading = "Which events")]
    pub(crate) profile: Vec<ProfileName>,

    /// Keywords of the runtime's provider by name, joined by +: gc+exception
    #[arg(long, value_name = "NAMES", help_heading = "Which events")]
    pub(crate) clrevents: Option<ClrEvents>,

    /// Level of --clrevents: 0 to 5, or logalways, critical, error, warning, informational, verbose
    #[arg(long, value_name = "LEVEL", default_value = "4", hide_default_value = true)]
    #[arg(value_parser = crate::live::providers::level, help_heading = "Which events")]
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

const COLLECT_EXAMPLES: &str = "\
Ctrl-C or SIGTERM stops the session, takes what the process still has to say, and finishes the file; a second \
one gives up at once. With -- COMMAND the program is traced from its first method, uses this terminal, and its \
exit code is that of nettrace.

Examples:
  nettrace collect -p 4711 --duration 10s
  nettrace collect -n shop --profile gc-collect --duration 00:01:00 -o gc.nettrace
  nettrace collect --providers System.Net.Http,MyCompany-Orders::5 -- dotnet shop.dll
  nettrace collect -p 4711 --rotate 5x100MB --until 'Microsoft-Windows-DotNETRuntime/GC/Start where Depth>=2'
  nettrace collect -p 4711 --dry-run --profile gc-verbose";

/// Record events of a running process, or of one that is started, into a file
#[derive(Debug, Args)]
#[command(after_help = COLLECT_EXAMPLES)]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Every process that can be reached, one file each; with --port every one that comes
    #[arg(long, conflicts_with_all = ["process_id", "name"], help_heading = "Which process")]
    pub(crate) all: bool,

    /// Trace the .NET programs that the started one starts, one file each
    #[arg(long, help_heading = "Which process")]
    pub(crate) children: bool,

    /// Start this program and trace it from its first method
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["process_id", "name", "port", "all"])]
    #[arg(help_heading = "Which process")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// The file to write; - for standard output. Without: NAME_DATE_TIME.nettrace
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The format of the file
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, hide_default_value = true)]
    #[arg(ignore_case = true)]
    pub(crate) format: TraceFormat,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME", help_heading = "When to stop")]
    pub(crate) duration: Option<Span>,

    /// Stop when the file has this size; what the process says at the end comes on top
    #[arg(long, value_name = "SIZE", conflicts_with = "rotate", help_heading = "When to stop")]
    pub(crate) max_size: Option<Bytes>,

    /// Go on in a new file at this size and keep the newest N; each is a whole trace
    #[arg(long, value_name = "NxSIZE", help_heading = "When to stop")]
    pub(crate) rotate: Option<Rotation>,

    /// Stop after such an event: Provider/Event, with wildcards, and where FIELD>VALUE and …
    #[arg(long, value_name = "CONDITION", help_heading = "When to stop")]
    pub(crate) until: Option<Condition>,

    /// Go on for so long after the event of --until or --stopping-event
    #[arg(long, value_name = "TIME", help_heading = "When to stop")]
    pub(crate) keep_after: Option<Span>,

    /// Stop after an event of this provider
    #[arg(long, value_name = "NAME", help_heading = "When to stop")]
    pub(crate) stopping_event_provider_name: Option<String>,

    /// … of this name
    #[arg(long, value_name = "NAME", requires = "stopping_event_provider_name")]
    #[arg(help_heading = "When to stop")]
    pub(crate) stopping_event_event_name: Option<String>,

    /// … with these values: FIELD:VALUE,FIELD:VALUE
    #[arg(long, value_name = "FILTER", requires = "stopping_event_event_name")]
    #[arg(help_heading = "When to stop")]
    pub(crate) stopping_event_payload_filter: Option<String>,

    /// What the process says at the end of methods and modules: true, false, or a keyword in hexadecimal
    #[arg(long, value_name = "WHICH")]
    pub(crate) rundown: Option<RundownChoice>,

    /// Whether a process that waits at startup is let go
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value_t = true, default_missing_value = "true")]
    #[arg(action = clap::ArgAction::Set, hide_default_value = true)]
    pub(crate) resume_runtime: bool,

    /// Show the request, byte by byte, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    #[default]
    Nettrace,
}

const WATCH_EXAMPLES: &str = "\
Examples:
  nettrace watch -p 4711 --show gc
  nettrace watch -n shop --show logs --format ndjson | jq -c .
  nettrace watch -p 4711 --providers System.Net.Http --event RequestStart --limit 10";

/// Events of a running process as they happen, one a line
#[derive(Debug, Args)]
#[command(after_help = WATCH_EXAMPLES)]
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

    /// Only events of providers like this: * and ? are wildcards, case does not matter
    #[arg(long, value_name = "GLOB")]
    #[arg(help_heading = "Which events")]
    pub(crate) provider: Vec<ProviderPattern>,

    /// Only events of this id or name; wildcards as above, Provider/Name is possible
    #[arg(long, value_name = "NAME|ID")]
    #[arg(help_heading = "Which events")]
    pub(crate) event: Vec<EventPattern>,

    /// Only events about this OS thread
    #[arg(long, value_name = "TID", allow_negative_numbers = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) thread: Vec<i64>,

    /// Stop after so many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    /// Show stacks, innermost frame first
    #[arg(long)]
    pub(crate) stacks: bool,

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

/// Ask a process, or have it do something
#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    #[command(subcommand)]
    pub(crate) request: ProcessRequest,
}

/// What is common to all requests.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProcessRequest {
    /// What the process says of itself: version, command line, architecture, commands it knows
    Info {
        #[command(flatten)]
        ask: AskArgs,
    },
    /// Its environment
    Env {
        #[command(flatten)]
        ask: AskArgs,
        /// Only these variables
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Set a variable of its environment, or remove it
    Setenv {
        #[command(flatten)]
        ask: AskArgs,
        /// NAME=VALUE, or NAME with --unset
        #[arg(value_name = "NAME[=VALUE]")]
        variable: String,
        /// Remove the variable
        #[arg(long)]
        unset: bool,
    },
    /// Let a process go that waits at startup
    Resume {
        #[command(flatten)]
        ask: AskArgs,
    },
    /// Have it write files for Linux perf, or stop that
    Perfmap {
        #[command(flatten)]
        ask: AskArgs,
        /// Which files
        #[arg(value_enum, default_value_t)]
        which: PerfMapChoice,
    },
    /// Have it load a startup hook: an assembly with a StartupHook class
    StartupHook {
        #[command(flatten)]
        ask: AskArgs,
        /// The assembly, as the process sees it
        #[arg(value_name = "DLL")]
        assembly: PathBuf,
    },
    /// Have it write a dump of its memory
    Dump {
        #[command(flatten)]
        ask: AskArgs,
        /// The file, as the process sees it
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        /// How much
        #[arg(long = "type", value_enum, value_name = "TYPE", default_value_t)]
        kind: DumpChoice,
        /// Write a crash report beside it (.NET 6)
        #[arg(long)]
        crash_report: bool,
        /// Let the writer log to the standard output of the process. If nobody reads that, the process
        /// freezes
        #[arg(long)]
        logging: bool,
    },
    /// Load a profiler into the running process
    AttachProfiler {
        #[command(flatten)]
        ask: AskArgs,
        #[command(flatten)]
        profiler: ProfilerArgs,
        /// How long the process may take to load it
        #[arg(long, value_name = "TIME", default_value = "10s")]
        timeout: Span,
        /// A file whose bytes the profiler is handed
        #[arg(long, value_name = "FILE")]
        client_data: Option<PathBuf>,
    },
    /// Name a profiler to a process that waits at startup
    StartupProfiler {
        #[command(flatten)]
        ask: AskArgs,
        #[command(flatten)]
        profiler: ProfilerArgs,
    },
    /// Send a command of which nobody knows what it does
    ///
    /// A wrong command or payload can kill the process, freeze it, or leak its memory: runtimes trust whoever
    /// may connect. A payload where none is due is answered with bytes that were never written.
    Send {
        #[command(flatten)]
        ask: AskArgs,
        /// I know that this can kill the process
        #[arg(long, required = true)]
        unsafe_raw: bool,
        /// Command set, hexadecimal
        #[arg(value_name = "SET", value_parser = crate::live::amount::hex_byte)]
        set: u8,
        /// Command, hexadecimal
        #[arg(value_name = "ID", value_parser = crate::live::amount::hex_byte)]
        id: u8,
        /// The payload, hexadecimal
        #[arg(value_name = "PAYLOAD", default_value = "", hide_default_value = true)]
        payload: String,
    },
}

/// Which profiler.
#[derive(Debug, Args)]
pub(crate) struct ProfilerArgs {
    /// Its class id
    #[arg(value_name = "GUID")]
    pub(crate) class_id: nettrace_ipc::Guid,
    /// Its library, as the process sees it
    #[arg(value_name = "LIBRARY")]
    pub(crate) path: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerfMapChoice {
    /// Both kinds
    #[default]
    All,
    /// jit-PID.dump
    Jitdump,
    /// perf-PID.map
    Perfmap,
    /// No more
    Off,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpChoice {
    /// Stacks, modules and what they need
    #[default]
    Normal,
    /// With the heaps
    Heap,
    /// As normal, with personal data removed
    Triage,
    /// All memory
    Full,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  nettrace collect -p 4711 --duration 5s --record run.transcript
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
