//! A pseudo-terminal for tests: the test starts a program on it, types, sees what the program
//! writes, and checks the settings of the terminal.

use nettrace_testdata::eventually;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A pseudo-terminal.
pub(crate) struct Pty {
    master: File,
    /// The side of the program. It is kept open, so that the terminal outlives its program.
    terminal: File,
    written: Arc<Mutex<Vec<u8>>>,
    reading: JoinHandle<()>,
    is_over: Arc<AtomicBool>,
}

impl Pty {
    /// Opens a terminal of this size.
    pub(crate) fn new(columns: u16, rows: u16) -> Pty {
        // Programs that inherit the descriptor would keep the terminal open.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let opened = openpt(flags).and_then(|master| {
            grantpt(&master)?;
            unlockpt(&master)?;
            let name = ptsname(&master, Vec::new())?;
            Ok((master, name))
        });
        let (master, name) = opened.expect("every Unix has pseudo-terminals");
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        let terminal = File::options().read(true).write(true).open(path).unwrap();
        let master = File::from(master);
        let (written, is_over) = (Arc::default(), Arc::default());
        let reading = read(master.try_clone().unwrap(), &written, &is_over);
        let pty = Pty { master, terminal, written, reading, is_over };
        pty.resize(columns, rows);
        pty
    }

    /// Closes the terminal, as when its window is closed, and returns the text that was written on
    /// it.
    pub(crate) fn hang_up(self) -> String {
        let written = self.written();
        self.is_over.store(true, Ordering::SeqCst);
        self.reading.join().unwrap();
        drop(self.master);
        written
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.terminal, size).unwrap();
    }

    /// Starts a program whose input and outputs are all this terminal.
    pub(crate) fn spawn(&self, command: &mut Command) -> Child {
        let terminal = || self.terminal.try_clone().unwrap();
        command.stdin(terminal()).stdout(terminal()).stderr(terminal());
        command.env("TERM", "xterm-256color").spawn().unwrap()
    }

    pub(crate) fn type_bytes(&self, bytes: &[u8]) {
        (&self.master).write_all(bytes).unwrap();
    }

    /// Returns whether the program has read all that was typed.
    #[allow(dead_code, reason = "not all tests need it")]
    pub(crate) fn is_read(&self) -> bool {
        rustix::io::ioctl_fionread(&self.terminal).unwrap() == 0
    }

    /// Returns whether lines are edited and echoed, as a shell needs it.
    pub(crate) fn is_as_for_a_shell(&self) -> bool {
        let wanted = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcgetattr(&self.terminal).unwrap().local_modes.contains(wanted)
    }

    /// Returns the text that was written since the beginning.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    pub(crate) fn wait_until(&self, what: &str, condition: impl Fn(&Pty) -> bool) {
        eventually(what, || condition(self));
    }

    /// Waits until a view has the whole screen.
    pub(crate) fn wait_for_view(&self) {
        self.wait_until("the view", |pty| {
            pty.written().contains("\x1b[?1049h") && !pty.is_as_for_a_shell()
        });
    }

    /// Asserts that a view has left the terminal: its settings are restored, the alternate screen
    /// is left, the cursor is shown, and long lines wrap.
    pub(crate) fn assert_restored(&self) {
        self.wait_until("the settings", Pty::is_as_for_a_shell);
        for [on, off] in
            [["\x1b[?1049l", "\x1b[?1049h"], ["\x1b[?25h", "\x1b[?25l"], ["\x1b[?7h", "\x1b[?7l"]]
        {
            self.wait_until(&format!("{on:?} after {off:?}"), |pty| {
                let written = pty.written();
                written.rfind(on) > written.rfind(off)
            });
        }
    }
}

/// Collects the text that is written, until the terminal hangs up or is closed.
fn read(
    mut master: File,
    written: &Arc<Mutex<Vec<u8>>>,
    is_over: &Arc<AtomicBool>,
) -> JoinHandle<()> {
    let (written, is_over) = (Arc::clone(written), Arc::clone(is_over));
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        while !is_over.load(Ordering::SeqCst) {
            let mut polled = [PollFd::new(&master, PollFlags::IN)];
            if poll(&mut polled, Some(&wait)).is_ok_and(|count| count == 0) {
                continue;
            }
            let Ok(count @ 1..) = master.read(&mut buffer) else { return };
            written.lock().unwrap().extend_from_slice(&buffer[..count]);
        }
    })
}
