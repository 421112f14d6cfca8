//! Reads a trace from a socket in an asynchronous task, which never blocks its thread.

use nettrace_parser::{Event, Feed};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

/// What [`watch`] found out about the stream.
#[derive(Debug, PartialEq)]
pub struct Watched {
    pub lost: u64,
    pub is_complete: bool,
}

/// Passes events on in time order as they arrive. If no bytes arrive for `patience`, the events
/// that still wait for older ones are passed on, too.
pub async fn watch(
    mut socket: impl AsyncRead + Unpin,
    patience: Duration,
    mut take: impl FnMut(&Event<'_>),
) -> Result<Watched, Box<dyn std::error::Error + Send + Sync>> {
    let mut feed = Feed::new().time_ordered();
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
