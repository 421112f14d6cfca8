//! Numbers of messages by template.

use super::{LogLevel, LogRow};
use crate::report::message_group::group_of;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of templates that are counted separately.
const MAX_TEMPLATES: usize = 10_000;
const MAX_LISTED: usize = 1_000;
/// Template under which further messages are counted.
const OTHERS: &str = "(other messages)";

/// Messages of one logger with one template.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogTemplate {
    /// Template; if not reported, the message with `#` for numbers and identifiers.
    pub template: String,
    /// Category of the logger, or name of the EventSource.
    pub logger: String,
    /// Most severe level of the messages.
    pub level: LogLevel,
    /// Number of messages.
    pub count: u64,
    /// Number of messages with an exception.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub exceptions: u64,
}

/// Counts messages by template and logger.
#[derive(Debug, Default)]
pub(super) struct Templates(BTreeMap<(String, String), (u64, LogLevel, u64)>);

impl Templates {
    /// Counts a message. Returns the key under which it counts. `before`: key under which the
    /// message was counted before its template came.
    pub(super) fn add(
        &mut self,
        before: Option<(String, String)>,
        row: &LogRow,
    ) -> (String, String) {
        let template = row.template.clone().unwrap_or_else(|| group_of(&row.message));
        let mut key = (template, row.logger.clone());
        if let Some(before) = before
            && let Some((count, ..)) = self.0.get_mut(&before)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.remove(&before);
            }
        }
        if self.0.len() >= MAX_TEMPLATES && !self.0.contains_key(&key) {
            key = (OTHERS.to_owned(), String::new());
        }
        let (count, level, exceptions) = self.0.entry(key.clone()).or_default();
        *count = count.saturating_add(1);
        *level = (*level).max(row.level);
        *exceptions = exceptions.saturating_add(u64::from(row.exception.is_some()));
        key
    }

    pub(super) fn finish(self) -> Vec<LogTemplate> {
        let rows = self.0.into_iter();
        let mut rows: Vec<LogTemplate> = rows
            .map(|((template, logger), (count, level, exceptions))| LogTemplate {
                template,
                logger,
                level,
                count,
                exceptions,
            })
            .collect();
        rows.sort_few_by_key(|row| Reverse(row.count));
        rows.truncate(MAX_LISTED);
        rows
    }
}
