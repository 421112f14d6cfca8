//! The `nettrace` command as a library, so that tests can call it: `main` only passes the process's
//! arguments and streams.
//!
//! `args` parses the command line, and a module of `commands` handles it: it opens the trace
//! (`input`: file or pipe, plain or packed) through `context` and writes results to `output`. Only `messages`
//! reports faults of a trace on stderr.

#![deny(unsafe_code)]
#![allow(clippy::restriction, clippy::pedantic)]
#![cfg_attr(
    not(all(feature = "page", feature = "parquet", feature = "symbols")),
    allow(dead_code, unused_imports, reason = "what only the commands use that are left out")
)]

mod analysed;
mod analysis_options;
mod args;
mod async_runs;
mod commands;
mod console;
#[cfg(windows)]
mod console_events;
mod context;
mod counter_lines;
mod counter_text;
mod cut;
mod delays;
mod ending;
mod exit;
mod expression;
mod failure;
mod heap_file;
#[cfg(unix)]
mod ignored_signal;
mod input;
mod json_text;
mod live;
mod messages;
mod new_file;
mod outer_types;
mod output;
mod pdbs;
mod printable;
mod progress;
mod recommended;
mod screen;
mod sparkline;
mod stack_names;
mod status_line;
mod style;
mod survey;
#[cfg(feature = "symbols")]
mod symbols;
mod table;
mod unblocked;
mod units;

pub use console::Console;
pub use exit::Exit;
pub use unblocked::Unblocked;

use args::Cli;
use context::Context;
use std::ffi::OsString;
use std::io::Write;

/// Runs the command of a command line; the first of `args` is the program's name.
///
/// ```
/// use nettrace_cli::{Console, Exit, run};
/// let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
/// let console = Console {
///     stdin: Box::new(std::io::empty()),
///     stdout: &mut stdout,
///     detached_stdout: || None,
///     stderr: &mut stderr,
///     stdin_is_terminal: false,
///     stdout_is_terminal: false,
///     stderr_is_terminal: false,
///     variable: &|_| None,
/// };
/// assert_eq!(run(["nettrace".into(), "--version".into()], console), Exit::Fine);
/// assert!(String::from_utf8(stdout).unwrap().starts_with("nettrace "));
/// ```
pub fn run(args: impl IntoIterator<Item = OsString>, console: Console<'_>) -> Exit {
    let mut console = console;
    match Cli::parse_args(args.into_iter().collect()) {
        Ok(cli) => {
            let mut context = Context::new(console, &cli.common);
            commands::run(cli.command, &mut context)
        }
        Err(error) => help_or_usage(&error, &mut console),
    }
}

/// Prints the texts of clap: `--help` and `--version` go to stdout, a wrong usage to stderr.
fn help_or_usage(error: &clap::Error, console: &mut Console<'_>) -> Exit {
    let variable = console.variable;
    let (stream, is_terminal, exit): (&mut dyn Write, _, _) = match error.use_stderr() {
        true => (console.stderr, console.stderr_is_terminal, Exit::Usage),
        false => (console.stdout, console.stdout_is_terminal, Exit::Fine),
    };
    let text = error.render();
    let is_coloured = style::is_coloured(style::ColorChoice::Auto, is_terminal, variable);
    let text = if is_coloured { text.ansi().to_string() } else { text.to_string() };
    // No stream is left on which to report that this text was not written.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    exit
}
