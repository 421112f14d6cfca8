//! Small streams whose output is huge are read within half a gigabyte of address space.
#![cfg(target_os = "linux")]

use crate::common;
use crate::common::Json;

use common::file;
use nettrace_testdata::synth::{
    self, Blob, Definition, EventBlock, Field, FieldType, Label, LabelListBlock, MetadataBlock,
    MetadataRow, SequencePoint, StackBlock, Stream, ThreadBlock, ThreadRow, Trace, Version,
};
use nettrace_testdata::{cases, crc32, eventually, one_type};
use std::collections::BTreeMap;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const SPACE_512_MIB: &str = "ulimit -v 524288";

/// Starts a shell script with the command as `$0` and `$@`.
fn spawned(script: &str, args: &[&str], input: Option<&str>) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(common::program()).args(args);
    let stdin = input.map_or(Stdio::null(), |path| File::open(path).unwrap().into());
    command.current_dir(common::top()).stdin(stdin);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs the command in a shell with a limit, and returns its standard output, or the output of
/// `reader`, such as `| cksum`.
fn limited(limit: &str, reader: &str, args: &[&str], input: Option<&str>) -> String {
    let script = format!("{limit}; {{ \"$0\" \"$@\"; echo \"exit $?\" >&2; }} {reader}");
    let output = spawned(&script, args, input).wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.ends_with("exit 0\n"), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the command within 512 MiB of address space and returns its standard output.
fn within(args: &[&str]) -> String {
    limited(SPACE_512_MIB, "", args, None)
}

/// Runs the command within 512 MiB of address space and returns size and checksum of its output.
fn written(args: &[&str], input: Option<&str>) -> (usize, String) {
    // `cksum` reads the bytes faster than a test does.
    let sum = limited(SPACE_512_MIB, "| cksum", args, input);
    let (sum, bytes) = sum.trim().split_once(' ').unwrap();
    (bytes.parse().unwrap(), sum.to_owned())
}

/// Runs the command within 512 MiB of address space and returns size and checksum of its first 8
/// MB. Reading begins only when all threads of the command wait, because the bytes held until then
/// must be bounded, too.
fn begun(args: &[&str], input: Option<&str>) -> (usize, u32) {
    let mut child = spawned(&format!("{SPACE_512_MIB}; exec \"$0\" \"$@\""), args, input);
    let mut before = None;
    eventually("all threads of the command to wait", || {
        let now = sleeping(child.id());
        let is_still = now.is_some() && now == before;
        before = now;
        is_still || child.try_wait().unwrap().is_some()
    });
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().take(8_000_000).read_to_end(&mut bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    (bytes.len(), crc32(&bytes))
}

/// Returns the number of times that each thread of a process has gone to sleep; `None` if a thread
/// is awake. If two results in a row are equal, the process waits for its reader.
fn sleeping(pid: u32) -> Option<BTreeMap<PathBuf, String>> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let of_thread = |thread: std::io::Result<DirEntry>| {
        let path = thread.ok()?.path();
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let value = |key| status.lines().find_map(|line| line.strip_prefix(key));
        let sleeps = value("voluntary_ctxt_switches:")?;
        value("State:\tS").map(|_| (path, sleeps.to_owned()))
    };
    threads.map(of_thread).collect()
}

/// Creates a stream whose event type 1 belongs to this provider.
fn stream_of(version: Version, provider: &str, event_id: u32, fields: Vec<Field>) -> Stream {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    let provider = provider.into();
    let definition =
        Definition { metadata_id: 1, provider, event_id, fields, ..Definition::default() };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, definition.encode())]));
    stream
}

/// Creates a stream of the runtime's sampler.
fn stream_of_samples(version: Version) -> Stream {
    let kind = vec![Field::new("Type", FieldType::UInt32)];
    stream_of(version, "Microsoft-DotNETCore-SampleProfiler", 0, kind)
}

/// Creates a sample of a thread that ran managed code.
fn sample(number: u32, thread: u64, stack_id: u32, ticks: u64) -> Blob {
    Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: thread,
        capture_thread_id: thread,
        stack_id,
        ticks,
        is_sorted: true,
        payload: 2u32.to_le_bytes().to_vec(),
        ..Blob::default()
    }
}

