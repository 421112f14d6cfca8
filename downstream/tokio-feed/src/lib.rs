//! A trace from a socket, read by a task among others: nothing waits except at `.await`.

use nettrace_parser::{Event, Feed};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

/// The numbers of a stream that has ended.
#[derive(Debug, PartialEq)]
pub struct Watched {
    pub lost: u64,
    pub is_complete: bool,
}

/// Passes events on by time as they come. When nothing has come for `patience`, events
/// that wait for older ones are passed on.
pub async fn watch(
    mut socket: impl AsyncRead + Unpin,
    patience: Duration,
    mut take: impl FnMut(&Event<'_>),
) -> Result<Watched, Box<dyn std::error::Error + Send + Sync>> {
    let mut feed = Feed::in_time_order();
    let mut buffer = vec![0; 64 << 10];
    while !feed.is_ended() {
        match timeout(patience, socket.read(&mut buffer)).await {
            Ok(Ok(0)) => feed.end(),
            Ok(Ok(count)) => feed.push(&buffer[..count]),
            Ok(Err(error)) => return Err(error.into()),
            Err(_nothing_came) => feed.release(),
        }
        while let Some(event) = feed.next_event()? {
            take(&event);
        }
    }
    let outcome = feed.outcome();
    Ok(Watched { lost: outcome.losses.total(), is_complete: outcome.is_complete })
}
