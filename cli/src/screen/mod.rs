//! Gives the whole terminal to one view that is redrawn in place: enters and leaves that mode,
//! reads keys, and helps views to draw.
//!
//! A view is a function `draw(&mut Frame, &state)` and a loop:
//!
//! ```ignore
//! let mut screen = Screen::enter()?;
//! while signals.seen().is_none() {
//!     screen.draw(|frame| draw(frame, &state))?;
//!     match screen.next(KEY_WAIT)? {
//!         TerminalInput::Key(key) if state.press(key) == Pressed::Quit => break,
//!         TerminalInput::HungUp => break,
//!         _ => {}
//!     }
//! }
//! ```
//!
//! The terminal is restored when the [`Screen`] is dropped, at a panic, and at a second signal,
//! which ends the process at once (`live::signals`).

mod backend;
mod keys;
#[cfg(test)]
pub(crate) mod pages;
mod paint;
#[cfg(all(test, target_os = "linux"))]
mod pty;
mod selection;
mod theme;
mod tty;

pub(crate) use paint::{help, newest_sparkline, put, put_right};
pub(crate) use selection::{Pressed, Selection};
pub(crate) use theme::Theme;

use backend::AnsiBackend;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal;
use keys::{Came, TerminalKeys};
use ratatui_core::layout::Size;
use ratatui_core::terminal::{Frame, Terminal};
#[cfg(unix)]
use std::fs::File as TerminalOutput;
#[cfg(windows)]
use std::io::Stdout as TerminalOutput;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The alternate screen, without a cursor and without wrapping of long lines.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Whether a view has the terminal now.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);
/// Thread that draws. Only a panic of this thread restores the terminal.
static DRAWING: Mutex<Option<ThreadId>> = Mutex::new(None);

/// An event from the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalInput {
    Key(KeyEvent),
    /// The terminal has another size, which the next drawing uses.
    Resized,
    /// No event came in the time that was given.
    Nothing,
    /// The terminal is gone.
    HungUp,
}

/// The terminal, while a view has it.
pub(crate) struct Screen {
    terminal: Terminal<AnsiBackend<TerminalOutput>>,
    keys: TerminalKeys,
    /// Size of the terminal at the last drawing.
    drawn: Size,
}

