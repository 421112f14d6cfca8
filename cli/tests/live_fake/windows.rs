//! Processes found by their pipes, files that their user alone may read, and events of the console.

use super::common::command;
use super::{Folder, address, metrics, ran, streaming};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime};

/// Starts a fake that poses as this test's process.
fn own(config: FakeConfig) -> FakeRuntime {
    FakeRuntime::start_at(config, &format!("dotnet-diagnostic-{}", std::process::id())).unwrap()
}

#[test]
fn a_process_is_found_by_its_id_and_called_as_its_runtime_calls_it() {
    let folder = Folder::new();
    let fake = own(streaming(&metrics()));
    let pid = std::process::id().to_string();
    let words = ["collect", "-p", &pid, "--patience", "120s", "--duration", "200ms"];
    let run = ran(&[&words[..], &["-o", "x.nettrace"]].concat(), &folder);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.assert_message(&format!("fake ({pid})"));
    assert!(std::fs::read(folder.0.join("x.nettrace")).unwrap() == metrics());
    assert_eq!(fake.stops().len(), 1);
    let run = ran(&["collect", "-p", "4294967292", "-o", "y.nettrace"], &folder);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.assert_message("there is no .NET process with this id");
}

/// Holds on Windows, which lists pipes, and under Wine, which does not.
#[test]
fn a_list_of_pipes_that_fails_is_no_list_without_processes() {
    let folder = Folder::new();
    for words in [&["ps"][..], &["collect", "-n", "nobody-has-this-name", "-o", "x.nettrace"]] {
        let run = ran(words, &folder);
        let is_listed = !run.stderr.contains("the pipes of this machine cannot be listed: ");
        assert_eq!(run.code == Some(0), is_listed && words[0] == "ps", "{words:?}: {}", run.stderr);
    }
}

#[test]
fn the_null_device_is_written_and_a_folder_and_a_missing_file_are_named() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let port = address(&fake);
    let words =
        ["collect", "--port", &port, "--patience", "120s", "--duration", "200ms", "-o", "NUL"];
    let run = ran(&words, &folder);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    let run = ran(&["info", "."], &folder);
    run.assert_message("is a folder");
    let run = ran(&["info", "nowhere.nettrace"], &folder);
    assert!(
        run.stderr.contains("; check the path") && !run.stderr.contains(".;"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_is_replaced_by_force() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let file = folder.0.join("x.nettrace");
    std::fs::write(&file, "mine").unwrap();
    let port = address(&fake);
    let words =
        ["collect", "--port", &port, "--patience", "120s", "--duration", "200ms", "--force"];
    let run = ran(&[&words[..], &["-o", "x.nettrace"]].concat(), &folder);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(std::fs::read(&file).unwrap() == metrics());
}

#[test]
fn a_started_programs_exit_code_and_children_are_known() {
    let folder = Folder::new();
    let run = ran(&["collect", "-o", "x.nettrace", "--", "cmd", "/C", "exit 7"], &folder);
    assert_eq!(run.code, Some(7), "{}", run.stderr);
    run.assert_message("started no .NET program");
    let program = std::env::current_exe().unwrap().display().to_string();
    let acts = [&program, "--exact", "targets::acts_as_a_net_program", "--nocapture"];
    for (option, files) in [("--force", 1), ("--children", 2)] {
        let folder = Folder::new();
        let file = folder.path("x.nettrace");
        let options = ["collect", "--patience", "120s", option, "-o", &file, "--", "cmd", "/C"];
        let words = [&options[..], &acts, &["&"], &acts, &["&", "exit", "5"]].concat();
        let output = command(&words).env("NETTRACE_ACTS", "1").output();
        let output = output.unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{messages}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out.matches("acted").count(), 2, "{messages}");
        assert_eq!(folder.traces().len(), files, "{messages}");
        assert_eq!(messages.contains("goes on unrecorded; --children"), files == 1, "{messages}");
    }
}

mod with_windows {
    use super::super::common::Json;
    use super::*;

    #[test]
    #[ignore = "needs Windows: Wine lists no pipes"]
    fn ps_and_n_know_processes_by_the_names_that_runtimes_tell() {
        let folder = Folder::new();
        let config = FakeConfig { entry_assembly: "posing".to_owned(), ..streaming(&metrics()) };
        let _fake = own(config);
        let report = ran(&["ps", "--json"], &folder).json();
        let pid = std::process::id();
        let own = report["processes"].list().iter().find(|process| process["pid"] == pid).unwrap();
        assert_eq!(own["name"], "posing");
        let words = ["collect", "-n", "posing", "--patience", "120s", "--duration", "200ms"];
        let run = ran(&[&words[..], &["-o", "x.nettrace"]].concat(), &folder);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    }

    /// Starts a command in a group of its own, and sends it Ctrl-Break once it records.
    #[test]
    #[ignore = "needs Windows: Wine sends no events to a group"]
    fn ctrl_break_ends_a_recording_and_leaves_no_part() {
        use std::os::windows::process::CommandExt;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
        let port = address(&fake);
        let mut collect = command(&["collect", "--port", &port, "-o", "x.nettrace"]);
        collect.current_dir(&folder.0).creation_flags(CREATE_NEW_PROCESS_GROUP);
        let child = super::super::start(&mut collect);
        super::super::wait_until("the session", || fake.session_count() == 1);
        // The PowerShell of every Windows can call the function of the system.
        let script = format!(
            "Add-Type -Name C -Namespace N -MemberDefinition '[DllImport(\"kernel32.dll\")] public \
             static extern bool GenerateConsoleCtrlEvent(uint e, uint g);'; \
             [N.C]::GenerateConsoleCtrlEvent(1, {})",
            child.id()
        );
        let sent = std::process::Command::new("powershell").args(["-Command", &script]).status();
        assert!(sent.unwrap().success());
        let run = super::super::ended(child);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(folder.names(), ["x.nettrace"]);
        assert_eq!(fake.stops().len(), 1);
    }
}
