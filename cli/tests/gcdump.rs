//! Files of the format `.gcdump`: what commands make of them, whole and broken.

use crate::common::{Json, file, nettrace};

const TRACE: &str = "testdata/known/HeapZoo.nettrace.gz";

/// Converts the known heap. Returns the path of the file.
fn converted(name: &str) -> String {
    let path = file(name, b"");
    let ran = nettrace(&["convert", TRACE, "--format", "gcdump", "-o", &path, "--force"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    path
}

#[test]
fn a_converted_heap_is_what_the_trace_shows_whatever_its_name() {
    let path = converted("zoo.bin");
    let ran = nettrace(&["heap", &path, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let (own, trace) = (ran.json(), nettrace(&["heap", TRACE, "--json"]).json());
    for part in ["objects", "edges", "bytes", "types", "modules", "roots", "statics", "holders"] {
        assert_eq!(own[part], trace[part], "{part}");
    }
    let text = nettrace(&["heap", &path]).text().to_owned();
    assert!(text.contains("a .gcdump by nettrace: "), "{text}");
    let difference = nettrace(&["heap", "diff", TRACE, &path, "--json"]).json();
    assert_eq!(difference["types"].list().len(), 0, "{difference:#}");
}

#[test]
fn commands_that_read_traces_say_what_it_is_and_who_reads_it() {
    let path = converted("zoo.gcdump");
    for command in ["info", "events", "stats", "check"] {
        let ran = nettrace(&[command, &path]);
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("it is a .gcdump"), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("nettrace heap, "), "{command}: {}", ran.stderr);
    }
}

#[test]
fn broken_ones_end_in_an_error_with_the_place() {
    let whole = std::fs::read(converted("zoo-broken.gcdump")).unwrap();
    // Counts of types, nodes and bytes that the file cannot hold, and cuts.
    let mut counted = whole.clone();
    counted[0x60..0x64].copy_from_slice(&i32::MAX.to_le_bytes());
    for (name, bytes) in [
        ("counted.gcdump", &counted[..]),
        ("cut-1.gcdump", &whole[..100]),
        ("cut-2.gcdump", &whole[..whole.len() / 2]),
    ] {
        let path = file(name, bytes);
        for words in [&["heap", &path][..], &["report", "html", "-o", "-", &path]] {
            let ran = nettrace(words);
            assert_eq!(ran.code, Some(1), "{name}: {}", ran.stderr);
            assert!(ran.stderr.contains("offset 0x"), "{name}: {}", ran.stderr);
        }
    }
    // Without its table, all that is needed is there.
    let ran = nettrace(&["heap", &file("endless.gcdump", &whole[..whole.len() - 16])]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.assert_message("its end is missing, behind all that is needed");
}

#[cfg(unix)]
mod with_runtime {
    use super::*;
    use nettrace_testdata::peers;

    #[test]
    #[ignore = "needs NETTRACE_PEERS"]
    fn dotnet_gcdump_opens_what_is_written_and_sees_the_same_bytes_and_counts() {
        let path = converted("zoo-peer.gcdump");
        let mut tool = peers::tool("../moretools/dotnet-gcdump/dotnet-gcdump.dll");
        let output = tool.args(["report", &path]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).replace(',', "");
        assert!(output.status.success(), "{text}");
        let number = |line: &str| line.split_whitespace().next().unwrap().parse::<u64>().unwrap();
        let own = nettrace(&["heap", &path, "--json"]).json();
        assert_eq!(Some(number(text.lines().next().unwrap())), own["bytes"].as_u64());
        for row in own["types"].list() {
            let name = row["name"].text();
            if !name.starts_with("Zoo.") || name.contains(['<', '[']) {
                continue;
            }
            let line = text.lines().find(|line| line.split_whitespace().nth(2) == Some(name));
            let count = line.map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap());
            assert_eq!(count, row["count"].as_u64(), "{name}: {text}");
        }
    }
}