impl Screen {
    /// Takes the terminal that standard output goes to.
    pub(crate) fn enter() -> io::Result<Screen> {
        restore_on_panic();
        let mut out = handle()?;
        *DRAWING.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
        terminal::enable_raw_mode()?;
        IS_ENTERED.store(true, Ordering::SeqCst);
        let entered = write_at_once(&mut out, ENTER);
        let entered = entered.and_then(|()| Terminal::new(AnsiBackend::new(out)));
        match entered.and_then(|terminal| Ok((terminal, TerminalKeys::listen()?))) {
            Ok((terminal, keys)) => Ok(Screen { terminal, keys, drawn: Size::default() }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws the view; only the cells that changed are written. [`Screen::next`] says whether the
    /// terminal has hung up.
    pub(crate) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        match self.terminal.draw(view).map(|completed| completed.area.as_size()) {
            Ok(size) => self.drawn = size,
            Err(_) if self.keys.is_gone() => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Waits up to `wait` for a key or a new size.
    pub(crate) fn next(&mut self, wait: Duration) -> io::Result<TerminalInput> {
        Ok(match self.keys.next(wait)? {
            Came::HungUp => TerminalInput::HungUp,
            #[cfg(unix)]
            Came::Event(Event::Key(key)) if is_suspend(key) => {
                self.suspend()?;
                TerminalInput::Resized
            }
            Came::Event(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                TerminalInput::Key(key)
            }
            Came::Event(Event::Resize(..)) => TerminalInput::Resized,
            Came::Nothing if self.terminal.size()? != self.drawn => TerminalInput::Resized,
            Came::Event(_) | Came::Nothing => TerminalInput::Nothing,
        })
    }

    /// Gives the terminal back, stops until the shell continues the program, and takes the terminal
    /// again.
    #[cfg(unix)]
    fn suspend(&mut self) -> io::Result<()> {
        restore();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        terminal::enable_raw_mode()?;
        IS_ENTERED.store(true, Ordering::SeqCst);
        write_at_once(&mut handle()?, ENTER)?;
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Returns whether a key is Ctrl-C, which sends no signal while a view has the terminal.
pub(crate) fn is_interrupt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c')
}

/// Returns whether a key is Ctrl-Z, which sends no signal while a view has the terminal.
#[cfg(unix)]
fn is_suspend(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('z')
}

/// Restores the terminal that a view has taken. Does nothing if no view has it.
pub(crate) fn restore() {
    if !IS_ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    // A failure here cannot be mended.
    let _ = handle().and_then(|mut out| write_at_once(&mut out, LEAVE));
    let _ = terminal::disable_raw_mode();
}

/// Opens a second handle of standard output, because a thread that hangs may hold the lock of the
/// first.
#[cfg(unix)]
fn handle() -> io::Result<TerminalOutput> {
    std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned().map(TerminalOutput::from)
}

/// Returns standard output, through which std translates text for a console: the console takes bytes
/// for letters of its code page.
///
/// # Errors
/// The console takes no escape sequences.
#[cfg(windows)]
fn handle() -> io::Result<TerminalOutput> {
    match crate::style::takes_sequences() {
        true => Ok(io::stdout()),
        false => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this console understands no escape sequences",
        )),
    }
}

fn write_at_once(out: &mut TerminalOutput, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Makes a panic restore the terminal before its message is printed, because the message would be
/// lost with the view.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let drawing = *DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
            if drawing == Some(thread::current().id()) {
                restore();
            }
            before(info);
        }));
    });
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::pty::Pty;
    use super::*;
    use std::process::Command;

    /// Runs on a terminal that [`the_terminal_is_restored_when_drawing_panics`] makes.
    #[test]
    #[ignore = "panics: the test below runs it on a terminal of its own"]
    fn draws_and_panics() {
        let mut screen = Screen::enter().unwrap();
        screen.draw(|_| ()).unwrap();
        // The panic comes only after a key, when the view has been drawn.
        while screen.next(Duration::from_secs(10)).unwrap() == TerminalInput::Nothing {}
        screen.draw(|_| panic!("a fault in a view")).unwrap();
    }

    #[test]
    fn the_terminal_is_restored_when_drawing_panics() {
        let pty = Pty::new(80, 24);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "screen::tests::draws_and_panics", "--ignored", "--nocapture"]);
        let mut child = pty.spawn(&mut command);
        pty.wait_for_view();
        pty.type_bytes(b"x");
        assert!(!child.wait().unwrap().success());
        pty.assert_restored();
        // The message is below the view, on the restored screen.
        let written = pty.written();
        let (message, left) = (written.rfind("a fault in a view"), written.find("\x1b[?1049l"));
        assert!(left.is_some() && message > left, "{written:?}");
    }

    /// Runs on a terminal that [`a_terminal_that_hangs_up_says_so`] makes.
    #[test]
    #[ignore = "waits: the test below runs it on a terminal of its own"]
    fn waits_for_the_end_of_the_terminal() {
        let mut screen = Screen::enter().unwrap();
        while screen.next(Duration::from_secs(100)).unwrap() != TerminalInput::HungUp {}
        // Drawing on a terminal that is gone is no failure.
        screen.draw(|_| ()).unwrap();
    }

    #[test]
    fn a_terminal_that_hangs_up_says_so() {
        let pty = Pty::new(80, 24);
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "screen::tests::waits_for_the_end_of_the_terminal";
        command.args(["--exact", name, "--ignored", "--nocapture"]);
        let mut child = pty.spawn(&mut command);
        pty.wait_for_view();
        drop(pty.hang_up());
        child.wait().unwrap();
    }
}
