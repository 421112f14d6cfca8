#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod bytes;
mod end;
mod error;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;

pub use end::StackEnd;
pub use error::Error;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::take;

use std::collections::BTreeMap;

/// Stack of a thread outside of managed code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NativeStack {
    /// Whether the frames could be read.
    pub state: NativeState,
    /// Name or number of the system call in which the thread is blocked; `None` outside of a system
    /// call.
    pub system_call: Option<String>,
    /// Frames, innermost first. They go on through managed code where that was possible.
    pub frames: Vec<NativeFrame>,
    /// Reason why unwinding ended; `None` without frames.
    pub end: Option<StackEnd>,
}

impl NativeStack {
    /// Makes the result of a thread without frames.
    pub fn new(state: NativeState) -> NativeStack {
        NativeStack { state, system_call: None, frames: Vec::new(), end: None }
    }

    /// Returns the frames before the first frame of managed code.
    pub fn above_managed(&self) -> &[NativeFrame] {
        self.frames.split(|frame| frame.is_managed).next().unwrap_or_default()
    }
}

/// Whether a thread's frames could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NativeState {
    /// The thread waits, and has frames.
    Blocked,
    /// The thread runs, so that its registers are in the processor.
    Running,
    /// The thread woke up while its stack was read, in each attempt.
    MovedOn,
    /// The thread does not exist any more.
    Ended,
    /// The kernel's text about the thread has an unknown form.
    Unknown,
}

impl NativeState {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
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
#[non_exhaustive]
pub struct NativeFrame {
    /// Address of an instruction: the next instruction in the innermost frame, and the instruction
    /// after the call in other frames.
    pub address: u64,
    /// Name of the mapped file; `None` if the code is not of a file.
    pub module: Option<String>,
    /// Name of the function; `None` if it is not known.
    pub symbol: Option<String>,
    /// The address as the module's linker knows it, for `addr2line` and the like.
    pub offset: Option<u64>,
    /// Whether the runtime compiled the code, now or when its assembly was built.
    pub is_managed: bool,
}

impl NativeFrame {
    /// Makes a frame of native code, without names.
    pub fn new(address: u64) -> NativeFrame {
        NativeFrame { address, module: None, symbol: None, offset: None, is_managed: false }
    }

    /// Returns `libc.so.6!read`, or `libcoreclr.so+0x1234` without symbols.
    pub fn text(&self) -> String {
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

/// Native stacks, by thread ids of this machine.
pub type NativeStacks = BTreeMap<u64, NativeStack>;

/// Reads the stacks of a process's threads outside of managed code.
///
/// # Errors
/// [`Error::Unsupported`] on this system.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn take(_pid: u64, _threads: &[u64]) -> Result<NativeStacks, Error> {
    Err(Error::Unsupported)
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
