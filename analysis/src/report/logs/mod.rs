//! Messages of ILogger and of EventSources.
//!
//! | event | meaning |
//! |---|---|
//! | `Microsoft-Extensions-Logging` FormattedMessage | a formatted message |
//! | Message | its template, arguments and exception |
//! | MessageJson | the same as JSON; also the message, if nothing else contains it |
//! | ActivityStart, ActivityStop, ActivityJsonStart, ActivityJsonStop | a scope starts, ends |
//! | EventSourceMessage of any provider | an EventSource's report about itself, and `EventSource.Write(string)` |
//!
//! A logger may write one message in several forms, one directly after the other on a thread, which
//! are merged. The trace does not contain the scopes of a message; [`scopes`] finds them.

mod message;
mod scopes;
mod templates;

pub(super) use message::{Form, LoggedMessage};
pub(super) use scopes::{Around, LogScopes};
pub use templates::LogTemplate;

use super::contract::{Moment, Recording, Report, SCHEMA};
use crate::flat_json;
use crate::hash::HashMap;
use crate::model::{Model, Pattern, Resolved, ThreadHandle, short};
use crate::report::counts::increase;
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, View};
use std::collections::BTreeMap;
use std::sync::Arc;
use templates::Templates;

/// Maximum number of loggers that are counted separately; further ones share a row.
const MAX_LOGGERS: usize = 10_000;

/// Maximum time between the forms of one message, in nanoseconds.
const MAX_FORMS_NANOS: i64 = 10_000_000;
/// Maximum number of messages of other threads between the forms of one message.
const MAX_WAITING: usize = 64;

/// Maximum number of threads whose last message is kept.
const MAX_THREADS: usize = 10_000;

/// Log messages, with counts by level, logger and template.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogsReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Number of messages.
    pub count: u64,
    /// Number of messages by level, least severe first.
    pub levels: Vec<LogLevelCount>,
    /// Number of messages by logger or provider, most first.
    pub loggers: Vec<LoggerCount>,
    /// Messages by template and logger, most first; at most 1,000 rows.
    pub templates: Vec<LogTemplate>,
    /// Messages in time order, without those already taken.
    pub messages: Vec<LogRow>,
    /// Number of selected events.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
}

/// Log message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogRow {
    /// Time, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of the thread; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// Severity.
    pub level: LogLevel,
    /// Category of the logger, or name of the EventSource.
    pub logger: String,
    /// Id and name of the logger's event, without an id of 0. If the event has no name, its id is
    /// shown only if it is a text or the message has no formatted text.
    pub event: String,
    /// Text of the message.
    pub message: String,
    /// Exception: type, message and stack, in lines.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exception: Option<String>,
    /// Template of the message, without the values of arguments; `None` if not reported.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub template: Option<String>,
    /// Arguments as a JSON object of texts; `None` if the formatted message is reported. Otherwise
    /// `message` is the template filled with these.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arguments: Option<String>,
    /// Id of the request around the message, from ASP.NET Core's scope.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub request: Option<String>,
    /// Trace id of the activity that wrote the message.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub trace_id: Option<String>,
    /// Span id of the activity that wrote the message.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub span_id: Option<String>,
    /// Scopes that are known for certain to be around the message, outermost first.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_texts"))]
    pub scopes: Vec<Arc<str>>,
}

/// Severity of a message, as in ILogger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum LogLevel {
    /// Level 0 of ILogger.
    #[default]
    Trace,
    /// Level 1 of ILogger.
    Debug,
    /// Level 2 of ILogger.
    Information,
    /// Level 3 of ILogger.
    Warning,
    /// Level 4 of ILogger.
    Error,
    /// Level 5 of ILogger, and all above.
    Critical,
}

impl LogLevel {
    /// All levels, least severe first.
    pub(crate) const ALL: [LogLevel; 6] = [
        LogLevel::Trace,
        LogLevel::Debug,
        LogLevel::Information,
        LogLevel::Warning,
        LogLevel::Error,
        LogLevel::Critical,
    ];

    fn of_logger(level: u32) -> LogLevel {
        let at = usize::try_from(level).unwrap_or(usize::MAX);
        LogLevel::ALL.get(at).copied().unwrap_or(LogLevel::Critical)
    }

    /// Converts the level of an EventSource, where 1 is the most severe.
    fn of_event(level: u32) -> LogLevel {
        match level {
            1 => LogLevel::Critical,
            2 => LogLevel::Error,
            3 => LogLevel::Warning,
            0 | 4 => LogLevel::Information,
            _ => LogLevel::Debug,
        }
    }

