//! Messages of live commands, texts of processes in them, and dotnet-trace's forms of options.

use super::common::{event_type, session_of};
use super::{Folder, address, ids, metrics, on, ran, shell, streaming};
use nettrace_ipc::fake::{FakeConfig, FakeRuntime, Fault, FaultKind};
use nettrace_ipc::{CommandId, HResult};
use nettrace_testdata::synth::{Field, FieldType, Value, Version};
use std::io::Read;

/// Text that would move the cursor, change the title, end lines and reverse text on a terminal.
const HOSTILE: &str = "a\x1b[31mb\x1b]0;title\x07c\r\nd\u{9b}2Je\u{202e}f";

fn assert_harmless(what: &str, text: &str) {
    let is_bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(is_bad), "{what}: {text:?}");
}

#[test]
fn a_terminal_sees_no_control_characters_of_a_process() {
    let folder = Folder::new();
    let fields = vec![Field::new(HOSTILE, FieldType::Text)];
    let event_type = event_type(HOSTILE, 1, HOSTILE, fields);
    let session = session_of(Version::V4, event_type, [vec![Value::Text(HOSTILE.into())]]);
    let config = FakeConfig {
        product_version: format!("10.0.1{HOSTILE}"),
        command_line: HOSTILE.to_owned(),
        entry_assembly: HOSTILE.to_owned(),
        environment: vec![format!("A={HOSTILE}"), format!("{HOSTILE}=b")],
        ..super::up_to_the_end_mark(&session.record().stream.into_bytes())
    };
    let fake = FakeRuntime::start(config).unwrap();
    for words in [
        &["process", "info"][..],
        &["process", "env"],
        &["watch", "--providers", "X", "--limit", "1"],
        &["collect", "--duration", "300ms", "-o", "x.nettrace"],
        &["process", "dump", "-o", "x"],
    ] {
        let run = on(&fake, &folder, words);
        assert!(!run.stdout.is_empty() || !run.stderr.is_empty());
        assert_harmless(&format!("{words:?}"), run.text());
        assert_harmless(&format!("{words:?}"), &run.stderr);
    }
}

/// Returns the trace with control characters in each occurrence of a UTF-16 text.
fn spoiled(bytes: &[u8], text: &str) -> Vec<u8> {
    let units = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let tail = "\u{1b}\u{9b}\u{202e}\r";
    let (plain, spoilt) = (units(text), units(&[&text[..text.len() - 4], tail].concat()));
    let (mut made, mut at, mut count) = (bytes.to_vec(), 0, 0);
    while let Some(window) = made.get(at..at + plain.len()) {
        if window == plain {
            made[at..at + plain.len()].copy_from_slice(&spoilt);
            count += 1;
        }
        at += 1;
    }
    assert!(count > 0, "{text}");
    made
}

#[test]
fn a_terminal_sees_no_control_characters_of_exceptions_and_tags() {
    let startup = super::trace("net10-linux-x64/startup.nettrace.gz");
    let exceptions = spoiled(&startup, "widget ");
    let tags = spoiled(&metrics(), "gc.heap.generation=gen0");
    for (bytes, words, has) in [
        (&exceptions, &["watch", "--show", "exceptions", "--limit", "50"][..], "wid"),
        (
            &exceptions,
            &["watch", "--show", "exceptions", "--format", "ndjson", "--limit", "50"],
            "wid",
        ),
        (&tags, &["counters", "--duration", "2s"], r"gc.heap.generation"),
        (&tags, &["discover", "--duration", "1s"], ""),
    ] {
        let folder = Folder::new();
        let fake = FakeRuntime::start(streaming(bytes)).unwrap();
        let run = on(&fake, &folder, words);
        assert!(run.text().contains(has), "{words:?}: {} {}", run.text(), run.stderr);
        assert_harmless(&format!("{words:?}"), run.text());
        assert_harmless(&format!("{words:?}"), &run.stderr);
    }
}

/// Configures a fake that streams everything but the byte that ends it.
#[cfg(target_os = "linux")]
#[test]
fn ps_shows_no_control_characters() {
    let folder = Folder::new();
    let config =
        FakeConfig { product_version: format!("10.0.1{HOSTILE}"), ..FakeConfig::default() };
    let _fake = FakeRuntime::start_at(config, super::ps::own_socket(&folder)).unwrap();
    super::wait_until("an answer", || {
        let output = super::common::command(&["ps"]).env("TMPDIR", &folder.0).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_harmless("ps", &text);
        text.contains("10.0.1a")
    });
}

#[test]
fn variables_that_are_there_are_shown_beside_one_that_is_not() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::default()).unwrap();
    let run = on(&fake, &folder, &["process", "env", "LANG", "MISSING"]);
    assert_eq!((run.code, run.text()), (Some(1), "LANG=C.UTF-8\n"));
    run.assert_message("no MISSING");
}

#[test]
fn refusals_of_old_runtimes_name_the_version_that_is_needed() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(FakeConfig::new(3, "3.1.0")).unwrap();
    for (words, major) in [(&["process", "info"][..], 5), (&["process", "env"], 6)] {
        let run = on(&fake, &folder, words);
        assert_eq!(run.code, Some(1));
        run.assert_message(&format!("introduced in .NET {major}"));
    }
}

