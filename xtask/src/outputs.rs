//! `cargo xtask outputs`: hashes what a binary prints for each trace and command, so that `diff`
//! shows where two binaries differ.

use super::top;
use clap::Args;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::{fs, thread};

/// Commands to run for each trace. A command for each report and each format is added.
const COMMANDS: &str = "FILE; --json FILE; info FILE; info --json FILE; stats FILE; stats --json FILE
    schema FILE; schema --json FILE; check FILE; check --json FILE
    events FILE; events --format ndjson FILE; events --format csv FILE; events --stacks --utc FILE
    events --format ndjson --stacks --frames --raw FILE; events --format csv --stacks --frames FILE
    heap FILE; heap --json FILE; heap --by roots FILE; heap --by modules FILE; heap --by generations FILE
    heap tree FILE; heap tree --json FILE; heap tree --folded FILE; heap objects FILE; heap objects --json FILE
    heap paths --type . FILE; heap paths --type . --json FILE; heap diff FILE FILE; heap diff --json FILE FILE
    report topN --by-thread --wide FILE; report topN --when --state all FILE; report topN --by module FILE
    report tree --callers --state all FILE; report gc --timeline FILE; report jit --timeline FILE
    report logs --templates FILE; report counters --format csv FILE; report counters --format ndjson FILE
    report counters --format openmetrics FILE; report html -o - FILE
    convert --format folded --kind alloc -o - FILE; convert --format folded --kind waits -o - FILE
    convert --format folded --kind off-cpu -o - FILE; convert --format svg --kind heap -o - FILE";

/// Arguments after the name of a report, for its two forms.
const REPORT: [&str; 2] = ["FILE", "--json FILE"];

/// Pairs of sides that `diff` compares. Each side is the beginning of the names of traces in `ab`,
/// which means a single run or a group of runs.
const COMPARED: &[(&str, &str)] = &[
    ("base", "slow1.5-"),
    ("base", "slow1.2-"),
    ("base", "alloc1.5-"),
    ("base", "noisy"),
    ("slow1.5-", "alloc1.5-"),
    ("base1", "base2"),
    ("base1", "slow1.5-1"),
    ("base2", "alloc1.5-2"),
];

/// Options of a comparison: for text, for JSON, and for the page.
const DIFF: [&str; 6] = [
    "",
    " --json",
    " --all --wide",
    " --format markdown --per second",
    " --format junit",
    " --force -o /dev/stdout",
];

/// Number of processes that run at the same time.
const JOBS: usize = 2;

#[derive(Args)]
#[command(after_help = "\
Each line has a hash of stdout, one of stderr, the exit code and the command. Lines are sorted by command and trace, and
paths begin at the repository's folder, so `diff OLD NEW` shows what differs, and the lines of some traces or commands are
compared with `diff <(grep ' gc ' OLD) <(grep ' gc ' NEW)`. The command at the end of a line can be run in that folder.

A file that is equal to an earlier one is left out; without ../shared, the lines are those of testdata.
All traces take a release build five minutes on two processors, and one folder, such as testdata/known, less than one.")]
pub(crate) struct Outputs {
    /// The command to run
    binary: PathBuf,
    /// File for the lines
    out: PathBuf,
    /// Traces or folders of traces, relative to the repository; default: testdata and ../shared
    #[arg(value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
}

impl Outputs {
    pub(crate) fn run(mut self) -> io::Result<()> {
        self.binary = self.binary.canonicalize()?;
        let mut traces = Vec::new();
        if self.files.is_empty() {
            // The traces of `testdata` come first, because every clone has them.
            for folder in ["testdata", "../shared"] {
                for part in ["traces", "known", "web", "reports"] {
                    add_traces(&top().join(folder).join(part), &mut traces)?;
                }
            }
        }
        for file in &self.files {
            fs::metadata(top().join(file))?;
            add_traces(&top().join(file), &mut traces)?;
        }
        let mut known = HashSet::new();
        traces
            .retain(|trace| fs::read(trace).is_ok_and(|bytes| known.insert(Sha256::digest(bytes))));
        let commands = self.commands()?;
        let mut lines: Vec<String> = traces
            .iter()
            .map(|trace| shown(trace))
            .flat_map(|trace| commands.iter().map(move |command| command.replace("FILE", &trace)))
            .collect();
        if self.files.is_empty() {
            lines.extend(comparisons()?);
        }
        let lines = self.hashed(lines)?;
        fs::write(&self.out, lines.concat())?;
        println!("{} outputs of {} traces in {}", lines.len(), traces.len(), self.out.display());
        Ok(())
    }

