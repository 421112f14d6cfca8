//! The context of a command: its streams, how to write to them, and the trace that the user named.

use crate::args::{CommonArgs, InputArgs, OnStall, ThreadArgs};
use crate::console::Console;
use crate::delays::Delays;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions};
use crate::json_text;
use crate::live::end_rule::EndRule;
use crate::live::stdout_queue::StdoutQueue;
use crate::messages::{Condition, Messages};
use crate::output::Output;
use crate::progress::Progress;
use crate::style::{Style, is_coloured};
use crate::units;
use nettrace_analysis::report::OutcomeReport;
use nettrace_export::TextOptions;
use nettrace_parser::{Event, Limits, Reader};
use serde::Serialize;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::rc::Rc;

/// The streams, the style and the delays of a command.
pub(crate) struct Context<'a> {
    stdin: Option<Box<dyn Read + Send>>,
    /// Bytes of a file that were read beforehand, by its name.
    kept: Option<(String, Input)>,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stdout_is_terminal: bool,
    /// Whether `TERM` names a terminal that cannot show anything in place.
    is_dumb: bool,
    /// Whether standard output or standard error is a terminal.
    pub(crate) has_user: bool,
    /// Columns of the terminal, if the environment says it.
    columns: Option<usize>,
    /// Whether tables may be wider than the terminal.
    is_wide: bool,
    /// Names of columns that tables of the current page lack because they did not fit.
    columns_left_out: Vec<&'static str>,
    /// Whether status lines that are rewritten in place are shown.
    pub(crate) shows_status: bool,
    pub(crate) progress: Rc<Progress>,
    pub(crate) detached_stdout: fn() -> Option<Box<dyn io::Write + Send>>,
    pub(crate) delays: Delays,
    pub(crate) out: Output<'a>,
    pub(crate) messages: Messages<'a>,
    /// The style of text on standard output.
    pub(crate) style: Style,
}

impl<'a> Context<'a> {
    pub(crate) fn new(console: Console<'a>, args: &CommonArgs) -> Context<'a> {
        let coloured =
            |is_terminal| Style::new(is_coloured(args.color(), is_terminal, console.variable));
        let style = coloured(console.stdout_is_terminal);
        let message_style = coloured(console.stderr_is_terminal);
        Context {
            columns: (console.variable)("COLUMNS").and_then(|text| text.parse().ok()),
            is_dumb: (console.variable)("TERM").is_some_and(|term| term == "dumb"),
            is_wide: args.wide,
            columns_left_out: Vec::new(),
            stdin: Some(console.stdin),
            kept: None,
            stdin_is_terminal: console.stdin_is_terminal,
            stdout_is_terminal: console.stdout_is_terminal,
            has_user: console.stdout_is_terminal || console.stderr_is_terminal,
            // Only standard error counts, because results may go to a file while a person watches.
            shows_status: console.stderr_is_terminal && !args.is_quiet(),
            progress: Rc::new(Progress::new(console.stderr_is_terminal && !args.is_quiet())),
            detached_stdout: console.detached_stdout,
            delays: Delays::from_variable((console.variable)("NETTRACE_DELAYS").as_deref()),
            out: Output::new(console.stdout),
            messages: Messages::new(console.stderr, message_style, args.is_quiet()),
            style,
        }
    }

    /// Opens the trace that the user named.
    pub(crate) fn open(&mut self, args: &InputArgs) -> Result<Trace, Failure> {
        self.open_with(args, Limits::default())
    }

    /// Opens the trace that the user named, to be read with these limits.
    pub(crate) fn open_with(&mut self, args: &InputArgs, limits: Limits) -> Result<Trace, Failure> {
        let input = self.input(args)?;
        Ok(Trace { file: args.name(), reader: Reader::with_limits(input, limits) })
    }

    /// Keeps the bytes of a file for [`Context::input`], which returns them once.
    pub(crate) fn keep(&mut self, args: &InputArgs, input: Input) {
        self.kept = Some((args.name(), input));
    }

    /// Opens the bytes of the file that the user named.
    pub(crate) fn input(&mut self, args: &InputArgs) -> Result<Input, Failure> {
        if let Some((_, kept)) = self.kept.take_if(|(name, _)| *name == args.name()) {
            return Ok(kept);
        }
        if args.is_stdin() {
            let limit = args.read.input_limit.0;
            return Input::stdin(self.stdin()?, limit, Rc::clone(&self.progress));
        }
        Input::open(
            &args.file,
            !args.read.no_mmap,
            args.read.input_limit.0,
            Rc::clone(&self.progress),
        )
    }

    /// Returns standard input, which can be read once. Fails if a person would have to type it.
    pub(crate) fn stdin(&mut self) -> Result<Box<dyn Read + Send>, Failure> {
        if self.stdin_is_terminal {
            return Err(Failure::terminal());
        }
        Ok(self.stdin.take().unwrap_or_else(|| Box::new(io::empty())))
    }

    /// Sends results through a queue from now on, if a thread can write standard output: a reader
    /// that stops reading then blocks neither the command nor the traced process. Returns the
    /// queue, if there is one.
    pub(crate) fn queue_results(
        &mut self,
        on_stall: OnStall,
        end: &EndRule,
    ) -> io::Result<Option<StdoutQueue>> {
        let Some(stdout) = (self.detached_stdout)() else { return Ok(None) };
        let open = Box::new(|| Ok(stdout));
        let queue = StdoutQueue::new(open, on_stall, self.delays.stdout_stall, end)?;
        self.out.lead_to(queue.clone());
        Ok(Some(queue))
    }

    /// Writes the rest of the queue, and warns of the bytes that could not be written.
    pub(crate) fn finish_queue(&mut self, queue: Option<StdoutQueue>) -> io::Result<()> {
        self.out.finish()?;
        let dropped = queue.map_or(Ok(0), |queue| queue.finish().map(|dropped| dropped.bytes))?;
        if dropped > 0 {
            let text = "not shown, since standard output was not read";
            self.messages.warning(&format!("{} {text}", units::bytes(dropped)));
        }
        Ok(())
    }

    /// Turns progress off if results go to the terminal, because lines that scroll by show how far
    /// reading is.
    pub(crate) fn forgo_progress_on_terminal(&self) {
        if self.stdout_is_terminal {
            self.progress.end();
        }
    }

    /// Returns whether a view may take the whole terminal: results go to a terminal that can show
    /// something in place.
    pub(crate) fn shows_screens(&self) -> bool {
        self.stdout_is_terminal && !self.is_dumb
    }

    /// Returns how events are laid out as text.
    pub(crate) fn event_text(&self) -> TextOptions {
        let mut text = TextOptions::default();
        text.value_columns = self.terminal_columns();
        text.faint = self.style.faint();
        text.name = self.style.name();
        text.warning = self.style.warning();
        text.bad = self.style.bad();
        text
    }

    /// Returns the columns of the terminal that results go to; `None` when they go elsewhere.
    pub(crate) fn terminal_columns(&self) -> Option<usize> {
        let of_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        self.stdout_is_terminal.then(|| self.columns.or_else(of_terminal).unwrap_or(80))
    }

    /// Returns the maximum width of tables in columns; `None` is without limit.
    pub(crate) fn table_width(&self) -> Option<usize> {
        self.terminal_columns().filter(|_| !self.is_wide)
    }

    /// Returns whether everything is shown, however long lines get.
    pub(crate) fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// Notes that a table of the page lacks this column.
    pub(crate) fn note_left_out(&mut self, column: &'static str) {
        if !column.is_empty() && !self.is_left_out(column) {
            self.columns_left_out.push(column);
        }
    }

    /// Returns whether a table of the page lacks this column.
    pub(crate) fn is_left_out(&self, column: &str) -> bool {
        self.columns_left_out.contains(&column)
    }

    /// Returns the columns that tables of the page lack, and starts the next page.
    pub(crate) fn take_left_out(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.columns_left_out)
    }

