//! Output of the formats for synthetic streams and for real traces.

use crate::common;

use common::*;
use flate2::read::GzDecoder;
use nettrace_analysis::convert::{Convert, ConvertError, ConvertOptions, FORMATS, Format};
use nettrace_analysis::model::Model;
use nettrace_analysis::report::{Report, TopNOptions};
use nettrace_analysis::{
    Analysis, AnalysisOptions, Finished, Kind, Profile, Resolved, Sample, SampleClock,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Session, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex};

fn converted(bytes: &[u8], format: &str, options: &ConvertOptions) -> Option<Vec<u8>> {
    let format = Format::by_name(format).unwrap();
    let mut out = Vec::new();
    let mut analysis = Analysis::new(full_names());
    analysis.add_format(format, &mut out, options);
    assert!(analysis.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().ok()?;
    Some(out)
}

fn json(session: &Session, format: &str) -> Json {
    let bytes = session.record().stream.bytes;
    serde_json::from_slice(&converted(&bytes, format, &ConvertOptions::default()).unwrap()).unwrap()
}

fn allocation(thread: usize, stack: &[u64], bytes: u64) -> nettrace_testdata::synth::Step {
    let values = vec![
        Value::U32(7),
        Value::U32(0),
        Value::U16(0),
        Value::U64(bytes),
        Value::U64(3),
        Value::Text("N.Small".into()),
        Value::U32(0),
    ];
    event(TICK, thread, 1, stack, values)
}

/// Makes a heap dump's event with one object.
fn object() -> nettrace_testdata::synth::Step {
    let numbers = [0x1000, 24, 7, 0].map(Value::U64);
    let values = [Value::U32(0), Value::U32(1), Value::U16(0)].into_iter().chain(numbers).collect();
    event(OBJECTS, 0, 1, &[], values)
}

fn some() -> Session {
    session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.A;\"<&>\u{1}"),
        method(LOAD, 2, 0x2000, 0x100, "N.T.B"),
        sample(0, 10, &[0x1010, 0x2020]),
        sample(1, 10, &[0x1010]),
        allocation(0, &[0x1010, 0x2020], 1000),
        allocation(1, &[0x2010], 30),
        sample(0, 3_990, &[0x1010, 0x2020]),
        sample(0, 2_000, &[0x2010]),
        object(),
    ])
}

#[test]
fn every_format_is_deterministic_and_fails_without_samples() {
    let (some, none) = (some().record().stream.bytes, session(vec![]).record().stream.bytes);
    for format in FORMATS {
        let convert = |bytes: &[u8]| converted(bytes, format.name, &ConvertOptions::default());
        let once = convert(&some).unwrap();
        assert!(!once.is_empty() && Some(&once) == convert(&some).as_ref(), "{}", format.name);
        match format.name {
            // A trace without events is no error: its output is empty.
            "ndjson" => assert_eq!(convert(&none).as_deref(), Some(&b""[..])),
            "csv" => {
                assert_eq!(convert(&none).unwrap().iter().filter(|byte| **byte == b'\n').count(), 1)
            }
            name => assert_eq!(convert(&none), None, "{name}"),
        }
        for extension in format.extensions {
            let found = Format::by_path(&format!("x.{extension}")).unwrap().0;
            assert_eq!(found.name, format.name);
        }
    }
}

