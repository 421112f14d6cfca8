//! Messages by template.

use super::{LogLevel, LogRow};
use crate::report::message_group::group_of;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of templates that are counted separately, and that are listed.
const MAX_TEMPLATES: usize = 10_000;
const MAX_LISTED: usize = 1_000;
/// What all others are called.
const OTHERS: &str = "(other messages)";

/// Messages of one logger with one template.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LogTemplate {
    /// The template; if it is not reported, the message with `#` for numbers and
    /// identifiers.
    pub template: String,
    /// The logger's category, or the EventSource.
    pub logger: String,
    /// The most severe level of them.
    pub level: LogLevel,
    /// Number of messages.
    pub count: u64,
    /// Those with an exception.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub exceptions: u64,
}

/// Counts messages by template and logger.
#[derive(Debug, Default)]
pub(super) struct Templates(BTreeMap<(String, String), (u64, LogLevel, u64)>);

impl Templates {
    /// Counts a message, or moves it from what it was counted as before its template came.
    /// Returns what it is counted as.
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
