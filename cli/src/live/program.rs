//! A program that a command starts; the command ends when the program does.

use super::end_rule::SIGNAL_CHECK;
use super::signals::Signals;
use super::target::Talk;
use crate::exit::Exit;
use crate::failure::with_causes;
use crate::failure::{Failure, without_number};
use nettrace_ipc::{Arrival, Children, Error, Launch, Launched};
use std::ffi::OsString;
use std::process::{Command, ExitStatus, Stdio};

/// Parts of this command's terminal that a started program shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sharing {
    /// Whether the program has this command's input and output; otherwise it has none.
    pub(crate) has_io: bool,
    /// Whether the program gets a Ctrl-C of the terminal at the same time as this command.
    /// Otherwise this command passes it on when its session has ended.
    pub(crate) has_ctrl_c: bool,
}

/// A program that was started.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) launched: Launched,
    sharing: Sharing,
    signals: Signals,
}

impl Program {
    /// Starts a program. Returns `None` if there is no command.
    pub(crate) fn start(
        command: &[OsString],
        children: Children,
        sharing: Sharing,
        talk: &Talk,
        signals: &Signals,
    ) -> Result<Option<Program>, Failure> {
        let Some((program, arguments)) = command.split_first() else { return Ok(None) };
        let name = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(arguments);
        if !sharing.has_io {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        #[cfg(unix)]
        if !sharing.has_ctrl_c {
            // A group of its own, which the terminal's Ctrl-C does not reach: the session
            // ends first, with all events of the program.
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        #[cfg(windows)]
        if !sharing.has_ctrl_c {
            /// A group of its own, for the same reason.
            const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
            std::os::windows::process::CommandExt::creation_flags(
                &mut command,
                CREATE_NEW_PROCESS_GROUP,
            );
        }
        let mut launch = Launch::new(command).children(children).deadlines(talk.deadlines);
        if let Some(recorder) = &talk.recorder {
            launch = launch.recorder(recorder.clone());
        }
        let launched = launch.spawn().map_err(|error| failure(&name, &error))?;
        signals.set_waiting(launched.resumer());
        Ok(Some(Program { name, launched, sharing, signals: signals.clone() }))
    }

    /// Waits for the first process with a runtime. Returns `None` if a signal came, or no such
    /// process will come.
    pub(crate) fn arrival(&mut self) -> Result<Option<Arrival>, Failure> {
        let name = &self.name;
        let failed = |error: Error| failure(name, &error);
        loop {
            if let Some(arrival) = self.launched.next(SIGNAL_CHECK).map_err(failed)? {
                return Ok(Some(arrival));
            }
            let is_over = self.launched.try_wait().map_err(failed)?.is_some();
            if is_over || self.signals.seen().is_some() {
                return Ok(None);
            }
        }
    }

    /// Returns the message for a program of which no process with a runtime came.
    pub(crate) fn says_nothing(&self) -> String {
        let text =
            "it started no .NET program that can be traced (or its diagnostics are disabled)";
        format!("{}: {text}", self.name)
    }

    /// Returns whether a Ctrl-C that reached this command reached the program, too.
    pub(crate) fn has_ctrl_c(&self) -> bool {
        self.sharing.has_ctrl_c
    }

    /// Waits for the end of the program, whatever became of its sessions, and passes one signal on
    /// to it. Calls `meanwhile` from time to time, and once after the end.
    pub(crate) fn wait(mut self, mut meanwhile: impl FnMut(&Launched)) -> Result<Exit, Failure> {
        // No further process is recorded, so none must stay suspended.
        self.launched.resume_newcomers();
        // A session may end long before its program does.
        self.signals.reset();
        let mut is_passed_on = false;
        // Polled, because a wait for the program cannot be interrupted by a signal.
        loop {
            let is_over = self.launched.try_wait();
            let is_over = is_over.map_err(|error| failure(&self.name, &error))?.is_some();
            meanwhile(&self.launched);
            if is_over {
                break;
            }
            if self.signals.seen().is_some() && !std::mem::replace(&mut is_passed_on, true) {
                self.pass_on();
            }
            std::thread::sleep(SIGNAL_CHECK);
        }
        let status = self.launched.wait().map_err(|error| failure(&self.name, &error))?;
        Ok(Exit::Program(exit_code(status)))
    }

    /// Sends a signal on to the program: SIGTERM, and perhaps SIGHUP, reaches this command alone,
    /// but is meant for both.
    #[cfg(unix)]
    fn pass_on(&self) {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let pid = self.launched.pid().and_then(|pid| i32::try_from(pid).ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else { return };
        // The program may have ended before the signal arrives.
        let _ = match self.signals.seen() {
            Some(signal_hook::consts::SIGTERM) => kill_process(pid, Signal::TERM),
            Some(signal_hook::consts::SIGHUP) => kill_process(pid, Signal::HUP),
            // A terminal's Ctrl-C also reaches the processes that the program has started.
            Some(signal_hook::consts::SIGINT) if !self.sharing.has_ctrl_c => {
                kill_process_group(pid, Signal::INT)
            }
            _ => return,
        };
    }

    /// Sends a Ctrl-C on to the program, as Ctrl-Break, if the console did not send it to both.
    #[cfg(windows)]
    fn pass_on(&self) {
        if let Some(pid) = self.launched.pid().filter(|_| !self.sharing.has_ctrl_c) {
            crate::console_events::send_break(pid);
        }
    }
}

fn failure(name: &str, error: &Error) -> Failure {
    Failure::input(name, without_number(&with_causes(error)))
}

/// Returns the exit code as a shell reports it: 128 plus the signal's number for a program that was
/// killed.
fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().map_or(1, |code| u8::try_from(code & 0xFF).unwrap_or(1))
}
