//! The `nettrace` command as a library: `main` only hands over the process's arguments
//! and streams, so that tests can call what users call.
//!
//! The way of a command: `args`, then `input` (file, pipe, gzip → the parser's source),
//! then a command of `commands`, which shows what it reads through `render` and `output`.
//! What is wrong with a trace goes to stderr in one place, `messages`.

#![deny(unsafe_code)]
#![allow(clippy::restriction, clippy::pedantic)]

mod args;
mod commands;
mod console;
mod context;
mod counter_text;
mod cut;
mod delays;
mod distinct;
mod exit;
mod failure;
mod input;
mod json_text;
mod live;
mod messages;
mod new_file;
mod output;
mod printable;
mod progress;
mod recommended;
mod render;
mod samples;
mod screen;
mod session;
mod sparkline;
mod status_line;
mod style;
mod survey;
mod symbols;
mod table;
mod unblocked;
mod units;

pub use console::Console;
pub use exit::Exit;
pub use input::is_ready;
pub use unblocked::Unblocked;

use args::Cli;
use clap::FromArgMatches;
use commands::command_line;
use context::Context;
use std::ffi::OsString;
use std::io::Write;

/// Runs the command that `args` ask for; the first of them is the program's name.
///
/// ```
/// use nettrace_cli::{Console, Exit, run};
/// let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
/// let console = Console {
///     stdin: Box::new(std::io::empty()),
///     stdin_is_ready: || true,
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
    let args = with_heap(with_summary(with_equals(args.into_iter().collect())));
    let args = command_line::with_report_first(args);
    let parsed = command_line::of_args(&args).try_get_matches_from(args).and_then(|matches| {
        command_line::check(&matches)?;
        Cli::from_arg_matches(&matches)
    });
    match parsed {
        Ok(cli) => {
            let mut context = Context::new(console, &cli.common);
            commands::run(cli.command, &mut context)
        }
        Err(error) => help_or_usage(&error, &mut console),
    }
}

/// `collect --rundown:false`, as dotnet-trace takes it, stands for `--rundown=false`.
fn with_equals(mut args: Vec<OsString>) -> Vec<OsString> {
    let is_collect = args.get(1).is_some_and(|word| word == "collect");
    for word in args.iter_mut().skip(2).take_while(|word| *word != "--").filter(|_| is_collect) {
        let Some((option, value)) = word.to_str().and_then(|text| text.split_once(':')) else {
            continue;
        };
        let is_option =
            option.starts_with('-') && option.chars().all(|c| c == '-' || c.is_ascii_lowercase());
        if is_option {
            *word = format!("{option}={value}").into();
        }
    }
    args
}

/// `nettrace FILE …` stands for `nettrace report summary FILE …`. A name that a command
/// has is the command's; what looks like a path is one, so that a wrong one is called by
/// its name.
fn with_summary(mut args: Vec<OsString>) -> Vec<OsString> {
    let is_trace = |word: &OsString| {
        let is_command = word == "help" || args::is_command(word);
        let path = std::path::Path::new(word);
        let is_option = word.as_encoded_bytes().starts_with(b"-");
        let is_path = path.is_file() || path.extension().is_some() || path.components().count() > 1;
        !is_command && (word == "-" || (is_path && !is_option))
    };
    if args.get(1).is_some_and(is_trace) {
        args.splice(1..1, ["report".into(), "summary".into()]);
    }
    args
}

/// `nettrace report heap FILE` stands for `nettrace heap FILE`: what people look for
/// first where the reports are.
fn with_heap(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.iter().skip(1).take(2).eq(["report", "heap"]) {
        args.remove(1);
    }
    args
}

/// clap's own texts: `--help` and `--version` go to stdout, a wrong usage to stderr.
fn help_or_usage(error: &clap::Error, console: &mut Console<'_>) -> Exit {
    let variable = console.variable;
    let (stream, is_terminal, exit): (&mut dyn Write, _, _) = match error.use_stderr() {
        true => (console.stderr, console.stderr_is_terminal, Exit::Usage),
        false => (console.stdout, console.stdout_is_terminal, Exit::Fine),
    };
    let text = error.render();
    let is_coloured = style::is_coloured(style::ColorChoice::Auto, is_terminal, variable);
    let text = if is_coloured { text.ansi().to_string() } else { text.to_string() };
    // There is nowhere left to report that this text was not written.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    exit
}