fn ended(mut stream: Stream) -> Vec<u8> {
    stream.end();
    stream.bytes
}

/// Creates events of a provider whose name has this many characters.
fn long_name(events: u32, characters: usize) -> Vec<u8> {
    let mut stream = stream_of(Version::V4, &"n".repeat(characters), 7, vec![]);
    plain_events(&mut stream, events);
    ended(stream)
}

/// Creates events whose only field is an array of 65,535 objects without fields.
fn arrays_of_nothing(events: u32) -> Vec<u8> {
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default());
    let nothing = Box::new(FieldType::Object(Vec::new()));
    let row = MetadataRow {
        metadata_id: 1,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        fields: vec![Field::new("nothing", FieldType::FixedLengthArray(nothing, u16::MAX))],
        ..MetadataRow::default()
    };
    stream.metadata_rows(&MetadataBlock::new(vec![row]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(1, 1, 1)]));
    plain_events(&mut stream, events);
    ended(stream)
}

/// Adds events of type 1 and thread 1, in blocks of 1,000.
fn plain_events(stream: &mut Stream, events: u32) {
    for block in 0..events / 1000 {
        let rows = (1..=1000).map(|row| Blob {
            metadata_id: 1,
            sequence_number: block * 1000 + row,
            thread_id: 1,
            capture_thread_id: 1,
            ticks: 1_000_000 + u64::from(block * 1000 + row),
            // A payload without bytes would end before the object, which would be absent then.
            payload: vec![0],
            ..Blob::default()
        });
        stream.event_block(&EventBlock::new(rows));
    }
}

/// Creates events that share one stack of this many frames.
fn deep_stack(events: u32, frames: u64) -> Vec<u8> {
    let mut stream = synth::tiny_v4();
    // The last byte is the end mark.
    stream.bytes.pop();
    let frames: Vec<u64> = (0..frames).map(|frame| 0x7f00_0000_1000 + frame * 0x1000).collect();
    stream.stack_block(&StackBlock::new(1, 8, &[frames]));
    for block in 0..events / 100 {
        let rows = (1..=100).map(|row| {
            let number = block * 100 + row;
            let ticks = 1_000_000 + u64::from(number);
            let of = Blob { metadata_id: 1, thread_id: 1, stack_id: 1, ..Blob::default() };
            Blob { sequence_number: number, ticks, ..of }
        });
        stream.event_block(&EventBlock::new(rows));
    }
    ended(stream)
}

#[test]
fn an_output_out_of_all_proportion_to_its_trace_is_noted() {
    let path = file("repeated.nettrace", &deep_stack(1000, 8000));
    for (args, is_noted) in [(&["--stacks"][..], true), (&[], false)] {
        let mut command = Command::new(common::program());
        command.args(["events", "--format", "csv"]).args(args).arg(&path);
        let output = command.stdout(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr.contains("the output has "), is_noted, "{args:?}: {stderr}");
    }
}

/// Creates two samples for each thread, with stacks of 2,001 frames. If `are_shared`, all threads
/// have the same stack, otherwise each has its own outermost frame.
fn samples(threads: u32, are_shared: bool) -> Vec<u8> {
    let mut stream = stream_of_samples(Version::V5);
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
        let stack_id = if are_shared { 1 } else { thread + 1 };
        let row = |number| {
            let ticks = 1_000_000 + u64::from(number) * 1000;
            sample(number, u64::from(thread) + 1, stack_id, ticks)
        };
        stream.event_block(&EventBlock::new([row(1), row(2)]));
    }
    ended(stream)
}

