//! Messages of ILogger and of EventSources.
//!
//! | event | meaning |
//! |---|---|
//! | `Microsoft-Extensions-Logging` FormattedMessage | a formatted message |
//! | MessageJson | its arguments and exception; also the message, if nothing else contains it |
//! | ActivityStart, ActivityStop, ActivityJsonStart, ActivityJsonStop | a scope starts, ends |
//! | EventSourceMessage of any provider | an EventSource's report about itself, and `EventSource.Write(string)` |
//!
//! A logger may write one message in several forms, directly after each other on its
//! thread; they are merged. The trace does not contain the scopes of a message. Shown are
//! the open scopes that were started on its thread and, if both have activity ids, have
//! the same one.

mod scopes;

use super::contract::{Moment, Recording, Report, SCHEMA};
use crate::model::{Model, Resolved, ThreadHandle, short};
use crate::sorted::SortFew;
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, View};
use scopes::LogScopes;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Maximum number of loggers that are counted separately; further ones share a row.
const MOST_LOGGERS: usize = 10_000;

/// Threads whose last message is known.
const MOST_THREADS: usize = 10_000;

/// All messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogsReport {
    /// Version of this document.
    pub schema: u32,
    /// Number of messages.
    pub count: u64,
    /// By level, least severe first.
    pub levels: Vec<LogLevelCount>,
    /// By logger or provider, most messages first.
    pub loggers: Vec<LoggerCount>,
    /// The messages in time order, except for those already taken.
    pub messages: Vec<LogRow>,
    /// Number of selected events.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) used: u64,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogRow {
    /// The time, in nanoseconds since the session's start.
    pub ts_ns: i64,
    /// OS id of the thread.
    pub thread_id: Option<u64>,
    /// Its severity.
    pub level: LogLevel,
    /// The logger's category, or the name of the EventSource.
    pub logger: String,
    /// The event's id and name, if they are reported.
    pub event: String,
    /// The message.
    pub message: String,
    /// The exception, in the logger's JSON format.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exception: Option<String>,
    /// The arguments, in the logger's JSON format. Only if the message itself is not
    /// reported.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arguments: Option<String>,
    /// Open scopes on the thread, outermost first.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::document::as_texts"))]
    pub scopes: Vec<Arc<str>>,
}

/// The severity of a message, as in ILogger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum LogLevel {
    /// 0.
    #[default]
    Trace,
    /// 1.
    Debug,
    /// 2.
    Information,
    /// 3.
    Warning,
    /// 4.
    Error,
    /// 5 and above.
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

    /// Levels of EventSources count in the opposite direction.
    fn of_event(level: u32) -> LogLevel {
        match level {
            1 => LogLevel::Critical,
            2 => LogLevel::Error,
            3 => LogLevel::Warning,
            0 | 4 => LogLevel::Information,
            _ => LogLevel::Debug,
        }
    }

    /// Four letters, like .NET's console logger.
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

/// Messages of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogLevelCount {
    /// The level.
    pub level: LogLevel,
    /// Number of messages.
    pub count: u64,
}

/// Messages of one logger.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LoggerCount {
    /// The logger's category, or the EventSource.
    pub logger: String,
    /// Number of messages.
    pub count: u64,
}

/// The last message of a thread.
#[derive(Debug)]
struct Last {
    logger: String,
    event_id: String,
    level: u32,
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
    count: u64,
    least: LogLevel,
    /// Whether messages are only counted.
    only_counts: bool,
    used: u64,
}

impl Logs {
    /// Keeps only messages of this level and above. Scopes are tracked regardless.
    #[must_use]
    pub fn at_least(self, level: LogLevel) -> Logs {
        Logs { least: level, ..self }
    }

    /// Only counts messages.
    pub(crate) fn without_messages(self) -> Logs {
        Logs { only_counts: true, ..self }
    }

    /// Takes the messages that have arrived since the last call, in time order, so that
    /// they need not be kept. The newest one is kept, because the next event may be its
    /// exception; it is in the final report.
    pub fn take(&mut self) -> Vec<LogRow> {
        let newest = self.rows.pop();
        std::mem::replace(&mut self.rows, newest.into_iter().collect())
    }

