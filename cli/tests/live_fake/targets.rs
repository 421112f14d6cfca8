//! Processes that `nettrace collect` records: by their id, at a port, and started programs with
//! their children.

use super::{Folder, common::command, metrics, ran, shell, signal, start, streaming, wait_until};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};
use std::path::Path;
use std::process::Stdio;

#[cfg(unix)]
#[test]
fn processes_that_come_to_a_port_are_recorded_or_let_go() {
    for (option, files) in [("", 1), ("--all", 2)] {
        let folder = Folder::new();
        let port = folder.path("port");
        let mut args = vec!["collect", "--port", &port, "--patience", "120s", "-o", "x.nettrace"];
        args.extend(Some(option).filter(|option| !option.is_empty()));
        let child = start(command(&args).current_dir(&folder.0));
        wait_until("the port", || Path::new(&port).exists());
        let endpoint = nettrace_ipc::Endpoint::socket(&port);
        let come = |_| {
            let config = FakeConfig { suspended: true, ..streaming(&metrics()) };
            FakeRuntime::connect_to(config, endpoint.clone()).unwrap()
        };
        let fakes: Vec<FakeRuntime> = (0..2).map(come).collect();
        wait_until("both to be resumed", || fakes.iter().all(FakeRuntime::is_resumed));
        signal(&child, "INT");
        let output = child.wait_with_output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{messages}");
        assert!(messages.contains(&format!("DOTNET_DiagnosticPorts={port}")), "{messages}");
        assert_eq!(folder.traces().len(), files, "{messages}");
    }
}

#[cfg(unix)]
#[test]
fn a_second_port_that_still_holds_a_process_is_named() {
    let messages = |value: &str, command_line: &str, awaited: &str| {
        let folder = Folder::new();
        let port = folder.path("port");
        let args = ["collect", "--port", &port, "--patience", "120s", "-o", "x.nettrace"];
        let log = folder.path("log");
        let mut command = command(&args);
        command.current_dir(&folder.0).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(std::fs::File::create(&log).unwrap()).spawn().unwrap();
        wait_until("the port", || Path::new(&port).exists());
        let config = FakeConfig {
            suspended: true,
            environment: vec![format!("DOTNET_DiagnosticPorts={}", value.replace("PORT", &port))],
            command_line: command_line.to_owned(),
            ..streaming(&metrics())
        };
        let endpoint = nettrace_ipc::Endpoint::socket(&port);
        let fake = FakeRuntime::connect_to(config, endpoint).unwrap();
        wait_until("the resume", || fake.is_resumed());
        let read = || std::fs::read_to_string(&log).unwrap();
        wait_until("the message", || read().contains(awaited));
        signal(&child, "INT");
        child.wait().unwrap();
        read()
    };
    // The command line of a runtime that waits has no assembly.
    let held = "another port still holds the process";
    let text = messages("PORT;/other", "/usr/bin/dotnet", held);
    assert!(text.contains("/port and /other"), "{text}");
    for (value, command_line) in [
        ("PORT;/other", "/usr/bin/dotnet /app/fake.dll"),
        ("PORT;/other,nosuspend", "/usr/bin/dotnet"),
    ] {
        let text = messages(value, command_line, "recording");
        assert!(!text.contains(held), "{value} {command_line}: {text}");
    }
}

#[test]
fn a_launched_programs_exit_code_and_terminal_are_passed_on() {
    let folder = Folder::new();
    let words = ["collect", "-o", "x.nettrace", "--"];
    let run = ran(&[&words[..], &shell("echo out&& exit 7")].concat(), &folder);
    assert_eq!((run.code, run.text().trim_end()), (Some(7), "out"));
    run.assert_message("started no .NET program");
    assert!(folder.names().is_empty());
    if cfg!(unix) {
        let run = ran(&[&["collect", "--"], &shell("kill -9 $$")[..]].concat(), &folder);
        assert_eq!(run.code, Some(137));
    }
    let run = ran(&["collect", "--", "./no-such-program"], &folder);
    assert_eq!(run.code, Some(1));
}

/// Acts as a .NET program. Tests below start this test program again, with a variable that makes
/// this function act; without it, the function does nothing.
#[test]
fn acts_as_a_net_program() {
    if std::env::var_os("NETTRACE_ACTS").is_none() {
        return;
    }
    let port = std::env::var("DOTNET_DiagnosticPorts").unwrap();
    let endpoint =
        nettrace_ipc::PortAddress::parse(port.split(',').next().unwrap()).unwrap().endpoint();
    // A port tells processes apart by their cookies.
    let pid = std::process::id();
    let cookie =
        nettrace_ipc::Guid::from_bytes((0x5eed_u128 << 64 | u128::from(pid)).to_le_bytes());
    let config = FakeConfig { suspended: true, pid: pid.into(), cookie, ..streaming(&metrics()) };
    let fake = FakeRuntime::connect_to(config, endpoint).unwrap();
    wait_until("the resume", || fake.is_resumed());
    println!("acted");
}

#[cfg(unix)]
#[test]
fn children_of_a_started_program_are_let_go_or_recorded() {
    let program = std::env::current_exe().unwrap();
    let acts =
        format!("'{}' --exact targets::acts_as_a_net_program --nocapture", program.display());
    for (option, files) in [("--force", 1), ("--children", 2)] {
        let folder = Folder::new();
        let line = format!("{acts} & {acts}; wait; exit 5");
        let options = ["--patience", "120s", option, "-o", "x.nettrace", "--", "sh", "-c", &line];
        let output = command(&[&["collect"], &options[..]].concat())
            .current_dir(&folder.0)
            .env("NETTRACE_ACTS", "1")
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{messages}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out.matches("acted").count(), 2, "{messages}");
        assert_eq!(folder.traces().len(), files, "{messages}");
        // A message names the process that is not recorded.
        assert_eq!(messages.contains("goes on unrecorded; --children"), files == 1, "{messages}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_reaches_the_program_also_when_its_trace_is_whole() {
    let program = std::env::current_exe().unwrap();
    let acts =
        format!("'{}' --exact targets::acts_as_a_net_program --nocapture", program.display());
    let folder = Folder::new();
    let line = format!("{acts}; exec sleep 600");
    let options = ["--patience", "120s", "-o", "x.nettrace", "--", "sh", "-c", &line];
    let mut child = command(&[&["collect"], &options[..]].concat())
        .current_dir(&folder.0)
        .env("NETTRACE_ACTS", "1")
        .stdin(Stdio::null())
        .stderr(std::fs::File::create(folder.0.join("messages")).unwrap())
        .spawn()
        .unwrap();
    let messages = || std::fs::read_to_string(folder.0.join("messages")).unwrap();
    wait_until("the whole trace", || messages().contains("0 lost"));
    super::signal(&child, "TERM");
    wait_until("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(143), "{}", messages());
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_is_found_by_its_id() {
    let folder = Folder::new();
    let socket = super::ps::own_socket(&folder);
    let fake = FakeRuntime::start_at(streaming(&metrics()), socket).unwrap();
    let pid = std::process::id();
    let pid = pid.to_string();
    let output = command(&[
        "collect",
        "-p",
        &pid,
        "--patience",
        "120s",
        "--duration",
        "200ms",
        "-o",
        "x.nettrace",
    ])
    .current_dir(&folder.0)
    .env("TMPDIR", &folder.0)
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == metrics());
    assert_eq!(fake.stops().len(), 1);
}
