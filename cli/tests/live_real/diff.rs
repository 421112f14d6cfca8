//! `nettrace diff` on real runs of a program: equal ones, and ones with a planted change.

use super::common::Json;
use super::{finished, launching, ran};
use nettrace_testdata::peers::{self, Folder, Peer};
use serde_json::Value;

/// Sides with their environment. Each has two traces, so that one disturbed run does not decide.
const SIDES: [(&str, [(&str, &str); 1]); 3] = [
    ("old", [("DOTNET_TieredPGO", "1")]),
    ("same", [("DOTNET_TieredPGO", "1")]),
    // A collection for each half megabyte: many more than by default.
    ("small", [("DOTNET_GCgen0size", "0x80000")]),
];

/// Records two traces of each side, in turns, so that other load of the machine affects all sides.
fn record(peer: &Peer, folder: &Folder, sides: &[(&str, [(&str, &str); 1])]) {
    for run in [1, 2] {
        for (side, variables) in sides {
            let name = format!("{side}-{run}.nettrace");
            let timing = ["--patience", "120s", "--duration", "4s"];
            let options = [&["collect"], &timing[..], &["-o", &name, "--force"]].concat();
            let mut command = launching(peer, &options, ("all", 6), folder);
            let recorded = finished(command.envs(*variables).output().unwrap());
            assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
        }
    }
}

fn diff(folder: &Folder, new: &str) -> Value {
    let names = |side: &str| [1, 2].map(|run| format!("{side}-{run}.nettrace"));
    let (old, new) = (names("old"), names(new));
    let words = ["diff", "--old", &old[0], &old[1], "--new", &new[0], &new[1], "--json", "-q"];
    let run = ran(&words, folder);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.json()
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_program_recorded_again_did_not_change_and_a_planted_change_is_the_first_row() {
    let peers = peers::modern().into_iter().filter(|peer| peer.major == 10);
    peers::each(peers.collect(), |peer| {
        let folder = Folder::new();
        record(peer, &folder, &SIDES);
        let mut same = diff(&folder, "same");
        if same["significant"] != 0 {
            // One of a hundred comparisons is wrong (docs/diff.md), so that a second one decides.
            eprintln!("beyond noise once: {:#}", same["rows"][0]);
            record(peer, &folder, &SIDES[..2]);
            same = diff(&folder, "same");
        }
        let rows = same["rows"].list();
        assert!(rows.len() > 100, "{} rows", rows.len());
        assert_eq!(same["significant"], 0, "{:#?}", &rows[..3]);
        let is_start = |row: &&Value| row["subject"] == "startup" && row["name"] == "program";
        let start = rows.iter().find(is_start).expect("they begin with their process");
        assert!(start["old"].as_f64() > Some(1e6) && start["unit"] == "ns", "{start}");
        let small = diff(&folder, "small");
        // More collections also pause for longer, so that either row may be first.
        let (rows, first) = (small["rows"].list(), &small["rows"][0]);
        assert_eq!(first["is_significant"], true, "{first}");
        assert!(["gc_count", "gc_pause"].iter().any(|gc| first["subject"] == *gc), "{first}");
        let is_count = |row: &&Value| row["subject"] == "gc_count" && row["name"] == "";
        let count = rows.iter().find(is_count).expect("there are collections");
        assert!(count["change_percent"].as_f64() > Some(50.0), "{count}");
        assert_eq!(count["is_significant"], true, "{count}");
    });
}
