//! One pass in a process of its own, alone or under callgrind.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use super::convert;
use crate::floor::{Rows, idiom};
use crate::memory;
use crate::pass::{self, Input, Mode};

/// What a pass in its own process says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Child {
    /// Events seen.
    pub events: u64,
    /// Most memory held, in bytes.
    pub peak: u64,
    /// Most memory that no file backs, in bytes; not for instruction counts.
    pub anonymous: u64,
    /// Instructions, if they were counted.
    pub instructions: u64,
}

/// First argument of the gate when it is such a process.
pub const FLAG: &str = "--one-pass";

/// How a file is read, as such a process is asked to.
pub const READ: &str = "read";

/// Stands for a mode where nom's idiom is to decode all headers in memory.
pub const IDIOM: &str = "idiom";

/// Stands for a mode where the command `nettrace stats` is to run.
pub const STATS: &str = "stats";

/// Environment variable that asks such a process to look at its memory now and then.
const WATCHED: &str = "NETTRACE_GATE_WATCHED";

const EVENTS_BETWEEN_LOOKS: u64 = 50_000;

/// Whether instructions can be counted here.
pub fn has_callgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Makes the pass that the arguments after [`FLAG`] ask for, and prints what [`Child`]
/// reads.
///
/// # Errors
/// What the pass reports.
pub fn serve(arguments: &[String]) -> io::Result<()> {
    let [file, mode, input] = arguments else {
        return Err(io::Error::other("a file, a mode and how to read it"));
    };
    if mode == IDIOM {
        let stream = std::fs::read(file)?;
        println!("{} 0 0", idiom::decode(&stream, &Rows::of(&stream)).events);
        return Ok(());
    }
    let mode = Mode::of_name(mode).ok_or_else(|| io::Error::other("no such mode"))?;
    let input = if input == READ { Input::Read } else { Input::Mapped };
    let (events, anonymous) = match std::env::var_os(WATCHED) {
        // Whoever counts instructions knows the number of events, which would be counted
        // too.
        None if matches!(mode, Mode::Ndjson | Mode::OrderedNdjson) => {
            crate::ndjson::bytes(file.as_ref(), mode.order(), input, 1)?;
            (0, 0)
        }
        Some(_) => watched(file.as_ref(), mode, input)?,
        None => (pass::file(file.as_ref(), mode, input, 1)?.checksum.events, 0),
    };
    let peak = memory::peak_bytes().unwrap_or(0);
    println!("{events} {peak} {anonymous}");
    Ok(())
}

/// Looks at the memory now and then. Events, and the most that no file backs.
fn watched(file: &Path, mode: Mode, input: Input) -> io::Result<(u64, u64)> {
    let most = AtomicU64::new(0);
    let seen = pass::file_watched(file, mode, input, 1, |count| {
        if count % EVENTS_BETWEEN_LOOKS == 0 {
            most.fetch_max(memory::anonymous_bytes().unwrap_or(0), Ordering::Relaxed);
        }
    })?;
    Ok((seen.checksum.events, most.into_inner()))
}

/// The command, as it is built beside the gate.
///
/// # Errors
/// When the gate's own path is not known.
pub fn command() -> io::Result<PathBuf> {
    let name = format!("nettrace{}", std::env::consts::EXE_SUFFIX);
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// The count in what callgrind says.
fn collected(said: &str) -> io::Result<u64> {
    let count = said.lines().find_map(|line| line.split_once("Collected : "));
    let count = count.and_then(|(_, count)| count.trim().parse().ok());
    count.ok_or_else(|| io::Error::other(format!("valgrind gave no count: {said}")))
}

impl Child {
    /// A pass alone, or a conversion; `mode` is a mode's name, or a format's.
    ///
    /// # Errors
    /// When it fails.
    pub fn plain(file: &Path, mode: &str, input: Input) -> io::Result<Child> {
        let mut command = Command::new(std::env::current_exe()?);
        command.env(WATCHED, "1");
        Child::run(&mut command, file, mode, input).map(|(child, _)| child)
    }

    /// The same with its instructions counted; `mode` may be [`IDIOM`], too.
    ///
    /// # Errors
    /// When it fails.
    pub fn under_callgrind(file: &Path, mode: &str) -> io::Result<Child> {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe()?);
        let (mut child, said) = Child::run(&mut command, file, mode, Input::Mapped)?;
        child.instructions = collected(&said)?;
        Ok(child)
    }

    /// The instructions of `nettrace stats` with one thread; the command lies beside the
    /// gate.
    ///
    /// # Errors
    /// When it fails.
    pub fn stats_under_callgrind(file: &Path) -> io::Result<Child> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(command()?)
            .args([STATS, "--quiet", "--threads", "1"])
            .arg(file)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(io::Error::other(format!("stats failed: {said}")));
        }
        Ok(Child { instructions: collected(&said)?, ..Child::default() })
    }

    fn run(
        command: &mut Command,
        file: &Path,
        mode: &str,
        input: Input,
    ) -> io::Result<(Child, String)> {
        let input = if input == Input::Read { READ } else { "mapped" };
        // NDJSON is both; it is measured in the order of the file, without an analysis.
        let is_mode = Mode::of_name(mode).is_some();
        let flag = if !is_mode && convert::is_format(mode) { convert::FLAG } else { FLAG };
        let output = command.arg(flag).arg(file).args([mode, input]).output()?;
        let (out, said) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let numbers: Vec<u64> =
            out.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match (output.status.success(), numbers.as_slice()) {
            (true, [events, peak, anonymous]) => {
                let child =
                    Child { events: *events, peak: *peak, anonymous: *anonymous, instructions: 0 };
                Ok((child, said.into_owned()))
            }
            _ => Err(io::Error::other(format!("a pass failed: {out}{said}"))),
        }
    }
}
