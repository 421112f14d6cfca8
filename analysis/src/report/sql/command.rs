//! Events about SQL commands.
//!
//! | source | events |
//! |---|---|
//! | DiagnosticSource `Microsoft.EntityFrameworkCore` | `…Command.CommandExecuting`, `CommandExecuted`, `CommandError`, `CommandCanceled`, in any form that FilterAndPayloadSpecs give them; `…DataReaderDisposing` |
//! | DiagnosticSource `SqlClientDiagnosticListener` | `…WriteCommandBefore`, `WriteCommandAfter`, `WriteCommandError` |
//! | spans of any ActivitySource (Npgsql, OpenTelemetry) | tag `db.query.text` or `db.statement` |
//! | EventSources of SqlClient | `BeginExecute`, `EndExecute` |
//! | EventSource `Npgsql` | `CommandStart`, `CommandStop` |
//! | `Microsoft-Extensions-Logging` | messages 20101 and 20102 of logger `Microsoft.EntityFrameworkCore.Database.Command` |

use crate::hash::hash_of;
use crate::model::activity_edge::ActivityEdge;
use crate::report::logs::LoggedMessage;
use nettrace_parser::view::{self, KnownProvider, View};
use nettrace_parser::{Event, Utf16};

const EF: &str = "Microsoft.EntityFrameworkCore";
const SQL_CLIENT: &str = "SqlClientDiagnosticListener";
const EF_LOGGER: &str = "Microsoft.EntityFrameworkCore.Database.Command";
/// Tags of a span with the statement, newest convention first.
const STATEMENTS: [&str; 2] = ["db.query.text", "db.statement"];
/// Tags of a span with the number of rows.
const ROWS: [&str; 2] = ["db.response.returned_rows", "db.response.rows"];

/// Part of a command's life that an event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandPhase {
    Start,
    Stop,
    /// Whole command in one event.
    Whole,
    /// Number of rows that were read, after the stop.
    Rows,
}

/// Facts that an event reports about a command.
#[derive(Debug)]
pub(crate) struct CommandEvent {
    pub(crate) source: String,
    pub(crate) phase: CommandPhase,
    /// Statement as it was sent.
    pub(crate) text: Option<String>,
    pub(crate) rows: Option<u64>,
    pub(crate) nanos: Option<u64>,
    pub(crate) is_error: bool,
    /// Hash of the command's id.
    pub(crate) command: Option<u64>,
    pub(crate) connection: Option<u64>,
}

impl CommandEvent {
    fn new(source: &str, phase: CommandPhase) -> CommandEvent {
        CommandEvent {
            source: source.to_owned(),
            phase,
            text: None,
            rows: None,
            nanos: None,
            is_error: false,
            command: None,
            connection: None,
        }
    }

    /// Reads an event about a command; `None` for other events.
    pub(crate) fn from_event(
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
    ) -> Option<CommandEvent> {
        match event.known_provider() {
            KnownProvider::DiagnosticSource => CommandEvent::of_diagnostic_source(event, edge),
            KnownProvider::Logging => CommandEvent::of_log(event),
            KnownProvider::Other => CommandEvent::of_event_source(event, edge?),
            _ => None,
        }
    }

    fn of_diagnostic_source(
        event: &Event<'_>,
        edge: Option<&ActivityEdge>,
    ) -> Option<CommandEvent> {
        let activity = view::Activity::from_event(event)?;
        let is_of_ef = activity.source == EF;
        let is_command = (is_of_ef || activity.source == SQL_CLIENT)
            && edge.is_some_and(|it| it.name.ends_with(".Command"));
        let phase = match edge {
            None if is_of_ef && activity.name.to_string().ends_with(".DataReaderDisposing") => {
                CommandPhase::Rows
            }
            edge => {
                if edge?.is_start {
                    CommandPhase::Start
                } else {
                    CommandPhase::Stop
                }
            }
        };
        // Most activities run no command, and are not read any further.
        if !is_command && phase != CommandPhase::Rows && !activity.arguments().any(has_statement) {
            return None;
        }
        let mut command = CommandEvent::new(&activity.source.to_string(), phase);
        let (mut result, mut is_non_query, mut guess) = (None, false, None);
        for (key, value) in activity.arguments() {
            match key.to_string().as_str() {
                "CommandText" | "LogCommandText" if is_command => {
                    command.text = command.text.take().or_else(|| Some(value.to_string()));
                }
                "CommandId" | "OperationId" => {
                    command.command = Some(hash_of(value.to_string().as_str()))
                }
                "ConnectionId" => command.connection = Some(hash_of(value.to_string().as_str())),
                "Result" => result = value.to_string().parse().ok(),
                "ReadCount" => command.rows = value.to_string().parse().ok(),
                "ExecuteMethod" => is_non_query = value == "ExecuteNonQuery",
                "TagObjects" | "Tags" if !is_command => {
                    let tags = value.to_string();
                    let text = STATEMENTS.into_iter().find_map(|key| long_tag(&tags, key));
                    command.text = command.text.take().or_else(|| text.map(str::to_owned));
                    let rows = ROWS.into_iter().find_map(|key| long_tag(&tags, key));
                    command.rows = command.rows.or_else(|| rows?.parse().ok());
                }
                // A listener's specification may rename the argument.
                _ if is_command && guess.is_none() => {
                    guess = Some(value.to_string()).filter(|value| is_statement(value));
                }
                _ => {}
            }
        }
        command.text = command.text.or(guess);
        if is_non_query {
            command.rows = command.rows.or(result);
        }
        command.nanos = edge.and_then(|edge| edge.reported_nanos);
        command.is_error = edge.is_some_and(|edge| edge.is_error);
        Some(command)
    }