/// Creates samples of one stack of 4,096 frames. Before each sample, another method takes the
/// memory of the outermost frame. If `are_named`, the other frames belong to one method, otherwise
/// only their addresses are known.
fn reused_memory(times: u32, are_named: bool) -> Vec<u8> {
    let mut stream = stream_of_samples(Version::V4);
    let field = |name: &str, field_type| Field::new(name, field_type);
    let load = Definition {
        metadata_id: 2,
        provider: "Microsoft-Windows-DotNETRuntime".into(),
        event_id: 143,
        fields: vec![
            field("MethodID", FieldType::UInt64),
            field("ModuleID", FieldType::UInt64),
            field("MethodStartAddress", FieldType::UInt64),
            field("MethodSize", FieldType::UInt32),
            field("MethodToken", FieldType::UInt32),
            field("MethodFlags", FieldType::UInt32),
            field("MethodNamespace", FieldType::Text),
            field("MethodName", FieldType::Text),
            field("MethodSignature", FieldType::Text),
        ],
        ..Definition::default()
    };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, load.encode())]));
    let outermost = 0x7e00_0000_0000_u64;
    let frames = (1..4096).map(|frame| 0x7f00_0000_0000 + frame * 0x1000).chain([outermost + 16]);
    stream.stack_block(&StackBlock::new(1, 8, &[frames.collect::<Vec<u64>>()]));
    let text = |text: &str| -> Vec<u8> {
        text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
    };
    let loaded = |number: u32, start: u64, size: u32| {
        let mut payload = Vec::new();
        let longs = [u64::from(number), 77, start];
        longs.iter().for_each(|value| payload.extend(value.to_le_bytes()));
        [size, 1, 0].iter().for_each(|value| payload.extend(value.to_le_bytes()));
        let texts = [text("T"), text(&format!("M{number}")), text("")];
        texts.into_iter().for_each(|text| payload.extend(text));
        payload
    };
    let row = |place: u32, stack_id| sample(place, 7, stack_id, u64::from(5 * place));
    let load = |place, payload| Blob { metadata_id: 2, payload, ..row(place, 0) };
    if are_named {
        let all = loaded(0, 0x7f00_0000_0000, 0x100_0000);
        stream.event_block(&EventBlock::new([load(1, all)]));
    }
    for number in 1..=times {
        let one = load(2 * number, loaded(number, outermost, 0x100));
        stream.event_block(&EventBlock::new([one, row(2 * number + 1, 1)]));
    }
    ended(stream)
}

/// Creates threads with one sample of each of 200 stacks. All stacks have 4 outermost frames in
/// common, and 20 frames of their own.
fn same_stacks(threads: u64) -> Vec<u8> {
    let mut stream = stream_of_samples(Version::V5);
    let frame = |number: u64| 0x7f00_0000_1000 + number * 0x1000;
    let stacks: Vec<Vec<u64>> = (0..200)
        .map(|stack| {
            let own = (0..20).map(|number| frame(100 + 20 * stack + number));
            own.chain((0..4).map(frame)).collect()
        })
        .collect();
    stream.stack_block(&StackBlock::new(1, 8, &stacks));
    for thread in 1..=threads {
        let rows = (1..=200).map(|number| {
            sample(number, thread, number, 1_000_000 + 200 * thread + u64::from(number))
        });
        stream.event_block(&EventBlock::new(rows));
    }
    ended(stream)
}

/// Creates one exception of each type, all thrown at one stack of 4,096 frames.
fn types_at_a_deep_stack(types: u32) -> Vec<u8> {
    let field = |name: &str, field_type| Field::new(name, field_type);
    let fields = vec![
        field("ExceptionType", FieldType::Text),
        field("ExceptionMessage", FieldType::Text),
        field("ExceptionEIP", FieldType::UInt64),
        field("ExceptionHRESULT", FieldType::UInt32),
        field("ExceptionFlags", FieldType::UInt16),
        field("ClrInstanceID", FieldType::UInt16),
    ];
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let provider = "Microsoft-Windows-DotNETRuntime".into();
    let of_runtime = Definition { provider, event_id: 80, version: 1, ..Definition::default() };
    let definition = Definition { metadata_id: 1, fields, ..of_runtime };
    stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, definition.encode())]));
    let frames: Vec<u64> = (0..4096).map(|frame| 0x7f00_0000_0000 + frame * 0x1000).collect();
    stream.stack_block(&StackBlock::new(1, 8, &[frames]));
    let rows = (1..=types).map(|number| {
        let name = format!("T{number}\0\0").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let payload = [name, vec![0; 16]].concat();
        Blob { payload, ..sample(number, 7, 1, 1_000_000 + u64::from(number)) }
    });
    stream.event_block(&EventBlock::new(rows));
    ended(stream)
}

