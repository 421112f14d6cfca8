//! A mapped file that shrinks while it is read: an error message, where the system would
//! end the process without a word.
//!
//! The next access after such a file's new end raises SIGBUS. A handler may do next to
//! nothing, and the access cannot go on, so it does two things that are safe there. It
//! wakes a thread, which says what happened and ends the process, and it writes to a pipe
//! that is full, which waits for ever.

use rustix::fs::OFlags;
use signal_hook::consts::SIGBUS;
use signal_hook::low_level::pipe::register;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::exit::Exit;
use crate::new_file;
use crate::printable::printable;

/// The file that was mapped last; `None` until a thread waits for the signal.
static MAPPED: Mutex<Option<String>> = Mutex::new(None);

/// Says so if the file, which is about to be mapped, shrinks.
///
/// # Errors
/// If the thread or the handler cannot be set up; then the file should not be mapped.
pub(super) fn watch(file: &str) -> io::Result<()> {
    let mut mapped = MAPPED.lock().unwrap_or_else(PoisonError::into_inner);
    if mapped.is_none() {
        let (signalled, signal) = io::pipe()?;
        let (never_read, full) = io::pipe()?;
        let waiting = move || tell(signalled, never_read);
        thread::Builder::new().name("shrunk".to_owned()).stack_size(64 << 10).spawn(waiting)?;
        register(SIGBUS, signal)?;
        // Registering makes writes to the pipe return at once, on this handle too.
        let mut room = full.try_clone()?;
        register(SIGBUS, full)?;
        fill(&mut room)?;
        rustix::fs::fcntl_setfl(&room, OFlags::empty())?;
    }
    *mapped = Some(file.to_owned());
    Ok(())
}

/// Writes until there is no room.
fn fill(pipe: &mut impl Write) -> io::Result<()> {
    loop {
        match pipe.write(&[0; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Waits for the signal. `never_read` is kept open, because writing to a pipe without a
/// reader fails.
fn tell(mut signalled: PipeReader, never_read: PipeReader) {
    if signalled.read_exact(&mut [0]).is_ok() {
        let file = MAPPED.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let message = format!(
            "nettrace: error: {}: the file shrank, or could not be read; use --no-mmap to read what is left\n",
            printable(&file)
        );
        // A closed stderr is no reason to wait.
        let _ = io::stderr().write_all(message.as_bytes());
        new_file::leave_unfinished();
        std::process::exit(Exit::Failed.code().into());
    }
    drop(never_read);
}
