//! Reads the stacks of blocked threads without stopping them.

mod image;
mod mappings;
mod memory;
mod process;
mod prologue;
mod space;
mod system_call;
mod unwind;

use crate::{Error, NativeStack, NativeStacks, NativeState, StackEnd};
use memory::StackMemory;
use process::{Code, Process};
use space::Space;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use system_call::{Doing, WaitPlace};
use unwind::{Step, unwind};

/// Maximum number of attempts to read a stack that changes while it is read.
const MAX_ATTEMPTS: usize = 5;

/// Reads the native stacks of a process's threads, which go on into managed code where that is
/// possible.
///
/// # Errors
/// If the process's memory may not be read, or the kernel does not show enough.
pub fn take(pid: u64, threads: &[u64]) -> Result<NativeStacks, Error> {
    let mut space = Space::open(pid).map_err(|error| refusal(pid, error))?;
    let mut stacks = NativeStacks::new();
    for thread in threads {
        let folder = PathBuf::from(format!("/proc/{pid}/task/{thread}"));
        let stack = of_thread(&folder, &mut space).map_err(|error| refusal(pid, error))?;
        stacks.insert(*thread, stack);
    }
    Ok(stacks)
}

/// State of a waiting thread that changes when the thread wakes up, even if it waits again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Moment {
    system_call: String,
    switches: Vec<String>,
}

impl Moment {
    fn now(folder: &Path) -> io::Result<Moment> {
        let system_call = fs::read_to_string(folder.join("syscall"))?;
        let status = fs::read(folder.join("status"))?;
        let status = String::from_utf8_lossy(&status);
        let switches = status.lines().filter(|line| line.contains("_ctxt_switches:"));
        Ok(Moment { system_call, switches: switches.map(str::to_owned).collect() })
    }
}

fn of_thread(folder: &Path, space: &mut Space) -> io::Result<NativeStack> {
    let mut state = NativeState::MovedOn;
    for _ in 0..MAX_ATTEMPTS {
        let before = match Moment::now(folder) {
            Ok(moment) => moment,
            Err(error) if is_gone(folder, &error) => {
                return Ok(NativeStack::new(NativeState::Ended));
            }
            Err(error) => return Err(error),
        };
        let place = match system_call::parse(&before.system_call) {
            Some(Doing::Running) => {
                state = NativeState::Running;
                continue;
            }
            Some(Doing::Blocked(place)) => place,
            None => return Ok(NativeStack::new(NativeState::Unknown)),
        };
        let (steps, end) = steps(place, space);
        if Moment::now(folder).is_ok_and(|after| after == before) {
            return Ok(NativeStack {
                state: NativeState::Blocked,
                system_call: place.system_call.map(system_call::name),
                frames: steps.iter().map(|step| space.frame(step)).collect(),
                end: Some(end),
            });
        }
        state = NativeState::MovedOn;
    }
    Ok(NativeStack::new(state))
}

/// Unwinds the stack of a thread. If a frame is in a file that was not read yet, reads the file and
/// starts again.
fn steps(place: WaitPlace, space: &mut Space) -> (Vec<Step>, StackEnd) {
    loop {
        let stack = StackMemory::new(space.memory(), place.stack_pointer);
        let mut thread = Thread { stack, space, missing: None };
        let found = unwind(place.stack_pointer, place.instruction, &mut thread);
        match thread.missing {
            Some(address) => space.read_file(address),
            None => return found,
        }
    }
}

/// What the unwinder can read of a thread and its process.
struct Thread<'s> {
    stack: StackMemory<'s>,
    space: &'s Space,
    /// Memory address of mapped file content that unwinding needs and that was not read yet; `None`
    /// if nothing is missing.
    missing: Option<u64>,
}

impl Process for Thread<'_> {
    fn word(&mut self, address: u64) -> Option<u64> {
        self.stack.word(address)
    }

    fn code(&mut self, address: u64) -> Code {
        if !self.space.has_read(address) {
            self.missing = Some(address);
        }
        self.space.code(address)
    }

    fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        self.space.memory().read(address, count)
    }
}

