//! The commands, one file each.

mod analysed;
mod attached;
mod check;
mod collect;
pub(crate) mod command_line;
mod completions;
mod convert;
mod counters;
mod diff;
mod discover;
mod events;
#[cfg(feature = "parquet")]
mod export;
mod heap;
mod info;
mod info_text;
mod list_profiles;
mod man;
mod open;
mod outcome;
mod process;
mod ps;
mod replay;
mod report;
mod schema;
mod stack;
mod stack_names;
mod stats;
mod top;
mod watch;

use crate::args::Command;
use crate::context::{Context, Trace, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::json_text;
use crate::units;
use analysed::Analysed;
use nettrace_parser::utc_text;
use outcome::WithOutcome;
use std::io::{self, Write};

/// Runs a command and says how it failed, if it did.
pub(crate) fn run(command: Command, context: &mut Context<'_>) -> Exit {
    let result = match command {
        Command::Info(args) => info::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Stats(args) => stats::run(&args, context),
        Command::Events(args) => events::run(&args, context),
        Command::Report(args) => report::run(&args.0, context),
        Command::Diff(args) => diff::run(&args, context),
        Command::Open(args) => open::run(&args, context),
        Command::Convert(args) => convert::run(&args, context),
        #[cfg(feature = "parquet")]
        Command::Export(args) => export::run(&args, context),
        Command::Heap(args) => heap::run(&args, context),
        Command::Schema(args) => schema::run(&args, context),
        Command::Ps(args) => ps::run(&args, context),
        Command::Collect(args) => collect::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Stack(args) => stack::run(&args, context),
        Command::Counters(args) => counters::run(&args, context),
        Command::Discover(args) => discover::run(&args, context),
        Command::Top(args) => top::run(&args, context),
        Command::Process(args) => process::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::ListProfiles(_) => list_profiles::run(context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    };
    context.progress.end();
    match result {
        Ok(exit) => exit,
        // The reader of the results has closed the pipe: `nettrace events … | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
        Err(failure) => {
            context.messages.error(&failure);
            if matches!(failure, Failure::Usage(_)) { Exit::Usage } else { Exit::Failed }
        }
    }
}

/// An instant for reading, or `?` if the trace does not say.
fn instant(clock: nettrace_parser::Clock, ticks: u64, is_utc: bool) -> String {
    let text = match is_utc {
        true => clock.unix_nanos(ticks).map(|nanos| utc_text(nanos, 6)),
        false => clock.nanos_since_start(ticks).map(units::milliseconds),
    };
    text.unwrap_or_else(|| "?".to_owned())
}

/// Writes a report on a trace as one JSON object, with how reading the trace went.
fn write_report(
    context: &mut Context<'_>,
    report: &impl serde::Serialize,
    trace: &Ended,
) -> Result<(), Failure> {
    write_json(context, &WithOutcome::new(report, trace))
}

/// Writes a report as one JSON object, indented, with a newline after it.
fn write_json(context: &mut Context<'_>, report: &impl serde::Serialize) -> Result<(), Failure> {
    json_text::pretty(&mut context.out, report)?;
    context.out.write_all(b"\n")?;
    Ok(())
}

/// The next event in file order.
fn next_event(trace: &mut Trace) -> Result<Option<nettrace_parser::Event<'_>>, Failure> {
    let position = trace.reader.position();
    let Trace { file, reader, .. } = trace;
    reader.next_event().map_err(|error| Failure::read(file, &error, position))
}
