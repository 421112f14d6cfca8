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
    /// Words of the command line. A word with a space is shown as two.
    pub(super) command_line: Vec<String>,
}

/// Returns what `ps` shows of those processes that exist.
pub(super) fn ask(pids: &[u32]) -> HashMap<u32, PsEntry> {
    if pids.is_empty() {
        return HashMap::new();
    }
    let listed: Vec<String> = pids.iter().map(u32::to_string).collect();
    // Without `-ww`, lines end after 79 characters where there is no terminal.
    let output = Command::new("ps")
        .args(["-ww", "-o", "pid=,uid=,etime=,args=", "-p", &listed.join(",")])
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output
        .map_or_else(|_| HashMap::new(), |output| entries(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses lines of the form `PID UID ELAPSED COMMAND…`.
fn entries(text: &str) -> HashMap<u32, PsEntry> {
    let entry = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let pid = words.next()?.parse().ok()?;
        let owner = words.next()?.parse().ok()?;
        let uptime = elapsed(words.next()?)?;
        Some((pid, PsEntry { owner, uptime, command_line: words.map(str::to_owned).collect() }))
    };
    text.lines().filter_map(entry).collect()
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
        assert_eq!(entries(text), HashMap::from(expected));
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
