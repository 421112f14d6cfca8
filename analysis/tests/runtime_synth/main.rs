//! Reports on the runtime, from synthetic streams.
#![allow(clippy::restriction, clippy::pedantic)]

mod alloc;
mod code;
#[path = "../common/mod.rs"]
mod common;
mod gc;
mod page;
mod script;

use nettrace_analysis::Filter;
use nettrace_analysis::report::{Alloc, Gc, Jit, Loader, Report, ThreadPool};
use script::{Script, report_with};

#[test]
fn reports_count_no_events_if_the_trace_was_recorded_without_them() {
    fn seen<R: Report>(report: R) -> u64 {
        let script = Script::new().suspend(1, 2, 0, 0).restart(3, 4, 0);
        report_with(report, script.steps, Filter::default()).1
    }
    let seen = [
        seen(Gc::default()),
        seen(Jit::default()),
        seen(Alloc::default()),
        seen(Loader::default()),
        seen(ThreadPool::default()),
    ];
    assert_eq!(seen, [0; 5]);
}
