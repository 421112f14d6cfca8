//! Writes to a standard error that may have no reader: `2>&1 | less`.

use std::io::{self, Write, stderr};
use std::time::Duration;

/// Maximum time that a message waits for room; then it and later messages are dropped.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);
/// Number of bytes for which a pipe has room when it can be written to (`PIPE_BUF`).
const PIECE_BYTES: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Standard error that is only written to while it has room: a command that has received a signal
/// must not hang while it prints a message about it.
///
/// Text that is written while there is no room is dropped. The check for room comes before each
/// write, so no write can hang. On Windows, where the system cannot tell, writing waits.
///
/// ```
/// use std::io::Write;
/// writeln!(nettrace_cli::Unblocked::default(), "a message")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Unblocked {
    is_stalled: bool,
}

impl Write for Unblocked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wait = if self.is_stalled { Duration::ZERO } else { WRITE_TIMEOUT };
        self.is_stalled = !has_room(&stderr(), wait);
        if self.is_stalled {
            return Ok(bytes.len());
        }
        stderr().write(&bytes[..bytes.len().min(PIECE_BYTES)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether a write would not wait. An error counts as room, so that the write reports it.
#[cfg(unix)]
fn has_room(stream: &impl std::os::fd::AsFd, wait: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let wait = Timespec::try_from(wait).ok();
    loop {
        match poll(&mut [PollFd::new(stream, PollFlags::OUT)], wait.as_ref()) {
            Ok(0) => return false,
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return true,
        }
    }
}

#[cfg(not(unix))]
fn has_room(_stream: &impl Write, _wait: Duration) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_full_pipe_has_no_room_until_it_is_read() {
        let (mut reader, mut writer) = io::pipe().unwrap();
        let mut count = 0;
        while has_room(&writer, Duration::ZERO) {
            count += writer.write(&[0; PIECE_BYTES]).unwrap();
        }
        reader.read_exact(&mut vec![0; count]).unwrap();
        assert!(has_room(&writer, Duration::ZERO));
    }
}
