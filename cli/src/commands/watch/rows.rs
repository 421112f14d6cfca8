//! Writes a row for several events that belong together: a request with its duration, a collection
//! with its pause, a message with its scopes.

use super::shows;
use crate::args::WatchArgs;
use crate::failure::Failure;
use crate::printable::printable;
use crate::style::{Paint, Style};
use crate::units;
use nettrace_analysis::live::{
    CompiledMethod, EndedWait, HttpRequest, Live, LiveWatch, PoolChange, ThrownException, WatchRow,
    WatchedEvent,
};
use nettrace_analysis::report::{Collection, LogLevel, LogRow};
use nettrace_export::{Answers, EventTypes, Fact, Filter, TypeIndex};
use nettrace_parser::{Event, utc_text};
use std::borrow::Cow;
use std::io::Write;

/// Width of the column `KIND` in characters: the length of `threadpool`.
const KIND_COLUMNS: usize = 10;
const UTC_COLUMNS: usize = "2026-11-20 14:37:46.896123".len();

/// State that turns events into rows.
pub(super) struct EventRows {
    live: Live<LiveWatch>,
    filter: Filter,
    style: Style,
    is_utc: bool,
    has_stacks: bool,
    /// Start of the session in nanoseconds since 1970.
    start_unix_ns: Option<i128>,
}

impl EventRows {
    /// Returns `None` if events are shown as events.
    pub(super) fn new(args: &WatchArgs, style: Style) -> Result<Option<EventRows>, Failure> {
        if !shows::shows_rows(args) {
            return Ok(None);
        }
        let mut options = args.filter.options(&args.conditions);
        // Events that `--event` names are shown as events.
        options.events.clear();
        let mut filter = Filter::new(options);
        if filter.has_too_many_parts() {
            let text = format!(
                "--where has more than {} comparisons; --format ndjson can do more",
                Answers::MAX_PARTS
            );
            return Err(Failure::Usage(text));
        }
        let kinds = args.show.iter().map(|show| shows::kind(*show));
        Ok(Some(EventRows {
            live: Live::new(LiveWatch::new(kinds)),
            filter,
            style,
            is_utc: args.utc,
            has_stacks: args.stacks,
            start_unix_ns: None,
        }))
    }

    /// Writes the heading.
    pub(super) fn write_heading(&self, out: &mut Vec<u8>) {
        let (time, width) = if self.is_utc { ("UTC", UTC_COLUMNS) } else { ("TIME ms", 12) };
        let line = format!("{time:>width$}   THREAD  {:KIND_COLUMNS$}  WHAT", "KIND");
        // Writing to a vector cannot fail, here and below.
        let _ = writeln!(out, "{}", self.style.faint().over(line));
    }

    /// Processes an event, and returns the rows that it completes.
    pub(super) fn process_event(
        &mut self,
        event: &Event<'_>,
        place: TypeIndex,
        types: &EventTypes,
    ) -> Vec<WatchRow> {
        if self.start_unix_ns.is_none() {
            self.start_unix_ns =
                event.unix_nanos().zip(event.nanos()).map(|(unix, nanos)| unix - i128::from(nanos));
        }
        let answers = self.filter.answers(event, place, types);
        self.live.report.mark(answers.bits());
        self.live.event(event);
        // With stacks, a message does not wait for its exception, because its stack is this
        // event's.
        let rows = match self.has_stacks {
            true => self.live.report.take_all(),
            false => self.live.report.take(),
        };
        self.accepted(rows)
    }

    /// Returns the rows that wait for further events.
    pub(super) fn take_rest(&mut self) -> Vec<WatchRow> {
        let rows = self.live.report.take_all();
        self.accepted(rows)
    }

    fn accepted(&mut self, mut rows: Vec<WatchRow>) -> Vec<WatchRow> {
        rows.retain(|row| {
            let known = self.filter.answers_of(&facts(&row.what));
            self.filter.accepts_answers(Answers::from_bits(row.mark) | known)
        });
        rows
    }

    /// Returns messages about conditions that no event fulfilled.
    pub(super) fn unmatched(&self, types: &EventTypes) -> Vec<String> {
        self.filter.unmatched(types)
    }

    /// Returns whether each row is shown with the stack of its last event.
    pub(super) fn has_stacks(&self) -> bool {
        self.has_stacks
    }

