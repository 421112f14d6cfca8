//! `nettrace top` on the fake runtime.

use super::common::Json;
use super::common::command;
use super::{Folder, address, ids, lines_of, on, sampled, signal, start};
use nettrace_ipc::fake::FakeRuntime;

#[test]
fn one_look_for_scripts_has_all_lists_and_names_by_one_rundown() {
    let folder = Folder::new();
    let fake = FakeRuntime::start(sampled()).unwrap();
    let run =
        on(&fake, &folder, &["top", "--json", "--window", "60s", "--duration", "1s", "-N", "50"]);
    assert_eq!((run.code, &*run.stderr), (Some(0), ""));
    let document = run.json();
    let rows = |list: &str| document[list].list();
    assert!(document["header"]["samples"].int() > 0, "{document:#}");
    let has = |list: &str, key: &str, name: &str| rows(list).iter().any(|row| row[key] == name);
    assert!(has("methods", "name", "workload!Workload.Program.Main(string[])"), "{document:#}");
    for (list, key) in [("exceptions", "type"), ("allocations", "type"), ("waits", "place")] {
        assert!(rows(list).iter().all(|row| row[key].is_string()), "{list}");
    }
    assert_eq!(document["lost_events"], 0);
    // Sessions for samples and events, for names, and for the thread pool.
    let started: Vec<_> = ids(&fake).into_iter().filter(|(set, id)| *set == 2 && *id > 1).collect();
    assert_eq!(started.len(), 3, "{started:?}");
    assert_eq!((fake.session_count(), fake.stops().len()), (0, 3));
}

#[cfg(unix)]
#[test]
fn where_there_is_no_terminal_each_look_is_a_block_of_lines() {
    for view in ["methods", "threads", "allocations", "exceptions", "contention", "waits", "http"] {
        let fake = FakeRuntime::start(sampled()).unwrap();
        let port = address(&fake);
        let words = ["top", "--window", "1s", "--refresh-interval", "100ms", "--port", &port];
        let mut child = start(&mut command(&[&words[..], &["--view", view]].concat()));
        let lines = lines_of(&mut child);
        let mut looks = 0;
        while looks < 2 {
            let (_, line) = lines.recv().unwrap();
            assert!(!line.contains('\u{1b}'), "{view}: {line}");
            looks += u32::from(line.contains("watching: "));
        }
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{view}");
        assert_eq!(fake.session_count(), 0);
    }
}
