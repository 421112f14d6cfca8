//! What the reports of the runtime's doings make of streams that were made for them.
#![allow(clippy::restriction, clippy::pedantic)]

mod alloc;
mod code;
#[path = "../common/mod.rs"]
mod common;
mod gc;
mod script;

use nettrace_analysis::Filter;
use nettrace_analysis::report::{Alloc, Gc, Jit, Loader, Report, ThreadPool};
use script::{Script, report_with};

#[test]
fn a_trace_without_their_events_is_told_from_one_in_which_nothing_happened() {
    fn seen<R: Report>(report: R) -> u64 {
        let script = Script::new().suspend(1, 2, 0, 0).restart(3, 4, 0);
        report_with(report, script.steps, Filter::new()).1
    }
    let seen = [
        seen(Gc::new()),
        seen(Jit::new()),
        seen(Alloc::new()),
        seen(Loader::new()),
        seen(ThreadPool::new()),
    ];
    assert_eq!(seen, [0; 5]);
}
