//! Reads what the async profiler of .NET 11 says of async code before the trace is analysed: it comes
//! after the samples that it explains.
//!
//! Most traces have nothing of it, which their event types show. What was unpacked, or came from
//! standard input, is kept for the analysis as far as [`MAX_KEPT_BYTES`] allow.

use crate::args::InputArgs;
use crate::context::{Context, failed};
use crate::failure::Failure;
use crate::input::Input;
use crate::units;
use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::model::AsyncRuns;
use nettrace_parser::{Reader, Source};
use std::sync::Arc;

/// Maximum number of bytes of a trace that are kept to be read again. What a file has beyond them is
/// unpacked again; what standard input has beyond them is not looked at beforehand.
const MAX_KEPT_BYTES: u64 = 64 << 20;

/// Reads what the async profiler says, if `options` want the callers of async code. Call it before
/// the trace is opened.
pub(crate) fn add_async_runs(
    options: &mut AnalysisOptions,
    args: &InputArgs,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    if !options.async_callers {
        return Ok(());
    }
    let (input, is_stdin) = (context.input(args)?, args.is_stdin());
    let (occurs, mut input) = look(input.keeping(MAX_KEPT_BYTES));
    let is_kept = !input.is_beyond_kept();
    // Of a mapped file nothing is kept: it can be mapped again.
    if !is_stdin && (input.start() > 0 || !is_kept) {
        input = context.input(args)?;
    }
    // Of a file that is too large to be kept, the beginning does not tell.
    let is_read = occurs || !is_kept && !is_stdin;
    if is_read {
        let mut reader = Reader::new(input);
        let read = AsyncRuns::read(&mut reader);
        // What is wrong with a stream is said when the rest of it is read.
        let runs = match read {
            Err(error) if !is_stdin => return Err(failed(&args.name(), &reader, &error)),
            runs => runs.ok().flatten(),
        };
        input = reader.into_source();
        warn(runs.as_ref(), is_stdin && !is_kept, &args.name(), context);
        options.async_runs = runs.map(Arc::new);
    }
    if input.start() == 0 {
        context.keep(args, input.without_limit());
    }
    Ok(())
}

/// Returns whether the async profiler may have written to a trace.
fn look(input: Input) -> (bool, Input) {
    let mut blocks = Reader::new(input).blocks_only();
    // What is wrong with the trace is said when it is read.
    let occurs = AsyncRuns::occur(&mut blocks).unwrap_or(false);
    (occurs, blocks.into_source())
}

fn warn(runs: Option<&AsyncRuns>, is_cut: bool, file: &str, context: &mut Context<'_>) {
    if is_cut {
        let kept = units::bytes(MAX_KEPT_BYTES);
        context.messages.warning(&format!(
            "{file}: only the first {kept} were read for what the async profiler tells: \
             later callers of async code are missing; give a file"
        ));
    }
    let turns = runs.map_or(0, AsyncRuns::turns_left_out);
    if turns > 0 {
        let turns = units::counted(turns, "turn");
        context.messages.warning(&format!(
            "{file}: {turns} of threads with async code found no room: what they did for activities \
             is not known"
        ));
    }
    let parts = runs.map_or(0, AsyncRuns::left_out);
    let buffers = runs.map_or(0, AsyncRuns::unread_buffers);
    let reasons = [
        (parts, units::counted(parts, "part") + " of what the async profiler tells found no room"),
        (
            buffers,
            units::counted(buffers, "buffer") + " of the async profiler cannot be read to the end",
        ),
    ];
    for (_, why) in reasons.iter().filter(|(count, _)| *count > 0) {
        context.messages.warning(&format!("{file}: {why}: callers of async code are missing"));
    }
}
