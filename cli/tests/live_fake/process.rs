//! `nettrace process` against the fake runtime, and faults of processes.

use super::{Folder, ids, on, patiently};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_ipc::{CommandId, HResult};

#[test]
fn each_request_of_process_is_sent_and_answered() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("hook.dll"), "MZ BSJB StartupHook\0Initialize\0").unwrap();
    let guid = "cf0d821e-299b-5307-a3d8-b283c03916dd";
    for (words, id) in [
        (&["info"][..], CommandId::PROCESS_INFO_3),
        (&["env"], CommandId::PROCESS_ENVIRONMENT),
        (&["env", "PATH"], CommandId::PROCESS_ENVIRONMENT),
        (&["setenv", "A=b"], CommandId::SET_ENVIRONMENT_VARIABLE),
        (&["setenv", "--unset", "LANG"], CommandId::SET_ENVIRONMENT_VARIABLE),
        (&["resume"], CommandId::RESUME_RUNTIME),
        (&["perfmap"], CommandId::ENABLE_PERF_MAP),
        (&["perfmap", "off"], CommandId::DISABLE_PERF_MAP),
        (&["startup-hook", "hook.dll"], CommandId::APPLY_STARTUP_HOOK),
        (&["dump", "-o", "d"], CommandId::GENERATE_CORE_DUMP_3),
        (&["attach-profiler", guid, "/p.so"], CommandId::ATTACH_PROFILER),
        (&["startup-profiler", guid, "/p.so"], CommandId::STARTUP_PROFILER),
        (&["send", "--unsafe-raw", "04", "00"], CommandId::PROCESS_INFO),
    ] {
        let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
        for json in [false, true] {
            let mut args = vec!["process", words[0]];
            args.extend(Some("--json").filter(|_| json));
            args.extend(&words[1..]);
            // Unsetting twice is refused, as by real runtimes.
            if json && words.contains(&"--unset") {
                assert_eq!(on(&fake, &folder, &args).code, Some(1));
                continue;
            }
            let run = on(&fake, &folder, &args);
            assert_eq!(run.code, Some(0), "{args:?}: {}", run.stderr);
            if json {
                assert_eq!(run.json()["schema"], 1, "{args:?}");
                assert!(run.json()["pid"].is_u64(), "{args:?}");
            } else {
                assert!(!run.stdout.is_empty(), "{args:?}");
            }
        }
        assert!(ids(&fake).contains(&(id.set, id.id)), "{words:?}: {:?}", ids(&fake));
        assert_eq!(fake.death(), None, "{words:?}");
    }
}

/// Returns the paths in the requests for dumps.
fn dump_paths(fake: &FakeRuntime) -> Vec<String> {
    let is_dump = |request: &Vec<u8>| request[16] == 1;
    let path = |request: Vec<u8>| {
        let units = u32::from_le_bytes(request[20..24].try_into().unwrap()) as usize;
        let units = request[24..24 + 2 * (units - 1)].chunks(2);
        let units: Vec<u16> =
            units.map(|unit| u16::from_le_bytes(unit.try_into().unwrap())).collect();
        String::from_utf16(&units).unwrap()
    };
    fake.requests().into_iter().filter(is_dump).map(path).collect()
}

#[cfg(unix)]
#[test]
fn the_name_of_a_dump_is_taken_as_it_is_and_nothing_that_is_there_is_written_over() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    // Runtimes replace `%p` by the process id, and other letters after `%` likewise.
    let hostile = "d %p %s%%\u{202e}\u{9b}\n'\".dmp";
    let run = on(&fake, &folder, &["process", "dump", "-o", hostile]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.text().lines().count(), 1, "{}", run.text());
    assert!(!run.text().contains(['\u{202e}', '\u{9b}']), "{}", run.text());
    let sent = dump_paths(&fake).pop().unwrap();
    assert!(sent.ends_with(&hostile.replace('%', "%%")), "{sent}");
    // Existing paths: files, a dangling link, a folder, and the file of a crash report.
    let there = |name: &str| folder.0.join(name);
    std::fs::write(there("taken"), "old").unwrap();
    std::fs::write(there("%p"), "old").unwrap();
    std::fs::write(there("new.crashreport.json"), "old").unwrap();
    std::fs::create_dir(there("folder")).unwrap();
    std::os::unix::fs::symlink(there("nowhere"), there("link")).unwrap();
    let before = dump_paths(&fake).len();
    for words in [
        &["taken"][..],
        &["%p"],
        &["folder"],
        &["folder", "--force"],
        &["link"],
        &["link", "--force"],
        &["/dev/null", "--force"],
        &["new", "--crash-report"],
    ] {
        let run = on(&fake, &folder, &[&["process", "dump", "-o"], words].concat());
        assert_eq!(run.code, Some(1), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains("already exists"), "{words:?}: {}", run.stderr);
        let forced = run.stderr.contains("use --force to overwrite");
        assert!(forced || words != ["taken"], "{}", run.stderr);
    }
    assert_eq!(dump_paths(&fake).len(), before, "nothing of it was sent");
    for words in [&["taken", "--force"][..], &["new"]] {
        let run = on(&fake, &folder, &[&["process", "dump", "-o"], words].concat());
        assert_eq!(run.code, Some(0), "{words:?}: {}", run.stderr);
    }
    assert_eq!(fake.death(), None);
}

#[test]
fn requests_that_would_harm_are_not_sent() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    let run = on(&fake, &folder, &["process", "startup-hook", "missing.dll"]);
    assert_eq!(run.code, Some(2));
    let run = on(&fake, &folder, &["process", "env", "NO_SUCH_NAME"]);
    assert_eq!(run.code, Some(1));
    assert!(!ids(&fake).contains(&(4, 7)));
    let config = FakeConfig {
        suspended: true,
        command_line: "/app/fake".to_owned(),
        environment: vec!["DOTNET_DefaultDiagnosticPortSuspend=1".to_owned()],
        ..FakeConfig::new(8, "8.0.1")
    };
    let fake = FakeRuntime::start(config).unwrap();
    let run = on(&fake, &folder, &["process", "perfmap"]);
    assert_eq!(run.code, Some(1));
    run.assert_message("resume it first");
    assert_eq!(fake.death(), None);
}

#[test]
fn every_fault_of_a_process_is_reported_in_time() {
    let kinds = [
        FaultKind::Silence,
        FaultKind::HalfReply,
        FaultKind::HalfReplyThenClose,
        FaultKind::Uninitialised,
        FaultKind::WrongMagic,
        FaultKind::WrongSet,
        FaultKind::SizeTooSmall,
        FaultKind::SizeTooLarge,
        FaultKind::HugeCounts,
        FaultKind::EarlyClose,
        FaultKind::CloseUnread,
        FaultKind::Refuse(HResult::FAIL),
        FaultKind::RefuseLeftOpen(HResult::FAIL),
    ];
    for kind in kinds {
        for words in
            [&["process", "info"][..], &["process", "env"], &["collect", "-o", "x"], &["watch"]]
        {
            // Any number can be a session's id, so that this fault starts sessions.
            if kind == FaultKind::HugeCounts && words[0] != "process" {
                continue;
            }
            let folder = Folder::new();
            let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
            fake.set_fault(Some(Fault::always(kind.clone())));
            let run = patiently(&fake, &folder, words, "500ms");
            assert_eq!(run.code, Some(1), "{kind:?} {words:?}: {}", run.stderr);
            assert!(run.stderr.contains("nettrace: error: "), "{kind:?} {words:?}");
            assert!(folder.names().is_empty());
        }
    }
}
