//! Part of a program's run that a trace covers: the whole run, or some seconds.

use crate::report::Moment;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Finds out whether a trace covers a whole run.
///
/// | event | meaning |
/// |---|---|
/// | runtime 187 | the runtime has started, and the session began before it |
/// | runtime 157 (loader keyword) | the process unloads its domain at its end; missing if the session was stopped before |
#[derive(Debug, Default)]
pub(super) struct ExtentFinder {
    began: Option<i64>,
    ended: Option<i64>,
}

impl ExtentFinder {
    pub(super) fn event(&mut self, event: &Event<'_>, moment: &Moment) {
        if !moment.is_selected {
            return;
        }
        match event.known_provider() {
            KnownProvider::Runtime if event.id() == 187 => {
                self.began.get_or_insert(moment.nanos);
            }
            KnownProvider::Runtime if event.id() == 157 => self.ended = Some(moment.nanos),
            _ => {}
        }
    }

    /// Returns the nanoseconds from the runtime's start to the end of the process, if the trace has
    /// both.
    pub(super) fn whole_run(&self) -> Option<f64> {
        let nanos = self.ended?.checked_sub(self.began?)?;
        (nanos > 0).then_some(nanos as f64)
    }
}