/// Returns whether an error means that the thread has ended. Otherwise the kernel does not have the
/// file.
fn is_gone(folder: &Path, error: &io::Error) -> bool {
    const NO_SUCH_PROCESS: i32 = 3;
    error.raw_os_error() == Some(NO_SUCH_PROCESS)
        || (error.kind() == io::ErrorKind::NotFound && !folder.exists())
}

fn refusal(pid: u64, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound if Path::new(&format!("/proc/{pid}")).exists() => Error::NotShown,
        io::ErrorKind::PermissionDenied => {
            let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok();
            Error::Forbidden { ptrace_scope: scope.map(|scope| scope.trim().to_owned()) }
        }
        _ => Error::Unreadable { pid, source: error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn own_id() -> u64 {
        let thread = fs::read_link("/proc/thread-self").unwrap();
        thread.file_name().unwrap().to_str().unwrap().parse().unwrap()
    }

    /// Waits, so that the stack of the waiting thread contains this function.
    #[inline(never)]
    fn nettrace_test_waits_here(ready: &mpsc::Sender<u64>, end: &mpsc::Receiver<()>) -> u64 {
        let id = own_id();
        ready.send(id).unwrap();
        let _ = end.recv();
        std::hint::black_box(id)
    }

    /// Returns the stack of a thread that waits in [`nettrace_test_waits_here`].
    fn waiting() -> NativeStack {
        let (ready, is_ready) = mpsc::channel();
        let (stop, end) = mpsc::channel::<()>();
        let waits = std::thread::spawn(move || nettrace_test_waits_here(&ready, &end));
        let id = is_ready.recv().unwrap();
        let pid = u64::from(std::process::id());
        let stack = loop {
            let stack = take(pid, &[id]).unwrap().remove(&id).unwrap();
            if stack.system_call.as_deref() == Some("futex") {
                break stack;
            }
            std::thread::yield_now();
        };
        drop(stop);
        assert_eq!(waits.join().unwrap(), id);
        stack
    }

    #[test]
    fn a_thread_of_ours_that_waits_has_the_function_in_which_it_does() {
        let stack = waiting();
        assert_eq!(stack.state, NativeState::Blocked);
        let names: Vec<String> = stack.frames.iter().map(|frame| frame.text()).collect();
        assert!(
            names.iter().any(|name| name.contains("nettrace_test_waits_here")),
            "{names:#?} {:?}",
            stack.end
        );
        // The stack goes from the system call to the start of the thread.
        let first = &stack.frames[0];
        let wait = stack.frames.iter().any(|frame| {
            frame.symbol.as_ref().is_some_and(|name| name.contains("futex") || name == "syscall")
        });
        assert!(wait || first.module.as_deref() == Some("libc.so.6"), "{names:#?}");
        assert_eq!(stack.end, Some(StackEnd::Start), "{names:#?}");
        assert_eq!(stack.above_managed().len(), stack.frames.len());
        assert!(stack.frames.iter().all(|frame| frame.offset.is_some()), "{:#?}", stack.frames);
    }

    #[test]
    fn a_thread_that_runs_is_running_and_one_that_is_gone_has_ended() {
        let pid = u64::from(std::process::id());
        let (ready, is_ready) = mpsc::channel();
        let (stop, end) = mpsc::channel::<()>();
        let spins = std::thread::spawn(move || {
            ready.send(own_id()).unwrap();
            while end.try_recv() == Err(mpsc::TryRecvError::Empty) {}
        });
        let running = is_ready.recv().unwrap();
        let none = u64::from(u32::MAX);
        // On a busy machine the thread may wait for its turn, which counts as running.
        let stacks = take(pid, &[running, none]).unwrap();
        drop(stop);
        spins.join().unwrap();
        assert_eq!(stacks[&running].state, NativeState::Running);
        assert_eq!(stacks[&none].state, NativeState::Ended);
        assert!(stacks[&running].frames.is_empty() && stacks[&none].end.is_none());
    }

    #[test]
    fn a_process_that_is_gone_has_no_memory_to_read() {
        let denied = refusal(1, io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(matches!(denied, Error::Forbidden { .. }));
        let gone = take(u64::from(u32::MAX), &[]).unwrap_err().to_string();
        assert!(gone.contains("cannot be read"), "{gone}");
    }
}