    /// Takes the newest message too: its exception will be a message of its own.
    pub(crate) fn take_all(&mut self) -> Vec<LogRow> {
        std::mem::take(&mut self.rows)
    }

    /// Number of messages that have not been taken.
    pub(crate) fn waiting(&self) -> usize {
        self.rows.len()
    }

    fn add(&mut self, row: LogRow) {
        self.count = self.count.saturating_add(1);
        let level = self.levels.entry(row.level).or_default();
        *level = level.saturating_add(1);
        let is_full = self.loggers.len() >= MOST_LOGGERS && !self.loggers.contains_key(&row.logger);
        let logger = if is_full { "(other loggers)".to_owned() } else { row.logger.clone() };
        let logger = self.loggers.entry(logger).or_default();
        *logger = logger.saturating_add(1);
        self.rows.push(row);
    }

    fn message(&mut self, event: &Event<'_>, moment: &Moment) -> bool {
        if event.known_provider() == KnownProvider::Logging {
            match event.name() {
                "ActivityStart" | "ActivityJsonStart" => self.scopes.begin(event, moment.thread),
                "ActivityStop" | "ActivityJsonStop" => self.scopes.end(event, moment.thread),
                _ => return self.logger_message(event, moment),
            }
            return true;
        }
        let Some(message) = view::Message::of(event) else { return false };
        let level = LogLevel::of_event(event.level());
        if moment.is_selected && level >= self.least {
            self.add(LogRow {
                ts_ns: moment.nanos,
                thread_id: event.thread_id(),
                level,
                logger: short(event.provider()).to_owned(),
                event: String::new(),
                message: message.text.to_string(),
                exception: None,
                arguments: None,
                scopes: Vec::new(),
            });
        }
        true
    }

    fn logger_message(&mut self, event: &Event<'_>, moment: &Moment) -> bool {
        let Some(message) = view::LogMessage::of(event) else { return false };
        let (logger, event_id) = (message.logger.to_string(), message.event_id.to_string());
        let text = |text: nettrace_parser::Utf16<'_>| {
            Some(text.to_string()).filter(|text| !text.is_empty())
        };
        let exception = message.exception_json.and_then(text).filter(|json| json.trim() != "{}");
        let json = message.arguments_json;
        let last = self.last.remove(&moment.thread);
        let is_again = json.is_some()
            && last.is_some_and(|last| {
                last.logger == logger && last.event_id == event_id && last.level == message.level
            });
        if json.is_none() {
            let last =
                Last { logger: logger.clone(), event_id: event_id.clone(), level: message.level };
            if self.last.len() >= MOST_THREADS {
                // They are of use until the next message of the thread.
                self.last.clear();
            }
            self.last.insert(moment.thread, last);
        }
        let level = LogLevel::of_logger(message.level);
        if !moment.is_selected || level < self.least || (is_again && exception.is_none()) {
            return true;
        }
        if is_again {
            // Unless another thread's message is in between.
            let thread_id = event.thread_id();
            let is_of_message = |row: &&mut LogRow| {
                row.thread_id == thread_id && row.logger == logger && row.exception.is_none()
            };
            if let Some(row) = self.rows.last_mut().filter(is_of_message) {
                row.exception = exception;
                return true;
            }
        }
        let event_name = message.event_name.to_string();
        let is_told = !message.message.is_empty() || is_again;
        let row = LogRow {
            ts_ns: moment.nanos,
            thread_id: event.thread_id(),
            level,
            logger,
            event: match (event_id.as_str(), event_name.as_str()) {
                (id, "") => id.to_owned(),
                ("" | "0", name) => name.to_owned(),
                (id, name) => format!("{id} {name}"),
            },
            message: if is_again { String::new() } else { message.message.to_string() },
            exception,
            arguments: json.and_then(text).filter(|_| !is_told),
            scopes: self.scopes.of(event, moment.thread),
        };
        if is_again {
            self.rows.push(row);
        } else {
            self.add(row);
        }
        true
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

    fn event(&mut self, event: &Event<'_>, moment: &Moment, _: &mut Model) -> bool {
        let is_about = self.message(event, moment);
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
            messages: self.rows,
            used: self.used,
        }
    }
}
