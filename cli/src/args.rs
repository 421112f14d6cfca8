//! The command line.

pub(crate) mod amount;
mod convert;
mod diff;
mod events;
#[cfg(feature = "parquet")]
mod export;
mod form;
mod heap;
mod input;
mod live;
mod open;
mod overview;
pub(crate) mod profiles;
pub(crate) mod providers;
mod report;
mod samples;

pub(crate) use convert::*;
pub(crate) use diff::*;
pub(crate) use events::*;
#[cfg(feature = "parquet")]
pub(crate) use export::*;
pub(crate) use form::*;
pub(crate) use heap::*;
pub(crate) use input::*;
pub(crate) use live::*;
pub(crate) use open::*;
pub(crate) use overview::*;
pub(crate) use report::*;
pub(crate) use samples::*;

use crate::style::ColorChoice;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser};
use clap_complete::Shell;
use std::ffi::OsStr;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (reads nettrace 3 (NetPerf), 4, 5, 6)");

const AFTER_HELP: &str = "\
Exit codes:
  0  the whole trace was read
  1  failed: no such file, not a trace, an unsupported version
  2  wrong usage
  3  the trace is damaged or incomplete; what can be read was read, and
     stderr says what is missing";

/// Read .nettrace and .netperf files: what .NET's EventPipe, dotnet-trace and one-collect
/// record.
///
/// A trace is a file, or - for standard input; gzip is recognised whatever the name.
/// Results go to stdout, everything else to stderr. Without a command, the trace is
/// summed up: what it is, and what stands out.
#[derive(Debug, Args)]
#[command(version = VERSION, after_help = AFTER_HELP, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct CommonArgs {
    /// When to use colours; auto also respects NO_COLOR, CLICOLOR_FORCE and TERM=dumb
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        hide_default_value = true
    )]
    #[arg(help_heading = "Options of all commands")]
    pub(crate) color: ColorChoice,

    /// Show all columns and full names, even if lines get wider than the terminal
    #[arg(long, global = true, help_heading = "Options of all commands")]
    pub(crate) wide: bool,

    /// Print only errors to stderr: no progress, no warnings
    #[arg(long, short, global = true, help_heading = "Options of all commands")]
    pub(crate) quiet: bool,
}

/// Everything that the command line says.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) command: Command,
    pub(crate) common: CommonArgs,
}

impl Cli {
    /// The command line with the options of those commands that `is_wanted` chooses; of
    /// the others it has the names alone. Defining all options takes longer than reading
    /// a small trace.
    pub(crate) fn with_options_of(is_wanted: impl Fn(&str) -> bool) -> clap::Command {
        let commands = COMMANDS.iter().map(|(name, options)| {
            let command = clap::Command::new(*name);
            if is_wanted(name) { options(command) } else { command }
        });
        // The commands before the common options, which is the order of manual pages.
        CommonArgs::augment_args(clap::Command::new("nettrace").subcommands(commands))
    }
}

impl CommandFactory for Cli {
    fn command() -> clap::Command {
        Cli::with_options_of(|_| true)
    }

    fn command_for_update() -> clap::Command {
        Cli::command()
    }
}

impl FromArgMatches for Cli {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Cli, clap::Error> {
        let common = CommonArgs::from_arg_matches(matches)?;
        Ok(Cli { command: Command::from_arg_matches(matches)?, common })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Cli::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Parser for Cli {}

/// Whether a command has this name.
pub(crate) fn is_command(name: &OsStr) -> bool {
    name == GATE || COMMANDS.iter().any(|(command, _)| name == *command)
}

/// The commands. clap's own derive would define the options of all of them at each start.
macro_rules! commands {
    ($($(#[$condition:meta])* $name:literal => $variant:ident($options:ty),)*) => {
        #[derive(Debug)]
        pub(crate) enum Command {
            $($(#[$condition])* $variant($options),)*
        }

        /// Each command's name, and what defines its options.
        const COMMANDS: &[(&str, fn(clap::Command) -> clap::Command)] =
            &[$($(#[$condition])* ($name, <$options as Args>::augment_args),)*];

        impl Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Command, clap::Error> {
                match matches.subcommand() {
                    $($(#[$condition])* Some(($name, own)) => Ok(Command::$variant(FromArgMatches::from_arg_matches(own)?)),)*
                    _ => Err(clap::Error::raw(ErrorKind::MissingSubcommand, "give a command\n")),
                }
            }
        }
    };
}

commands! {
    "info" => Info(InfoArgs),
    "stats" => Stats(StatsArgs),
    "events" => Events(EventsArgs),
    "schema" => Schema(SchemaArgs),
    "check" => Check(CheckArgs),
    "report" => Report(ReportCommand),
    "open" => Open(Box<OpenArgs>),
    "diff" => Diff(Box<DiffArgs>),
    "convert" => Convert(ConvertArgs),
    #[cfg(feature = "parquet")]
    "export" => Export(ExportArgs),
    "heap" => Heap(Box<HeapArgs>),
    "ps" => Ps(PsArgs),
    "collect" => Collect(Box<CollectArgs>),
    "watch" => Watch(Box<WatchArgs>),
    "stack" => Stack(Box<StackArgs>),
    "top" => Top(Box<TopArgs>),
    "counters" => Counters(Box<CountersArgs>),
    "discover" => Discover(Box<DiscoverArgs>),
    "process" => Process(Box<ProcessArgs>),
    "replay" => Replay(ReplayArgs),
    "list-profiles" => ListProfiles(ListProfilesArgs),
    "completions" => Completions(CompletionsArgs),
    "man" => Man(ManArgs),
}

/// Print a script that completes this command in a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace completions bash > /etc/bash_completion.d/nettrace")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  nettrace man | man -l -\n  nettrace man events > nettrace-events.1"
)]
pub(crate) struct ManArgs {
    /// The command whose page to print, such as events or report gc; default: nettrace
    /// itself
    pub(crate) command: Vec<String>,
}
