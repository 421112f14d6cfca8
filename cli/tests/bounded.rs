//! Small streams whose output is huge: it is written as it is made, within half a gigabyte of address space.
#![cfg(target_os = "linux")]

use crate::common;

use common::file;
use nettrace_testdata::synth::{
    self, Blob, Definition, EventBlock, Field, FieldType, Label, LabelListBlock, MetadataBlock, MetadataRow,
    StackBlock, Stream, ThreadBlock, ThreadRow, Trace, Version,
};
use std::fs::File;
use std::process::{Command, Stdio};

/// Bytes that the command writes within 512 MiB of address space, and their checksum.
fn written(args: &[&str], input: Option<&str>) -> (usize, String) {
    // `cksum` has the bytes through its hands faster than a test does.
    let limited = r#"ulimit -v 524288; { "$0" "$@"; echo "exit $?" >&2; } | cksum"#;
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_nettrace")]).args(args).current_dir(common::top());
    let stdin = input.map_or(Stdio::null(), |path| File::open(path).unwrap().into());
    let output = command.stdin(stdin).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("exit 0\n"), "{args:?}: {said}");
    let sum = String::from_utf8(output.stdout).unwrap();
    let (sum, bytes) = sum.trim().split_once(' ').unwrap();
    (bytes.parse().unwrap(), sum.to_owned())
}

/// One stack of 8,000 frames, and events that have it.
fn deep_stacks(events: u32) -> Vec<u8> {
    let mut stream = synth::tiny_v4();
    // The end mark.
    stream.bytes.pop();
    let frames: Vec<u64> = (0..8000).map(|frame| 0x7f00_0000_1000 + frame * 0x1000).collect();
    stream.stack_block(&StackBlock::new(1, 8, &[frames]));
    for block in 0..events / 100 {
        let rows = (1..=100).map(|row| {
            let number = block * 100 + row;
            let ticks = 1_000_000 + u64::from(number);
            Blob {
                metadata_id: 1,
                sequence_number: number,
                thread_id: 1,
                stack_id: 1,
                ticks,
                ..Blob::default()
            }
        });
        stream.event_block(&EventBlock::new(rows));
    }
    stream.end();
    stream.bytes
}

#[test]
fn stacks_that_become_much_are_written_within_bounds_however_they_are_read() {
    let path = file("deep.nettrace", &deep_stacks(2400));
    // Each a few seconds.
    let ways: [(&str, &[&[&str]]); 2] = [
        ("ndjson", &[&["--threads", "2"], &["--threads", "4"], &["--no-mmap"]]),
        ("csv", &[&["--threads", "2"]]),
    ];
    for (format, ways) in ways {
        let events = ["events", "--format", format, "--stacks"];
        let one = written(&[&events[..], &["--threads", "1", &path]].concat(), None);
        assert!(one.0 > 2400 * 8000 * 10, "{format}: {} bytes", one.0);
        for more in ways {
            let several = written(&[&events[..], *more, &[&path]].concat(), None);
            assert_eq!(several, one, "{format} {more:?}");
        }
        let piped = written(&[&events[..], &["-"]].concat(), Some(&path));
        assert_eq!(piped, one, "{format} from standard input");
    }
}

#[test]
fn names_of_half_a_million_characters_and_arrays_of_nothing_are_cut_in_rows_and_that_is_said() {
    let Some(shared) = nettrace_testdata::corpus::shared_folder() else { return };
    for (name, said, most) in [
        ("oom-ndjson-1MB-long-provider-name", "more characters)", 60 << 20),
        ("oom-ndjson-90KB-empty-objects", "{\"empty_elements\":65535}", 10 << 20),
    ] {
        let packed = std::fs::read(shared.join(format!("hostile/{name}.nettrace.gz")));
        let Ok(packed) = packed else {
            eprintln!("SKIPPED: there is no {name}");
            continue;
        };
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed), &mut bytes).unwrap();
        let path = file(&format!("{name}.nettrace"), &bytes);
        let one = written(&["events", "--format", "ndjson", "--threads", "1", &path], None);
        assert!(one.0 < most, "{name}: {} bytes", one.0);
        assert_eq!(written(&["events", "--format", "ndjson", "--threads", "4", &path], None), one, "{name}");
        let first = common::nettrace(&["events", "--format", "ndjson", "-n", "1", &path]);
        assert!(first.text().contains(said), "{name}: {:.200}", first.text());
    }
}

