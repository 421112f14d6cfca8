//! The commands, one file each.

mod analysed;
mod check;
mod collect;
mod completions;
mod convert;
mod events;
mod heap;
mod info;
mod info_text;
mod man;
mod outcome;
mod process;
mod ps;
mod replay;
mod report;
mod schema;
mod stack_names;
mod stats;
mod watch;

pub(crate) use convert::formats;
pub(crate) use report::{REPORTS, ReportRow};

use crate::args::{Cli, Command, InputArgs, ThreadArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions};
use crate::messages::{Condition, Messages};
use crate::output::Output;
use crate::progress::Progress;
use crate::style::{Style, is_coloured};
use crate::{Console, units};
use analysed::Analysed;
use nettrace_parser::{Reader, utc_text};
use outcome::WithOutcome;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::rc::Rc;

/// What standard input is called.
const STDIN_NAME: &str = "standard input";

/// What commands work with.
pub(crate) struct Context<'a> {
    stdin: Option<Box<dyn Read>>,
    stdin_is_terminal: bool,
    stdout_is_terminal: bool,
    /// Columns that the environment says the terminal has.
    columns: Option<usize>,
    /// Tables may be wider than the terminal.
    is_wide: bool,
    /// Whether somebody looks at lines that are rewritten.
    shows_status: bool,
    progress: Rc<Progress>,
    pub(crate) out: Output<'a>,
    pub(crate) messages: Messages<'a>,
    /// For what goes to stdout.
    pub(crate) style: Style,
}

impl<'a> Context<'a> {
    pub(crate) fn new(console: Console<'a>, cli: &Cli) -> Context<'a> {
        let coloured = |is_terminal| Style::new(is_coloured(cli.color, is_terminal, console.variable));
        let style = coloured(console.stdout_is_terminal);
        let message_style = coloured(console.stderr_is_terminal);
        Context {
            columns: (console.variable)("COLUMNS").and_then(|text| text.parse().ok()),
            is_wide: cli.wide,
            stdin: Some(console.stdin),
            stdin_is_terminal: console.stdin_is_terminal,
            stdout_is_terminal: console.stdout_is_terminal,
            shows_status: console.stderr_is_terminal && !cli.quiet,
            progress: Rc::new(Progress::new(console.stderr_is_terminal && !cli.quiet)),
            out: Output::new(console.stdout),
            messages: Messages::new(console.stderr, message_style, cli.quiet),
            style,
        }
    }

    /// The trace that the user named.
    fn open(&mut self, args: &InputArgs) -> Result<Trace, Failure> {
        let is_stdin = args.file == Path::new("-");
        let file = if is_stdin { STDIN_NAME.to_owned() } else { args.file.display().to_string() };
        let input = if is_stdin {
            if self.stdin_is_terminal {
                return Err(Failure::terminal());
            }
            let stdin = self.stdin.take().unwrap_or_else(|| Box::new(io::empty()));
            Input::stdin(stdin, args.read.input_limit.0, Rc::clone(&self.progress))?
        } else {
            Input::open(&args.file, !args.read.no_mmap, args.read.input_limit.0, Rc::clone(&self.progress))?
        };
        Ok(Trace { file, reader: Reader::new(input) })
    }

    /// Results that scroll by show by themselves how far reading is.
    fn forgo_progress_on_terminal(&self) {
        if self.stdout_is_terminal {
            self.progress.end();
        }
    }

    /// Columns of the terminal that results go to; `None` when they go elsewhere.
    fn terminal_columns(&self) -> Option<usize> {
        let of_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        self.stdout_is_terminal.then(|| self.columns.or_else(of_terminal).unwrap_or(80))
    }

    /// How wide tables may be; `None`: as wide as they are.
    pub(crate) fn table_width(&self) -> Option<usize> {
        self.terminal_columns().filter(|_| !self.is_wide)
    }

    /// Says what is wrong with a trace that was read, and how the command ends therefore.
    fn conclude(&mut self, file: &str, trace: &dyn Ended, is_whole: bool) -> Exit {
        self.messages.condition(file, trace, is_whole);
        if Condition::of(trace, is_whole).is_bad() { Exit::Damaged } else { Exit::Fine }
    }
}

/// An open trace.
struct Trace {
    /// As messages name it.
    file: String,
    reader: Reader<Input>,
}

impl Trace {
    /// The trace for several threads, if it is one for them.
    fn regions(&self, threads: ThreadArgs) -> Option<Regions> {
        self.reader.source().regions(threads.threads.map(NonZeroUsize::get))
    }

    fn failed(&self, error: &nettrace_parser::Error) -> Failure {
        failed(&self.file, &self.reader, error)
    }
}

fn failed(file: &str, reader: &Reader<Input>, error: &nettrace_parser::Error) -> Failure {
    Failure::read(file, error, reader.position())
}

/// Runs a command and says how it failed, if it did.
pub(crate) fn run(command: Command, context: &mut Context<'_>) -> Exit {
    let result = match command {
        Command::Info(args) => info::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Stats(args) => stats::run(&args, context),
        Command::Events(args) => events::run(&args, context),
        Command::Report(args) => report::run(&args.0, context),
        Command::Convert(args) => convert::run(&args, context),
        Command::Heap(args) => heap::run(&args, context),
        Command::Schema(args) => schema::run(&args, context),
        Command::Ps(args) => ps::run(&args, context),
        Command::Collect(args) => collect::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Process(args) => process::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    };
    context.progress.end();
    match result {
        Ok(exit) => exit,
        // Whoever read the results has enough of them: `nettrace events … | head`.
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
    trace: &dyn Ended,
) -> Result<(), Failure> {
    write_json(context, &WithOutcome::new(report, trace))
}

/// Writes a report as one JSON object, indented, with a newline behind it.
fn write_json(context: &mut Context<'_>, report: &impl serde::Serialize) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut context.out, report).map_err(io::Error::from)?;
    context.out.write_all(b"\n")?;
    Ok(())
}

/// The next event in file order.
fn next_event(trace: &mut Trace) -> Result<Option<nettrace_parser::Event<'_>>, Failure> {
    let position = trace.reader.position();
    let Trace { file, reader } = trace;
    reader.next_event().map_err(|error| Failure::read(file, &error, position))
}
