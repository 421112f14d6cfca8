//! Decides what the frames of a thread reveal about its state: whether it runs, waits, or takes a
//! lock.

use super::method_name::MethodName;
use super::names::Frame;
use super::sample::{Mode, Running, ThreadState};
use super::wait_for::{WaitFor, wait_for};
use super::waits::{Wait, is_gc_poll, is_on_behalf, is_plumbing, is_spinning, only_calls, wait_of};

/// What one frame reveals about the state of its thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Role {
    pub(crate) wait: Wait,
    /// What the thread waits for, if the frame belongs to a chain of waits.
    pub(crate) wait_for: Option<WaitFor>,
    pub(crate) passage: Passage,
}

/// Reason why the caller of a frame reveals more about the thread than the frame itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// The caller reveals nothing more.
    No,
    /// The frame is native code, or only calls native code.
    Native,
    /// The frame spins for its caller, which decides whether the thread works or waits.
    Spin,
    /// The frame acts for its caller, which decides whether the thread waits.
    OnBehalf,
    /// The frame acts for its caller and reports leave it out: see [`is_plumbing`].
    Plumbing,
    /// The frame is a poll, in which the runtime catches a thread: see [`is_gc_poll`].
    GcPoll,
}

impl Role {
    pub(crate) const WORK: Role = Role { wait: Wait::No, wait_for: None, passage: Passage::No };
    /// The role of native code about which nothing is known.
    pub(crate) const NATIVE: Role =
        Role { wait: Wait::No, wait_for: None, passage: Passage::Native };

    pub(crate) fn of_method(name: &MethodName<'_>) -> Role {
        Role {
            wait: wait_of(name.type_name, name.method),
            wait_for: wait_for(name.type_name, name.method),
            passage: if only_calls(name.type_name, name.method) {
                Passage::Native
            } else if is_spinning(name.type_name, name.method) {
                Passage::Spin
            } else if is_gc_poll(name.type_name, name.method) {
                Passage::GcPoll
            } else if is_plumbing(name.type_name, name.method) {
                Passage::Plumbing
            } else if is_on_behalf(name.type_name) {
                Passage::OnBehalf
            } else {
                Passage::No
            },
        }
    }
}

/// Decides from the frames of a stack, innermost first, whether and for what a thread waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitChain {
    pub(crate) wait: Wait,
    pub(crate) wait_for: Option<WaitFor>,
    /// Number of innermost frames that belong to the wait. The next frame is the wait's caller.
    pub(crate) length: usize,
    /// Whether the innermost frame is native code, or only calls it.
    pub(crate) is_in_native: bool,
    /// Whether the innermost frame is a poll of the runtime: see [`is_gc_poll`].
    pub(crate) is_at_poll: bool,
    is_spinning: bool,
    is_undecided: bool,
    is_wait: bool,
    seen: usize,
}

impl WaitChain {
    pub(crate) const NEW: WaitChain = WaitChain {
        wait: Wait::No,
        wait_for: None,
        length: 0,
        is_in_native: false,
        is_at_poll: false,
        is_spinning: false,
        is_undecided: true,
        is_wait: false,
        seen: 0,
    };

    /// Adds the next frame outwards.
    #[inline]
    pub(crate) fn push(&mut self, role: Role) {
        let index = self.seen;
        self.seen = self.seen.saturating_add(1);
        if self.is_wait {
            // In a chain of waits, the outermost call says what the thread waits for.
            self.is_wait = role.wait_for.is_some();
            self.wait_for = role.wait_for.or(self.wait_for);
            if self.is_wait {
                self.length = self.seen;
            }
        }
        if self.is_undecided {
            let Role { wait, wait_for, passage } = role;
            if !matches!(wait, Wait::No | Wait::Computes) {
                (self.is_wait, self.wait_for, self.length) = (true, wait_for, self.seen);
            }
            self.wait = match wait {
                // Native code on top: the thread blocks there, or is on the way there or back.
                Wait::InNative | Wait::Lock if self.is_in_native || passage == Passage::Native => {
                    Wait::Always
                }
                Wait::InNative if self.is_spinning => Wait::Always,
                // Spinning takes processor time in any mode.
                Wait::No if self.is_spinning => Wait::Computes,
                wait => wait,
            };
            self.is_undecided = passage != Passage::No && wait == Wait::No;
            self.is_in_native |= index == 0 && passage == Passage::Native;
            self.is_at_poll |= index == 0 && passage == Passage::GcPoll;
            self.is_spinning |= passage == Passage::Spin;
        }
    }

