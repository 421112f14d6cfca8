//! Options of `nettrace collect` on real runtimes.

use super::common::Json;
use super::{Subject, finished, ran, traces, wait_until};
use nettrace_testdata::peers::{self, Folder};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn each_family_of_options_gives_a_whole_trace() {
    let families: [&[&str]; 14] = [
        &[],
        &["--providers", "Nettrace-Workload:7:5,System.Runtime:*:4:EventCounterIntervalSec=1"],
        &["--profile", "gc-collect,gc-verbose"],
        &["--profile", "database", "--rundown", "false"],
        &["--profile", "cpu-sampling"],
        &["--clrevents", "gc+exception+jit", "--clreventlevel", "verbose"],
        &["--events", "Nettrace-Workload=1,8"],
        &["--providers", "Nettrace-Workload", "--no-stacks"],
        &["--providers", "Nettrace-Workload", "--buffersize", "1"],
        &["--providers", "Nettrace-Workload", "--rundown", "0x8"],
        &["--providers", "Nettrace-Workload", "--max-size", "100KB"],
        &[
            "--providers",
            "Nettrace-Workload",
            "--until",
            "Nettrace-Workload/Item where number>0",
            "--keep-after",
            "100ms",
        ],
        &[
            "--providers",
            "Nettrace-Workload",
            "--stopping-event-provider-name",
            "Nettrace-Workload",
            "--stopping-event-event-name",
            "Scalars",
        ],
        &["--profile", "dotnet-sampled-thread-time", "--format", "speedscope"],
    ];
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        for options in families {
            let context = format!(".NET {} {options:?}", peer.major);
            // Recordings that end by size or condition have a long duration.
            let stops_itself =
                options.iter().any(|option| ["--max-size", "--until"].contains(option))
                    || options.contains(&"--stopping-event-provider-name");
            let duration = ["--duration", if stops_itself { "600s" } else { "300ms" }];
            let run = subject.collect(&[&["-o", "x.nettrace"], &duration[..], options].concat());
            assert_eq!(run.code, Some(0), "{context}: {}", run.stderr);
            if stops_itself && !options.contains(&"--max-size") {
                assert!(run.stderr.contains(": stopping\n"), "{context}: {}", run.stderr);
            }
            let info = subject.info("x.nettrace");
            // With a small buffer or on a busy machine, events are lost, which a message reports.
            let lost = info["lost"].int();
            let is_said = run.stderr.contains(&format!("{} lost: ", counted(lost)));
            assert_eq!(is_said, lost > 0, "{context}: {lost}: {}", run.stderr);
            assert_eq!(info["complete"], true, "{context}: {info}");
            let needs = |option: &str| options.contains(&option);
            let is_old = needs("--events") && peer.major < 10
                || (needs("--no-stacks") || needs("0x8")) && peer.major < 9;
            assert_eq!(
                run.stderr.contains("too old for part of the request"),
                is_old,
                "{context}: {}",
                run.stderr
            );
        }
        assert!(std::fs::metadata(subject.folder.file("x.speedscope.json")).unwrap().len() > 100);
        subject.assert_unharmed();
    });
}

/// Returns a count as in messages: `1 event`, `1,234 events`.
fn counted(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text} event{}", if count == 1 { "" } else { "s" })
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn event_ids_that_are_asked_for_are_the_only_ones_to_come() {
    peers::each(peers::all().into_iter().filter(|peer| peer.major == 10).collect(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let options = ["--events", "Nettrace-Workload=1,8", "--rundown", "false"];
        // Other events have happened by the time of the condition's event.
        let end =
            ["--until", "Nettrace-Workload/Item", "--keep-after", "300ms", "-o", "x.nettrace"];
        assert_eq!(subject.collect(&[&options[..], &end].concat()).code, Some(0));
        let events =
            ["events", "x.nettrace", "--provider", "Nettrace-Workload", "--format", "ndjson"];
        let events = ran(&events, &subject.folder).lines();
        assert!(!events.is_empty());
        assert!(events.iter().all(|event| event["id"] == 1 || event["id"] == 8));
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_trace_goes_to_standard_output_and_into_a_transcript() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        let run =
            subject.collect(&["--duration", "300ms", "-o", "-", "--record", "run.transcript"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stdout.starts_with(b"Nettrace") && run.stdout.ends_with(&[6, 1]));
        let file = std::fs::File::open(subject.folder.file("run.transcript")).unwrap();
        let transcript = nettrace_ipc::Transcript::read(std::io::BufReader::new(file)).unwrap();
        assert!(transcript.connection_count() >= 2);
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn each_file_of_a_rotation_is_whole() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "custom");
        std::fs::remove_file(subject.folder.file("warm-up.nettrace")).unwrap();
        let options =
            ["--providers", "Nettrace-Workload:7:5", "--rotate", "2x150KB", "-o", "x.nettrace"];
        let child = subject.spawn(&[&["collect"], &options[..]].concat());
        let third = subject.folder.file("x_0003.nettrace");
        wait_until("the third file", || std::path::Path::new(&third).exists());
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let names = traces(&subject.folder);
        assert!(names.len() == 2 && names[0].as_str() > "x_0001", "{names:?}: {}", run.stderr);
        for name in names {
            let info = subject.info(&name);
            assert_eq!(
                (&info["lost"], &info["complete"]),
                (&0.into(), &true.into()),
                "{name}: {info}"
            );
        }
        subject.assert_unharmed();
    });
}

