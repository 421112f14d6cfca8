//! The command line of `nettrace collect`.

use super::{OnStall, SessionArgs, TalkArgs, TargetArgs};
use crate::args::amount::{Bytes, Rotation, Span};
use crate::args::providers::RundownChoice;
use clap::{Args, ValueEnum};
use nettrace_export::{COUNTER_GRAMMAR, GRAMMAR, Predicate};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Minimum interval between two readings of the times of threads.
const MIN_READING_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum interval between two readings of the times of threads.
const MAX_READING_INTERVAL: Duration = Duration::from_secs(3600);

/// Help on files of rules.
const RULES: &str = "\
Rules (--rules FILE.toml, in TOML; docs/rules.md has all keys and an example):
  [[rule]]
  name = \"busy\"         is part of its files' names:
                        NAME_PID_DATE_TIME_busy.nettrace
  when = \"System.Runtime/cpu-usage > 80 for 10s\"
  duration = \"30s\"      also max-size, profile, providers, clrevents, … as the
                        options of that name, which are the defaults
  cooldown = \"5min\"     does not fire again for this long
  max-files = 5         also max-disk = \"1GB\"; beyond that the oldest are
                        removed, or when-full = \"stop\"
With action = \"keep\" a rule keeps the files that --rotate has at that moment, and what follows for keep-after = \"5s\". \
When a rule fires, and when its recording is complete, a line of JSON on standard error says so. --dry-run shows what \
would be done.";

const COLLECT_EXAMPLES: &str = "\
Ctrl-C, Enter, SIGTERM or SIGHUP stops the session, reads what the process still sends, and completes the file; a second \
one, half a second later or more, exits at once. With -- COMMAND, the program is traced from its first method, uses this \
terminal, and its exit code becomes that of nettrace.

Examples:
  nettrace collect -p 4711 --duration 10s
  nettrace collect -n shop --profile gc-collect --duration 00:01:00 \\
      -o gc.nettrace
  nettrace collect --providers System.Net.Http,MyCompany-Orders::5 \\
      -- dotnet shop.dll
  nettrace collect -p 4711 --rotate 5x100MB \\
      --until 'Microsoft-Windows-DotNETRuntime/GC/Start where Depth>=2'
  nettrace collect -n shop --rules rules.toml --rotate 5x100MB
  nettrace collect -p 4711 --dry-run --profile gc-verbose";

/// Behaviour of a runtime when its buffers are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BufferingMode {
    /// Drop the newest events
    #[value(alias = "0")]
    Drop,
    /// Make the threads that write events wait
    #[value(alias = "1")]
    Block,
}

/// Interval between two readings of the times of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadTimesArg {
    Off,
    Every(Span),
}

impl ThreadTimesArg {
    /// Returns the interval; `None` if nothing is to be read.
    pub(crate) fn interval(self) -> Option<Duration> {
        match self {
            ThreadTimesArg::Off => None,
            ThreadTimesArg::Every(interval) => Some(interval.0),
        }
    }
}

impl FromStr for ThreadTimesArg {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadTimesArg, String> {
        if text.eq_ignore_ascii_case("off") {
            return Ok(ThreadTimesArg::Off);
        }
        let interval: Span = text.parse()?;
        match (MIN_READING_INTERVAL..=MAX_READING_INTERVAL).contains(&interval.0) {
            true => Ok(ThreadTimesArg::Every(interval)),
            false => Err("give a time from 1ms to 1h, or off".to_owned()),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{COUNTER_GRAMMAR}\n\n{RULES}\n\n{COLLECT_EXAMPLES}"))]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Do not name methods of a started program as they are compiled. By default they are named,
    /// where there are samples, so that a program that dies has names: the runtime's provider is
    /// then at level 5. Before .NET 10 that also brings an event for each 100 KB that are allocated
    #[arg(long, help_heading = "Which events")]
    pub(crate) no_method_names: bool,

    /// Record the maps that --lines of reports needs, as methods are compiled. A default
    /// rundown has those of code in use at its end, so this is for programs that die, and
    /// for code that is compiled again. It costs an event of 100 to 200 bytes for each method
    /// compiled; the runtime's provider is then at level 5, as with names of methods
    #[arg(long, conflicts_with = "no_method_names", help_heading = "Which events")]
    pub(crate) lines: bool,

    /// Record who awaits whom, which --async of reports needs:
    /// System.Threading.Tasks.TplEventSource:0x1FF:5. It costs about nine events with stacks
    /// for each async method that waits, some 50 bytes each, and continuations run through
    /// one more method of the runtime. .NET 11's own async profiler is recorded as well,
    /// some 80 bytes for each resumption: it tells of methods that the runtime suspends
    #[arg(long = "async", help_heading = "Which events")]
    pub(crate) async_callers: bool,

    /// Record every process that can be reached, one file each; with --port, every process that
    /// connects
    #[arg(long, conflicts_with_all = ["process_id", "name"], help_heading = "Which process")]
    pub(crate) all: bool,

    /// Also trace the .NET programs that the program starts, one file each
    #[arg(long, help_heading = "Which process")]
    pub(crate) children: bool,

    /// Start this program and trace it from its first method
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["process_id", "name", "port", "all"])]
    #[arg(help_heading = "Which process")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// The file to write, called FILE.part until it is complete, and compressed if the
    /// name ends in .gz; - for standard output; default: NAME_DATE_TIME.nettrace. {pid},
    /// {name} and {time} in it stand for those of the recorded process
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// What to do when standard output or the pipe is not read and 16 MiB are waiting;
    /// drop leaves a gap in the trace
    #[arg(long, value_enum, value_name = "WHAT", default_value = "stop")]
    pub(crate) on_stall: OnStall,