    /// Returns the commands to run for each trace. The binary lists the names of its reports and
    /// formats.
    fn commands(&self) -> io::Result<Vec<String>> {
        let listed = |arguments: &[&str]| -> io::Result<Vec<String>> {
            let output = Command::new(&self.binary).args(arguments).output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            // In the help, the list stands between a heading and an empty line.
            let list = text.split_once("Reports:\n").map_or(&*text, |(_, list)| list);
            let names = list.lines().map_while(|line| line.split_whitespace().next());
            Ok(names.map(str::to_owned).collect())
        };
        let mut commands: Vec<_> =
            COMMANDS.split([';', '\n']).map(|command| command.trim().to_owned()).collect();
        // `html` is in [`COMMANDS`], because it has no JSON.
        for report in listed(&["report", "-h"])?.iter().filter(|report| *report != "html") {
            commands.extend(REPORT.map(|form| format!("report {report} {form}")));
        }
        for format in listed(&["convert", "--format", "list"])? {
            commands.push(format!("convert --format {format} -o - FILE"));
        }
        Ok(commands)
    }

    /// Runs the commands, and returns their lines sorted by command.
    fn hashed(&self, mut commands: Vec<String>) -> io::Result<Vec<String>> {
        commands.sort();
        let next = Mutex::new(commands.into_iter().enumerate());
        let lines = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let worker = || -> io::Result<()> {
                loop {
                    let command = next.lock().expect("no worker panics").next();
                    let Some((place, command)) = command else { return Ok(()) };
                    let line = self.line(&command)?;
                    lines.lock().expect("no worker panics").push((place, line));
                }
            };
            let workers = [(); JOBS].map(|()| scope.spawn(worker));
            workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
        })?;
        let mut lines = lines.into_inner().expect("no worker panics");
        lines.sort();
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    /// Runs a command in the repository's folder, and returns its line: `STDOUT STDERR CODE
    /// COMMAND`.
    fn line(&self, command: &str) -> io::Result<String> {
        let mut child = Command::new(&self.binary)
            .args(command.split(' '))
            .current_dir(top())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let [stdout, stderr]: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("it is piped")),
            Box::new(child.stderr.take().expect("it is piped")),
        ];
        let (stdout, stderr) = thread::scope(|scope| {
            let stderr = scope.spawn(|| hash(stderr));
            (hash(stdout), stderr.join().expect("reading does not panic"))
        });
        let code =
            child.wait()?.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
        Ok(format!("{} {} {code} {command}\n", stdout?, stderr?))
    }
}

/// Returns the commands that compare all those pairs of which there are traces.
fn comparisons() -> io::Result<Vec<String>> {
    let mut traces = Vec::new();
    for folder in ["../shared/ab", "testdata/ab"] {
        if traces.is_empty() {
            add_traces(&top().join(folder), &mut traces)?;
        }
    }
    let of = |name: &str| -> Vec<String> {
        let is_of = |trace: &&PathBuf| {
            trace.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
        };
        traces.iter().filter(is_of).map(|trace| shown(trace)).collect()
    };
    let mut lines = Vec::new();
    for (old, new) in COMPARED.iter().map(|(old, new)| (of(old), of(new))) {
        if old.is_empty() || new.is_empty() {
            continue;
        }
        let sides = match (&old[..], &new[..]) {
            ([old], [new]) => format!("{old} {new}"),
            _ => format!("--old {} --new {}", old.join(" "), new.join(" ")),
        };
        lines.extend(DIFF.map(|form| format!("diff {sides}{form}")));
    }
    let folders = ["old", "new"].map(|side| format!("../shared/traces/benchmarkdotnet/{side}"));
    if folders.iter().all(|folder| top().join(folder).is_dir()) {
        lines.extend(DIFF.map(|form| format!("diff {}{form}", folders.join(" "))));
    }
    Ok(lines)
}

/// Reads to the end, and returns the first 8 bytes of the content's hash in hexadecimal.
fn hash(mut from: impl Read) -> io::Result<String> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the path of a trace relative to the repository, if it is in there.
fn shown(trace: &Path) -> String {
    let top = top();
    trace.strip_prefix(&top).unwrap_or(trace).display().to_string()
}

/// Adds a trace, or the traces of a folder in the order of their names.
fn add_traces(path: &Path, traces: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| add_traces(entry, traces));
    }
    let name = path.to_string_lossy();
    let name = name.trim_end_matches(".gz");
    if path.is_file() && [".nettrace", ".netperf"].iter().any(|kind| name.ends_with(kind)) {
        traces.push(path.to_owned());
    }
    Ok(())
}