    /// Writes a document as one JSON object, indented, with a newline after it.
    pub(crate) fn write_json(&mut self, document: &impl Serialize) -> Result<(), Failure> {
        json_text::pretty(&mut self.out, document)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// Writes a document about a trace as one JSON object. Its member `outcome` has losses and
    /// damage of the trace.
    pub(crate) fn write_report(
        &mut self,
        report: &impl Serialize,
        trace: &Ended,
    ) -> Result<(), Failure> {
        self.write_json(&WithOutcome { report, outcome: trace.outcome() })
    }

    /// Reports problems of a trace that was read, and returns the exit code.
    pub(crate) fn conclude(&mut self, file: &str, trace: &Ended, is_whole: bool) -> Exit {
        if let Some(unread) = trace.unread_times() {
            self.messages.note(&format!("{file}: {}", unread.text()));
        }
        self.messages.condition(file, trace, is_whole);
        self.messages.output_size(file, self.out.written(), trace.end_offset);
        if Condition::new(trace, is_whole).is_bad() { Exit::Damaged } else { Exit::Fine }
    }
}

/// A document with `outcome` beside its members.
#[derive(Serialize)]
struct WithOutcome<'r, T> {
    #[serde(flatten)]
    report: &'r T,
    outcome: OutcomeReport,
}

/// An open trace.
pub(crate) struct Trace {
    /// Name of the trace in messages.
    pub(crate) file: String,
    pub(crate) reader: Reader<Input>,
}

impl Trace {
    /// Returns the regions of the trace for several threads, if these can read it.
    pub(crate) fn regions(&self, threads: ThreadArgs) -> Option<Regions> {
        Regions::of_input(self.reader.source(), threads.threads.map(NonZeroUsize::get))
    }

    /// Returns the next event in file order.
    pub(crate) fn next_event(&mut self) -> Result<Option<Event<'_>>, Failure> {
        let position = self.reader.position();
        let Trace { file, reader, .. } = self;
        reader.next_event().map_err(|error| Failure::read(file, &error, position))
    }

    pub(crate) fn failed(&self, error: &nettrace_parser::Error) -> Failure {
        failed(&self.file, &self.reader, error)
    }
}

pub(crate) fn failed(
    file: &str,
    reader: &Reader<Input>,
    error: &nettrace_parser::Error,
) -> Failure {
    Failure::read(file, error, reader.position())
}
