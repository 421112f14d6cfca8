//! Counts the work items that wait for a worker of the thread pool.

use super::counters::event_counters;
use super::driver::{Driver, Next};
use super::end_rule::EndRule;
use super::signals::Signals;
use super::target::Reached;
use nettrace_ipc::{Providers, RequestError, Rundown, SessionConfig};
use nettrace_parser::view::{Counter, CounterValue, View};
use nettrace_parser::{Event, Feed};
use std::num::NonZeroU32;
use std::time::Duration;

/// Interval in seconds at which the runtime publishes its counters, from a thread that is not in
/// the pool.
const INTERVAL_SECONDS: &str = "0.1";
/// Maximum time for the first value.
const COUNTER_TIMEOUT: Duration = Duration::from_millis(1500);
const BUFFER_MEGABYTES: NonZeroU32 = NonZeroU32::new(16).unwrap();
const QUEUE_LENGTH: &str = "threadpool-queue-length";

/// Returns how many work items wait, by a counter of the runtime; `None` if no value comes in time.
pub(crate) fn waiting_items(reached: &Reached) -> Option<u64> {
    let config = config().ok()?;
    let deadlines = reached.runtime.current_deadlines().drain(Duration::ZERO);
    let end = EndRule::new(&Signals::none(), Some(COUNTER_TIMEOUT), &deadlines);
    end.begin();
    let runtime = reached.runtime.clone();
    let session = end.ask(move || runtime.start(&config)).ok()??.ok()?;
    let mut items = None;
    let mut take = |event: &Event<'_>| {
        let counter = Counter::from_event(event).filter(|counter| counter.name == QUEUE_LENGTH);
        let Some(Counter { value: CounterValue::Mean { mean, .. }, .. }) = counter else {
            return Next::Read;
        };
        items = Some(mean.max(0.0) as u64);
        Next::Leave
    };
    let _ = Driver::new(session, Feed::new()).until(&end).run(&mut take).ok()?;
    items
}

fn config() -> Result<SessionConfig, RequestError> {
    let counters = event_counters("System.Runtime", INTERVAL_SECONDS)?;
    let config = SessionConfig::new(Providers::new([counters])?);
    Ok(config.rundown(Rundown::Off).buffer_megabytes(BUFFER_MEGABYTES))
}
