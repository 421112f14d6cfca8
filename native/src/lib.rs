//! Native frames of the threads of a running process that wait.
//!
//! The process is not stopped. A debugger would stop each thread (`ptrace`) to read its
//! registers, and that harms a process in production: it waits as long as the debugger
//! takes, some system calls return early with `EINTR`, a second debugger cannot attach,
//! and if the first one is killed at a bad moment, threads stay stopped. What the kernel
//! shows of a thread that is blocked is enough: its stack pointer and the instruction it
//! returns to (`/proc/PID/task/TID/syscall`). As long as it is blocked, its stack does
//! not change. Whether it stayed blocked is checked afterwards by the same text and by
//! the number of times the thread was switched to, which grows when it wakes up and waits
//! again at the same place.
//!
//! The price: the other registers are unknown, so some stacks end early ([`End`]), and a
//! thread that runs has no native frames at all.
//!
//! The way: [`system_call`](self) and `mappings` read texts of the kernel, `memory` reads
//! the process's memory, `image` the mapped files, `unwind` goes from frame to frame, and
//! `space` gives them names.

mod end;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod image;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod mappings;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod memory;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod prologue;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod space;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system_call;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod threads;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod unwind;

pub(crate) use end::End;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use threads::take;

/// What is known of a thread outside of managed code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeStack {
    pub(crate) state: NativeState,
    /// The system call that it is blocked in: its name or number.
    pub(crate) system_call: Option<String>,
    /// Innermost first; they go on through managed code where that was possible.
    pub(crate) frames: Vec<NativeFrame>,
    /// Why there are no more, if there are any.
    pub(crate) end: Option<End>,
}

impl NativeStack {
    /// The frames before the first one of managed code.
    pub(crate) fn above_managed(&self) -> &[NativeFrame] {
        let native = self.frames.iter().take_while(|frame| !frame.is_managed).count();
        &self.frames[..native]
    }
}

/// Whether a thread's frames could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NativeState {
    Blocked,
    /// Its registers are in the processor.
    Running,
    /// It woke up while its stack was read, each time that was tried.
    MovedOn,
    Ended,
    /// The kernel says something that is not understood.
    Unknown,
}

impl NativeState {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            NativeState::Blocked => "blocked",
            NativeState::Running => "running",
            NativeState::MovedOn => "moved_on",
            NativeState::Ended => "ended",
            NativeState::Unknown => "unknown",
        }
    }
}

/// A frame of a thread's stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NativeFrame {
    pub(crate) address: u64,
    /// Name of the mapped file.
    pub(crate) module: Option<String>,
    /// Name of the function.
    pub(crate) symbol: Option<String>,
    /// The address as the module's linker knows it, for `addr2line` and the like.
    pub(crate) offset: Option<u64>,
    /// Whether it is code that the runtime compiled, now or when its assembly was built.
    pub(crate) is_managed: bool,
}

impl NativeFrame {
    /// `libc.so.6!read`, or `libcoreclr.so+0x1234` without symbols.
    pub(crate) fn text(&self) -> String {
        match (&self.module, &self.symbol, self.offset) {
            (Some(module), Some(symbol), _) => format!("{module}!{symbol}"),
            (None, Some(symbol), _) => symbol.clone(),
            (Some(module), None, Some(offset)) => format!("{module}+{offset:#x}"),
            (module, None, _) => {
                format!("{}!{:#x}", module.as_deref().unwrap_or("?"), self.address)
            }
        }
    }
}

/// Native stacks by thread ids of this machine.
pub(crate) type NativeStacks = std::collections::BTreeMap<u64, NativeStack>;

/// What the threads of a process do outside of managed code.
///
/// # Errors
/// Why that cannot be had.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn take(_pid: u64, _threads: &[u64]) -> Result<NativeStacks, String> {
    Err("native frames can be read on Linux on x86-64 and AArch64 only".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_a_name_is_a_place_in_its_module() {
        let mut frame = NativeFrame {
            address: 0x7f00_1234,
            module: Some("libcoreclr.so".to_owned()),
            symbol: Some("CLREvent::Wait(unsigned int)".to_owned()),
            offset: Some(0x1234),
            is_managed: false,
        };
        assert_eq!(frame.text(), "libcoreclr.so!CLREvent::Wait(unsigned int)");
        frame.symbol = None;
        assert_eq!(frame.text(), "libcoreclr.so+0x1234");
        (frame.module, frame.offset) = (None, None);
        assert_eq!(frame.text(), "?!0x7f001234");
    }
}
