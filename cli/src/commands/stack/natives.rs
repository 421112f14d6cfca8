//! Native stacks of threads, and conclusions from them: what a thread waits for, and whether its
//! sampled stack is current.

use crate::units;
use nettrace_analysis::ThreadState;
use nettrace_analysis::live::SampledThread;
use nettrace_analysis::model::WaitFor;
use nettrace_native::{NativeFrame, NativeStack, NativeStacks, NativeState, StackEnd};

/// Native stacks of all threads, or the reason why there are none.
pub(super) type Natives = Result<NativeStacks, String>;

/// Native stack of a thread, compared with its sampled stack.
#[derive(Debug, Clone)]
pub(super) struct Native {
    /// State and frames. Frames go on through managed code to the thread's start, if that was
    /// possible.
    pub(super) stack: NativeStack,
    /// Whether the native frames lead to a place of the sampled stack; `None` for a thread without
    /// managed frames. If false, they end too early, and the thread may have waited elsewhere.
    pub(super) confirmed: Option<bool>,
    /// Wait that the functions of the runtime on the stack show.
    pub(super) waits_for: Option<WaitFor>,
    /// Names of the frames inside of the innermost managed frame.
    functions: Vec<String>,
}

impl Native {
    /// Creates the native stack of a thread without managed frames.
    pub(super) fn from_stack(stack: &NativeStack) -> Native {
        Native {
            functions: stack.above_managed().iter().map(NativeFrame::text).collect(),
            stack: stack.clone(),
            confirmed: None,
            waits_for: None,
        }
    }

    /// Creates the native stack of a thread whose managed frames were sampled a little earlier.
    pub(super) fn of_sampled(stack: &NativeStack, row: &SampledThread) -> Native {
        if has_moved(stack, row) {
            return Native::from_stack(&NativeStack::new(NativeState::MovedOn));
        }
        let confirmed = (stack.state == NativeState::Blocked).then(|| meets(stack, row));
        Native { waits_for: waits_for(stack), confirmed, ..Native::from_stack(stack) }
    }

    /// Returns whether the thread was blocked, so that there are frames.
    pub(super) fn is_blocked(&self) -> bool {
        self.stack.state == NativeState::Blocked
    }

    /// Returns the names of the frames inside of the innermost managed frame, without addresses.
    pub(super) fn functions(&self) -> &[String] {
        &self.functions
    }

    /// Returns the text shown instead of frames.
    pub(super) fn text(&self) -> &'static str {
        match self.stack.state {
            NativeState::Running => "running: no native frames",
            NativeState::MovedOn => "moved on before it was read: no native frames",
            NativeState::Ended => "ended before it was read: no native frames",
            _ => "no native frames",
        }
    }

    /// Returns the reason why the frames end before managed code or the thread's start, if they do.
    pub(super) fn gap(&self) -> Option<&'static str> {
        let leads_on = self.stack.frames.iter().any(|frame| frame.is_managed);
        self.stack.end.filter(|end| *end != StackEnd::Start && !leads_on).map(StackEnd::text)
    }
}

/// Returns whether the thread has left the place of its sample: it ran managed code then and waits
/// now, or its complete native stack has no place of the sample. An incomplete native stack shows
/// nothing.
fn has_moved(stack: &NativeStack, row: &SampledThread) -> bool {
    if stack.state != NativeState::Blocked {
        return false;
    }
    let is_elsewhere = stack.end == Some(StackEnd::Start) && !meets(stack, row);
    row.state == ThreadState::Managed && !row.is_untold || is_elsewhere
}

/// Returns whether the native stack and the sample have a place in common.
fn meets(stack: &NativeStack, row: &SampledThread) -> bool {
    stack.frames.iter().any(|frame| row.addresses.contains(&frame.address))
}

/// Returns the wait that a thread's functions of the runtime show. In .NET up to 8, entering a lock
/// that another thread holds leaves no managed frame. Works only if the runtime's library has names
/// for its functions, as in .NET Core 3.1.
fn waits_for(stack: &NativeStack) -> Option<WaitFor> {
    let functions = stack.above_managed().iter();
    let mut of_runtime = functions
        .filter(|frame| frame.module.as_deref() == Some("libcoreclr.so"))
        .filter_map(|frame| frame.symbol.as_deref());
    of_runtime.find_map(|name| {
        let known = BLOCKING.iter().find(|(start, _)| name.starts_with(start));
        known.map(|(_, what)| *what)
    })
}

