//! Whom `nettrace collect` records: processes that come to a port, programs that it starts.

use super::{Folder, streaming, common::command, metrics, ran, wait_until};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use std::path::Path;
use std::process::Stdio;

#[test]
fn processes_that_come_to_a_port_are_recorded_or_let_go() {
    for (option, files) in [("", 1), ("--all", 2)] {
        let folder = Folder::new();
        let port = folder.path("port");
        let mut args = vec!["collect", "--port", &port, "--duration", "1s", "-o", "x.nettrace"];
        args.extend(Some(option).filter(|option| !option.is_empty()));
        let child = command(&args).current_dir(&folder.0).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the port", || Path::new(&port).exists());
        let endpoint = nettrace_ipc::Endpoint::socket(&port);
        let come = |_| {
            let config = FakeConfig { suspended: true, ..streaming(&metrics()) };
            FakeRuntime::connect_to(config, endpoint.clone()).unwrap()
        };
        let fakes: Vec<FakeRuntime> = (0..2).map(come).collect();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains(&format!("DOTNET_DiagnosticPorts={port}")), "{said}");
        assert!(fakes.iter().all(FakeRuntime::is_resumed));
        assert_eq!(folder.names().iter().filter(|name| name.ends_with(".nettrace")).count(), files, "{said}");
    }
}

#[test]
fn a_launched_programs_exit_code_and_terminal_are_passed_on() {
    let folder = Folder::new();
    let run = ran(&["collect", "-o", "x.nettrace", "--", "sh", "-c", "echo out; exit 7"], &folder);
    assert_eq!((run.code, run.text()), (Some(7), "out\n"));
    assert!(run.stderr.contains("started no .NET program"), "{}", run.stderr);
    assert!(folder.names().is_empty());
    let run = ran(&["collect", "--", "sh", "-c", "kill -9 $$"], &folder);
    assert_eq!(run.code, Some(137));
    let run = ran(&["collect", "--", "./no-such-program"], &folder);
    assert_eq!(run.code, Some(1));
}