    /// Returns whether the innermost frame is native code, and managed code has called it.
    pub(crate) fn is_returning(&self) -> bool {
        self.is_in_native && !self.is_undecided
    }
}

/// What the frames of a stack reveal about the state of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) wait: Wait,
    pub(crate) is_managed: bool,
    /// Whether the innermost frame is a method that was compiled ahead of time, which the sampler
    /// reports as native code.
    pub(crate) is_ahead: bool,
    /// Result of [`WaitChain::is_returning`].
    pub(crate) is_returning: bool,
    /// Whether the innermost frame is native code, or a method that only calls it.
    pub(crate) is_native_call: bool,
    /// Whether a poll of the runtime caught the thread: see [`Running::AtGcPoll`].
    pub(crate) is_at_poll: bool,
    /// Whether the stack is of a pool worker that has no work, and spins before it sleeps if it
    /// runs managed code.
    pub(crate) is_idle_worker: bool,
    /// Whether the sampler of the process does not tell managed from native code.
    pub(crate) is_untold: bool,
}

/// Returns whether frames, innermost first, are of a pool worker that waits for work, and spins
/// before it sleeps.
pub(crate) fn is_idle_worker<'f>(mut frames: impl Iterator<Item = &'f Frame>) -> bool {
    let is = |frame: &Frame, type_name: &str| {
        frame.namespace == "System.Threading"
            && frame.type_name == type_name
            && frame.bare_method() == "Wait"
    };
    let Some(leaf) = frames.next() else { return false };
    is(leaf, "LowLevelLifoSemaphore")
        || is(leaf, "LowLevelSpinWaiter")
        || frames.any(|frame| is(frame, "LowLevelSpinWaiter"))
}

impl Leaf {
    pub(crate) const UNKNOWN: Leaf = Leaf {
        wait: Wait::No,
        is_managed: false,
        is_ahead: false,
        is_returning: false,
        is_native_call: false,
        is_at_poll: false,
        is_idle_worker: false,
        is_untold: false,
    };

    /// Returns whether the thread is in a method that is known to wait.
    pub(crate) fn is_known_wait(self) -> bool {
        matches!(self.wait, Wait::Always | Wait::InNative)
    }

    /// Returns whether the frames alone show a thread that runs managed code: there is neither a
    /// known wait nor a native call.
    pub(crate) fn may_run_managed(self) -> bool {
        self.wait == Wait::No && self.is_managed && !self.is_native_call && !self.is_ahead
    }
}

/// Returns the state of a thread, which follows from its mode and its stack.
pub(crate) fn state_of(mode: Mode, leaf: Leaf) -> ThreadState {
    let Leaf { wait, is_managed, is_ahead, is_returning, .. } = leaf;
    match mode {
        Mode::Blocked | Mode::Waited => ThreadState::Waiting,
        Mode::Ready => ThreadState::Ready,
        // A thread that waits runs when it goes to sleep and when it wakes.
        Mode::Ran => match wait {
            Wait::Lock => ThreadState::TakingLock,
            _ if is_ahead || leaf.is_untold && leaf.may_run_managed() => ThreadState::Managed,
            _ => ThreadState::Native,
        },
        // The mode says nothing, so the frames alone decide.
        Mode::Managed | Mode::External if leaf.is_untold && !is_ahead => match wait {
            Wait::No if leaf.may_run_managed() => ThreadState::Managed,
            Wait::No | Wait::Computes => ThreadState::Native,
            Wait::InNative | Wait::Lock | Wait::Always => ThreadState::Waiting,
        },
        Mode::Managed => match wait {
            // The managed code goes into the wait or comes out of it.
            Wait::Always => ThreadState::Waiting,
            Wait::Lock => ThreadState::TakingLock,
            _ if is_returning => ThreadState::Native,
            _ => ThreadState::Managed,
        },
        Mode::External => match wait {
            Wait::No | Wait::Computes if is_ahead => ThreadState::Managed,
            Wait::No | Wait::Computes => ThreadState::Native,
            _ => ThreadState::Waiting,
        },
        // A thread on a processor runs, whatever the names of its frames say.
        Mode::OnCpu | Mode::Unknown if is_managed => ThreadState::Managed,
        _ => ThreadState::Native,
    }
}

