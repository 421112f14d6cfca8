//! Enter ends a recording, as it does with dotnet-trace, if standard input is a terminal.

use super::signals::Signals;
use std::io;

/// Begins to take Enter for a Ctrl-C.
pub(crate) fn watch(signals: &Signals) -> io::Result<()> {
    let signals = signals.clone();
    let thread = std::thread::Builder::new().name("nettrace-enter".to_owned());
    let wait = move || {
        if wait_for_line() {
            signals.request_stop();
        }
    };
    thread.spawn(wait).map(drop)
}

/// Waits for a line. Returns false if standard input ends before.
#[cfg(unix)]
fn wait_for_line() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::getpgrp;
    use rustix::termios::tcgetpgrp;
    use std::time::Duration;

    /// Interval between checks whether a line has come, or this command is in the foreground.
    const LINE_CHECK: Duration = Duration::from_millis(100);
    let stdin = io::stdin();
    loop {
        // The system stops a background process that reads the terminal.
        if tcgetpgrp(&stdin).is_ok_and(|group| group == getpgrp()) {
            let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
            let time = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            match poll(&mut polled, Some(&time)) {
                Ok(1..) => return read_line(),
                Ok(0) => {}
                Err(_) => std::thread::sleep(LINE_CHECK),
            }
        } else {
            std::thread::sleep(LINE_CHECK);
        }
    }
}

#[cfg(not(unix))]
fn wait_for_line() -> bool {
    read_line()
}

fn read_line() -> bool {
    io::stdin().read_line(&mut String::new()).is_ok_and(|count| count > 0)
}
