//! The command line.

pub(crate) mod amount;
mod condition;
mod convert;
mod diff;
mod events;
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
mod shorthand;

pub(crate) use convert::*;
pub(crate) use diff::*;
pub(crate) use events::*;
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
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use std::ffi::OsString;
use std::ops::Deref;

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
/// A trace is a file, or - for standard input; gzip and zstd are recognised whatever the name.
/// Results go to stdout, everything else to stderr. Without a command, the trace is
/// summed up: what it is, and what stands out.
#[derive(Debug, Parser)]
#[command(name = "nettrace", version = VERSION, after_help = AFTER_HELP, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(override_usage = "nettrace FILE\n       nettrace [OPTIONS] <COMMAND>")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

const COMMON: &str = "Options of all commands";

#[derive(Debug, Args)]
#[command(next_help_heading = COMMON)]
pub(crate) struct ColorArg {
    /// When to use colours; auto also respects NO_COLOR, CLICOLOR_FORCE and TERM=dumb
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_default_value = true)]
    color: ColorChoice,
}

#[derive(Debug, Args)]
#[command(next_help_heading = COMMON)]
pub(crate) struct QuietArg {
    /// Print only errors to stderr: no progress, no warnings
    #[arg(long, short)]
    quiet: bool,
}

/// Options of all commands.
#[derive(Debug, Args)]
#[command(next_help_heading = COMMON)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    color: ColorArg,

    /// Show all columns and full names, even if lines get wider than the terminal
    #[arg(long)]
    pub(crate) wide: bool,

    #[command(flatten)]
    quiet: QuietArg,
}

impl CommonArgs {
    pub(crate) fn color(&self) -> ColorChoice {
        self.color.color
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet.quiet
    }

    /// Adds the options of all commands that stand after the command's name.
    fn join(&mut self, matches: &ArgMatches) {
        let mut level = matches;
        while let Some((_, inner)) = level.subcommand() {
            let is_set = |id| matches!(inner.try_get_one(id), Ok(Some(true)));
            self.wide |= is_set("wide");
            self.quiet.quiet |= is_set("quiet");
            if let Ok(Some(color)) = inner.try_get_one("color")
                && inner.value_source("color") == Some(ValueSource::CommandLine)
            {
                self.color.color = *color;
            }
            level = inner;
        }
    }
}

/// Arguments of a command, followed by the options of all commands. clap's own global options would
/// come first in the help of a command, because commands are defined only when they are used.
#[derive(Debug)]
pub(crate) struct WithCommon<A>(A);

impl<A> Deref for WithCommon<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: Args> Args for WithCommon<A> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
        let command = CommonArgs::augment_args(A::augment_args(command));
        // clap's derive replaces the description of a command by that of a group of its options, so
        // the command's own description is set again.
        command.about(Resettable::from(about)).long_about(Resettable::from(long))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<A: FromArgMatches> FromArgMatches for WithCommon<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        A::from_arg_matches(matches).map(WithCommon)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Commands. The options of a command are defined only when the command is used, because defining
