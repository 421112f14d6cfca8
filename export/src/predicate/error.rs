//! Errors in predicates.

use std::fmt;

/// Error in the text of a predicate, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredicateError {
    column: usize,
    message: String,
}

impl PredicateError {
    pub(super) fn new(column: usize, message: impl Into<String>) -> PredicateError {
        PredicateError { column, message: message.into() }
    }

    /// Returns the column of the error, counting characters from 1. If something is missing at the
    /// end, the column is one after the last character.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the message without the column.
    pub fn reason(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for PredicateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for PredicateError {}