#[test]
fn dry_run_says_what_older_runtimes_do_instead() {
    let run =
        ran(&["collect", "--dry-run", "-p", "1", "--events", "A=1", "--no-stacks"], &Folder::new());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = run.text();
    assert!(
        text.contains("older      CollectTracing4 (.NET 9): all event ids of A are sent"),
        "{text}"
    );
    assert!(text.contains("stacks are recorded; they cannot be disabled"), "{text}");
}

#[test]
fn formats_and_profiles_are_listed() {
    let folder = Folder::new();
    let listed = ran(&["collect", "--format", "list"], &folder);
    assert_eq!(
        (listed.code, listed.stdout),
        (Some(0), ran(&["convert", "--format", "list"], &folder).stdout)
    );
    let profiles = ran(&["list-profiles"], &folder);
    for name in ["dotnet-common", "gc-verbose", "gc-collect", "database", "web", "cpu-sampling"] {
        assert!(
            profiles.text().contains(&format!("\n{name} ")) || profiles.text().starts_with(name),
            "{name}"
        );
    }
}

#[test]
fn a_trace_is_compressed_if_its_name_says_so_and_devices_need_no_force() {
    let (folder, bytes) = (Folder::new(), metrics());
    let fake = FakeRuntime::start(streaming(&bytes)).unwrap();
    let run = on(&fake, &folder, &["collect", "--duration", "300ms", "-o", "x.nettrace.gz"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let packed = std::fs::read(folder.0.join("x.nettrace.gz")).unwrap();
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == bytes && packed.len() < bytes.len());
    let device = if cfg!(windows) { "NUL" } else { "/dev/null" };
    let run = on(&fake, &folder, &["collect", "--duration", "300ms", "-o", device]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn a_process_that_ignores_the_stop_cannot_fill_the_disk() {
    let folder = Folder::new();
    let config = FakeConfig {
        stream: vec![7; 1 << 20],
        piece_bytes: 1 << 18,
        repeat: true,
        ..FakeConfig::default()
    };
    let fake = FakeRuntime::start(config).unwrap();
    fake.set_fault(Some(Fault::on(CommandId::STOP_TRACING, FaultKind::StopIgnored)));
    let words = ["collect", "--max-size", "1MB", "--buffersize", "1", "-o", "x.nettrace"];
    let run = on(&fake, &folder, &words);
    assert_ne!(run.code, Some(0));
    run.assert_message("although it was asked to stop");
    // 1 MB for the file, 1 MB for buffers, 64 MB for the rundown.
    let names = folder.names();
    let size: u64 =
        names.iter().map(|name| std::fs::metadata(folder.0.join(name)).unwrap().len()).sum();
    assert!(size <= 67 << 20, "{names:?}: {size}");
}

#[test]
fn options_are_taken_as_dotnet_trace_takes_them() {
    for (option, resumes) in
        [("--resume-runtime:false", 0), ("--resume-runtime:True", 1), ("--resume-runtime", 1)]
    {
        let folder = Folder::new();
        let fake =
            FakeRuntime::start(FakeConfig { suspended: true, ..streaming(&metrics()) }).unwrap();
        let run =
            on(&fake, &folder, &["collect", "--duration", "200ms", "-o", "x.nettrace", option]);
        assert_eq!(fake.resume_count(), resumes, "{option}: {}", run.stderr);
    }
    let folder = Folder::new();
    let exit = shell("echo out&& exit 4");
    let shown = ran(&[&["collect", "--show-child-io", "--"], &exit[..]].concat(), &folder);
    assert_eq!((shown.code, shown.text().trim_end()), (Some(4), "out"));
    let hidden = ran(&[&["collect", "--show-child-io:false", "--"], &exit[..]].concat(), &folder);
    assert_eq!((hidden.code, hidden.text()), (Some(4), ""));
    let router = ran(&["collect", "--dsrouter", "android"], &folder);
    assert_eq!(router.code, Some(2));
    router.assert_message("--port tcp://127.0.0.1:9000");
    let fake = FakeRuntime::start(FakeConfig { major: 11, ..streaming(&metrics()) }).unwrap();
    let block = ["collect", "--buffering-mode", "Block", "--duration", "200ms", "-o", "x.nettrace"];
    assert_eq!(on(&fake, &folder, &block).code, Some(0));
    assert!(ids(&fake).contains(&(2, 7)), "{:?}", ids(&fake));
}

#[test]
fn what_is_recorded_stands_at_the_start_with_who_asked_for_it() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(streaming(&metrics())).unwrap();
    let words = ["--providers", "A,B:0x1:5", "--profile", "gc-verbose", "--clrevents", "jit"];
    let run = on(
        &fake,
        &folder,
        &[&["collect", "--duration", "200ms", "-o", "x.nettrace"], &words[..]].concat(),
    );
    let line = |name: &str| {
        run.stderr
            .lines()
            .find(|line| line.contains(name))
            .unwrap_or_else(|| panic!("{}", run.stderr))
    };
    assert!(line(" A ").contains("all keywords; dotnet-trace would ask for 0"), "{}", run.stderr);
    assert!(
        line(" B ").contains("Verbose(5)") && line(" B ").ends_with("--providers"),
        "{}",
        run.stderr
    );
    assert!(
        line("Microsoft-Windows-DotNETRuntime").ends_with("--profile gc-verbose, --clrevents"),
        "{}",
        run.stderr
    );
    // A refused recording prints one line.
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_2, FaultKind::Refuse(HResult::FAIL))));
    let port = address(&fake);
    let run = ran(&["collect", "--quiet", "--port", &port, "-o", "y.nettrace"], &folder);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}