    /// How often to read the processor time of each thread, which goes behind the trace if that has
    /// samples (Linux); rarer while it costs more than 0.5 % of a processor; off for never
    #[arg(long, value_name = "TIME|off", default_value = "50ms")]
    pub(crate) thread_times: ThreadTimesArg,

    /// Also convert the finished trace; the formats are those of nettrace convert
    /// --format list
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME", help_heading = "When to stop")]
    pub(crate) duration: Option<Span>,

    /// Stop when the file has this size; the rundown at the end of the session comes on
    /// top
    #[arg(long, value_name = "SIZE", conflicts_with = "rotate", help_heading = "When to stop")]
    pub(crate) max_size: Option<Bytes>,

    /// Start a new file whenever this size is reached, and keep the newest N; each is a
    /// complete trace
    #[arg(long, value_name = "NxSIZE", help_heading = "When to stop")]
    pub(crate) rotate: Option<Rotation>,

    /// Stop after an event, or when a counter has a value: Provider/Event, Provider/Event
    /// where FIELD>VALUE and …, PROVIDER/COUNTER>NUMBER for TIME; see below
    #[arg(long, value_name = "CONDITION", value_parser = Predicate::parse_event, help_heading = "When to stop")]
    pub(crate) until: Option<Predicate>,

    /// Watch counters and events, and record when a rule of this file applies; see below
    /// and docs/rules.md
    #[arg(long, value_name = "FILE.toml", help_heading = "When to record")]
    #[arg(conflicts_with_all = ["until", "stopping_event_provider_name", "max_size"])]
    pub(crate) rules: Option<PathBuf>,

    /// Keep recording for this long after the event of --until or --stopping-event
    #[arg(long, value_name = "TIME", help_heading = "When to stop")]
    pub(crate) keep_after: Option<Span>,

    /// Stop after an event of this provider
    #[arg(long, value_name = "NAME", help_heading = "When to stop")]
    pub(crate) stopping_event_provider_name: Option<String>,

    /// Stop only after an event with this name
    #[arg(long, value_name = "NAME", requires = "stopping_event_provider_name")]
    #[arg(help_heading = "When to stop")]
    pub(crate) stopping_event_event_name: Option<String>,

    /// Stop only after an event with these field values: FIELD:VALUE,FIELD:VALUE
    #[arg(long, value_name = "FILTER", requires = "stopping_event_event_name")]
    #[arg(help_heading = "When to stop")]
    pub(crate) stopping_event_payload_filter: Option<String>,

    /// Request the rundown, a list of methods and modules at the end of the session: true, false,
    /// or its keywords in hexadecimal
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) rundown: Option<RundownChoice>,

    /// Whether to resume a process that is suspended at startup
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value_t = true, default_missing_value = "true")]
    #[arg(action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new())]
    #[arg(hide_default_value = true)]
    pub(crate) resume_runtime: bool,

    /// Whether the started program uses this terminal; with false it reads nothing and
    /// shows nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value_t = true, default_missing_value = "true")]
    #[arg(action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new())]
    #[arg(hide_default_value = true)]
    pub(crate) show_child_io: bool,

    /// What the process does when its buffers are full: drop events, or wait (.NET 11)
    #[arg(long, value_enum, value_name = "MODE", default_value = "drop", ignore_case = true)]
    pub(crate) buffering_mode: BufferingMode,

    /// Not needed here: see --port
    #[arg(long, value_name = "PLATFORM", hide = true)]
    pub(crate) dsrouter: Option<String>,

    /// Show the request, byte by byte, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
