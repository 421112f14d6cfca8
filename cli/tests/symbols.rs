//! `--symbols FOLDER`: names from files that the traced process had mapped.

use crate::common;

use common::{event_type, file, nettrace};
use nettrace_testdata::small_elf;
use nettrace_testdata::synth::{Session, SessionEvent, SessionThread, Step, Value, Version};
use std::fs;
use std::path::Path;

/// Creates a trace with one sample in a mapped library, without symbols of its own.
fn trace() -> Vec<u8> {
    let named = |provider, event_id, name| event_type(provider, event_id, name, vec![]);
    let mut session = Session::new(Version::V6);
    session.trace.tick_frequency = 1_000_000_000;
    session.types =
        vec![named("Universal.System", 3, "ProcessMapping"), named("Universal.Events", 1, "cpu")];
    session.threads = vec![SessionThread { os_thread_id: 100, process_id: 1, name: None }];
    let number = Value::VarUInt;
    let path = Value::CountedText("/usr/lib/liba.so".to_owned());
    let mapping =
        vec![number(7), number(0x10_0000), number(0x10_1000), number(0x1000), path, number(3)];
    let event = |event_type, stack: &[u64], values| {
        Step::Event(SessionEvent {
            event_type,
            ticks_later: 1,
            stack: stack.to_vec(),
            values,
            ..SessionEvent::default()
        })
    };
    session.steps =
        vec![event(0, &[], mapping), event(1, &[0x10_0011, 0x10_0111], vec![number(1)])];
    session.record().stream.bytes
}

#[test]
fn frames_get_their_names_from_a_file_below_the_folder() {
    let path = file("symbols.nettrace", &trace());
    let folder = Path::new(&path).with_file_name("symbols-folder");
    fs::create_dir_all(folder.join("usr/lib")).unwrap();
    let library =
        small_elf(&[("_ZN1N4workEi", 0x2010, 0x20), ("main", 0x2100, 0x20)], &[1, 2, 3, 4]);
    fs::write(folder.join("usr/lib/liba.so"), library).unwrap();
    let convert = |more: &[&str]| {
        let ran = nettrace(&[&["convert", &path, "--format", "folded", "-o", "-"], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        String::from_utf8(ran.stdout).unwrap()
    };
    // A return address belongs to the call before it.
    assert!(convert(&[]).starts_with("liba.so+0x1110;liba.so+0x1011 "), "{}", convert(&[]));
    let folder = folder.to_string_lossy();
    let named = convert(&["--symbols", &folder]);
    assert!(named.starts_with("liba.so!main;liba.so!N::work(int) "), "{named}");
}