/// all of them takes longer than reading a small trace.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Show what a trace is: process, machine, start, duration, providers, losses, damage
    Info(WithCommon<InfoArgs>),
    /// Show how often each event type occurs, how large its events are, and when they were written
    Stats(WithCommon<StatsArgs>),
    /// Print the events, one per line
    Events(WithCommon<EventsArgs>),
    /// Show the event types that a trace defines, with the fields of their payloads
    Schema(WithCommon<SchemaArgs>),
    /// Check a trace against the format: damage, broken rules, missing events, each with its
    /// offset and section
    Check(WithCommon<CheckArgs>),
    /// Show where time went and what the runtime did
    Report(WithCommon<ReportChoice>),
    /// Show a trace in the browser: time line, flame graphs, tables
    Open(Box<WithCommon<OpenArgs>>),
    /// Compare two traces, or two groups of traces: what changed beyond noise
    #[command(visible_alias = "gate")]
    Diff(Box<WithCommon<DiffArgs>>),
    /// Convert a trace to the format of another tool
    Convert(WithCommon<ConvertArgs>),
    /// Write traces as tables for DuckDB, Spark, ClickHouse, Polars
    Export(ExportArgs),
    /// Show what is on the managed heap, what keeps it alive, and what grew
    Heap(Box<WithCommon<HeapArgs>>),
    /// List the .NET processes of this machine, and whether they can be reached
    Ps(WithCommon<PsArgs>),
    /// Record the events of a running process, or of one that is started, in a file
    Collect(Box<WithCommon<CollectArgs>>),
    /// Print the events of a running process as they happen, one per line
    Watch(Box<WithCommon<WatchArgs>>),
    /// Show what all threads of a running process are doing now
    ///
    /// Stacks come from a short session of the runtime's sampler, which ends when each thread
    /// with managed frames was seen. Names, states and CPU times of threads come from the
    /// operating system.
    Stack(Box<WithCommon<StackArgs>>),
    /// Show the hottest methods of a running process, and what it allocates, throws and waits
    /// for
    Top(Box<WithCommon<TopArgs>>),
    /// Show the counters and metrics of running processes as they change
    Counters(Box<WithCommon<CountersArgs>>),
    /// Show what a process emits, how often, and which --providers record it
    Discover(Box<WithCommon<DiscoverArgs>>),
    /// Query a running process, or make it do something
    Process(Box<WithCommon<ProcessArgs>>),
    /// Play a transcript made with --record: behave as the recorded process did
    Replay(WithCommon<ReplayArgs>),
    /// Show the ready-made sets of providers of collect --profile
    ListProfiles(WithCommon<ListProfilesArgs>),
    /// Print a script that completes this command in a shell
    Completions(WithCommon<CompletionsArgs>),
    /// Print the manual page
    Man(WithCommon<ManArgs>),
}

impl Cli {
    /// Parses a command line, with the shorthands that users may write.
    ///
    /// # Errors
    /// The command line is wrong, or asks for help or the version. The text of the error is to be
    /// printed.
    pub(crate) fn parse_args(args: Vec<OsString>) -> Result<Cli, clap::Error> {
        let root = Cli::command();
        let args = shorthand::written_out(args, &root);
        let mut matches = root.try_get_matches_from(args).map_err(with_report)?;
        let mut common = CommonArgs::from_arg_matches(&matches)?;
        common.join(&matches);
        Ok(Cli { common, ..Cli::from_arg_matches_mut(&mut matches)? })
    }
}

/// Adds the right command to the error about a report that stands in the place of a command, as in
/// `nettrace gc FILE`.
fn with_report(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && Report::has_subcommand(word)
    {
        let tip = format!("'{word}' is a report: nettrace report {word} FILE");
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace completions bash > /etc/bash_completion.d/nettrace")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  nettrace man | man -l -\n  nettrace man events > nettrace-events.1"
)]
pub(crate) struct ManArgs {
    /// The command whose page to print, such as events or report gc; default: nettrace
    /// itself
    pub(crate) command: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    /// Adds a command and all commands below it to `found`, with their full names.
    fn all_below(command: &clap::Command, names: &str, found: &mut Vec<(String, clap::Command)>) {
        let names = format!("{names} {}", command.get_name());
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            all_below(below, &names, found);
        }
        found.push((names, command.clone()));
    }

    #[test]
    fn help_fits_into_80_columns_and_leaves_columns_and_examples_as_they_are() {
        let mut whole = Cli::command();
        whole.build();
        let mut all = Vec::new();
        all_below(&whole, "", &mut all);
        assert!(all.len() > 50, "{}", all.len());
        let mut wrong = Vec::new();
        for (names, command) in all {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let help = command.term_width(80).render_long_help().to_string();
            let lines: Vec<&str> = help.lines().collect();
            let is_wide = |line: &&&str| line.width() > 80 && line.trim().contains(' ');
            wrong.extend(lines.iter().filter(is_wide).map(|line| format!("{names}: {line}")));
            for line in after.lines().filter(|line| line.starts_with("  ")) {
                if line.width() > 78 || !lines.contains(&line) {
                    wrong.push(format!("{names}, its own: {line}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
