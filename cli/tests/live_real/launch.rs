//! Programs that `nettrace collect` starts, and processes that connect to its port.

use super::{arriving, finished, launching, ran, traces, wait_until};
use crate::common::command;
use nettrace_testdata::peers::{self, Folder};
use std::path::Path;
use std::process::Stdio;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_program_is_traced_from_its_first_method() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let methods = ["--clrevents", "jit", "--clreventlevel", "verbose"];
        let options =
            [&["collect", "--patience", "120s", "-o", "x.nettrace"], &methods[..]].concat();
        let run = finished(launching(peer, &options, ("sleep", 1), &folder).output().unwrap());
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        assert!(
            run.text().starts_with("ready") && run.text().ends_with("done\n"),
            "{}",
            run.text()
        );
        let events =
            ["events", "x.nettrace", "--event", "MethodLoadVerbose*", "--format", "ndjson"];
        let methods = ran(&events, &folder);
        assert!(methods.text().contains("\"Main\""), ".NET {}: Main is not among them", peer.major);
        assert_eq!(ran(&["info", "x.nettrace", "--json"], &folder).json()["complete"], true);
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn programs_that_a_program_starts_finish_and_are_recorded_on_demand() {
    peers::each(peers::modern(), |peer| {
        for (option, files) in [("--force", 1), ("--children", 2)] {
            let folder = Folder::new();
            let line = format!("{} & {}; wait; exit 5", peer.shell("cpu", 1), peer.shell("cpu", 2));
            let options =
                ["--patience", "120s", option, "-o", "x.nettrace", "--", "sh", "-c", &line];
            let output = command(&[&["collect"], &options[..]].concat())
                .current_dir(folder.path())
                .env("TMPDIR", folder.path())
                .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
                .output()
                .unwrap();
            let run = finished(output);
            let context = format!(".NET {} {option}: {}", peer.major, run.stderr);
            assert_eq!(run.code, Some(5), "{context}");
            assert_eq!(run.text().matches("done").count(), 2, "{context}");
            let names = traces(&folder);
            assert_eq!(names.len(), files, "{context}");
            for name in names {
                assert_eq!(
                    ran(&["info", &name, "--json"], &folder).json()["complete"],
                    true,
                    "{context}"
                );
            }
        }
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn programs_that_run_in_turn_are_let_go_with_few_descriptors_and_named() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        // The program ends at once, because its standard input is empty.
        let program = peer.shell("sleep", 0);
        let line =
            format!("ulimit -S -n 1000; for i in $(seq 40); do {program} || exit 9; done; exit 5");
        let args = ["collect", "--patience", "120s", "-o", "x.nettrace", "--", "sh", "-c", &line];
        let own = command(&args);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -S -n 40; exec \"$0\" \"$@\""]);
        limited.arg(own.get_program()).args(own.get_args());
        limited.current_dir(folder.path()).env("TMPDIR", folder.path()).stdin(Stdio::null());
        let output = limited.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1").output().unwrap();
        let run = finished(output);
        let context = format!(".NET {}: {}", peer.major, run.stderr);
        assert_eq!(run.code, Some(5), "{context}");
        assert_eq!(run.text().matches("done").count(), 40, "{context}");
        assert_eq!(traces(&folder).len(), 1, "{context}");
        // Messages name the first ten unrecorded processes.
        assert_eq!(run.stderr.matches("goes on unrecorded").count(), 10, "{context}");
        assert!(run.stderr.contains("so do all that follow"), "{context}");
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_program_without_ports_runs_as_if_we_were_not_there() {
    peers::each(peers::all().into_iter().filter(|peer| peer.major == 3).collect(), |peer| {
        let folder = Folder::new();
        let words = peer.words("sleep", 1);
        let mut args = vec!["collect", "-o", "x.nettrace", "--"];
        args.extend(words.iter().map(String::as_str));
        let run = ran(&args, &folder);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.assert_message("started no .NET program that can be traced");
        assert!(run.text().ends_with("done\n"), "{}", run.text());
        assert!(traces(&folder).is_empty());
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn five_processes_come_to_one_port() {
    peers::each(peers::modern(), |peer| {
        let folder = Folder::new();
        let port = folder.file("port");
        let args = ["collect", "--patience", "120s", "--port", &port, "--all", "-o", "x.nettrace"];
        let child = command(&args)
            .current_dir(folder.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until("the port", || Path::new(&port).exists());
        let mut programs = arriving(peer, &port, 5, &folder);
        for program in &mut programs {
            assert!(program.wait().unwrap().success());
        }
        peers::signal(child.id(), "INT");
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let names = traces(&folder);
        assert_eq!(names.len(), 5, ".NET {}: {}", peer.major, run.stderr);
        for (name, program) in names.iter().zip(&programs) {
            assert_eq!(ran(&["info", name, "--json"], &folder).json()["complete"], true, "{name}");
            let own = format!("x_{}.nettrace", program.id());
            assert!(names.contains(&own), "{own}: {names:?}");
        }
    });
}
