//! The command, built for a platform, and what it prints about itself.

use super::Packed;
use super::platform::{Platform, host};
use crate::{cargo, invalid, shipped, top};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

const TRACE: &str = "testdata/traces/net10-linux-x64/all.nettrace.gz";

/// Shells for which there are completions, and the names of their files.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "nettrace.bash"),
    ("zsh", "_nettrace"),
    ("fish", "nettrace.fish"),
    ("elvish", "nettrace.elv"),
    ("powershell", "_nettrace.ps1"),
];

#[derive(Debug)]
pub(super) struct Program {
    pub(super) platform: &'static Platform,
    pub(super) bytes: Vec<u8>,
    /// Completions, by the file names that shells expect.
    pub(super) completions: Vec<Packed>,
    /// Manual pages of the command and of each of its subcommands, such as `nettrace-report.1`.
    pub(super) pages: Vec<Packed>,
    /// Whether the program was run here.
    pub(super) ran: bool,
}

impl Program {
    /// Builds the command, and lets it print its completions and pages. If it cannot be run here,
    /// one for this machine prints them.
    pub(super) fn build(platform: &'static Platform) -> io::Result<Program> {
        let path = built(platform)?;
        let own = runner(platform, &path);
        let ran = Command::new(&own[0])
            .args(&own[1..])
            .args(["info", TRACE])
            .current_dir(top())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        let printer = if ran {
            own
        } else if platform.target == host() {
            return Err(invalid(format!("{} cannot read {TRACE}", path.display())));
        } else {
            let host = host();
            let here = Platform::find(&host)
                .ok_or_else(|| invalid(format!("{host}: there are no packages for it")))?;
            runner(here, &built(here)?)
        };
        let completions = SHELLS.iter().map(|(shell, name)| {
            Ok(Packed::new(*name, printed(&printer, &["completions", shell])?))
        });
        Ok(Program {
            platform,
            bytes: fs::read(&path)?,
            completions: completions.collect::<io::Result<_>>()?,
            pages: pages(&printer)?,
            ran,
        })
    }
}

/// Builds the command for a platform, with its C library inside where that can be, and returns the
/// file's path.
fn built(platform: &Platform) -> io::Result<PathBuf> {
    let mut build = cargo();
    build
        .args(["rustc", "--release", "--locked", "--package", "nettrace-cli", "--bin", "nettrace"])
        .args(["--target", platform.target, "--", "-C", "strip=symbols"])
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(top());
    // A Linux without glibc runs it, and a Windows without the C++ runtime.
    let is_whole = platform.is_linux() || platform.target.ends_with("-msvc");
    let flags: &[&str] = if is_whole { &["-Ctarget-feature=+crt-static"] } else { &[] };
    build.env(shipped::FLAGS, shipped::flags(flags));
    if !build.status()?.success() {
        return Err(invalid(format!("{}: cannot be built", platform.target)));
    }
    let folder =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| top().join("target"), PathBuf::from);
    let path = folder.join(platform.target).join("release").join(platform.file_name());
    if platform.is_linux() {
        let output =
            Command::new("readelf").args(["--wide", "--program-headers"]).arg(&path).output()?;
        if !output.status.success() || String::from_utf8_lossy(&output.stdout).contains("INTERP") {
            return Err(invalid(format!("{} is not static", path.display())));
        }
    }
    Ok(path)
}

/// Returns the words that run a program: the platform's runner, if cargo has been told one, and the
/// program.
fn runner(platform: &Platform, path: &Path) -> Vec<String> {
    let runner = env::var(platform.variable("RUNNER")).unwrap_or_default();
    let path = path.display().to_string();
    runner.split_whitespace().map(str::to_owned).chain([path]).collect()
}

fn printed(program: &[String], arguments: &[&str]) -> io::Result<Vec<u8>> {
    let output = Command::new(&program[0]).args(&program[1..]).args(arguments).output()?;
    if !output.status.success() || output.stdout.is_empty() {
        return Err(invalid(format!("{} {}: failed", program.join(" "), arguments.join(" "))));
    }
    Ok(output.stdout)
}

/// Returns the page of the command and those of its subcommands, which each page lists as
/// `nettrace\-report\-gc(1)`.
fn pages(program: &[String]) -> io::Result<Vec<Packed>> {
    let mut pages = Vec::new();
    let mut commands = VecDeque::from([Vec::<String>::new()]);
    while let Some(command) = commands.pop_front() {
        let words =
            [&["man"], &command.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat();
        let page = printed(program, &words)?;
        let name = [&["nettrace"], &words[1..]].concat().join("-");
        for line in String::from_utf8_lossy(&page).lines() {
            let line = line.replace("\\-", "-");
            let found = line
                .strip_prefix(&name)
                .and_then(|rest| rest.strip_prefix('-')?.strip_suffix("(1)"));
            if let Some(word) = found.filter(|word| *word != "help") {
                commands.push_back([&command[..], &[word.to_owned()]].concat());
            }
        }
        pages.push(Packed::new(format!("{name}.1"), page));
    }
    Ok(pages)
}
