//! Events of the console on Windows: Ctrl-C, Ctrl-Break, and the end of the console or of the user's
//! session. The standard library does not report them, so this file has `unsafe` code.
#![expect(unsafe_code, reason = "calls of Windows; each has its reason")]

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler,
};
use windows_sys::core::BOOL;

/// Event of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsoleEvent {
    /// Ctrl-C or Ctrl-Break.
    Interrupt,
    /// The window is closed, the user logs off, or the machine shuts down. The system ends the
    /// process within about 5 s.
    Closing,
}

const LONGER_THAN_THE_SYSTEM_WAITS: Duration = Duration::from_secs(60);

type EventHandler = Box<dyn Fn(ConsoleEvent) + Send>;

static HANDLERS: Mutex<Vec<EventHandler>> = Mutex::new(Vec::new());

/// Calls a function at each event from now on, on a thread of the system. An event no longer ends
/// the process.
///
/// # Errors
/// The system refuses.
pub(crate) fn listen(handler: impl Fn(ConsoleEvent) + Send + 'static) -> io::Result<()> {
    static IS_SET: OnceLock<bool> = OnceLock::new();
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(handler));
    // SAFETY: the function is never unloaded, and may run on any thread.
    let is_set = IS_SET.get_or_init(|| unsafe { SetConsoleCtrlHandler(Some(handle), 1) } != 0);
    if *is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends Ctrl-Break to the processes of a group, because Ctrl-C can only be sent to all.
pub(crate) fn send_break(group: u32) {
    // SAFETY: the call takes numbers only. A group that has ended is an error that does not matter.
    unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, group) };
}

/// Takes an event. A thread of its own runs this for each.
extern "system" fn handle(event: u32) -> BOOL {
    let event = match event {
        CTRL_C_EVENT | CTRL_BREAK_EVENT => ConsoleEvent::Interrupt,
        _ => ConsoleEvent::Closing,
    };
    for handler in HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        handler(event);
    }
    if event == ConsoleEvent::Closing {
        // The system ends the process as soon as this returns, but the command is still ending.
        std::thread::sleep(LONGER_THAN_THE_SYSTEM_WAITS);
    }
    1
}
