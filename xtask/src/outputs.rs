//! `cargo xtask outputs`: what a binary prints for each trace and command, as hashes, so
//! that `diff` shows where two binaries differ.

use super::top;
use clap::Args;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::{fs, io, thread};

/// The commands, `FILE` being the trace.
const COMMANDS: &str = "FILE; info FILE; info --json FILE; stats FILE; stats --json FILE
    schema FILE; check FILE; events FILE; events --format ndjson FILE; events --format csv FILE
    report topN FILE; report gc FILE; report exceptions FILE; heap FILE; heap --json FILE
    report topN --json FILE; report gc --json FILE; report exceptions --json FILE
    convert --format folded -o - FILE; convert --format pprof -o - FILE
    convert --format speedscope -o - FILE";

/// Processes at the same time.
const JOBS: usize = 2;

#[derive(Args)]
pub(crate) struct Outputs {
    /// The command to run
    binary: PathBuf,
    /// Where the lines go: hash of stdout, exit code, command
    out: PathBuf,
    /// The traces; else all of ../shared/traces and testdata/traces
    files: Vec<PathBuf>,
}

impl Outputs {
    pub(crate) fn run(self) -> io::Result<()> {
        let mut files = self.files;
        if files.is_empty() {
            for folder in ["../shared/traces", "testdata/traces"] {
                traces(&top().join(folder), &mut files)?;
            }
        }
        files.sort();
        // One after the other, so that the large traces do not come last.
        let work = Mutex::new(
            files.iter().flat_map(|file| commands().map(move |command| (command, file))),
        );
        let lines = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let worker = || -> io::Result<()> {
                loop {
                    let next = work.lock().expect("no worker panics").next();
                    let Some((command, file)) = next else { return Ok(()) };
                    let line = line(&self.binary, command, file)?;
                    lines.lock().expect("no worker panics").push((file, command, line));
                }
            };
            let workers = [(); JOBS].map(|()| scope.spawn(worker));
            workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
        })?;
        let mut lines = lines.into_inner().expect("no worker panics");
        lines.sort();
        fs::write(&self.out, lines.iter().map(|(_, _, line)| line.as_str()).collect::<String>())?;
        println!("{} outputs of {} traces in {}", lines.len(), files.len(), self.out.display());
        Ok(())
    }
}

/// `HASH CODE COMMAND`, with the trace's path from the repository's folder on.
fn line(binary: &Path, command: &str, file: &Path) -> io::Result<String> {
    let words = command.split(' ').map(|word| match word {
        "FILE" => file.as_os_str(),
        word => word.as_ref(),
    });
    let mut child = Command::new(binary)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stdout = child.stdout.take().expect("it is piped");
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match stdout.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    let status = child.wait()?;
    let code = status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
    let mut line = String::new();
    for byte in &hash.finalize()[..8] {
        write!(line, "{byte:02x}").expect("a String takes all");
    }
    let name = file.strip_prefix(top()).unwrap_or(file).display().to_string();
    Ok(format!("{line} {code} {}\n", command.replace("FILE", &name)))
}

fn commands() -> impl Iterator<Item = &'static str> {
    COMMANDS.split([';', '\n']).map(str::trim)
}

fn traces(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    // The first of the folders is not there in a clone of its own.
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            traces(&path, files)?;
        } else if [".nettrace", ".netperf"]
            .iter()
            .any(|kind| name.trim_end_matches(".gz").ends_with(kind))
        {
            files.push(path);
        }
    }
    Ok(())
}
