//! Messages to a standard error that may have no reader: `2>&1 | less`.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// How long a message may take to be written before the next ones are dropped.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// A stream that is written on a thread of its own and waited for only for a limited
/// time: a command that has received a signal must not hang while it prints a message
/// about it.
///
/// What is written while an earlier write hangs is dropped; after it, everything is
/// as before.
///
/// ```
/// use std::io::Write;
/// writeln!(nettrace_cli::Unblocked::new(|| Box::new(std::io::stderr())), "a message")?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Unblocked {
    open: fn() -> Box<dyn Write + Send>,
    thread: Option<Thread>,
}

#[derive(Debug)]
struct Thread {
    messages: SyncSender<Vec<u8>>,
    done: Receiver<io::Result<()>>,
    /// A write has not come back yet.
    is_hanging: bool,
}

impl Unblocked {
    /// The stream that `open` gives, which is asked for at the first write.
    pub fn new(open: fn() -> Box<dyn Write + Send>) -> Unblocked {
        Unblocked { open, thread: None }
    }

    fn start(&self) -> io::Result<Thread> {
        let (messages, received) = sync_channel::<Vec<u8>>(1);
        let (tell, done) = sync_channel(1);
        let mut stream = (self.open)();
        std::thread::Builder::new().name("nettrace-messages".to_owned()).spawn(move || {
            for message in received {
                let written = stream.write_all(&message).and_then(|()| stream.flush());
                if tell.send(written).is_err() {
                    return;
                }
            }
        })?;
        Ok(Thread { messages, done, is_hanging: false })
    }
}

impl Write for Unblocked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let thread = match self.thread.take() {
            Some(thread) => thread,
            None => self.start()?,
        };
        let thread = self.thread.insert(thread);
        if thread.is_hanging && thread.done.try_recv().is_err() {
            return Ok(bytes.len());
        }
        match thread.messages.try_send(bytes.to_vec()) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => return Ok(bytes.len()),
        }
        let done = thread.done.recv_timeout(WRITE_TIMEOUT);
        thread.is_hanging = done.is_err();
        done.unwrap_or(Ok(())).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static WRITTEN: Mutex<Vec<u8>> = Mutex::new(Vec::new());

    struct Stream;

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes == b"hang" {
                loop {
                    std::thread::park();
                }
            }
            WRITTEN.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn messages_are_written_in_order_until_one_hangs() {
        let mut stream = Unblocked::new(|| Box::new(Stream));
        for word in [&b"one "[..], b"two", b"hang", b"three"] {
            assert_eq!(stream.write(word).unwrap(), word.len());
        }
        assert_eq!(*WRITTEN.lock().unwrap(), b"one two");
    }
}
