//! Helpers that make streams for tests, and read them.

#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test file uses its part")]

use flate2::read::GzDecoder;
use nettrace_analysis::convert::{Convert, ConvertError, ConvertOptions, Format};
use nettrace_analysis::model::{Model, TimelineMark};
use nettrace_analysis::{
    Analysis, AnalysisOptions, Filter, Finished, Kind, NameStyle, Profile, Resolved,
};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Value, Version,
};
use std::io::Read;
use std::sync::mpsc;

/// Returns the goldens of the reference reader with an ending: name of the trace, text, and bytes
/// of the trace. Every file of the goldens is compared.
pub fn goldens(ending: &str) -> Vec<(String, String, Vec<u8>)> {
    let folder = corpus::shared().join("golden");
    let mut found = Vec::new();
    for trace in corpus::traces() {
        let Some(name) = trace.name().strip_suffix(".nettrace") else { continue };
        let Ok(file) = std::fs::File::open(folder.join(format!("{name}{ending}"))) else {
            continue;
        };
        let mut text = String::new();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        found.push((name.to_owned(), text, trace.bytes()));
    }
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|path| path.read_dir().unwrap());
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(found.len(), names.filter(|name| name.ends_with(ending)).count(), "{ending}");
    found
}

pub const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
pub const RUNDOWN: &str = "Microsoft-Windows-DotNETRuntimeRundown";
pub const SAMPLER: &str = "Microsoft-DotNETCore-SampleProfiler";

/// Types of a version 4 stream.
pub const LOAD: usize = 0;
pub const UNLOAD: usize = 1;
pub const AT_END: usize = 2;
pub const SAMPLE: usize = 3;
pub const MODULE: usize = 4;
pub const SAMPLED: usize = 5;
pub const TICK: usize = 6;
pub const THROWN: usize = 7;
pub const LOCK: usize = 8;
pub const LOCKED: usize = 9;
pub const ENTRY: usize = 10;
pub const ASSEMBLY: usize = 11;
pub const DOMAIN: usize = 12;
pub const OBJECTS: usize = 13;

pub fn native(provider: &str, event_id: u32, version: u8) -> EventType {
    EventType { provider: provider.into(), event_id, version, ..EventType::default() }
}

pub fn session(steps: Vec<Step>) -> Session {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        native(RUNTIME, 143, 1),
        native(RUNTIME, 144, 1),
        native(RUNDOWN, 144, 1),
        native(SAMPLER, 0, 0),
        native(RUNDOWN, 154, 1),
        native(RUNTIME, 303, 0),
        native(RUNTIME, 10, 2),
        native(RUNTIME, 80, 1),
        native(RUNTIME, 81, 1),
        native(RUNTIME, 91, 1),
        native(RUNTIME, 159, 0),
        native(RUNDOWN, 156, 1),
        native(RUNDOWN, 158, 1),
        native(RUNTIME, 18, 0),
    ];
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(99)];
    session.steps = steps;
    session
}

/// Makes an event of thread 99, or about another thread.
pub fn event(
    event_type: usize,
    thread: usize,
    later: u32,
    stack: &[u64],
    values: Vec<Value>,
) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread,
        capture_thread: 2,
        ticks_later: later,
        stack: stack.to_vec(),
        values,
        ..SessionEvent::default()
    })
}

pub fn method(event_type: usize, id: u64, start: u64, size: u32, name: &str) -> Step {
    let text = |text: &str| Value::Text(text.to_owned());
    let (type_name, name) = name.rsplit_once('.').unwrap();
    let values = vec![
        Value::U64(id),
        Value::U64(7),
        Value::U64(start),
        Value::U32(size),
        Value::U32(0x0600_0001),
        Value::U32(8),
        text(type_name),
        text(name),
        text("void  (int32)"),
        Value::U16(0),
    ];
    event(event_type, 2, 1, &[], values)
}

pub fn module() -> Step {
    let path = Value::Text("/x/app.dll".into());
    let none = Value::Text(String::new());
    let values =
        vec![Value::U64(7), Value::U64(1), Value::U32(0), Value::U32(0), path, none, Value::U16(0)];
    event(MODULE, 2, 1, &[], values)
}

pub fn sample(thread: usize, later: u32, stack: &[u64]) -> Step {
    event(SAMPLE, thread, later, stack, vec![Value::U32(2)])
}

pub fn read(session: &Session, options: AnalysisOptions) -> Finished {
    let bytes = session.record().stream.bytes;
    let mut analysis = Analysis::new(options);
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap()
}

/// Returns the marks of a trace that were complete before its end, and the others. A damaged trace
/// is read as far as possible.
pub fn marks_of(bytes: &[u8]) -> (Vec<TimelineMark>, Vec<TimelineMark>) {
    struct Marks(mpsc::Sender<TimelineMark>);

    impl Convert for Marks {
        fn wants_samples(&self) -> bool {
            false
        }

        fn wants_marks(&self) -> bool {
            true
        }

        fn mark(&mut self, mark: &TimelineMark, _: &Model) -> Result<(), ConvertError> {
            self.0.send(mark.clone()).unwrap();
            Ok(())
        }

        fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
            Ok(())
        }
    }

    let (sender, marks) = mpsc::channel();
    let mut options = AnalysisOptions::default();
    options.has_sampler_pauses = true;
    let mut analysis = Analysis::new(options);
    analysis.add(Box::new(Marks(sender)));
    let _ = analysis.read(&mut Reader::from_slice(bytes).time_ordered());
    let complete = marks.try_iter().collect();
    analysis.finish().unwrap();
    (complete, marks.iter().collect())
}

pub fn of_kinds(kinds: &[Kind]) -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.kinds = kinds.to_vec();
    options
}

/// Returns options with which the work of the recording has its own methods.
pub fn with_recording() -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.folding.is_recording = Some(false);
    options
}

pub fn filtered(filter: Filter) -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.filter = filter;
    options
}

pub fn full_names() -> AnalysisOptions {
    let mut options = AnalysisOptions::default();
    options.names.style = NameStyle::Full;
    options
}

pub fn folded_with(
    session: &Session,
    options: AnalysisOptions,
    convert: &ConvertOptions,
) -> String {
    let bytes = session.record().stream.bytes;
    let mut out = Vec::new();
    let mut analysis = Analysis::new(options);
    analysis.add_format(Format::by_name("folded").unwrap(), &mut out, convert);
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    analysis.finish().unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the guid of an activity path such as `//1/2`, from its nibbles; without any, no id.
pub fn path(nibbles: [u8; 4]) -> [u8; 16] {
    let mut id = [0; 16];
    if nibbles != [0; 4] {
        id[..4].copy_from_slice(&nibbles);
        let sum = u32::from_le_bytes(nibbles).wrapping_add(0x599d_99ad);
        id[12..].copy_from_slice(&sum.to_le_bytes());
    }
    id
}
