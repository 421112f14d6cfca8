//! Counts the events of one type.

use nettrace_parser::Event;

/// Maximum number of event types that a bounded survey counts separately, and of providers that it
/// lists. Each type takes half a kilobyte.
pub(super) const MAX_TYPES: usize = 1 << 13;

/// Counts of the events of one type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventTypeCount {
    pub(super) events: u64,
    pub(super) payload_bytes: u64,
    pub(super) with_stack: u64,
    /// Timestamp of the oldest of these events, in ticks.
    pub(super) first_ticks: u64,
    /// Timestamp of the newest of these events, in ticks.
    pub(super) last_ticks: u64,
    /// Whether these events have information about the runtime.
    pub(super) is_informative: bool,
}

impl EventTypeCount {
    /// Counts an event. Returns whether the event has a stack.
    #[inline(always)]
    pub(super) fn take(&mut self, event: &Event<'_>) -> bool {
        let ticks = event.timestamp_ticks();
        if self.events == 0 {
            (self.first_ticks, self.last_ticks) = (ticks, ticks);
        }
        self.events = self.events.saturating_add(1);
        self.payload_bytes = self.payload_bytes.saturating_add(event.payload().len() as u64);
        let has_stack = !event.stack().is_empty();
        self.with_stack = self.with_stack.saturating_add(u64::from(has_stack));
        self.first_ticks = self.first_ticks.min(ticks);
        self.last_ticks = self.last_ticks.max(ticks);
        has_stack
    }
}
