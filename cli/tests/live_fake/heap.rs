//! `nettrace heap -p` against the fake runtime.

use super::{
    Folder, address, common::command, on, ran, signal, start, trace, up_to_the_end_mark, wait_until,
};
use nettrace_ipc::CommandId;
use nettrace_ipc::fake::{FakeRuntime, Fault, FaultKind};

fn heap() -> Vec<u8> {
    trace("net3.1-linux-x64/heap.nettrace.gz")
}

#[test]
fn a_dump_of_a_process_is_that_of_its_trace_and_the_session_is_stopped_after_it() {
    let (folder, bytes) = (Folder::new(), heap());
    let fake = FakeRuntime::start(up_to_the_end_mark(&bytes)).unwrap();
    let run = on(&fake, &folder, &["heap", "--json", "--save", "kept.nettrace"]);
    assert_eq!((run.code, fake.death()), (Some(0), None), "{}", run.stderr);
    // The command stops the session itself. An earlier session makes the runtime forget types.
    assert_eq!((fake.stops().len(), fake.session_count()), (2, 0));
    assert!(std::fs::read(folder.0.join("kept.nettrace")).unwrap() == bytes);
    let kept = ran(&["heap", "kept.nettrace", "--json"], &folder);
    let [live, kept] = [run.json(), kept.json()];
    for key in ["dumps", "objects", "bytes", "types", "roots", "pause_ns", "missing"] {
        assert_eq!(live[key], kept[key], "{key}");
    }
    assert_eq!(
        (live["objects"].as_u64(), live["pause_ns"].as_u64()),
        (Some(4602), Some(2_833_376))
    );
}

#[test]
fn the_runtime_is_asked_for_what_dotnet_gcdump_asks_for() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&heap())).unwrap();
    assert_eq!(on(&fake, &folder, &["heap", "-n", "3"]).code, Some(0));
    let requests = fake.requests();
    let starts: Vec<&Vec<u8>> =
        requests.iter().filter(|request| request[16] == 2 && request[17] != 1).collect();
    assert_eq!(starts.len(), 2);
    let has =
        |request: &[u8], bytes: &[u8]| request.windows(bytes.len()).any(|window| window == bytes);
    assert_eq!(&starts[1][20..24], 1024u32.to_le_bytes().as_slice(), "megabytes");
    assert!(
        has(starts[1], &0x198_0001u32.to_le_bytes())
            && !has(starts[0], &0x198_0001u32.to_le_bytes())
    );
}

#[test]
fn a_process_that_dies_in_its_dump_leaves_what_it_sent() {
    let (folder, bytes) = (Folder::new(), heap());
    let fake = FakeRuntime::start(up_to_the_end_mark(&bytes)).unwrap();
    // The process dies after the first blocks of objects.
    fake.set_fault(Some(Fault::on(CommandId::COLLECT_TRACING_3, FaultKind::DieInStream(300_000))));
    let run = on(&fake, &folder, &["heap", "--json"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    run.assert_message("is incomplete: its end");
    let report = run.json();
    assert_eq!(
        (&report["missing"]["is_cut_off"], &report["dumps"][0]["complete"]),
        (&true.into(), &false.into())
    );
    assert!(report["objects"].as_u64() > Some(1_000), "{}", report["objects"]);
}

#[cfg(unix)]
#[test]
fn a_process_in_which_no_dump_begins_is_asked_again() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&super::metrics())).unwrap();
    let port = address(&fake);
    let mut command = command(&["heap", "--port", &port]);
    let child = start(command.env("NETTRACE_DELAYS", "heap-dump=50").current_dir(&folder.0));
    // The first stop is of the session that makes the runtime forget types.
    wait_until("a session that asks again", || fake.stops().len() >= 2);
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("no heap dump has begun; it is asked for again"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_dump_and_no_session_is_left() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&super::metrics())).unwrap();
    let port = address(&fake);
    let child = start(command(&["heap", "--port", &port]).current_dir(&folder.0));
    wait_until("the second session", || fake.stops().len() == 1 && fake.session_count() == 1);
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("made no heap dump"), "{stderr}");
    assert_eq!((fake.stops().len(), fake.session_count()), (2, 0));
}

#[test]
fn a_file_that_is_there_is_not_replaced_and_then_nobody_is_asked() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("kept.nettrace"), "x").unwrap();
    let fake = FakeRuntime::start(up_to_the_end_mark(&heap())).unwrap();
    let run = on(&fake, &folder, &["heap", "--save", "kept.nettrace"]);
    assert!(run.code == Some(1) && run.stderr.contains("--force"), "{}", run.stderr);
    assert!(fake.requests().is_empty());
    assert_eq!(on(&fake, &folder, &["heap", "--save", "kept.nettrace", "--force"]).code, Some(0));
}

#[test]
fn a_number_stands_for_rows_and_a_word_for_a_process() {
    let folder = Folder::new();
    let none = ran(&["heap"], &folder);
    assert!(none.code == Some(2) && none.stderr.contains("-p PID"), "{}", none.stderr);
    let word = ran(&["heap", "x.nettrace", "-n", "shop"], &folder);
    assert!(
        word.code == Some(2) && word.stderr.contains("give a number of rows"),
        "{}",
        word.stderr
    );
    let name = ran(&["heap", "-n", "nobody-has-this-name"], &folder);
    assert!(name.code == Some(1) && name.stderr.contains("of this name"), "{}", name.stderr);
}

#[cfg(unix)]
#[test]
fn a_dump_that_cannot_be_saved_is_shown_and_the_command_fails() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(up_to_the_end_mark(&heap())).unwrap();
    let run = on(&fake, &folder, &["heap", "--json", "--save", "/dev/full"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    run.assert_message("/dev/full: cannot be written: no space left");
    assert_eq!(run.json()["objects"], 4602);
    assert_eq!((fake.stops().len(), fake.session_count()), (2, 0));
}
