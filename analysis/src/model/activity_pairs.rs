//! Table of events that begin and end operations, but have no activity id, or are not named Start
//! and Stop. The fields of a pair of events tell the operations apart, because the thread may
//! change in between.
//!
//! Names in the table are the parts after the last point. A source is an EventSource, or a source
//! of DiagnosticSource.

/// The events that begin and end an operation of one sort.
#[derive(Debug)]
pub(crate) struct ActivityPair {
    source: &'static str,
    start: &'static str,
    stops: &'static [&'static str],
    /// Name of the operation. If it is empty, the event's name without its last part is used.
    pub(crate) name: &'static str,
    /// Fields that have equal values in start and stop. A field that only one of them has is
    /// ignored.
    pub(crate) keys: &'static [&'static str],
}

const fn pair(
    source: &'static str,
    start: &'static str,
    stops: &'static [&'static str],
    name: &'static str,
    keys: &'static [&'static str],
) -> ActivityPair {
    ActivityPair { source, start, stops, name, keys }
}

const EF: &str = "Microsoft.EntityFrameworkCore";
const SQL: &str = "SqlClientDiagnosticListener";
const KESTREL: &str = "Microsoft-AspNetCore-Server-Kestrel";
const OPERATION: &[&str] = &["OperationId"];
const COMMAND: &[&str] = &["CommandId", "ConnectionId"];
const CONNECTION: &[&str] = &["ConnectionId"];
const TRANSACTION: &[&str] = &["TransactionId"];

#[rustfmt::skip]
const PAIRS: [ActivityPair; 21] = [
    pair(EF, "BeforeExecuteCommand", &["AfterExecuteCommand", "CommandExecutionError"], "Command", COMMAND),
    pair(EF, "CommandExecuting", &["CommandExecuted", "CommandError", "CommandCanceled"], "Command", COMMAND),
    pair(EF, "ConnectionOpening", &["ConnectionOpened", "ConnectionError"], "ConnectionOpen", CONNECTION),
    pair(EF, "ConnectionClosing", &["ConnectionClosed"], "ConnectionClose", CONNECTION),
    pair(EF, "TransactionStarting", &["TransactionStarted"], "TransactionStart", TRANSACTION),
    pair(EF, "TransactionCommitting", &["TransactionCommitted", "TransactionError"], "TransactionCommit", TRANSACTION),
    pair(EF, "TransactionRollingBack", &["TransactionRolledBack"], "TransactionRollback", TRANSACTION),
    pair(SQL, "WriteCommandBefore", &["WriteCommandAfter", "WriteCommandError"], "Command", OPERATION),
    pair(SQL, "WriteConnectionOpenBefore", &["WriteConnectionOpenAfter", "WriteConnectionOpenError"], "ConnectionOpen", OPERATION),
    pair(SQL, "WriteConnectionCloseBefore", &["WriteConnectionCloseAfter", "WriteConnectionCloseError"], "ConnectionClose", OPERATION),
    pair(SQL, "WriteTransactionCommitBefore", &["WriteTransactionCommitAfter", "WriteTransactionCommitError"], "TransactionCommit", OPERATION),
    pair(SQL, "WriteTransactionRollbackBefore", &["WriteTransactionRollbackAfter", "WriteTransactionRollbackError"], "TransactionRollback", OPERATION),
    pair("Microsoft.Data.SqlClient.EventSource", "BeginExecute", &["EndExecute"], "Execute", &["objectId"]),
    pair("Microsoft-AdoNet-SystemData", "BeginExecute", &["EndExecute"], "Execute", &["objectId"]),
    pair("HttpHandlerDiagnosticListener", "Request", &["Response"], "Request", &["LoggingRequestId"]),
    pair("System.Net.Http", "ConnectionEstablished", &["ConnectionClosed"], "Connection", &["versionMajor", "connectionId"]),
    pair(KESTREL, "ConnectionStart", &["ConnectionStop"], "Connection", &["connectionId"]),
    pair(KESTREL, "TlsHandshakeStart", &["TlsHandshakeStop"], "TlsHandshake", &["connectionId"]),
    pair(KESTREL, "RequestStart", &["RequestStop"], "Request", &["connectionId", "requestId"]),
    pair(KESTREL, "RequestUpgradedStart", &["RequestUpgradedStop"], "RequestUpgraded", &["connectionId", "requestId"]),
    pair("Grpc.Net.Client", "Start", &["Stop"], "", &[]),
];

/// Returns the pair that an event belongs to, whether the event is the start of the operation, and
/// whether it reports that the operation failed.
pub(crate) fn pair_of(source: &str, event: &str) -> Option<(&'static ActivityPair, bool, bool)> {
    let name = event.rsplit('.').next().unwrap_or(event);
    let of_source = PAIRS.iter().filter(|pair| pair.source == source);
    of_source.into_iter().find_map(|pair| {
        let is_start = pair.start == name;
        let is_stop = pair.stops.contains(&name);
        (is_start || is_stop).then(|| (pair, is_start, name.ends_with("Error")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_or_end_one_operation_of_their_source() {
        fn pair(source: &str, event: &str) -> Option<(&'static str, bool, bool)> {
            let (pair, is_start, is_error) = pair_of(source, event)?;
            Some((pair.name, is_start, is_error))
        }
        let command = "Microsoft.EntityFrameworkCore.Database.Command";
        assert_eq!(
            pair(EF, &format!("{command}.CommandExecuting")),
            Some(("Command", true, false))
        );
        assert_eq!(pair(EF, &format!("{command}.CommandError")), Some(("Command", false, true)));
        for library in ["System", "Microsoft"] {
            let event = format!("{library}.Data.SqlClient.WriteCommandAfter");
            assert_eq!(pair(SQL, &event), Some(("Command", false, false)));
        }
        assert_eq!(pair(KESTREL, "CommandExecuting"), None);
        assert_eq!(pair("", ""), None);
    }

    #[test]
    fn no_event_of_a_source_is_of_two_operations() {
        for pair in &PAIRS {
            for name in pair.stops.iter().chain([&pair.start]) {
                let (found, ..) = pair_of(pair.source, name).unwrap();
                assert_eq!(found.name, pair.name, "{name}");
            }
        }
    }
}