/// Samples of one thread each. Every stack has 2,000 frames; `are_shared`: all are the same one, else each has an
/// outermost frame of its own.
fn samples(threads: u32, are_shared: bool) -> Vec<u8> {
    let mut stream = Stream::new(Version::V5);
    stream.trace(&Trace::default());
    let sample = Definition {
        metadata_id: 1,
        provider: "Microsoft-DotNETCore-SampleProfiler".into(),
        event_id: 0,
        fields: vec![Field::new("Type", FieldType::UInt32)],
        ..Definition::default()
    };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, sample.encode())]));
    let stack = |last: u64| -> Vec<u64> {
        (0..2000u64)
            .map(|frame| 0x7f00_0000_1000 + frame * 0x1000)
            .chain([0x5000_0000_0000 + last * 0x1000])
            .collect()
    };
    let stacks = if are_shared { 1 } else { threads };
    for number in 0..stacks {
        stream.stack_block(&StackBlock::new(number + 1, 8, &[stack(u64::from(number))]));
    }
    for thread in 0..threads {
        let row = |ticks| Blob {
            metadata_id: 1,
            sequence_number: ticks,
            thread_id: u64::from(thread) + 1,
            capture_thread_id: u64::from(thread) + 1,
            stack_id: if are_shared { 1 } else { thread + 1 },
            ticks: 1_000_000 + u64::from(ticks) * 1000,
            is_sorted: true,
            // It ran managed code.
            payload: 2u32.to_le_bytes().to_vec(),
            ..Blob::default()
        };
        stream.event_block(&EventBlock::new([row(1), row(2)]));
    }
    stream.end();
    stream.bytes
}

#[test]
fn trees_of_calls_have_a_budget_and_what_is_beyond_it_is_counted_and_shown_as_deeper() {
    let shared = file("shared-deep.nettrace", &samples(400, true));
    let own = file("own-deep.nettrace", &samples(300, false));
    let within = |args: &[&str]| {
        let limited = "ulimit -v 524288; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_nettrace")]).args(args).current_dir(common::top());
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for format in ["cpuprofile", "firefox"] {
        let profile = within(&["convert", "--format", format, "-o", "-", &shared]);
        assert!(profile.contains("\"(deeper)\""), "{format}");
        serde_json::from_str::<serde_json::Value>(&profile).unwrap();
    }
    let graph = within(&["convert", "--format", "svg", "--by-thread", "-o", "-", &shared]);
    assert!(graph.contains("<title>(deeper) "));
    let tree = within(&["report", "tree", "--min", "0", "--json", &own]);
    let tree: serde_json::Value = serde_json::from_str(&tree).unwrap();
    let (deeper, all) = (tree["deeper_samples"].as_u64().unwrap(), tree["samples"].as_u64().unwrap());
    assert!(0 < deeper && deeper <= all && all == 600, "{deeper} of {all}");
    let nodes = tree["nodes"].as_array().unwrap();
    let of_roots: u64 = nodes
        .iter()
        .filter(|node| node["depth"] == 0)
        .map(|node| node["total_samples"].as_u64().unwrap())
        .sum();
    let ends: u64 = nodes.iter().map(|node| node["self_samples"].as_u64().unwrap()).sum();
    assert_eq!((of_roots, ends), (all, all), "nothing is missing from the sums");
    let is_deeper = |node: &&serde_json::Value| node["name"] == "(deeper)";
    let said: u64 = nodes.iter().filter(is_deeper).map(|node| node["self_samples"].as_u64().unwrap()).sum();
    assert_eq!(said, deeper);
    assert!(nodes.len() <= (1 << 18) + (1 << 15), "{}", nodes.len());
    // Of many threads, only what is shown is kept.
    let threads = within(&["report", "topN", "--by-thread", "--json", &shared]);
    let threads: serde_json::Value = serde_json::from_str(&threads).unwrap();
    assert_eq!(threads["threads"].as_array().unwrap().len(), 400);
}

