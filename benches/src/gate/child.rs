//! Runs passes in separate processes, with or without callgrind.

use crate::floor::{self, idiom};
use crate::pass::{self, Input, Mode};
use crate::{analyse, memory, ndjson};
use nettrace_analysis::convert::Format;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// First argument of the gate if it has to make only one pass.
pub const FLAG: &str = "--one-pass";

/// Name of the work, besides the modes, that decodes all headers in memory in nom's idiom.
pub const IDIOM: &str = "idiom";

/// Name of the work, besides the modes, that writes events as text.
const TEXT: &str = "text";

/// Names of the works, besides the modes, whose instructions are those of the command `nettrace`,
/// each with the arguments before the file.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("stats", &["stats", "--threads", "1"]),
    ("summary", &[]),
    ("http", &["report", "http"]),
    ("page", &["report", "html", "--output", "-"]),
    ("perfetto", &["convert", "--format", "perfetto", "--output", "-"]),
    (TEXT, &["events", "--threads", "1"]),
];

/// Prefix of the names of reports that are used as work.
pub(super) const REPORT: &str = "report:";

/// Result of a pass in a separate process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Child {
    /// Number of events seen.
    pub events: u64,
    /// Number of allocations.
    pub allocations: u64,
    /// Maximum memory that the process held, in bytes.
    pub peak: u64,
    /// Maximum memory that no file backs, in bytes; 0 if not measured.
    pub anonymous: u64,
    /// Number of instructions; 0 if not counted.
    pub instructions: u64,
}

/// How the process reads its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The file is mapped.
    Mapped,
    /// The file is read with `read`.
    Read,
    /// The file is mapped and read in file order, while the memory is measured repeatedly.
    Watched,
}

impl Access {
    const ALL: [(Access, &str); 3] =
        [(Access::Mapped, "mapped"), (Access::Read, "read"), (Access::Watched, "watched")];
}

/// Returns whether `name` names work: a mode, a format, a command, reports or [`IDIOM`].
pub fn is_work(name: &str) -> bool {
    let is_report = name.starts_with(REPORT);
    let is_command = arguments_of(name).is_some();
    is_report || is_command || name == IDIOM || Mode::of_name(name).is_some() || is_format(name)
}

/// Returns the arguments of the command that a work runs; `None` for other works.
fn arguments_of(work: &str) -> Option<&'static [&'static str]> {
    COMMANDS.into_iter().find(|(name, _)| *name == work).map(|(_, arguments)| arguments)
}

/// Returns whether `name` is a format of conversions. NDJSON is not one here, because it is a mode
/// that writes without an analysis.
fn is_format(name: &str) -> bool {
    Mode::of_name(name).is_none() && Format::by_name(name).is_some()
}

/// Returns whether instructions can be counted on this machine.
pub fn has_callgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Makes the pass that the arguments after [`FLAG`] describe, and prints the result for
/// [`Child::run`].
///
/// The error is that of the pass.
pub fn serve(arguments: &[String]) -> io::Result<()> {
    let [file, work, how] = arguments else {
        return Err(io::Error::other("a file, what to do, and how to read it"));
    };
    let how = Access::ALL.into_iter().find(|(_, name)| name == how);
    let (how, _) = how.ok_or_else(|| io::Error::other("no such way to read"))?;
    let input = if how == Access::Read { Input::Read } else { Input::Mapped };
    let (file, mut anonymous) = (Path::new(file), 0);
    let events = if how == Access::Watched {
        anonymous = pass::anonymous_peak(file)?;
        0
    } else if let Some(mode) = Mode::of_name(work) {
        pass::file(file, mode, input, 1)?.checksum.events
    } else if let Some(reports) = work.strip_prefix(REPORT) {
        analyse::report(file, reports)?
    } else if work == IDIOM {
        let stream = std::fs::read(file)?;
        idiom::decode(&stream, &floor::rows(&stream)).events
    } else if work == TEXT {
        ndjson::text(file)?
    } else {
        analyse::convert(file, work, input)?
    };
    println!(
        "{events} {} {} {anonymous}",
        memory::allocations(),
        memory::peak_bytes().unwrap_or(0)
    );
    Ok(())
}

/// Returns the path of the command, which is built into the folder of the gate.
///
/// # Errors
/// When the gate's own path is not known.
fn command() -> io::Result<PathBuf> {
    let name = format!("nettrace{}", std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(name))
}

impl Child {
    /// Runs the work in a separate process, without counting instructions.
    ///
    /// # Errors
    /// If the work fails.
    pub fn run(file: &Path, work: &str, how: Access) -> io::Result<Child> {
        Child::run_by(Command::new(std::env::current_exe()?), file, work, how)
            .map(|(child, _)| child)
    }

    /// Runs the work in a separate process, and counts its instructions.
    ///
    /// # Errors
    /// If the work fails.
    pub fn under_callgrind(file: &Path, work: &str) -> io::Result<Child> {
        let mut callgrind = Command::new("valgrind");
        callgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        let (mut child, messages) = if let Some(arguments) = arguments_of(work) {
            callgrind.arg(command()?).arg("--quiet").args(arguments).arg(file);
            let output = callgrind.stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
            if !output.status.success() {
                let messages = String::from_utf8_lossy(&output.stderr);
                return Err(io::Error::other(format!("{work} failed: {messages}")));
            }
            let events = pass::file(file, Mode::Raw, Input::Mapped, 1)?.checksum.events;
            let child = Child { events, ..Child::default() };
            (child, String::from_utf8_lossy(&output.stderr).into_owned())
        } else {
            callgrind.arg(std::env::current_exe()?);
            Child::run_by(callgrind, file, work, Access::Mapped)?
        };
        let count = messages.lines().find_map(|line| line.split_once("Collected : "));
        let count = count.and_then(|(_, count)| count.trim().parse().ok());
        child.instructions =
            count.ok_or_else(|| io::Error::other(format!("valgrind gave no count: {messages}")))?;
        Ok(child)
    }

    /// Runs the work of the command, and measures the memory that it holds until it ends.
    ///
    /// # Errors
    /// If the work is none of the command, or fails.
    pub fn peak_of_command(file: &Path, work: &str) -> io::Result<u64> {
        let arguments = arguments_of(work).ok_or_else(|| io::Error::other("no such command"))?;
        let mut command = Command::new(command()?);
        command.arg("--quiet").args(arguments).arg(file).stdout(Stdio::null());
        let (mut child, mut peak) = (command.spawn()?, 0);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            peak = peak.max(memory::peak_bytes_of(child.id()).unwrap_or(0));
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        match status.success() {
            true => Ok(peak),
            false => Err(io::Error::other(format!("{work} failed: {status}"))),
        }
    }

    fn run_by(
        mut command: Command,
        file: &Path,
        work: &str,
        how: Access,
    ) -> io::Result<(Child, String)> {
        let how =
            Access::ALL.into_iter().find(|(known, _)| *known == how).map_or("", |(_, name)| name);
        let output = command.arg(FLAG).arg(file).args([work, how]).output()?;
        let (out, messages) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let numbers: Vec<u64> =
            out.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match (output.status.success(), numbers.as_slice()) {
            (true, &[events, allocations, peak, anonymous]) => {
                let child = Child { events, allocations, peak, anonymous, instructions: 0 };
                Ok((child, messages.into_owned()))
            }
            _ => Err(io::Error::other(format!("{work} failed: {out}{messages}"))),
        }
    }
}