    /// Appends a row, and a line for each frame.
    pub(super) fn write(&self, out: &mut Vec<u8>, row: &WatchRow, frames: &[Cow<'_, str>]) {
        let _ = match self.start_unix_ns.filter(|_| self.is_utc) {
            Some(start) => {
                write!(out, "{}", utc_text(start.saturating_add(i128::from(row.ts_ns)), 6))
            }
            None if self.is_utc => write!(out, "{:>UTC_COLUMNS$}", "?"),
            None => write!(out, "{:>12}", units::milliseconds(row.ts_ns)),
        };
        let thread = row.thread_id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let style = self.style;
        let (kind, paint, text) = match &row.what {
            WatchedEvent::Gc(collection) => ("gc", style.name(), gc(collection)),
            WatchedEvent::Exception(thrown) => ("exception", style.bad(), exception(thrown)),
            WatchedEvent::Contention(wait) => ("contention", style.warning(), contention(wait)),
            WatchedEvent::Log(message) => {
                let paint = level_paint(message.level, style);
                (message.level.short_name(), paint, log(message, style))
            }
            WatchedEvent::Http(request) => {
                let paint = if request.is_error { style.bad() } else { style.name() };
                ("http", paint, http(request))
            }
            WatchedEvent::Jit(method) => ("jit", style.name(), jit(method)),
            WatchedEvent::Threadpool(change) => ("threadpool", style.name(), pool(change)),
            _ => ("", style.faint(), String::new()),
        };
        let kind = paint.over(format!("{kind:KIND_COLUMNS$}"));
        let _ = writeln!(out, "  {thread:>7}  {kind}  {text}");
        for frame in frames {
            let line = format!("{:12}  at {}", "", printable(frame));
            let _ = writeln!(out, "{}", style.faint().over(line));
        }
    }
}

fn nanos(nanos: u64) -> String {
    units::duration(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// Returns a duration; `?` if the start is not in the session.
fn duration(duration: Option<u64>) -> String {
    duration.map_or_else(|| "?".to_owned(), nanos)
}

fn gc(row: &Collection) -> String {
    let mut text = format!("#{}  gen {}  {}  {}", row.number, row.generation, row.kind, row.reason);
    text.push_str(&match (row.pauses.is_empty(), row.duration_ns) {
        (true, of) => format!("  took {}", duration(of)),
        (false, Some(of)) if of > row.pause_ns => {
            format!("  paused {} of {}", nanos(row.pause_ns), nanos(of))
        }
        (false, _) => format!("  paused {}", nanos(row.pause_ns)),
    });
    match (row.heap_before_bytes, row.heap_after_bytes) {
        (Some(before), Some(after)) => {
            text.push_str(&format!("  heap {} -> {}", units::bytes(before), units::bytes(after)));
        }
        (None, Some(after)) => text.push_str(&format!("  heap {}", units::bytes(after))),
        _ => {}
    }
    if let Some(promoted) = row.promoted_bytes {
        text.push_str(&format!("  promoted {}", units::bytes(promoted)));
    }
    text
}

fn exception(thrown: &ThrownException) -> String {
    let mut text = printable(&thrown.type_name);
    if !thrown.message.is_empty() {
        text.push_str(&format!(": {}", printable(&thrown.message)));
    }
    match (thrown.is_rethrown, thrown.is_nested) {
        (true, _) => text.push_str("  (thrown again)"),
        (false, true) => text.push_str("  (while another was being handled)"),
        (false, false) => {}
    }
    text
}

fn contention(wait: &EndedWait) -> String {
    let mut text = format!("waited {} for a lock", duration(wait.duration_ns));
    if wait.is_native {
        text.push_str(" of the runtime");
    }
    if let Some(owner) = wait.owner_thread_id {
        text.push_str(&format!(" that thread {owner} had"));
    }
    if let Some(lock) = &wait.lock_id {
        text.push_str(&format!("  {lock}"));
    }
    text
}

/// Returns the colour of a log message's level.
pub(crate) fn level_paint(level: LogLevel, style: Style) -> Paint {
    match level {
        LogLevel::Trace | LogLevel::Debug => style.faint(),
        LogLevel::Information => style.good(),
        LogLevel::Warning => style.warning(),
        _ => style.bad(),
    }
}

fn log(message: &LogRow, style: Style) -> String {
    let mut text = style.name().over(printable(&message.logger));
    if !message.event.is_empty() {
        text.push_str(&format!("[{}]", printable(&message.event)));
    }
    let arguments = message.arguments.as_ref().filter(|_| message.message.is_empty());
    let shown = arguments.unwrap_or(&message.message);
    if !shown.is_empty() {
        text.push_str(&format!("  {}", printable(shown)));
    }
    let scopes: Vec<String> =
        message.scopes.iter().map(|scope| format!("=> {}", printable(scope))).collect();
    if !scopes.is_empty() {
        text.push_str(&format!("  {}", style.faint().over(scopes.join(" "))));
    }
    if let Some(exception) = &message.exception {
        text.push_str(&format!("  {}", style.bad().over(printable(exception))));
    }
    text
}

fn http(request: &HttpRequest) -> String {
    let words = [
        request.direction.map(|it| it.name()),
        request.method.as_deref(),
        Some(request.target.as_deref().unwrap_or("?")),
    ];
    let mut text = printable(&words.into_iter().flatten().collect::<Vec<_>>().join(" "));
    if let Some(status) = request.status.filter(|status| *status >= 0) {
        text.push_str(&format!("  {status}"));
    }
    text.push_str(&format!("  {}", duration(request.duration_ns)));
    if request.is_error {
        text.push_str("  failed");
    }
    text
}

fn jit(method: &CompiledMethod) -> String {
    let sizes = match method.il_bytes {
        Some(il @ 1..) => format!("{il} B of IL -> {} B", method.native_bytes),
        _ => format!("{} B", method.native_bytes),
    };
    let took = match method.duration_ns {
        Some(took) => format!("  {}", nanos(took)),
        None => String::new(),
    };
    format!("{}  {}{took}  {sizes}", printable(&method.name), method.tier)
}

fn pool(change: &PoolChange) -> String {
    match change {
        PoolChange::Started { workers } => format!("a worker started: {workers}"),
        PoolChange::Stopped { workers } => format!("a worker stopped: {workers}"),
        PoolChange::Adjusted { workers, throughput, reason } => {
            let throughput = format!("{throughput:.1} work items/s before");
            format!("wants {workers} workers: {}, {throughput}", printable(reason))
        }
        PoolChange::Limits { min_workers, max_workers } => {
            format!("limits: {min_workers} to {max_workers} workers")
        }
        _ => String::new(),
    }
}

/// Returns the facts of a row that `--where` can name beside fields of events.
fn facts(what: &WatchedEvent) -> Vec<(&'static str, Fact<'_>)> {
    let mut facts = Vec::new();
    let mut text = |name, text: &str| {
        facts.push((name, Fact::Text(Cow::Owned(text.to_owned()))));
    };
    match what {
        WatchedEvent::Gc(row) => {
            text("type", &row.kind.to_string());
            text("reason", &row.reason.to_string());
            facts.push(("generation", Fact::Number(f64::from(row.generation))));
            facts.push(("number", Fact::Number(f64::from(row.number))));
            facts.push(("pause", Fact::Nanos(row.pause_ns)));
            facts.extend(row.duration_ns.map(|nanos| ("duration", Fact::Nanos(nanos))));
            facts.extend(row.heap_after_bytes.map(|bytes| ("heap", Fact::Bytes(bytes))));
            facts.extend(row.promoted_bytes.map(|bytes| ("promoted", Fact::Bytes(bytes))));
        }
        WatchedEvent::Exception(thrown) => {
            text("type", &thrown.type_name);
            text("message", &thrown.message);
        }
        WatchedEvent::Contention(wait) => {
            text("lock", wait.lock_id.as_deref().unwrap_or_default());
            facts.extend(wait.duration_ns.map(|nanos| ("duration", Fact::Nanos(nanos))));
            facts.extend(wait.owner_thread_id.map(|id| ("owner", Fact::Number(id as f64))));
        }
        WatchedEvent::Log(message) => {
            let level = match message.level {
                LogLevel::Trace => "trace",
                LogLevel::Debug => "debug",
                LogLevel::Information => "information",
                LogLevel::Warning => "warning",
                LogLevel::Error => "error",
                _ => "critical",
            };
            text("level", level);
            text("logger", &message.logger);
            text("event", &message.event);
            text("message", &message.message);
            text("exception", message.exception.as_deref().unwrap_or_default());
            message.scopes.iter().for_each(|scope| text("scope", scope));
        }
        WatchedEvent::Http(request) => {
            text("direction", request.direction.map_or("", |it| it.name()));
            text("method", request.method.as_deref().unwrap_or_default());
            text("target", request.target.as_deref().unwrap_or_default());
            text("failed", if request.is_error { "true" } else { "false" });
            facts.extend(request.status.map(|status| ("status", Fact::Number(status as f64))));
            facts.extend(request.duration_ns.map(|nanos| ("duration", Fact::Nanos(nanos))));
        }
        WatchedEvent::Jit(method) => {
            text("method", &method.name);
            text("tier", method.tier);
            facts.push(("size", Fact::Bytes(u64::from(method.native_bytes))));
            facts.extend(method.duration_ns.map(|nanos| ("duration", Fact::Nanos(nanos))));
        }
        WatchedEvent::Threadpool(change) => {
            let workers = match change {
                PoolChange::Started { workers } | PoolChange::Stopped { workers } => *workers,
                PoolChange::Adjusted { workers, throughput, reason } => {
                    text("reason", reason);
                    facts.push(("throughput", Fact::Number(*throughput)));
                    *workers
                }
                PoolChange::Limits { max_workers, .. } => *max_workers,
                _ => 0,
            };
            facts.push(("workers", Fact::Number(workers as f64)));
        }
        _ => {}
    }
    facts
}