/// A stream of V6 whose events have one list of labels: 64 texts of 5,000 characters.
fn long_labels(events: u32) -> Vec<u8> {
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default());
    let row = MetadataRow {
        metadata_id: 1,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        ..MetadataRow::default()
    };
    stream.metadata_rows(&MetadataBlock::new(vec![row]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(1, 1, 1)]));
    let label = |number: u32| Label::Text(format!("key-{number}"), "v".repeat(5000));
    stream.label_list_block(&LabelListBlock::new(1, vec![(0..64).map(label).collect()]));
    for block in 0..events / 100 {
        let rows = (1..=100).map(|row| Blob {
            metadata_id: 1,
            sequence_number: block * 100 + row,
            thread_id: 1,
            capture_thread_id: 1,
            label_list_id: 1,
            ticks: 1_000_000 + u64::from(block * 100 + row),
            ..Blob::default()
        });
        stream.event_block(&EventBlock::new(rows));
    }
    stream.end();
    stream.bytes
}

#[test]
fn a_long_list_of_labels_is_written_within_bounds_however_it_is_read() {
    let path = file("labels.nettrace", &long_labels(300));
    for format in ["ndjson", "csv"] {
        let events = ["events", "--format", format];
        let one = written(&[&events[..], &["--threads", "1", &path]].concat(), None);
        assert!(one.0 > 300 * 64 * 4096, "{format}: {} bytes", one.0);
        for more in [&["--threads", "4"][..], &["--no-mmap"]] {
            assert_eq!(written(&[&events[..], more, &[&path]].concat(), None), one, "{format} {more:?}");
        }
        assert_eq!(written(&[&events[..], &["-"]].concat(), Some(&path)), one, "{format}");
    }
}

/// An event of each of so many threads.
fn many_threads(threads: u64) -> Vec<u8> {
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let definition =
        Definition { metadata_id: 1, provider: "Demo".into(), event_id: 7, ..Definition::default() };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, definition.encode())]));
    for block in 0..threads / 1000 {
        let rows = (0..1000).map(|row| Blob {
            metadata_id: 1,
            sequence_number: u32::try_from(block * 1000 + row + 1).unwrap(),
            thread_id: block * 1000 + row + 1,
            capture_thread_id: 1,
            ticks: 1_000_000 + block,
            ..Blob::default()
        });
        stream.event_block(&EventBlock::new(rows));
    }
    stream.end();
    stream.bytes
}

#[test]
fn info_counts_very_many_threads_as_at_least_so_many_in_little_memory() {
    let few = file("few-threads.nettrace", &many_threads(60_000));
    let info = common::nettrace(&["info", "--json", &few]).json();
    assert_eq!((&info["threads"], info.get("threads_are_at_least")), (&60_000.into(), None));
    let path = file("many-threads.nettrace", &many_threads(1_000_000));
    for way in [&["--threads", "1"][..], &["--threads", "3"], &["--no-mmap"]] {
        let info = common::nettrace(&[&["info", "--json"], way, &[&path]].concat()).json();
        let threads = info["threads"].as_u64().unwrap();
        assert!((920_000..=1_000_000).contains(&threads), "{threads}");
        assert_eq!(info["threads_are_at_least"], true, "{way:?}");
    }
    let text = common::nettrace(&["info", &path]);
    let line = text.text().lines().find(|line| line.starts_with("  threads ")).unwrap().to_owned();
    assert!(line.contains("at least 9"), "{line}");
    // Memory that is written to; a set of them all would take more.
    let limited = "ulimit -d 24576; exec \"$0\" info --threads 1 \"$1\"";
    let output =
        Command::new("sh").args(["-c", limited, env!("CARGO_BIN_EXE_nettrace"), &path]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
