//! Reads a trace in a browser. JavaScript puts the bytes into memory, and gets the number of
//! events, whether the trace is intact, and the methods that took the most time.

use nettrace_analysis::live::{Live, LiveCounters};
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::Reader;

/// Returns the number of events, and whether the trace was intact.
pub fn events(trace: &[u8]) -> Option<(u64, bool)> {
    let mut reader = Reader::from_slice(trace);
    let mut count = 0;
    reader.for_each(|_| count += 1).ok()?;
    Some((count, reader.is_complete() && reader.losses().total() == 0))
}

/// Returns a line for each of the methods with the most exclusive time.
pub fn top(trace: &[u8]) -> Option<String> {
    let mut analysis = Analysis::new(AnalysisOptions::default());
    let outcome = analysis.read(&mut Reader::from_slice(trace).time_ordered()).ok()?;
    let finished = analysis.finish().ok()?;
    let top = finished.report(TopNOptions::default());
    let mut text: String = top
        .methods
        .iter()
        .map(|method| format!("{:.2} % {}\n", method.self_percent, method.name))
        .collect();
    if !outcome.is_intact() {
        text.push_str(&format!("times are too low: {outcome}\n"));
    }
    Some(text)
}

/// Returns the number of series of counters. It shows that a live view works in a browser, where
/// there is no clock.
pub fn series(trace: &[u8]) -> Option<usize> {
    let mut live = Live::new(LiveCounters::default());
    let mut events = Reader::from_slice(trace).time_ordered();
    while let Some(event) = events.next_event().ok()? {
        live.event(&event);
    }
    Some(live.snapshot().series.len())
}

/// Functions that JavaScript calls.
#[cfg(target_arch = "wasm32")]
mod exports {
    use std::cell::RefCell;

    thread_local! {
        static TRACE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
    }

    /// Allocates `bytes` bytes for a trace, and returns their address.
    #[unsafe(no_mangle)]
    pub extern "C" fn room(bytes: usize) -> *mut u8 {
        TRACE.with_borrow_mut(|trace| {
            *trace = vec![0; bytes];
            trace.as_mut_ptr()
        })
    }

    /// Returns the number of events. The number is negative if the trace is not intact.
    #[unsafe(no_mangle)]
    pub extern "C" fn events() -> f64 {
        let found = TRACE.with_borrow(|trace| super::events(trace));
        found.map_or(
            f64::NAN,
            |(count, is_intact)| if is_intact { count as f64 } else { -(count as f64) },
        )
    }

    /// Returns the number of series of counters. The number is negative if the trace cannot be
    /// read.
    #[unsafe(no_mangle)]
    pub extern "C" fn series() -> f64 {
        TRACE.with_borrow(|trace| super::series(trace)).map_or(-1.0, |count| count as f64)
    }

    /// Writes the lines of [`super::top`] to memory, and returns their length in bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn top() -> usize {
        let text = TRACE.with_borrow(|trace| super::top(trace)).unwrap_or_default();
        TEXT.with_borrow_mut(|place| *place = text);
        TEXT.with_borrow(|text| text.len())
    }

    /// Returns the address of the lines that `top` wrote.
    #[unsafe(no_mangle)]
    pub extern "C" fn text() -> *const u8 {
        TEXT.with_borrow(|text| text.as_ptr())
    }
}