/// Starts programs in their own process namespace, and records all processes in it, so that other
/// processes of the machine are not touched.
fn record_all_of(lines: &[String], folder: &Folder) -> Output {
    let nettrace = env!("CARGO_BIN_EXE_nettrace");
    let count = lines.len();
    let script = format!(
        "mount -t proc none /proc || exit 9; export TMPDIR='{folder}'; cd '{folder}'; {} >> ready & tries=0; \
         until [ $(grep -c '^ready' ready) = {count} ] || [ $((tries += 1)) -gt 1200 ]; do sleep 0.1; done; \
         '{nettrace}' collect --all --patience 120s --duration 500ms -o x.nettrace",
        lines.join(" >> ready & "),
        folder = folder.path().display(),
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]);
    command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").env("HOME", folder.path());
    command.output().unwrap()
}

mod with_namespaces {
    use super::*;

    /// Runs the command in a container that shares only the temporary directory with others.
    fn ran_beside(args: &[&str], folder: &Folder) -> Output {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
        command.arg(env!("CARGO_BIN_EXE_nettrace")).args(args);
        command.env("TMPDIR", folder.path()).current_dir(folder.path()).output().unwrap()
    }

    #[test]
    #[ignore = "needs NETTRACE_PEERS and namespaces"]
    fn a_process_of_another_container_is_reached_by_the_number_that_it_has_there() {
        peers::each(peers::modern(), |peer| {
            let folder = Folder::new();
            let mut target = Command::new("unshare");
            target.args(["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c"]);
            target.arg(format!("exec {}", peer.shell("sleep", 0)));
            target.env("TMPDIR", folder.path()).env("HOME", folder.path());
            target.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
            let mut child = target.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert!(line.starts_with("ready"), "{line:?}");
            let listed = ran_beside(&["ps", "--json"], &folder);
            let report: Value = serde_json::from_slice(&listed.stdout).unwrap();
            let found = report["processes"].list().iter().find(|found| found["pid"] == 1).unwrap();
            assert_eq!((&found["name"], &found["elsewhere"]), (&"workload".into(), &true.into()));
            let is_its = |left: &Value| left["path"] == found["endpoint"];
            assert!(!report["leftovers"].list().iter().any(is_its), "{report}");
            let port = format!("{},connect", found["endpoint"].text());
            for (at, target) in
                [["-p", "1"], ["-n", "workload"], ["--port", &port]].iter().enumerate()
            {
                let file = format!("{at}.nettrace");
                let args = ["collect", "--duration", "300ms", "-o", &file];
                let run = ran_beside(&[&args[..], target].concat(), &folder);
                let messages = String::from_utf8_lossy(&run.stderr);
                assert_eq!(run.status.code(), Some(0), "{target:?}: {messages}");
                assert!(messages.contains("recording workload (1)"), "{target:?}: {messages}");
                assert_eq!(
                    super::ran(&["info", &file, "--json"], &folder).json()["complete"],
                    true
                );
            }
            // From outside, it has another number, and its socket is not left behind.
            let mut outside = Command::new(env!("CARGO_BIN_EXE_nettrace"));
            let listed =
                outside.args(["ps", "--json"]).env("TMPDIR", folder.path()).output().unwrap();
            let report: Value = serde_json::from_slice(&listed.stdout).unwrap();
            assert!(!report["leftovers"].list().iter().any(is_its), "{report}");
            child.kill().unwrap();
            child.wait().unwrap();
        });
    }

    #[test]
    #[ignore = "needs NETTRACE_PEERS and namespaces"]
    fn all_processes_that_can_be_reached_are_recorded() {
        let lines: Vec<String> =
            peers::all().iter().map(|peer| peer.shell("custom", 3600)).collect();
        let mut folder = Folder::new();
        let mut output = record_all_of(&lines, &folder);
        // .NET Core 3.1 may get stuck, as `peers::each` explains.
        if String::from_utf8_lossy(&output.stderr).contains("did not end the session in time") {
            folder = Folder::new();
            output = record_all_of(&lines, &folder);
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{messages}");
        let names = traces(&folder);
        assert_eq!(names.len(), lines.len(), "{names:?}: {messages}");
        for name in names {
            assert_eq!(ran(&["info", &name, "--json"], &folder).json()["complete"], true, "{name}");
        }
    }
}
