//! Notices of `System.Diagnostics.Metrics`, which say why values are missing.

use crate::report::OtherInterval;
use nettrace_parser::Event;
use std::fmt;

/// Notice of a process about the session of its metrics.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MetricsNotice {
    /// Another session has the instruments of the process for itself, so only the values come that
    /// it asked for.
    OtherSession {
        /// Id of the other session.
        running: String,
    },
    /// The shared session runs with other limits or another interval, so the runtime did not add
    /// the requested instruments.
    OtherConfiguration {
        /// Seconds between publications of the shared session.
        refresh_interval: String,
        /// Maximum number of series of the shared session.
        max_time_series: String,
        /// Maximum number of histograms of the shared session.
        max_histograms: String,
    },
    /// Values come at another interval than was asked for.
    OtherInterval(OtherInterval),
    /// There are more series than the session allows; further ones are not published.
    TimeSeriesLimit,
    /// There are more histograms than the session allows; further ones are not published.
    HistogramLimit,
    /// An observable instrument failed.
    Callback {
        /// Message of the exception that the application's code threw.
        message: String,
    },
    /// Publishing failed.
    Failed {
        /// Reason.
        message: String,
    },
}

impl MetricsNotice {
    /// Reads an event. Returns the notice and the session or client that it is about.
    pub(crate) fn from_event(event: &Event<'_>) -> Option<(MetricsNotice, String)> {
        let text =
            |name: &str| event.field(name).and_then(|value| value.to_text()).unwrap_or_default();
        let notice = match event.name() {
            "MultipleSessionsNotSupportedError" => {
                MetricsNotice::OtherSession { running: text("runningSessionId") }
            }
            "MultipleSessionsConfiguredIncorrectlyError" => MetricsNotice::OtherConfiguration {
                refresh_interval: text("expectedRefreshInterval"),
                max_time_series: text("expectedMaxTimeSeries"),
                max_histograms: text("expectedMaxHistograms"),
            },
            "TimeSeriesLimitReached" => MetricsNotice::TimeSeriesLimit,
            "HistogramLimitReached" => MetricsNotice::HistogramLimit,
            "ObservableInstrumentCallbackError" => {
                MetricsNotice::Callback { message: first_line(&text("errorMessage")) }
            }
            "Error" => MetricsNotice::Failed { message: first_line(&text("errorMessage")) },
            _ => return None,
        };
        // A configuration error names the client, because all clients share a session.
        let client = text("clientId");
        Some((notice, if client.is_empty() { text("sessionId") } else { client }))
    }
}

/// Returns the first line of a message. Messages of exceptions include the stack.
fn first_line(text: &str) -> String {
    const MAX_CHARACTERS: usize = 300;
    text.lines().next().unwrap_or_default().chars().take(MAX_CHARACTERS).collect()
}

impl fmt::Display for MetricsNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricsNotice::OtherSession { running } => write!(
                f,
                "the runtime refuses a second metrics session: \"{running}\" of another tool has the \
                 instruments, and only what it asked for is shown"
            ),
            MetricsNotice::OtherConfiguration {
                refresh_interval,
                max_time_series,
                max_histograms,
            } => write!(
                f,
                "the runtime refuses to share its metrics session, which another tool began with other \
                 settings: a refresh interval of {refresh_interval} s, at most {max_time_series} time \
                 series and {max_histograms} histograms"
            ),
            MetricsNotice::OtherInterval(other) => other.fmt(f),
            MetricsNotice::TimeSeriesLimit => f.write_str(
                "there are more series than the session allows; the others are not published",
            ),
            MetricsNotice::HistogramLimit => f.write_str(
                "there are more histograms than the session allows; the others are not published",
            ),
            MetricsNotice::Callback { message } => {
                write!(f, "an observable instrument failed: {message}")
            }
            MetricsNotice::Failed { message } => write!(f, "metrics failed: {message}"),
        }
    }
}