/// Returns whether the thread of a sample made the call that stands on top of its stack.
pub(crate) fn is_calling(mode: Mode, leaf: Leaf) -> bool {
    match mode {
        Mode::Managed | Mode::External | Mode::Ran => {
            matches!(state_of(mode, leaf), ThreadState::Native | ThreadState::TakingLock)
        }
        // The thread waited in a call that is not known to wait.
        Mode::Waited => !leaf.is_known_wait(),
        _ => false,
    }
}

/// Returns how certain it is that a thread ran; `None` if the thread waited.
pub(crate) fn running_of(mode: Mode, leaf: Leaf) -> Option<Running> {
    match state_of(mode, leaf) {
        ThreadState::Managed if leaf.is_at_poll => Some(Running::AtGcPoll),
        ThreadState::Managed => Some(Running::Managed),
        ThreadState::TakingLock => Some(Running::TakingLock),
        ThreadState::Native
            if matches!(mode, Mode::OnCpu | Mode::Ran) || leaf.wait == Wait::Computes =>
        {
            Some(Running::Computing)
        }
        ThreadState::Native => Some(Running::NativeCall),
        ThreadState::Waiting | ThreadState::Ready => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how certain it is that a thread ran, given its stack of methods `Type.Method`,
    /// innermost first. `native` says that code without a name lies on top.
    fn running(mode: Mode, native: bool, stack: &[&str]) -> Option<Running> {
        let mut chain = WaitChain::NEW;
        if native {
            chain.push(Role::NATIVE);
        }
        for frame in stack {
            let (type_name, method) = frame.rsplit_once('.').unwrap();
            chain.push(Role::of_method(&MethodName {
                module: "",
                type_name,
                method,
                signature: "",
            }));
        }
        let (wait, is_returning) = (chain.wait, chain.is_returning());
        running_of(mode, Leaf { wait, is_managed: !native, is_returning, ..Leaf::UNKNOWN })
    }

    /// Returns how certain it is that a thread in native code ran. Also asserts that a native frame
    /// on top makes no difference.
    fn external(stack: &[&str]) -> Option<Running> {
        let [with, without] = [true, false].map(|native| running(Mode::External, native, stack));
        assert_eq!(with, without, "{stack:?}");
        with
    }

    #[test]
    fn a_thread_in_a_method_that_waits_does_not_run() {
        let in_native_code: &[&[&str]] = &[
            &["System.IO.FileSystemWatcher+INotify.ProcessEvents"],
            &["System.IO.FileSystemWatcher+INotify.TryReadEvent"],
            // Linux.
            &["Interop+Sys.ReceiveMessage"],
            &[
                "Interop+Sys.Read",
                "System.Net.Sockets.SocketPal.SysRead",
                "System.Net.Sockets.Socket.Receive",
            ],
            &["Interop+Sys.Read", "System.IO.Pipes.PipeStream.ReadCore"],
            &["Interop+Sys.Read", "System.IO.FileSystemWatcher+RunningInstance.TryReadEvent"],
            &["Interop+Sys.Open", "Microsoft.Win32.SafeHandles.SafeFileHandle.Open"],
            &["System.Net.Sockets.SocketPal.SelectViaPoll"],
            &["Interop+Sys.WaitForSocketEvents"],
            &["Interop+Sys.<WaitForSocketEvents>g____PInvoke|55_0"],
            // Windows.
            &["Interop+Winsock.recv"],
            &["Interop+Winsock.recvfrom"],
            &["System.Net.Sockets.SocketPal.Poll"],
            &["Interop+Kernel32.ReadFile", "System.IO.Pipes.PipeStream.ReadFileNative"],
            &["System.IO.Pipes.NamedPipeClientStream.TryConnect"],
            &["Interop+Winsock.GetAddrInfoW"],
            &["Windows.Win32.PInvoke.GetMessage"],
            // macOS.
            &["Interop+RunLoop.CFRunLoopRun"],
        ];
        let in_any_code = [
            // .NET 11.
            "LowLevelThreadBlocker.Wait",
            "LowLevelThreadBlocker.TimedWait",
            "LowLevelLifoSemaphore.Block",
            "LowLevelLifoSemaphore.WaitAsWaiter",
            "LowLevelLifoSemaphore.WaitSlow",
            "LowLevelLifoSemaphore.WaitNoSpin",
            "LowLevelFutex.WaitOnAddress",
            "LowLevelFutex.WaitOnAddressTimeout",
            "LowLevelFutex.WaitNoSpin",
            "LowLevelLock.WaitAndAcquire",
            "WaitSubsystem.SignalAndWait",
            "WaitSubsystem+ThreadWaitInfo.Sleep",
            "WaitSubsystem+ThreadWaitInfo.UninterruptibleSleep0",
            // All runtimes.
            "WaitHandle.WaitAnyMultiple",
            "WaitHandle.SignalAndWaitCore",
            "LowLevelLifoSemaphore.Wait",
            // Mono.
            "Monitor.Monitor_wait",
            "WaitHandle.Wait_internal",
            "LowLevelLifoSemaphore.TimedWaitInternal",
        ]
        .map(|name| format!("System.Threading.{name}"));
        let others = [
            "System.Diagnostics.Tracing.NativeRuntimeEventSource.ThreadPoolWorkerThreadWait",
            "System.Runtime.InternalCalls.RhpWaitForFinalizerRequest",
        ];
        for stack in in_native_code {
            assert_eq!(external(stack), None, "{stack:?}");
            // Their own managed code is work. A call of native code is not.
            let is_work = running(Mode::Managed, false, stack).is_some();
            assert_eq!(is_work, !stack[0].starts_with("Interop"), "{stack:?}");
        }
        for method in in_any_code.iter().map(|name| &**name).chain(others) {
            assert_eq!(external(&[method]), None, "{method}");
            assert_eq!(running(Mode::Managed, false, &[method]), None, "{method}");
        }
    }

    #[test]
    fn an_idle_worker_that_spins_does_not_run_and_a_program_that_spins_does() {
        let spin = "System.Threading.LowLevelSpinWaiter.Wait";
        let idle = &[spin, "System.Threading.LowLevelLifoSemaphore.Wait"];
        let busy = &["System.Threading.Thread.SpinWaitInternal", "N.Program.Main"];
        for mode in [Mode::Managed, Mode::External] {
            assert_eq!(running(mode, false, idle), None, "{mode:?}");
            assert!(running(mode, false, busy).is_some(), "{mode:?}");
        }
    }

    #[test]
    fn who_takes_a_lock_spins_in_managed_code_and_is_blocked_in_native_code() {
        for method in [
            "System.Threading.Monitor.Enter_Slowpath",
            "System.Threading.Monitor.TryEnter_Slowpath",
            "System.Threading.Lock.EnterSlow",
            "System.Threading.Lock.TryEnterSlow",
            "System.Threading.Monitor.SynchronizedMethodEnter",
        ] {
            let stack = &[method, "N.Program.Work"];
            assert_eq!(running(Mode::Managed, false, stack), Some(Running::TakingLock), "{method}");
            assert_eq!(external(stack), None, "{method}");
        }
    }

    #[test]
    fn native_calls_that_compute_run_and_others_may() {
        for method in ["Interop+Crypto.EvpDigestUpdate", "Interop+Ssl.SslDoHandshake"] {
            assert_eq!(external(&[method, "N.T.Run"]), Some(Running::Computing), "{method}");
        }
        for method in ["Interop+Sys.Send", "Interop+Kernel32.ReadFile", "N.T.Invoke"] {
            assert_eq!(external(&[method, "N.T.Run"]), Some(Running::NativeCall), "{method}");
        }
        assert_eq!(running(Mode::Managed, false, &["N.T.Run"]), Some(Running::Managed));
    }
}