    /// Returns a name of four letters, as .NET's console logger writes it.
    pub fn short_name(self) -> &'static str {
        match self {
            LogLevel::Trace => "trce",
            LogLevel::Debug => "dbug",
            LogLevel::Information => "info",
            LogLevel::Warning => "warn",
            LogLevel::Error => "fail",
            LogLevel::Critical => "crit",
        }
    }
}

/// Number of messages of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogLevelCount {
    /// Level of the messages.
    pub level: LogLevel,
    /// Number of messages.
    pub count: u64,
}

/// Number of messages of one logger.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoggerCount {
    /// Category of the logger, or name of the EventSource.
    pub logger: String,
    /// Number of messages.
    pub count: u64,
}

#[derive(Debug)]
struct Last {
    logger: String,
    event_id: String,
    level: LogLevel,
    form: Form,
    /// Template and logger under which the message is counted.
    counted: Option<(String, String)>,
}

/// Filter of messages.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LogFilter {
    /// Minimum severity.
    pub least: LogLevel,
    /// Pattern that the logger's name must match.
    pub logger: Option<Pattern>,
    /// Id of the request, trace or span that a message must belong to.
    pub request: Option<String>,
}

impl LogFilter {
    fn admits_logger(&self, logger: &str) -> bool {
        self.logger.as_ref().is_none_or(|pattern| pattern.is_match(logger))
    }

    fn admits_request(&self, row: &LogRow) -> bool {
        self.request.as_ref().is_none_or(|wanted| {
            let ids = [&row.request, &row.trace_id, &row.span_id];
            ids.into_iter().flatten().any(|id| id.eq_ignore_ascii_case(wanted))
                // The filter may have a whole span id: `00-TRACE-SPAN-01`.
                || row.span_id.as_ref().is_some_and(|span| {
                    wanted.split('-').nth(2).is_some_and(|part| part.eq_ignore_ascii_case(span))
                })
        })
    }
}

/// Computes a [`LogsReport`]. Messages are kept until they are [taken](Logs::take) or the
/// report is finished.
#[derive(Debug, Default)]
pub struct Logs {
    rows: Vec<LogRow>,
    scopes: LogScopes,
    last: HashMap<ThreadHandle, Last>,
    levels: BTreeMap<LogLevel, u64>,
    loggers: BTreeMap<String, u64>,
    templates: Templates,
    count: u64,
    filter: LogFilter,
    only_counts: bool,
    used: u64,
}

impl Logs {
    /// Reports only messages that the filter accepts. Scopes are tracked regardless.
    #[must_use]
    pub fn filter(self, filter: LogFilter) -> Logs {
        Logs { filter, ..self }
    }

    /// Only counts messages and keeps none.
    #[must_use]
    pub fn without_messages(self) -> Logs {
        Logs { only_counts: true, ..self }
    }

    /// Returns the messages that have arrived since the last call, in time order, which are not
    /// kept any longer. The newest messages stay, because the next event may be the exception of
    /// one of them.
    pub fn take(&mut self) -> Vec<LogRow> {
        let newest = self.rows.last().map_or(0, |row| row.ts_ns);
        let is_done = |row: &LogRow| row.ts_ns.saturating_add(MAX_FORMS_NANOS) < newest;
        let done = self.rows.partition_point(is_done);
        let done = done.max(self.rows.len().saturating_sub(MAX_WAITING));
        let rest = self.rows.split_off(done);
        std::mem::replace(&mut self.rows, rest)
    }

    /// Takes the messages of which no further form can come, if there are many.
    #[cfg(feature = "page")]
    pub(crate) fn take_old(&mut self) -> Vec<LogRow> {
        if self.rows.len() < 2 * MAX_WAITING {
            return Vec::new();
        }
        let newest = self.rows.split_off(self.rows.len().saturating_sub(MAX_WAITING));
        std::mem::replace(&mut self.rows, newest)
    }

    /// Returns all messages, even the newest, whose exception would be a message of its own.
    pub(crate) fn take_all(&mut self) -> Vec<LogRow> {
        std::mem::take(&mut self.rows)
    }

    /// Returns the number of messages that have not been taken.
    pub(crate) fn waiting(&self) -> usize {
        self.rows.len()
    }

    fn add(&mut self, row: LogRow) {
        self.count = self.count.saturating_add(1);
        increase(self.levels.entry(row.level).or_default(), 1);
        let is_full = self.loggers.len() >= MAX_LOGGERS && !self.loggers.contains_key(&row.logger);
        let logger = if is_full { "(other loggers)".to_owned() } else { row.logger.clone() };
        increase(self.loggers.entry(logger).or_default(), 1);
        self.rows.push(row);
    }

