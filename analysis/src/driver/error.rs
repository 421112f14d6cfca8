//! Errors of an analysis.

use crate::convert::ConvertError;
use std::fmt;

/// Reason why an analysis failed. It is shown as the error that it holds, and has its cause.
#[derive(Debug)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The trace cannot be read, or cannot be read any further.
    Read(nettrace_parser::Error),
    /// A converter failed.
    Convert(ConvertError),
}

impl fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnalysisError::Read(error) => error.fmt(f),
            AnalysisError::Convert(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AnalysisError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AnalysisError::Read(error) => error.source(),
            AnalysisError::Convert(error) => error.source(),
        }
    }
}

impl From<nettrace_parser::Error> for AnalysisError {
    fn from(error: nettrace_parser::Error) -> Self {
        AnalysisError::Read(error)
    }
}

impl From<ConvertError> for AnalysisError {
    fn from(error: ConvertError) -> Self {
        AnalysisError::Convert(error)
    }
}