#[test]
fn speedscopes_sums_are_those_of_the_samples() {
    let session = session(vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
        method(LOAD, 2, 0x2000, 0x100, "N.T.B"),
        sample(0, 10, &[0x1010, 0x2010]),
        sample(0, 10, &[0x1010, 0x2010]),
        sample(0, 10, &[0x2010]),
        sample(1, 0, &[0x1010]),
    ]);
    let bytes = session.record().stream.bytes;
    let mut out = Vec::new();
    let mut analysis = Analysis::new(full_names());
    let format = Format::by_name("speedscope").unwrap();
    analysis.add_format(format, &mut out, &ConvertOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let profiles = document["profiles"].as_array().unwrap();
    let names: Vec<&str> =
        profiles.iter().map(|profile| profile["name"].as_str().unwrap()).collect();
    let all = "All threads, wall time summed up by stack (not in time order)";
    assert_eq!(names, [all, "thread 11", "thread 12"]);
    let frames = &document["shared"]["frames"];
    assert_eq!((&frames[0]["name"], &frames[1]["name"]), (&"N.T.B".into(), &"N.T.A".into()));
    assert_eq!(profiles[1]["samples"], serde_json::json!([[], [0, 1], [0]]));
    assert_eq!(profiles[1]["weights"], serde_json::json!([12, 20, 10]));
    assert_eq!((&profiles[1]["startValue"], &profiles[1]["endValue"]), (&0.into(), &42.into()));
    assert_eq!(
        (&profiles[0]["endValue"], &profiles[0]["unit"]),
        (&40.into(), &"nanoseconds".into())
    );
}

/// A converter that keeps the time and weight of each CPU sample.
struct Moments(Arc<Mutex<ByThread>>);

/// Time and weight of each sample, by thread.
type ByThread = BTreeMap<String, Vec<(i64, u64)>>;

