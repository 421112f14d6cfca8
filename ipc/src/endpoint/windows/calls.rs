//! Calls for pipes: reads and writes that end at a deadline, or when another thread closes the pipe.
//! The standard library has no such calls, so this file has `unsafe` code.
#![expect(unsafe_code, reason = "calls of Windows; each has its reason")]

use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::time::Duration;
use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, ERROR_OPERATION_ABORTED, ERROR_PIPE_CONNECTED, ERROR_SEM_TIMEOUT,
    WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Pipes::{ConnectNamedPipe, PeekNamedPipe, WaitNamedPipeW};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, SetEvent, WaitForMultipleObjects,
};

/// An event that threads wait for, and that stays set.
#[derive(Debug)]
pub(super) struct WaitEvent(OwnedHandle);

impl WaitEvent {
    pub(super) fn new() -> io::Result<WaitEvent> {
        // SAFETY: the attributes and the name may be null.
        let handle = unsafe { CreateEventW(null(), 1, 0, null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was just created, and nothing else closes it.
        Ok(WaitEvent(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    pub(super) fn set(&self) {
        // SAFETY: the handle is one of an event, which this value keeps open.
        unsafe { SetEvent(self.0.as_raw_handle()) };
    }
}

/// What is to be done with a pipe.
#[derive(Debug)]
pub(super) enum Transfer<'b> {
    Read(&'b mut [u8]),
    Write(&'b [u8]),
    /// Waits for a client.
    Connect,
}

/// Reads from or writes to a pipe that was opened for overlapped operations, and returns the number
/// of bytes.
///
/// # Errors
/// `TimedOut` if nothing happened in the time `wait`, `ConnectionAborted` once `closed` is set; the
/// errors of the system.
pub(super) fn run(
    pipe: &File,
    transfer: Transfer<'_>,
    wait: Option<Duration>,
    closed: &WaitEvent,
) -> io::Result<usize> {
    let done = WaitEvent::new()?;
    let mut overlapped = OVERLAPPED { hEvent: done.0.as_raw_handle(), ..OVERLAPPED::default() };
    let (handle, state) = (pipe.as_raw_handle(), &raw mut overlapped);
    // SAFETY: buffer and `overlapped` stay where they are until the operation has ended: this
    // function returns only if it did not begin, or after `GetOverlappedResult` has waited for it.
    let has_ended = unsafe {
        match transfer {
            Transfer::Read(buffer) => {
                ReadFile(handle, buffer.as_mut_ptr(), length(buffer), null_mut(), state)
            }
            Transfer::Write(bytes) => {
                WriteFile(handle, bytes.as_ptr(), length(bytes), null_mut(), state)
            }
            Transfer::Connect => ConnectNamedPipe(handle, state),
        }
    };
    if has_ended == 0 {
        let error = io::Error::last_os_error();
        match code(&error) {
            ERROR_IO_PENDING => {}
            ERROR_PIPE_CONNECTED => return Ok(0),
            _ => return Err(error),
        }
    }
    let awaited = [done.0.as_raw_handle(), closed.0.as_raw_handle()];
    // SAFETY: the array has two handles, which are open during the call.
    let came = unsafe { WaitForMultipleObjects(2, awaited.as_ptr(), 0, milliseconds(wait)) };
    let mut count = 0;
    // SAFETY: `overlapped` belongs to this operation on this handle. It may have ended meanwhile,
    // and then there is nothing to cancel.
    let result = unsafe {
        if came != WAIT_OBJECT_0 {
            CancelIoEx(handle, state);
        }
        GetOverlappedResult(handle, state, &raw mut count, 1)
    };
    if result != 0 {
        return Ok(usize::try_from(count).unwrap_or_default());
    }
    let error = io::Error::last_os_error();
    match (code(&error), came) {
        (ERROR_OPERATION_ABORTED, WAIT_TIMEOUT) => Err(io::ErrorKind::TimedOut.into()),
        (ERROR_OPERATION_ABORTED, _) => Err(io::ErrorKind::ConnectionAborted.into()),
        _ => Err(error),
    }
}

/// Checks whether a pipe is connected. No bytes are consumed.
///
/// # Errors
/// The other side has closed the pipe.
pub(super) fn check_connected(pipe: &File) -> io::Result<()> {
    let handle = pipe.as_raw_handle();
    // SAFETY: a buffer of no bytes and counts that nobody wants may be null.
    match unsafe { PeekNamedPipe(handle, null_mut(), 0, null_mut(), null_mut(), null_mut()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns whether there is a pipe of this path, even if all of its instances are taken.
pub(super) fn has_instance(path: &str) -> bool {
    /// Minimum wait for a free instance, because whether there is one does not matter.
    const MIN_WAIT_MILLISECONDS: u32 = 1;
    let path: Vec<u16> = path.encode_utf16().chain([0]).collect();
    // SAFETY: the path ends with a NUL.
    let has_room = unsafe { WaitNamedPipeW(path.as_ptr(), MIN_WAIT_MILLISECONDS) };
    has_room != 0 || code(&io::Error::last_os_error()) == ERROR_SEM_TIMEOUT
}

/// Ends a connection as runtimes do, after the client has read everything.
#[cfg(test)]
pub(super) fn disconnect(pipe: &File) {
    use windows_sys::Win32::Storage::FileSystem::FlushFileBuffers;
    use windows_sys::Win32::System::Pipes::DisconnectNamedPipe;
    // SAFETY: the handle is one of the server's end of a pipe, which is open.
    unsafe {
        FlushFileBuffers(pipe.as_raw_handle());
        DisconnectNamedPipe(pipe.as_raw_handle());
    }
}

/// Returns the system's number of an error.
pub(super) fn code(error: &io::Error) -> u32 {
    error.raw_os_error().map_or(0, i32::cast_unsigned)
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// Returns a time for a wait, rounded up.
fn milliseconds(wait: Option<Duration>) -> u32 {
    let Some(wait) = wait else { return INFINITE };
    let whole = wait.as_nanos().div_ceil(1_000_000);
    u32::try_from(whole).unwrap_or(u32::MAX).min(INFINITE.saturating_sub(1))
}
