//! What `ps` says of processes, where there is no `/proc`.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A process as `ps` shows it.
#[derive(Debug, PartialEq)]
pub(super) struct PsEntry {
    pub(super) owner: u32,
    /// Time since the start, in whole seconds.
    pub(super) uptime: Duration,
    /// Words of the command line. An argument with a space is shown as two; the program is not.
    pub(super) command_line: Vec<String>,
}

/// Returns what `ps` shows of those processes that exist.
pub(super) fn ask(pids: &[u32]) -> HashMap<u32, PsEntry> {
    if pids.is_empty() {
        return HashMap::new();
    }
    let listed: Vec<String> = pids.iter().map(u32::to_string).collect();
    let listed = listed.join(",");
    entries(&printed("pid=,uid=,etime=,args=", &listed), &printed("pid=,comm=", &listed))
}

/// Returns columns of processes; nothing where there is no `ps`.
fn printed(columns: &str, pids: &str) -> String {
    // Without `-ww`, lines end after 79 characters where there is no terminal.
    let output = Command::new("ps")
        .args(["-ww", "-o", columns, "-p", pids])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    )
}

/// Parses lines of the form `PID UID ELAPSED PROGRAM ARGUMENT…`, and lines of the form `PID PROGRAM`, which
/// say where a program with spaces in its name ends.
fn entries(lines: &str, programs: &str) -> HashMap<u32, PsEntry> {
    let program = |line| next_word(line).and_then(|(pid, name)| Some((pid.parse().ok()?, name)));
    let programs: HashMap<u32, &str> = programs.lines().filter_map(program).collect();
    let entry = |line| {
        let (pid, rest) = next_word(line)?;
        let (owner, rest) = next_word(rest)?;
        let (uptime, command) = next_word(rest)?;
        let pid = pid.parse().ok()?;
        let command_line = command_line(command, programs.get(&pid).copied().unwrap_or_default());
        Some((pid, PsEntry { owner: owner.parse().ok()?, uptime: elapsed(uptime)?, command_line }))
    };
    lines.lines().filter_map(entry).collect()
}

/// Returns the first word of a line, and the rest of it, both without spaces around them.
fn next_word(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (!word.is_empty()).then(|| (word, rest.trim_start()))
}

/// Returns the words of a command, of which the first is the program if the command begins with it.
/// Where `ps` shows only a part of the name, the first word ends at the name's first space.
fn command_line(command: &str, program: &str) -> Vec<String> {
    let rest =
        command.strip_prefix(program).filter(|rest| rest.is_empty() || rest.starts_with(' '));
    let (program, rest) = rest.map_or(("", command), |rest| (program, rest));
    let program = Some(program).filter(|program| !program.is_empty());
    program.into_iter().chain(rest.split_ascii_whitespace()).map(str::to_owned).collect()
}

/// Parses an elapsed time in the form `[[days-]hours:]minutes:seconds`.
fn elapsed(text: &str) -> Option<Duration> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let mut seconds = days;
    let parts: Vec<&str> = rest.split(':').collect();
    let padded = ["0", "0", "0"].into_iter().take(3_usize.checked_sub(parts.len())?).chain(parts);
    for (part, per) in padded.zip([24, 60, 60]) {
        seconds = seconds.checked_mul(per)?.checked_add(part.parse().ok()?)?;
    }
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_times_have_days_hours_minutes_and_seconds() {
        for (text, seconds) in
            [("00:07", 7), ("02:03", 123), ("1:00:00", 3600), ("2-03:04:05", 183_845)]
        {
            assert_eq!(elapsed(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "x:1", "1:2:3:4", "-1:2", "99999999999999999999-00:00:00"] {
            assert_eq!(elapsed(text), None, "{text}");
        }
    }

    #[test]
    fn lines_of_ps_are_processes_and_others_are_left_out() {
        // As macOS pads them, with the zombie's name in brackets; a refusal; a process without words.
        let text = "  501     0 02-03:04:05 /usr/local/share/dotnet/dotnet run --project  shop\n\
                    77112   501       00:07 (shop)\nps: illegal process id\n    3   501 1:00:00\n";
        let entry = |owner, seconds, words: &[&str]| PsEntry {
            owner,
            uptime: Duration::from_secs(seconds),
            command_line: words.iter().copied().map(str::to_owned).collect(),
        };
        let expected = [
            (
                501,
                entry(0, 183_845, &["/usr/local/share/dotnet/dotnet", "run", "--project", "shop"]),
            ),
            (77112, entry(501, 7, &["(shop)"])),
            (3, entry(501, 3600, &[])),
        ];
        let programs = "  501 /usr/local/share/dotnet/dotnet\n77112 (shop)\n";
        assert_eq!(entries(text, programs), HashMap::from(expected));
    }

    #[test]
    fn a_program_with_a_space_in_its_name_is_one_word() {
        let bundle = "/Applications/My Shop.app/Contents/MacOS/My Shop";
        // The second as systems have it that show a part of the name; the third if another program was begun
        // between the two questions.
        for (program, words) in [
            (bundle, [bundle, "--port", "80"].as_slice()),
            (
                "My Shop",
                &["/Applications/My", "Shop.app/Contents/MacOS/My", "Shop", "--port", "80"],
            ),
            (
                "/Applications/M",
                &["/Applications/My", "Shop.app/Contents/MacOS/My", "Shop", "--port", "80"],
            ),
        ] {
            let lines = format!("    7   501       00:07 {bundle} --port  80\n");
            let found = entries(&lines, &format!("    7 {program}\n    8 {bundle}\n"));
            assert_eq!(found[&7].command_line, words, "{program}");
        }
    }

    #[test]
    fn a_process_that_does_not_exist_is_left_out() {
        let own = std::process::id();
        let found = ask(&[own, 99_999_999]);
        // There are systems without `ps`.
        assert!(found.keys().all(|pid| *pid == own), "{found:?}");
        assert!(found.values().all(|entry| !entry.command_line.is_empty()), "{found:?}");
        assert_eq!(ask(&[]), HashMap::new());
    }
}