/// Beginnings of functions' names by which managed code waits. A name ends in `(` if names of other
/// functions have the same beginning.
const BLOCKING: &[(&str, WaitFor)] = &[
    ("AwareLock::Enter", WaitFor::Lock),
    ("AwareLock::TryEnter", WaitFor::Lock),
    ("ObjectNative::WaitTimeout(", WaitFor::Pulse),
    ("ThreadNative::DoJoin(", WaitFor::Thread),
    ("ThreadNative::Sleep(", WaitFor::Sleep),
    ("WaitHandleNative::CorWait", WaitFor::Handle),
];

/// Returns the number of threads with native frames, or the reason why there are none.
pub(super) fn summary<'n>(
    natives: &Natives,
    of_threads: impl Iterator<Item = &'n Native> + Clone,
) -> String {
    if let Err(reason) = natives {
        return reason.clone();
    }
    let of = |state: NativeState| {
        of_threads.clone().filter(|native| native.stack.state == state).count() as u64
    };
    let all = units::counted(of_threads.clone().count() as u64, "thread");
    let mut text = format!("frames of {} of {all}", of(NativeState::Blocked));
    for (state, doing) in [
        (NativeState::Running, "running"),
        (NativeState::MovedOn, "waiting elsewhere by now"),
        (NativeState::Ended, "gone by now"),
        (NativeState::Unknown, "in a state that is not understood"),
    ] {
        if of(state) > 0 {
            text.push_str(&format!(", {} {doing}", of(state)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, symbol: &str, is_managed: bool) -> NativeFrame {
        let mut frame = NativeFrame::new(0x1000);
        (frame.module, frame.symbol) = (Some(module.to_owned()), Some(symbol.to_owned()));
        frame.is_managed = is_managed;
        frame
    }

    fn stack(frames: Vec<NativeFrame>) -> NativeStack {
        let mut stack = NativeStack::new(NativeState::Blocked);
        (stack.frames, stack.end) = (frames, Some(StackEnd::Start));
        stack
    }

    #[test]
    fn the_function_of_the_runtime_that_blocks_a_thread_says_what_it_waits_for() {
        let wait = || frame("libc.so.6", "pthread_cond_wait", false);
        let of = |module, symbol| waits_for(&stack(vec![wait(), frame(module, symbol, false)]));
        let enter = "AwareLock::EnterEpilogHelper(Thread*, int)";
        assert_eq!(of("libcoreclr.so", enter), Some(WaitFor::Lock));
        assert_eq!(of("libcoreclr.so", "ThreadNative::DoJoin(x)"), Some(WaitFor::Thread));
        assert_eq!(of("libcoreclr.so", "CLREventBase::Wait(unsigned int)"), None);
        // A library of the program may have a function of that name.
        assert_eq!(of("libapp.so", enter), None);
        // Below a managed frame, the function belongs to another wait.
        let managed = frame("System.Private.CoreLib.dll", "x", true);
        let below = stack(vec![wait(), managed, frame("libcoreclr.so", enter, false)]);
        assert_eq!(waits_for(&below), None);
    }

    #[test]
    fn frames_are_counted_by_functions_and_not_by_addresses() {
        let mut other = frame("libc.so.6", "read", false);
        other.address = 0x2000;
        let of = |frame| Native::from_stack(&stack(vec![frame]));
        let (one, two) = (of(frame("libc.so.6", "read", false)), of(other));
        assert_eq!(one.functions(), two.functions());
        assert_eq!(one.functions(), ["libc.so.6!read"]);
    }

    #[test]
    fn a_stack_that_ends_before_managed_code_and_the_start_has_a_reason() {
        let ended = |end| {
            let mut stack = stack(Vec::new());
            stack.end = Some(end);
            Native::from_stack(&stack).gap()
        };
        assert_eq!(ended(StackEnd::Start), None);
        assert!(ended(StackEnd::RegisterUnknown).unwrap().contains("register"));
    }
}