#[test]
fn rows_of_a_report_share_a_bound_on_frames_and_then_say_how_many_there_are() {
    let path = file("types.nettrace", &types_at_a_deep_stack(5000));
    let report = within(&["report", "exceptions", "--json", &path]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let types = report["types"].list();
    assert_eq!(types.len(), 5000);
    let frames = |row: &serde_json::Value| -> Vec<String> {
        row["stacks"][0]["frames"].list().iter().map(|frame| frame.text().to_owned()).collect()
    };
    assert_eq!(frames(&types[0]).len(), 4096);
    assert_eq!(frames(types.last().unwrap()), ["(4096 more frames)"]);
    let all: usize = types.iter().map(|row| frames(row).len()).sum();
    assert!(all < 200_000, "{all} frames");
    for args in [&["report", "html", "-o", "-"][..], &["report", "summary"]] {
        assert!(!within(&[args, &[&path]].concat()).is_empty());
    }
}

/// Creates a stream of version 6 whose events share a list of 64 labels, each a text of this many
/// characters.
fn long_labels(events: u32, characters: usize) -> Vec<u8> {
    let mut stream = one_type(Version::V6);
    let label = |number: u32| Label::Text(format!("key-{number}"), "v".repeat(characters));
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
    ended(stream)
}

/// Creates one event for each of this many threads.
fn many_threads(threads: u64) -> Vec<u8> {
    let mut stream = stream_of(Version::V4, "Demo", 7, vec![]);
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
    ended(stream)
}

/// Creates event types, each of its own provider, with two events each: one after the type's
/// definition, and one after all definitions.
fn many_providers(count: u32) -> Vec<u8> {
    let mut stream = Stream::new(Version::V4);
    stream.trace(&Trace::default());
    let mut ticks = 0;
    let mut events = |stream: &mut Stream, ids: std::ops::Range<u32>| {
        let rows = ids.map(|metadata_id| {
            ticks += 1;
            Blob {
                metadata_id,
                sequence_number: ticks,
                capture_thread_id: 1,
                ticks: u64::from(ticks),
                ..Blob::default()
            }
        });
        stream.event_block(&EventBlock::new(rows));
    };
    for first in (1..count + 1).step_by(1000) {
        let ids = first..(first + 1000).min(count + 1);
        let rows = ids.clone().map(|metadata_id| {
            let definition = Definition {
                metadata_id,
                provider: format!("Contoso-Orders-Plugin{metadata_id}"),
                event_id: 1,
                ..Definition::default()
            };
            Blob::definition(1, 1, definition.encode())
        });
        stream.metadata_blobs(&EventBlock::new(rows));
        events(&mut stream, ids);
        let threads = vec![(1, (first + 999).min(count))];
        stream.sequence_point(&SequencePoint { threads, ..SequencePoint::default() });
    }
    events(&mut stream, 1..count + 1);
    ended(stream)
}

mod with_release {
    use super::*;

    // These streams are ten times as large as the shared hostile traces. Writing the whole output would
    // take minutes.
    #[test]
    #[ignore = "needs NETTRACE"]
    fn ten_times_as_hostile_traces_stay_within_the_same_bounds_however_they_are_read() {
        let streams = [
            ("long-name-10", long_name(100_000, 5_000_000), &[][..]),
            ("deep-10", deep_stack(50_000, 40_960), &["--stacks"][..]),
            ("labels-10", long_labels(3000, 50_000), &[]),
            ("nothing-10", arrays_of_nothing(100_000), &[]),
        ];
        for (name, bytes, more) in streams {
            let path = file(&format!("{name}.nettrace"), &bytes);
            let events = [&["events", "--format", "ndjson"], more].concat();
            let one = begun(&[&events[..], &["--threads", "1", &path]].concat(), None);
            assert_eq!(one.0, 8_000_000, "{name}");
            for way in [&["--threads", "2"][..], &["--threads", "4"], &["--no-mmap"]] {
                let several = begun(&[&events[..], way, &[&path]].concat(), None);
                assert_eq!(several, one, "{name} {way:?}");
            }
            let piped = begun(&[&events[..], &["-"]].concat(), Some(&path));
            assert_eq!(piped, one, "{name} from standard input");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn stacks_that_become_much_are_written_within_bounds_however_they_are_read() {
        let events = cases(800).min(2400);
        let path = file("deep.nettrace", &deep_stack(events, 8000));
        // Each takes a few seconds.
        let ways: [(&str, &[&[&str]]); 2] = [
            ("ndjson", &[&["--threads", "2"], &["--threads", "4"], &["--no-mmap"]]),
            ("csv", &[&["--threads", "2"]]),
        ];
        for (format, ways) in ways {
            let command = ["events", "--format", format, "--stacks"];
            let one = written(&[&command[..], &["--threads", "1", &path]].concat(), None);
            assert!(one.0 > events as usize * 8000 * 10, "{format}: {} bytes", one.0);
            for more in ways {
                let several = written(&[&command[..], *more, &[&path]].concat(), None);
                assert_eq!(several, one, "{format} {more:?}");
            }
            let piped = written(&[&command[..], &["-"]].concat(), Some(&path));
            assert_eq!(piped, one, "{format} from standard input");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn call_trees_have_a_budget_beyond_which_calls_are_counted_as_deeper() {
        let shared = file("shared-deep.nettrace", &samples(200, true));
        let own = file("own-deep.nettrace", &samples(180, false));
        for format in ["cpuprofile", "firefox"] {
            let profile = within(&["convert", "--format", format, "-o", "-", &shared]);
            assert!(profile.contains("\"(deeper)\""), "{format}");
            serde_json::from_str::<serde_json::Value>(&profile).unwrap();
        }
        let graph = within(&["convert", "--format", "svg", "--by-thread", "-o", "-", &shared]);
        assert!(graph.contains("<title>(deeper) "));
        let tree = within(&["report", "tree", "--min", "0", "--json", &own]);
        let tree: serde_json::Value = serde_json::from_str(&tree).unwrap();
        let (deeper, all) = (tree["deeper_samples"].int(), tree["samples"].int());
        assert!(0 < deeper && deeper <= all && all == 360, "{deeper} of {all}");
        let nodes = tree["nodes"].list();
        let of_roots: u64 = nodes
            .iter()
            .filter(|node| node["depth"] == 0)
            .map(|node| node["total_samples"].int())
            .sum();
        let ends: u64 = nodes.iter().map(|node| node["self_samples"].int()).sum();
        assert_eq!((of_roots, ends), (all, all), "nothing is missing from the sums");
        let is_deeper = |node: &&serde_json::Value| node["name"] == "(deeper)";
        let shown: u64 =
            nodes.iter().filter(is_deeper).map(|node| node["self_samples"].int()).sum();
        assert_eq!(shown, deeper);
        assert!(nodes.len() <= (1 << 18) + (1 << 15), "{}", nodes.len());
        let threads = within(&["report", "topN", "--by-thread", "--json", &shared]);
        let threads: serde_json::Value = serde_json::from_str(&threads).unwrap();
        assert_eq!(threads["threads"].list().len(), 200);
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn comparing_hostile_traces_stays_within_the_same_bounds_as_text_and_page() {
        // 1 by default, 7 in `.ci/full traces`.
        let size = 2 * cases(1).min(8) - 1;
        for (name, bytes) in [
            ("diff-shared-deep", samples(25 * size, true)),
            ("diff-own-deep", samples(20 * size, false)),
            ("diff-same-stacks", same_stacks(63 * u64::from(size))),
            ("diff-reused-memory", reused_memory(63 * size, false)),
        ] {
            let path = file(&format!("{name}.nettrace"), &bytes);
            let text = within(&["diff", &path, &path]);
            assert!(text.contains("the same trace"), "{name}: {text}");
            let page = file(&format!("{name}.html"), b"");
            within(&["diff", &path, &path, "-o", &page, "--force"]);
            let written = std::fs::read_to_string(&page).unwrap();
            assert!(written.trim_end().ends_with("</html>"), "{name}");
            assert!(written.len() < 4 << 20, "{name}: {} bytes", written.len());
        }
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn millions_of_frames_of_stacks_whose_memory_was_reused_are_kept_once() {
        let path = file("reused-memory-10.nettrace", &reused_memory(cases(4000).min(10_000), true));
        // The whole output has hundreds of megabytes.
        let folded = begun(&["convert", "--format", "folded", "-o", "-", &path], None);
        assert_eq!(folded.0, 8_000_000);
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn a_thousand_threads_with_the_same_stacks_are_drawn_whole_in_the_memory_of_their_samples() {
        // With --by-thread, the graph has four million calls.
        let path = file("same-stacks.nettrace", &same_stacks(1000));
        let args = ["convert", "--format", "svg", "--by-thread", "-o", "-", &path];
        let graph = limited("ulimit -d 131072", "", &args, None);
        assert!(!graph.contains("(deeper)"));
        // The root is drawn, and for each thread a row and the 4 frames that its stacks share. The 200
        // stacks above these are too narrow.
        assert_eq!(graph.matches("</title><rect").count(), 1 + 1000 * 5);
        assert!(graph.contains("; 200,000 frames below 0.01 % are left out"));
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn a_long_list_of_labels_is_written_within_bounds_however_it_is_read() {
        let count = cases(100).min(300) / 100 * 100;
        let path = file("labels.nettrace", &long_labels(count, 5000));
        for format in ["ndjson", "csv"] {
            let events = ["events", "--format", format];
            let one = written(&[&events[..], &["--threads", "1", &path]].concat(), None);
            assert!(one.0 > count as usize * 64 * 4096, "{format}: {} bytes", one.0);
            for more in [&["--threads", "4"][..], &["--no-mmap"]] {
                assert_eq!(
                    written(&[&events[..], more, &[&path]].concat(), None),
                    one,
                    "{format} {more:?}"
                );
            }
            assert_eq!(written(&[&events[..], &["-"]].concat(), Some(&path)), one, "{format}");
        }
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn info_counts_very_many_threads_as_at_least_so_many_in_little_memory() {
        let few = file("few-threads.nettrace", &many_threads(60_000));
        let info = common::nettrace(&["info", "--json", &few]).json();
        assert_eq!((&info["threads"], info.get("threads_are_at_least")), (&60_000.into(), None));
        let path = file("many-threads.nettrace", &many_threads(1_000_000));
        for way in [&["--threads", "1"][..], &["--threads", "3"], &["--no-mmap"]] {
            let info = common::nettrace(&[&["info", "--json"], way, &[&path]].concat()).json();
            assert_eq!(info["threads"], 65_536, "{way:?}");
            assert_eq!(info["threads_are_at_least"], true, "{way:?}");
        }
        let text = common::nettrace(&["info", &path]);
        let line =
            text.text().lines().find(|line| line.starts_with("  threads ")).unwrap().to_owned();
        assert!(line.contains("at least 65,536"), "{line}");
        // `ulimit -d` limits data memory; a set of all threads would exceed it.
        limited("ulimit -d 24576", "", &["info", "--threads", "1", &path], None);
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn a_file_that_unpacks_to_a_gigabyte_takes_the_memory_of_its_window() {
        let mut trace = synth::tiny_v4().bytes;
        trace.pop();
        // The first frame has the events, and then a frame has blocks of 128 KiB of zeros.
        for (power, limit) in [(17, "ulimit -d 16384"), (27, "ulimit -d 229376")] {
            let header = [0x28, 0xb5, 0x2f, 0xfd, 0, (power - 10) << 3];
            let zeros = [2, 0, 0x10, 0].repeat(8192);
            let bomb = [&common::zstd(&trace)[..], &header, &zeros, &[1, 0, 0]].concat();
            let path = file("bomb.zst", &bomb);
            let script = format!("{limit}; exec \"$0\" \"$@\"");
            let ended = spawned(&script, &["info", "--json", &path], None).wait_with_output();
            let ended = ended.unwrap();
            assert_eq!(ended.status.code(), Some(3), "{}", String::from_utf8_lossy(&ended.stderr));
            let info: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
            assert_eq!(info["events"], 4);
            assert!(info["end_offset"].int() >= 1 << 30);
        }
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn info_lists_thousands_of_providers_and_counts_the_others_within_bounds() {
        let few = file("few-providers.nettrace", &many_providers(8000));
        let info = common::nettrace(&["info", "--json", &few]).json();
        assert_eq!(info["providers"].list().len(), 8000);
        assert_eq!((&info["types"], &info["events"]), (&8000.into(), &16_000.into()));
        assert_eq!((info.get("other_providers"), info.get("types_are_at_least")), (None, None));
        let count = 60_000u64;
        let path = file("many-providers.nettrace", &many_providers(60_000));
        let one = common::nettrace(&["info", "--json", "--threads", "1", &path]).json();
        assert_eq!((&one["types"], &one["events"]), (&count.into(), &(2 * count).into()));
        let listed = one["providers"].list();
        assert_eq!((listed.len(), &listed[0]["events"]), (8192, &2.into()));
        let others = &one["other_providers"];
        assert_eq!(others["providers"], count - 8192);
        assert_eq!(others["events"], 2 * (count - 8192));
        assert_eq!((&one["damage_count"], &one["lost"]), (&0.into(), &0.into()));
        for way in [&["--threads", "3"][..], &["--no-mmap"]] {
            let other = common::nettrace(&[&["info", "--json"], way, &[&path]].concat()).json();
            assert_eq!(other, one, "{way:?}");
        }
        let text = common::nettrace(&["info", &path]);
        assert!(text.text().contains("\n  providers  60,000\n"), "{}", text.text());
    }

    #[test]
    #[ignore = "needs NETTRACE"]
    fn info_of_more_types_than_it_keeps_is_still_no_damage() {
        let path = file("most-providers.nettrace", &many_providers(200_000));
        let info =
            limited("ulimit -d 65536", "", &["info", "--json", "--threads", "2", &path], None);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        assert_eq!((&info["events"], &info["damage_count"]), (&400_000.into(), &0.into()));
        assert_eq!(info["types_are_at_least"], true);
        // 8,192 types are kept, and at most 65,536 others are counted.
        assert_eq!(info["types"], 8192 + 65_536);
        let notes = info["notes"].list();
        assert!(notes.iter().any(|note| note["fault"].text().contains("full")), "{notes:?}");
    }
}

mod with_shared {
    use super::*;

    #[test]
    #[ignore = "needs NETTRACE_SHARED"]
    fn names_of_half_a_million_characters_and_empty_arrays_are_cut_in_rows_with_a_note() {
        let shared = nettrace_testdata::corpus::shared();
        for (name, expected, most) in [
            ("oom-ndjson-1MB-long-provider-name", "more characters)", 60 << 20),
            ("oom-ndjson-90KB-empty-objects", "{\"empty_elements\":65535}", 10 << 20),
        ] {
            let packed = std::fs::read(shared.join(format!("hostile/{name}.nettrace.gz"))).unwrap();
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed), &mut bytes)
                .unwrap();
            let path = file(&format!("{name}.nettrace"), &bytes);
            let one = written(&["events", "--format", "ndjson", "--threads", "1", &path], None);
            assert!(one.0 < most, "{name}: {} bytes", one.0);
            assert_eq!(
                written(&["events", "--format", "ndjson", "--threads", "4", &path], None),
                one,
                "{name}"
            );
            let first = common::nettrace(&["events", "--format", "ndjson", "-n", "1", &path]);
            assert!(first.text().contains(expected), "{name}: {:.200}", first.text());
        }
    }
}
