//! The reader we are compared with: TraceEvent on .NET, in a process of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Microsoft's TraceEvent behind a small program that makes passes over a trace.
#[derive(Debug, Clone)]
pub struct TraceEvent {
    dotnet: PathBuf,
    program: PathBuf,
}

/// What TraceEvent does with each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Headers alone: its fastest.
    Headers,
    /// Every payload value.
    Fields,
}

impl TraceEvent {
    /// Looks into `NETTRACE_PEERS`, then unpacks `../shared/peers` into `target/peers`.
    /// `Err` says why there is none.
    pub fn find() -> Result<TraceEvent, String> {
        if let Some(folder) = std::env::var_os("NETTRACE_PEERS") {
            return TraceEvent::of(Path::new(&folder)).ok_or_else(|| {
                format!("NETTRACE_PEERS={} has no net10 and tools", folder.display())
            });
        }
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let unpack = checkout.join("../shared/peers/unpack");
        if !unpack.is_file() {
            return Err("NETTRACE_PEERS is not set, and there is no ../shared/peers".to_owned());
        }
        let folder = checkout.join("target/peers");
        let done = Command::new(unpack).arg(&folder).args(["net10", "tools"]).status();
        if !done.is_ok_and(|status| status.success()) {
            return Err("the peers cannot be unpacked".to_owned());
        }
        TraceEvent::of(&folder).ok_or_else(|| "the peers have no TraceEvent".to_owned())
    }

    fn of(folder: &Path) -> Option<TraceEvent> {
        let found = TraceEvent {
            dotnet: folder.join("net10/dotnet"),
            program: folder.join("tools/traceevent/dump.dll"),
        };
        (found.dotnet.is_file() && found.program.is_file()).then_some(found)
    }

    /// Makes passes over a file, in time order as it always does: nanoseconds an event of
    /// each.
    ///
    /// # Errors
    /// When it fails.
    pub fn passes(&self, file: &Path, work: Work, passes: usize) -> io::Result<Vec<f64>> {
        let mode = match work {
            Work::Headers => "timeraw",
            Work::Fields => "timefields",
        };
        let mut command = Command::new(&self.dotnet);
        command.arg(&self.program).arg(mode).arg(file).arg(passes.to_string());
        let output = command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let of_line = |line: &str| -> Option<f64> {
            let (_, behind) = line.split_once("ns/event ")?;
            behind.split_whitespace().next()?.parse().ok()
        };
        let times: Vec<f64> = text.lines().filter_map(of_line).collect();
        if times.len() != passes {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("TraceEvent gave no times: {text}{error}")));
        }
        Ok(times)
    }
}
