//! The names of diagnostics sockets and pipes.
//!
//! | name | made by |
//! |---|---|
//! | `dotnet-diagnostic-{pid}-{key}-socket` | a runtime; the key is the start time of its process |
//! | `dotnet-diagnostic-dsrouter-{pid}-{key}-socket` | a router |
//! | `dotnet-diagnostic-{pid}`, `dotnet-diagnostic-dsrouter-{pid}` | a runtime and a router on Windows |
//!
//! Quirk: a runtime cuts a path that is longer than a socket address at 107 bytes, so the end of
//! the name, the key or even the process id may be missing.

/// The program that made a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProcessKind {
    /// A .NET runtime.
    Runtime,
    /// Dotnet-dsrouter, which passes requests on to runtimes on other devices.
    Router,
}

const PREFIX: &str = "dotnet-diagnostic-";
const ROUTER: &str = "dsrouter-";
#[cfg_attr(windows, allow(dead_code, reason = "pipes have none"))]
const SUFFIX: &str = "-socket";

/// The parts of a socket's name.
#[cfg_attr(windows, allow(dead_code, reason = "pipes have shorter names"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SocketName {
    pub(super) kind: ProcessKind,
    pub(super) pid: u32,
    /// Digits of the key, which is the start time of the process; only the first digits if the name
    /// is cut off.
    pub(super) key: String,
    /// Whether the name is cut off inside the key.
    pub(super) cut: bool,
}

#[cfg_attr(windows, allow(dead_code, reason = "pipes have shorter names"))]
impl SocketName {
    /// Parses the name of a socket. `may_be_cut` says that the whole path has the maximum length of
    /// an address, so that the name may be cut off.
    pub(super) fn parse(name: &str, may_be_cut: bool) -> Option<Self> {
        let rest = name.strip_prefix(PREFIX)?;
        let (kind, rest) = match rest.strip_prefix(ROUTER) {
            Some(rest) => (ProcessKind::Router, rest),
            None => (ProcessKind::Runtime, rest),
        };
        let (pid, rest) = rest.split_once('-')?;
        let pid = number(pid)?;
        let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        let (key, tail) = rest.split_at_checked(digits)?;
        let whole = tail == SUFFIX && !key.is_empty();
        let cut = may_be_cut && SUFFIX.starts_with(tail);
        (whole || cut).then(|| SocketName { kind, pid, key: key.to_owned(), cut: tail.is_empty() })
    }

    /// Returns whether the key fits a process with this start time.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn is_of(&self, start: u64) -> bool {
        let start = start.to_string();
        if self.cut { start.starts_with(&self.key) } else { start == self.key }
    }

    /// Returns whether a name that has no complete process id may be the beginning of a socket's
    /// name that was cut off.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn is_cut_before_the_key(name: &str) -> bool {
        let whole = PREFIX.starts_with(name) && name.len() > "dotnet".len();
        whole
            || name
                .strip_prefix(PREFIX)
                .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Parses the kind and the process id in the name of a pipe.
#[cfg(any(windows, test))]
pub(super) fn parse_pipe(name: &str) -> Option<(ProcessKind, u32)> {
    let rest = name.strip_prefix(PREFIX)?;
    match rest.strip_prefix(ROUTER) {
        Some(rest) => number(rest).map(|pid| (ProcessKind::Router, pid)),
        None => number(rest).map(|pid| (ProcessKind::Runtime, pid)),
    }
}

/// Returns the name of a process's pipe.
#[cfg(any(windows, test))]
pub(super) fn pipe_of(kind: ProcessKind, pid: u32) -> String {
    let router = if kind == ProcessKind::Router { ROUTER } else { "" };
    format!("{PREFIX}{router}{pid}")
}

/// Parses a number that consists only of digits: `+7` is not a process id.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_process_id_and_key() {
        let name = SocketName::parse("dotnet-diagnostic-12115-402349-socket", false).unwrap();
        assert_eq!(
            (name.kind, name.pid, name.key.as_str(), name.cut),
            (ProcessKind::Runtime, 12115, "402349", false)
        );
        assert!(name.is_of(402_349) && !name.is_of(40_234));
        let name =
            SocketName::parse("dotnet-diagnostic-dsrouter-7-1700000000-socket", false).unwrap();
        assert_eq!((name.kind, name.pid), (ProcessKind::Router, 7));
    }

    #[test]
    fn a_pipe_holds_the_process_id_alone() {
        for (name, kind) in [
            ("dotnet-diagnostic-7", ProcessKind::Runtime),
            ("dotnet-diagnostic-dsrouter-7", ProcessKind::Router),
        ] {
            assert_eq!(parse_pipe(name), Some((kind, 7)));
            assert_eq!(pipe_of(kind, 7), name);
        }
        assert_eq!(parse_pipe("dotnet-diagnostic-7-8"), None);
    }

    #[test]
    fn other_names_are_passed_over() {
        for name in [
            "",
            "dotnet-diagnostic-",
            "dotnet-diagnostic-1-2-sock",
            "dotnet-diagnostic-1--socket",
            "dotnet-diagnostic-+1-2-socket",
            "dotnet-diagnostic-x-2-socket",
            "dotnet-diagnostic-1-2-socket2",
            "clr-debug-pipe-1-2-in",
            "dotnet-diagnostic-99999999999-2-socket",
        ] {
            assert_eq!(SocketName::parse(name, false), None, "{name}");
        }
    }

    #[test]
    fn a_cut_name_is_read_only_where_a_path_can_be_cut() {
        for (name, key, cut) in [
            ("dotnet-diagnostic-12-345-sock", "345", false),
            ("dotnet-diagnostic-12-345", "345", true),
            ("dotnet-diagnostic-12-", "", true),
        ] {
            assert_eq!(SocketName::parse(name, false), None, "{name}");
            let parsed = SocketName::parse(name, true).unwrap();
            assert_eq!((parsed.pid, parsed.key.as_str(), parsed.cut), (12, key, cut), "{name}");
        }
        assert!(SocketName::parse("dotnet-diagnostic-12-345", true).unwrap().is_of(34_567));
        assert!(!SocketName::parse("dotnet-diagnostic-12-345", true).unwrap().is_of(35));
        assert!(SocketName::is_cut_before_the_key("dotnet-diagnosti"));
        assert!(SocketName::is_cut_before_the_key("dotnet-diagnostic-12"));
        assert!(!SocketName::is_cut_before_the_key("dotnet-diagnostic-12-3"));
    }
}