impl Convert for Moments {
    fn sample(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        if sample.kind == Kind::Cpu && sample.weight > 0 {
            let thread = model.thread_label(sample.thread);
            self.0.lock().unwrap().entry(thread).or_default().push((sample.nanos, sample.weight));
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        Ok(())
    }
}

/// Returns start and end of the pieces of a speedscope profile, with frames or without.
fn pieces(profile: &Json, wants_frames: bool) -> Vec<(i64, i64)> {
    let stacks = profile["samples"].as_array().unwrap().iter();
    let mut at = profile["startValue"].as_i64().unwrap();
    let mut pieces = Vec::new();
    for (stack, weight) in stacks.zip(profile["weights"].as_array().unwrap()) {
        let from = at;
        at += weight.as_i64().unwrap();
        if stack.as_array().unwrap().is_empty() != wants_frames {
            pieces.push((from, at));
        }
    }
    assert_eq!(profile["endValue"], at);
    pieces
}

#[test]
fn speedscope_shows_each_sample_when_it_was_taken() {
    for (name, late) in
        [("net10-linux-x64/all", 0), ("net3.1-linux-x64/all", 0), ("one-collect-v6/cpu", 1_000_000)]
    {
        let bytes = corpus::trace(&format!("{name}.nettrace")).bytes();
        let moments = Arc::new(Mutex::new(ByThread::new()));
        let mut analysis = Analysis::new(AnalysisOptions::default());
        analysis.add(Box::new(Moments(Arc::clone(&moments))));
        assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        analysis.finish().unwrap();
        let written = converted(&bytes, "speedscope", &ConvertOptions::default()).unwrap();
        let document: Json = serde_json::from_slice(&written).unwrap();
        let profiles = document["profiles"].as_array().unwrap();
        let (mut gaps, mut count) = (0, 0);
        for (thread, samples) in moments.lock().unwrap().iter() {
            let profile = profiles.iter().find(|profile| profile["name"] == **thread).unwrap();
            let shown = pieces(profile, true);
            for (nanos, weight) in samples {
                let end = nanos + i64::try_from(*weight).unwrap();
                // A sample that the operating system took early is shown after the one before it.
                let is_in = |(from, to): &&(i64, i64)| *from <= nanos + late && end - late <= *to;
                // Samples without frames look like gaps.
                let is_bare = || pieces(profile, false).iter().any(|piece| is_in(&piece));
                assert!(
                    shown.iter().any(|piece| is_in(&piece)) || is_bare(),
                    "{name} {thread} {nanos}"
                );
                count += 1;
            }
            gaps += pieces(profile, false).len();
        }
        assert!(count > 1000 && gaps > 5, "{name}: {count} samples, {gaps} gaps");
    }
}

#[test]
fn speedscopes_gaps_are_where_no_sample_was() {
    let mut steps = vec![method(LOAD, 1, 0x1000, 0x100, "N.T.A")];
    // The period is 10 ns. In the middle, the thread has no samples for 1,000 ns, while another
    // has.
    steps.extend([10, 10, 10].map(|later| sample(0, later, &[0x1010])));
    steps.extend((0..100).map(|_| sample(1, 10, &[0x1010])));
    steps.extend([0, 10, 10].map(|later| sample(0, later, &[0x1010])));
    let document = json(&session(steps), "speedscope");
    // The profiles before are the sum and the other thread, which is heavier.
    let thread = &document["profiles"][2];
    assert_eq!(thread["samples"], serde_json::json!([[], [0], [], [0]]));
    // After a gap a sample weighs five periods.
    assert_eq!(thread["weights"], serde_json::json!([11, 70, 950, 30]));
}

#[test]
fn time_on_a_processor_is_called_so() {
    let named = |name: &str, format| {
        let bytes = corpus::trace(name).bytes();
        converted(&bytes, format, &ConvertOptions::default()).unwrap()
    };
    for (trace, is_cpu) in
        [("one-collect-v6/cpu.nettrace", true), ("net10-linux-x64/samples-only.nettrace", false)]
    {
        let (yes, no) = if is_cpu { ("CPU time", "wall time") } else { ("wall time", "CPU time") };
        for format in ["speedscope", "svg"] {
            let text = String::from_utf8(named(trace, format)).unwrap();
            assert!(text.contains(yes) && !text.contains(no), "{trace} {format}");
        }
        let mut pprof = Vec::new();
        GzDecoder::new(&*named(trace, "pprof")).read_to_end(&mut pprof).unwrap();
        // A text in the string table is field 6, its length and its bytes.
        let has = |text: &[u8]| pprof.windows(text.len()).any(|bytes| bytes == text);
        assert_eq!(
            (has(b"\x32\x03cpu"), has(b"\x32\x04wall"), has(b"wall time")),
            (is_cpu, !is_cpu, !is_cpu)
        );
        let profile = read_trace(trace);
        let top = TopNOptions::default().finish(&profile.resolved());
        let clock = if is_cpu { SampleClock::Cpu } else { SampleClock::Wall };
        assert_eq!(top.counted.clock, clock);
    }
}

fn read_trace(name: &str) -> Finished {
    let bytes = corpus::trace(name).bytes();
    let mut analysis = Analysis::new(AnalysisOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap()
}

#[test]
fn a_cpuprofile_has_threads_one_after_the_other_and_their_whole_time() {
    let profile = json(&some(), "cpuprofile");
    let nodes = profile["nodes"].as_array().unwrap();
    let name = |id: &Json| {
        let node = nodes.iter().find(|node| node["id"] == *id).unwrap();
        node["callFrame"]["functionName"].as_str().unwrap().to_owned()
    };
    let samples: Vec<String> = profile["samples"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(samples, ["N.T.A;\"<&>\u{1}", "N.T.B", "N.T.A;\"<&>\u{1}", "(idle)"]);
    // The gaps are 4,002 and 2,000 ns, so the period, and the weight of the last samples, is 4,002
    // ns.
    assert_eq!(profile["timeDeltas"], serde_json::json!([0, 6, 4, 4]));
    let start = profile["startTime"].as_i64().unwrap();
    assert_eq!(profile["endTime"].as_i64().unwrap() - start, 14);
    let root = &nodes[0];
    assert_eq!((&root["id"], root["children"].as_array().unwrap().len()), (&1.into(), 3));
    let below: Vec<String> = root["children"].as_array().unwrap().iter().map(name).collect();
    assert_eq!(below, ["(idle)", "thread 11", "thread 12"]);
    let hits: u64 = nodes.iter().map(|node| node["hitCount"].as_u64().unwrap()).sum();
    assert_eq!(hits, 14);
}

/// Returns self times by function in microseconds as DevTools computes them: by hits in the tree,
/// and by samples in the time line.
fn self_times_of_dev_tools(profile: &Json) -> [BTreeMap<String, f64>; 2] {
    let nodes = profile["nodes"].as_array().unwrap();
    let name = |node: &Json| node["callFrame"]["functionName"].as_str().unwrap().to_owned();
    let names: BTreeMap<u64, String> =
        nodes.iter().map(|node| (node["id"].as_u64().unwrap(), name(node))).collect();
    let hits = |node: &Json| node["hitCount"].as_f64().unwrap();
    let length = profile["endTime"].as_f64().unwrap() - profile["startTime"].as_f64().unwrap();
    let sample_time = length / nodes.iter().map(hits).sum::<f64>();
    let [mut tree, mut line] = [BTreeMap::new(), BTreeMap::new()];
    for node in nodes {
        *tree.entry(name(node)).or_insert(0.0) += hits(node) * sample_time;
    }
    let samples: Vec<u64> = profile["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| sample.as_u64().unwrap())
        .collect();
    let deltas = profile["timeDeltas"].as_array().unwrap();
    assert_eq!(samples.len(), deltas.len());
    for (sample, delta) in samples.iter().zip(&deltas[1..]) {
        *line.entry(names[sample].clone()).or_insert(0.0) += delta.as_f64().unwrap();
    }
    [tree, line]
}

#[test]
fn dev_tools_self_times_of_many_threads_are_the_reports() {
    for trace in ["net10-linux-x64/all.nettrace", "net3.1-linux-x64/all.nettrace"] {
        let bytes = corpus::trace(trace).bytes();
        let written = converted(&bytes, "cpuprofile", &ConvertOptions::default()).unwrap();
        let times = self_times_of_dev_tools(&serde_json::from_slice(&written).unwrap());
        let mut analysis = Analysis::new(full_names());
        assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
        let finished = analysis.finish().unwrap();
        assert!(
            finished
                .profile
                .rows()
                .iter()
                .any(|(key, _)| key.thread != finished.profile.rows()[0].0.thread)
        );
        let mut options = TopNOptions::default();
        options.count = usize::MAX;
        let top = options.finish(&finished.resolved());
        let mut compared = 0;
        for row in top
            .methods
            .iter()
            .filter(|row| row.self_ns > 0 && row.addresses < 2 && !row.name.contains("+0x"))
        {
            for times in &times {
                let micros = times.get(&row.name).copied().unwrap_or(0.0);
                let ours = row.self_ns as f64 / 1000.0;
                // Each piece is rounded to a microsecond.
                let pieces = row.self_samples as f64 + 1.0;
                assert!(
                    (micros - ours).abs() <= pieces,
                    "{trace} {}: {micros} and {ours} µs",
                    row.name
                );
                compared += 1;
            }
        }
        assert!(compared > 20, "{trace}: {compared}");
    }
}

#[test]
fn a_cpuprofile_of_one_thread_is_its_time_line() {
    let mut steps = vec![method(LOAD, 1, 0x1000, 0x100, "N.T.A")];
    steps.extend([10, 10, 10, 1000, 10].map(|later| sample(0, later * 1000, &[0x1010])));
    let profile = json(&session(steps), "cpuprofile");
    // The sampler was late once.
    assert_eq!(profile["timeDeltas"], serde_json::json!([0, 1040]));
    let [tree, line] = self_times_of_dev_tools(&profile);
    assert_eq!((tree["N.T.A"], line["N.T.A"]), (1040.0, 1040.0));
}

#[test]
fn pprofs_first_mapping_is_the_program() {
    for (trace, program) in [
        ("net10-linux-x64/samples-only.nettrace", "workload"),
        ("net10-linux-x64/all.nettrace", "workload"),
        ("net3.1-linux-x64/all.nettrace", "workload"),
    ] {
        let bytes = corpus::trace(trace).bytes();
        let mut pprof = Vec::new();
        let written = converted(&bytes, "pprof", &ConvertOptions::default()).unwrap();
        GzDecoder::new(&*written).read_to_end(&mut pprof).unwrap();
        let (mut texts, mut mappings) = (Vec::new(), Vec::new());
        let mut rest = &pprof[..];
        while !rest.is_empty() {
            let tag = varint(&mut rest);
            match tag & 7 {
                0 => drop(varint(&mut rest)),
                2 => {
                    let length = usize::try_from(varint(&mut rest)).unwrap();
                    let (inner, after) = rest.split_at(length);
                    rest = after;
                    match tag >> 3 {
                        3 => mappings.push(inner.to_vec()),
                        6 => texts.push(String::from_utf8(inner.to_vec()).unwrap()),
                        _ => {}
                    }
                }
                other => panic!("wire type {other}"),
            }
        }
        // id, filename, has_functions.
        let mut first = &mappings[0][..];
        let fields: Vec<u64> =
            std::iter::from_fn(|| (!first.is_empty()).then(|| varint(&mut first))).collect();
        assert_eq!((fields[0], fields[1], fields[2]), (1 << 3, 1, 5 << 3));
        assert_eq!(texts[usize::try_from(fields[3]).unwrap()], program, "{trace}");
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

#[test]
fn a_heapprofile_has_the_bytes_of_each_stack() {
    let profile = json(&some(), "heapprofile");
    fn sum(node: &Json) -> u64 {
        let below = node["children"].as_array().unwrap();
        node["selfSize"].as_u64().unwrap() + below.iter().map(sum).sum::<u64>()
    }
    assert_eq!(sum(&profile["head"]), 1030);
    let head = &profile["head"];
    assert_eq!(head["callFrame"]["functionName"], "(root)");
    let outer = &head["children"][0];
    assert_eq!(
        (&outer["callFrame"]["functionName"], &outer["selfSize"]),
        (&"N.T.B".into(), &0.into())
    );
    let name = |node: &Json| node["callFrame"]["functionName"].as_str().unwrap().to_owned();
    let below: Vec<&Json> = outer["children"].as_array().unwrap().iter().collect();
    // The inner call and the type that the outer method allocates are siblings.
    let [inner, small] = below[..] else { panic!("{outer}") };
    assert_eq!((name(small), &small["selfSize"]), ("new N.Small".to_owned(), &30.into()));
    assert_eq!(
        (name(&inner["children"][0]), &inner["selfSize"]),
        ("new N.Small".to_owned(), &0.into())
    );
    assert_eq!(inner["children"][0]["selfSize"], 1000);
    let samples: Vec<(u64, &Json)> = profile["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| (sample["size"].as_u64().unwrap(), &sample["nodeId"]))
        .collect();
    assert_eq!(samples, [(1000, &inner["children"][0]["id"]), (30, &small["id"])]);
}

#[test]
fn what_was_allocated_stands_on_its_stack_where_a_format_has_no_labels() {
    let document = json(&some(), "speedscope");
    let profiles = document["profiles"].as_array().unwrap();
    let allocations =
        profiles.iter().find(|profile| profile["name"] == "allocation ticks").unwrap();
    let frames = document["shared"]["frames"].as_array().unwrap();
    let stacks: Vec<Vec<&str>> = allocations["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stack| {
            stack.as_array().unwrap().iter().map(|n| &frames[n.as_u64().unwrap() as usize])
        })
        .map(|stack| stack.map(|frame| frame["name"].as_str().unwrap()).collect())
        .collect();
    assert_eq!(
        stacks,
        [vec!["N.T.B", "N.T.A;\"<&>\u{1}", "new N.Small"], vec!["N.T.B", "new N.Small"]]
    );
    assert_eq!(allocations["weights"], serde_json::json!([1000, 30]));

    let bytes = some().record().stream.bytes;
    let mut options = ConvertOptions::default();
    options.kinds = vec![Kind::AllocationTicks];
    let mut out = Vec::new();
    let mut of_analysis = full_names();
    of_analysis.kinds = options.kinds.clone();
    let mut analysis = Analysis::new(of_analysis);
    let format = Format::by_name("svg").unwrap();
    analysis.add_format(format, &mut out, &options);
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(page.contains("<title>new N.Small (1,000 bytes, 97.09 %, 1 sample)</title>"), "{page}");
}

/// Returns sums, class and visibility of a flame graph's frame, and its sums with all waits.
fn drawn(page: &str, name: &str) -> (String, String, bool, Option<String>) {
    let line = page.lines().find(|line| line.contains(&format!("<title>{name} ("))).unwrap();
    let between = |from: &str, to: &str| {
        line.split_once(from)?.1.split_once(to).map(|(text, _)| text.to_owned())
    };
    let sums = between(&format!("<title>{name} "), "</title>").unwrap();
    (
        sums,
        between("<rect class=\"", "\"").unwrap(),
        !line.contains("display:none"),
        between("data-all=\"", "\""),
    )
}

#[test]
fn a_flame_graph_shows_what_ran_and_what_waited_at_a_click() {
    let external = |thread, stack: &[u64]| event(SAMPLE, thread, 10, stack, vec![Value::U32(1)]);
    let steps = vec![
        method(LOAD, 1, 0x1000, 0x100, "N.T.A"),
        method(LOAD, 2, 0x2000, 0x100, "System.Threading.Monitor.Wait"),
        method(LOAD, 3, 0x3000, 0x100, "N.T.Waits"),
        sample(0, 10, &[0x1010]),
        external(0, &[0x2010, 0x1010]),
        external(0, &[0x2010, 0x3010]),
        external(0, &[0x2010, 0x3010]),
        external(0, &[0x2010, 0x3010]),
    ];
    let bytes = session(steps).record().stream.bytes;
    let page =
        String::from_utf8(converted(&bytes, "svg", &ConvertOptions::default()).unwrap()).unwrap();
    // A runs for one of five periods, and is the whole graph of running time.
    let (sums, class, is_drawn, all) = drawn(&page, "N.T.A");
    assert_eq!((&*sums, is_drawn), ("(0.000 ms, 100.00 %, 1 sample)", true));
    assert!(class.starts_with('m'));
    assert_eq!(all.unwrap(), "0.0000 40.0000 (0.000 ms, 40.00 %, 2 samples)");
    let (_, class, is_drawn, all) = drawn(&page, "N.T.Waits");
    assert_eq!((&*class, is_drawn), ("w", false));
    assert_eq!(all.unwrap(), "40.0000 60.0000 (0.000 ms, 60.00 %, 3 samples)");
    assert!(page.contains(">1 CPU sample of what ran, 0.000 ms of wall time"), "{page}");
    assert!(page.contains("waiting: 0.000 ms, 4 samples, not shown"), "{page}");
    assert!(page.contains("prefers-color-scheme: dark"));
    // If nothing ran, the graph shows waits, and has no switch.
    let waits = vec![
        method(LOAD, 2, 0x2000, 0x100, "System.Threading.Monitor.Wait"),
        external(0, &[0x2010]),
        external(0, &[0x2010]),
    ];
    let bytes = session(waits).record().stream.bytes;
    let page =
        String::from_utf8(converted(&bytes, "svg", &ConvertOptions::default()).unwrap()).unwrap();
    let (sums, class, is_drawn, all) = drawn(&page, "System.Threading.Monitor.Wait");
    assert_eq!(
        (&*sums, &*class, is_drawn, all),
        ("(0.000 ms, 100.00 %, 2 samples)", "w", true, None)
    );
    assert!(!page.contains("role=\"switch\""));
}

#[test]
fn a_flame_graph_loads_nothing_and_escapes_its_texts() {
    let bytes = some().record().stream.bytes;
    let mut options = ConvertOptions::default();
    options.title = "<x> & \"y\"".to_owned();
    options.is_by_thread = true;
    let page = String::from_utf8(converted(&bytes, "svg", &options).unwrap()).unwrap();
    assert!(page.contains("<title>&lt;x&gt; &amp; &quot;y&quot;</title>"));
    assert!(page.contains("N.T.A;&quot;&lt;&amp;&gt;\u{fffd} ("));
    // The only addresses are XML namespaces, which nothing fetches.
    let addresses: Vec<&str> =
        page.match_indices("http").map(|(at, _)| &page[at..at + 18]).collect();
    assert!(addresses.iter().all(|address| *address == "http://www.w3.org/"), "{addresses:?}");
    assert!(!page.contains("href") && !page.contains("src="));
    assert_eq!(
        page.matches("<g ").count() + page.matches("<g>").count(),
        page.matches("</g>").count()
    );
    // The groups are: all, two threads, B and A below the first thread, A below the second.
    assert_eq!(page.matches("</g>").count(), 6);
    assert!(page.contains("4 CPU samples"));
}

#[test]
fn all_formats_have_the_reports_sums() {
    let trace = corpus::trace("net10-linux-x64/samples-only.nettrace");
    let bytes = trace.bytes();
    let mut analysis = Analysis::new(AnalysisOptions::default());
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let finished = analysis.finish().unwrap();
    let top = TopNOptions::default().finish(&finished.resolved());
    let text = |format| converted(&bytes, format, &ConvertOptions::default()).unwrap();
    let cpuprofile: Json = serde_json::from_slice(&text("cpuprofile")).unwrap();
    let micros: u64 =
        cpuprofile["timeDeltas"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap()).sum();
    assert_eq!(micros, top.counted.total_ns / 1000);
    let hits = |nodes: &Json| -> u64 {
        nodes.as_array().unwrap().iter().map(|node| node["hitCount"].as_u64().unwrap()).sum()
    };
    // A hit is a microsecond, and gaps of the only thread are (idle).
    assert_eq!(hits(&cpuprofile["nodes"]), micros);
    let folded = String::from_utf8(text("folded")).unwrap();
    let nanos: u64 =
        folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(nanos, top.counted.total_ns);
    let page = String::from_utf8(text("svg")).unwrap();
    assert!(page.contains("1,720 CPU samples"), "{}", page.lines().nth(3).unwrap_or_default());
}

#[cfg(feature = "firefox")]
#[test]
fn firefox_knows_modules_methods_and_who_waits() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    let written = converted(&bytes, "firefox", &ConvertOptions::default()).unwrap();
    let profile: Json = serde_json::from_slice(&written).unwrap();
    let libs: Vec<&str> = profile["libs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lib| lib["name"].as_str().unwrap())
        .collect();
    assert!(libs.contains(&"workload") && libs.contains(&"System.Private.CoreLib"), "{libs:?}");
    let categories: Vec<&str> = profile["meta"]["categories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|category| category["name"].as_str().unwrap())
        .collect();
    let mut idle = 0;
    let mut of_modules = 0;
    for thread in profile["threads"].as_array().unwrap() {
        let texts = match thread.get("stringArray") {
            Some(texts) => texts,
            None => &profile["shared"]["stringArray"],
        };
        let text = |number: &Json| texts[number.as_u64().unwrap() as usize].as_str().unwrap();
        let functions = &thread["funcTable"];
        for (name, resource) in functions["name"]
            .as_array()
            .unwrap()
            .iter()
            .zip(functions["resource"].as_array().unwrap())
        {
            let (name, resource) = (text(name), resource.as_i64().unwrap());
            assert!(!name.split('(').next().unwrap().contains('!'), "{name}");
            if name == "Workload.Program.Main" {
                let resources = &thread["resourceTable"];
                assert_eq!(text(&resources["name"][resource as usize]), "workload");
                of_modules += 1;
            }
        }
        let of_frames = thread["frameTable"]["category"].as_array().unwrap();
        let is_idle = |category: &&Json| {
            category.as_u64().is_some_and(|number| categories[number as usize] == "Idle")
        };
        idle += of_frames.iter().filter(is_idle).count();
    }
    assert!(idle > 0 && of_modules > 0, "{idle} {of_modules}");
}
