//! Errors when native frames are read.

use std::fmt;
use std::io;

/// Reason why the native frames of a process cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The system is not Linux on x86-64 or AArch64, or the feature `unwind` was left out.
    Unsupported,
    /// The kernel does not tell where threads are blocked.
    NotShown,
    /// The user lacks the right to debug the process.
    Forbidden {
        /// Value of `kernel.yama.ptrace_scope`; `None` if the system does not have this setting.
        ptrace_scope: Option<String>,
    },
    /// The memory of the process cannot be read.
    Unreadable {
        /// Id of the process.
        pid: u64,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const FORBIDDEN: &str = "the system does not allow to read the process's stacks, which \
                                 takes the same right as to debug it";
        match self {
            Error::Unsupported if !cfg!(feature = "unwind") => {
                f.write_str("nettrace-native was built without its feature `unwind`")
            }
            Error::Unsupported => {
                f.write_str("native frames can be read on Linux on x86-64 and AArch64 only")
            }
            Error::NotShown => f.write_str(
                "this kernel does not show where threads are blocked (/proc/PID/task/TID/syscall)",
            ),
            Error::Forbidden { ptrace_scope } => match ptrace_scope.as_deref() {
                Some("1" | "2") => write!(
                    f,
                    "{FORBIDDEN}: run nettrace as root, or with CAP_SYS_PTRACE (in a container: \
                     --cap-add SYS_PTRACE), or allow it with `sysctl kernel.yama.ptrace_scope=0`"
                ),
                Some("3") => write!(
                    f,
                    "{FORBIDDEN}: kernel.yama.ptrace_scope is 3, which forbids it until reboot"
                ),
                _ => write!(
                    f,
                    "{FORBIDDEN}: run nettrace as the process's user or as root (in a container: \
                     --cap-add SYS_PTRACE)"
                ),
            },
            Error::Unreadable { pid, .. } => {
                write!(f, "the memory of process {pid} cannot be read")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Unreadable { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        let text = |scope: Option<&str>| {
            Error::Forbidden { ptrace_scope: scope.map(str::to_owned) }.to_string()
        };
        assert!(text(Some("1")).contains("kernel.yama.ptrace_scope=0"));
        assert!(text(Some("3")).contains("until reboot"));
        assert!(text(Some("0")).contains("as root") && text(None).contains("as root"));
        assert!(text(Some("1")).contains("SYS_PTRACE") && text(None).contains("SYS_PTRACE"));
    }
}