    fn message(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        if event.known_provider() == KnownProvider::Logging {
            let is_scope = self.scopes.event(event, moment.thread, model);
            return is_scope || self.logger_message(event, moment, model);
        }
        let Some(message) = view::Message::from_event(event) else { return false };
        let level = LogLevel::of_event(event.level());
        let row = LogRow {
            ts_ns: moment.nanos,
            thread_id: event.thread_id(),
            level,
            logger: short(event.provider()).to_owned(),
            event: String::new(),
            message: message.text.to_string(),
            exception: None,
            template: None,
            arguments: None,
            request: None,
            trace_id: None,
            span_id: None,
            scopes: Vec::new(),
        };
        if moment.is_selected && self.admits(&row) {
            self.templates.add(None, &row);
            self.add(row);
        }
        true
    }

    fn admits(&self, row: &LogRow) -> bool {
        row.level >= self.filter.least
            && self.filter.admits_logger(&row.logger)
            && self.filter.admits_request(row)
    }

    fn logger_message(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let Some(message) = LoggedMessage::from_event(event) else { return false };
        let last = self.last.remove(&moment.thread);
        let is_its = |last: &Last| {
            last.form < message.form
                && last.logger == message.logger
                && last.event_id == message.event_id
                && last.level == message.level
        };
        let again = last.filter(is_its);
        let is_again = again.is_some();
        let around = self.scopes.around(
            event,
            moment.thread,
            message.trace.as_deref(),
            message.span.as_deref(),
            model,
        );
        let has_text = !message.text.is_empty();
        let row = LogRow {
            ts_ns: moment.nanos,
            thread_id: event.thread_id(),
            level: message.level,
            logger: message.logger.clone(),
            event: match (message.event_id.as_str(), message.event_name.as_str()) {
                ("" | "0", name) => name.to_owned(),
                (id, "") if message.is_id_shown => id.to_owned(),
                (_, "") => String::new(),
                (id, name) => format!("{id} {name}"),
            },
            message: message.rendered(),
            arguments: (!has_text && !message.arguments.is_empty()).then(|| {
                let arguments = message.arguments.iter();
                flat_json::object(arguments.map(|(name, value)| (name.as_str(), value.as_str())))
            }),
            exception: message.exception,
            template: message.template,
            request: around.request.map(|id| id.as_ref().to_owned()),
            trace_id: message.trace,
            span_id: message.span,
            scopes: around.scopes,
        };
        let is_wanted = moment.is_selected && self.admits(&row);
        let mut counted = again.and_then(|last| last.counted);
        if is_wanted && (!is_again || row.template.is_some()) {
            counted = Some(self.templates.add(counted, &row));
        }
        if self.last.len() >= MAX_THREADS {
            // A last message is needed only until the thread's next message.
            self.last.clear();
        }
        let (logger, event_id, level) = (row.logger.clone(), message.event_id, row.level);
        let last = Last { logger, event_id, level, form: message.form, counted };
        self.last.insert(moment.thread, last);
        if !is_wanted {
            return true;
        }
        if !is_again {
            self.add(row);
            return true;
        }
        let mut newest = self.rows.iter_mut().rev().take(MAX_WAITING);
        match newest.find(|kept| kept.thread_id == row.thread_id) {
            Some(kept) if kept.logger == row.logger => kept.join(row),
            // The message was taken before its exception came.
            _ if row.exception.is_some() => {
                self.rows.push(LogRow { message: String::new(), arguments: None, ..row });
            }
            _ => {}
        }
        true
    }
}

impl LogRow {
    /// Adds the members that another form of the message has.
    fn join(&mut self, other: LogRow) {
        self.exception = self.exception.take().or(other.exception);
        self.template = self.template.take().or(other.template);
        if self.message.is_empty() {
            self.message = other.message;
            self.arguments = self.arguments.take().or(other.arguments);
        }
    }
}

impl Report for Logs {
    type Output = LogsReport;

    const NAME: &'static str = "logs";
    const ABOUT: &'static str = "Messages of ILogger and of EventSources";
    const RECORD: &'static [Recording] = &[Recording::new("Microsoft-Extensions-Logging", 4, 5)];

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Logging || event.name() == "EventSourceMessage"
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        let is_about = self.message(event, moment, model);
        self.used = self.used.saturating_add(u64::from(is_about && moment.is_selected));
        if self.only_counts {
            self.rows.clear();
        }
        is_about
    }

    fn finish(self, _: &Resolved<'_>) -> LogsReport {
        let mut loggers: Vec<LoggerCount> =
            self.loggers.into_iter().map(|(logger, count)| LoggerCount { logger, count }).collect();
        loggers.sort_few_by_key(|row| std::cmp::Reverse(row.count));
        LogsReport {
            schema: SCHEMA,
            count: self.count,
            levels: self
                .levels
                .into_iter()
                .map(|(level, count)| LogLevelCount { level, count })
                .collect(),
            loggers,
            templates: self.templates.finish(),
            messages: self.rows,
            used: self.used,
        }
    }
}
