#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

#[cfg(all(
    feature = "unwind",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod bytes;
mod end;
mod error;
#[cfg(all(
    feature = "unwind",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod linux;

pub use end::StackEnd;
pub use error::Error;
#[cfg(all(
    feature = "unwind",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub use linux::take;

use std::collections::BTreeMap;

/// Native stack of a thread, which goes on into managed code where that is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NativeStack {
    /// Whether frames could be read, and the reason if not.
    pub state: NativeState,
    /// Name, or else number, of the system call in which the thread is blocked; `None` outside of a
    /// system call.
    pub system_call: Option<String>,
    /// Frames, innermost first. They go on through managed code where that is possible.
    pub frames: Vec<NativeFrame>,
    /// Reason why unwinding found no more frames; `None` if there are no frames.
    pub end: Option<StackEnd>,
}

impl NativeStack {
    /// Makes the result for a thread whose frames could not be read.
    pub fn new(state: NativeState) -> NativeStack {
        NativeStack { state, system_call: None, frames: Vec::new(), end: None }
    }

    /// Returns the native frames that lie above the first frame of managed code.
    pub fn above_managed(&self) -> &[NativeFrame] {
        self.frames.split(|frame| frame.is_managed).next().unwrap_or_default()
    }
}

/// Whether a thread's frames could be read, and the reason if not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NativeState {
    /// The thread waits, and its frames were read.
    Blocked,
    /// The thread runs, so its registers are in the processor and cannot be read.
    Running,
    /// The thread woke up in each attempt, while its stack was being read.
    MovedOn,
    /// The thread does not exist any more.
    Ended,
    /// The kernel's text about the thread has a form that is not known.
    Unknown,
}

impl NativeState {
    /// Returns the name of the state in JSON.
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
    /// Address of the next instruction. In frames other than the innermost it is the instruction
    /// after the call.
    pub address: u64,
    /// Name of the file that contains the code; `None` if the code does not come from a file.
    pub module: Option<String>,
    /// Name of the function; `None` if it is not known.
    pub symbol: Option<String>,
    /// Address of the instruction as the module's linker counts it, for tools such as `addr2line`.
    pub offset: Option<u64>,
    /// Whether the code is managed: compiled by the runtime, or in advance when its assembly was
    /// built.
    pub is_managed: bool,
}

impl NativeFrame {
    /// Makes a frame of native code, without names.
    pub fn new(address: u64) -> NativeFrame {
        NativeFrame { address, module: None, symbol: None, offset: None, is_managed: false }
    }

    /// Returns the text for the frame: `libc.so.6!read`, or `libcoreclr.so+0x1234` if the function
    /// is not known.
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

/// Native stacks of threads, by thread ids of this machine.
pub type NativeStacks = BTreeMap<u64, NativeStack>;

/// Fails, because stacks cannot be read on this system, or by this build.
///
/// # Errors
/// [`Error::Unsupported`].
#[cfg(not(all(
    feature = "unwind",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
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