    fn of_event_source(event: &Event<'_>, edge: &ActivityEdge) -> Option<CommandEvent> {
        let (is_npgsql, task) = (event.provider() == "Npgsql", edge.task());
        let is_sql_client = matches!(
            event.provider(),
            "Microsoft.Data.SqlClient.EventSource" | "Microsoft-AdoNet-SystemData"
        );
        if !(is_npgsql && task == "Command" || is_sql_client && task == "Execute") {
            return None;
        }
        let phase = if edge.is_start { CommandPhase::Start } else { CommandPhase::Stop };
        let mut command = CommandEvent::new(event.provider(), phase);
        command.is_error = edge.is_error;
        for field in event.fields() {
            let Ok(value) = field.value else { break };
            match field.name() {
                "commandText" | "sql" => command.text = value.to_text().filter(|it| !it.is_empty()),
                // The lowest bit says whether the command succeeded.
                "compositeState" => {
                    command.is_error |= value.as_i64().is_some_and(|state| state & 1 == 0);
                }
                _ => {}
            }
        }
        Some(command)
    }

    /// Reads a log message `Executed DbCommand (7ms) [Parameters=…]`, which is followed by lines
    /// with the statement.
    fn of_log(event: &Event<'_>) -> Option<CommandEvent> {
        let message = LoggedMessage::from_event(event)?;
        let is_error = match message.event_id.as_str() {
            "20101" => false,
            "20102" => true,
            _ => return None,
        };
        if message.logger != EF_LOGGER {
            return None;
        }
        let source = format!("log messages of {EF_LOGGER} ({})", event.name());
        let mut command = CommandEvent::new(&source, CommandPhase::Whole);
        command.is_error = is_error;
        let argument = |name: &str| {
            let found = message.arguments.iter().find(|(argument, _)| argument == name);
            found.map(|(_, value)| value.clone())
        };
        let (head, statement) = message.text.split_once('\n').unwrap_or((&message.text, ""));
        let took = head.split_once('(').and_then(|(_, rest)| rest.split_once("ms)"));
        command.nanos = match argument("elapsed") {
            Some(elapsed) => millis(&elapsed),
            None => took.and_then(|(took, _)| millis(took)),
        };
        command.text = argument("commandText").or_else(|| Some(statement.to_owned()));
        Some(command)
    }
}

/// Converts milliseconds such as `1,234` to nanoseconds.
fn millis(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse::<u64>().ok()?.checked_mul(1_000_000)
}

/// Returns whether an argument of an activity has the tags of a span with a statement.
fn has_statement((key, value): (Utf16<'_>, Utf16<'_>)) -> bool {
    (key == "TagObjects" || key == "Tags") && {
        let tags = value.to_string();
        STATEMENTS.into_iter().any(|key| long_tag(&tags, key).is_some())
    }
}

/// Returns the value of a tag in `a:1, b:2`. A value may contain commas; it ends before the next
/// tag.
fn long_tag<'t>(tags: &'t str, key: &str) -> Option<&'t str> {
    let starts = |(at, _): &(usize, &str)| {
        let before = tags.get(..*at).unwrap_or_default().trim_end();
        before.is_empty() || before.ends_with(',')
    };
    let (at, _) = tags.match_indices(key).find(|found| {
        starts(found)
            && tags
                .get(found.0.saturating_add(key.len())..)
                .is_some_and(|rest| rest.starts_with(':'))
    })?;
    let value = tags.get(at.saturating_add(key.len()).saturating_add(1)..)?;
    let is_tag = |rest: &str| {
        let name = rest.trim_start().split(':').next().unwrap_or_default();
        name.len() < rest.trim_start().len()
            && name.contains('.')
            && name
                .chars()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '.' | '_'))
    };
    let end = value
        .match_indices(',')
        .find(|(at, _)| value.get(at.saturating_add(1)..).is_some_and(is_tag));
    value.get(..end.map_or(value.len(), |(at, _)| at))
}

/// Returns whether a text begins like an SQL statement.
fn is_statement(text: &str) -> bool {
    const FIRST: [&str; 14] = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "EXEC", "EXECUTE", "CALL", "SET",
        "CREATE", "ALTER", "DROP", "PRAGMA",
    ];
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    words.next().is_some() && FIRST.iter().any(|word| word.eq_ignore_ascii_case(first))
}

/// Returns whether events of this type may be about commands.
pub(crate) fn may_be_command(event: &Event<'_>) -> bool {
    matches!(
        event.known_provider(),
        KnownProvider::DiagnosticSource | KnownProvider::Logging | KnownProvider::Other
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_in_a_tag_ends_before_the_next_tag() {
        let tags = "db.system:postgresql, db.statement:SELECT a, b.c FROM t, net.peer.name:x";
        assert_eq!(long_tag(tags, "db.statement"), Some("SELECT a, b.c FROM t"));
        assert_eq!(long_tag(tags, "db.system"), Some("postgresql"));
        assert_eq!(long_tag(tags, "net.peer.name"), Some("x"));
        assert_eq!((long_tag(tags, "statement"), long_tag("", "db.system")), (None, None));
    }

    #[test]
    fn numbers_of_log_messages_and_beginnings_of_statements_are_known() {
        assert_eq!(millis("1,234"), Some(1_234_000_000));
        assert!(is_statement("select 1") && !is_statement("Text") && !is_statement("SELECT"));
    }
}
