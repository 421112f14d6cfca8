//! Tests of traces that have more rows than a row group. Their tables wait in temporary files until
//! the trace ends, because ids of stacks are known only then.

use crate::memory_files::{MemoryFiles, of_tables, rows_of, text, whole};
use nettrace_parser::Reader;
use nettrace_tables::{MakeSpill, Table, TableOptions, TablePass, TableRows};
use nettrace_testdata::synth::{
    EventType, FieldType, Session, SessionEvent, SessionThread, SessionWriter, Step, Value, Version,
};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of rows in a row group. docs/fleet.md says that it is about a million.
const MAX_GROUP_ROWS: i64 = 1 << 20;
const THREADS: u64 = 3;
const METHODS: u64 = 7;
const MANAGED: u32 = 2;
const EXTERNAL: u32 = 1;

/// Returns a function that makes temporary files, and their number. They are deleted when they are
/// closed.
fn counting_spill() -> (MakeSpill, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let made = Arc::clone(&count);
    let spill: MakeSpill = Arc::new(move || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let name = format!("nettrace-tables-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = File::options().create_new(true).read(true).write(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(file)
    });
    (spill, count)
}

fn tables(names: &[&str]) -> Vec<&'static Table> {
    names.iter().map(|name| Table::by_name(name).unwrap()).collect()
}

/// Returns the file of each table, and the numbers of rows.
fn read(
    bytes: &[u8],
    options: &TableOptions,
    spill: MakeSpill,
) -> (BTreeMap<String, Vec<u8>>, TableRows) {
    let mut pass = TablePass::new(7, options, spill).unwrap();
    let outcome = pass.read(&mut Reader::from_slice(bytes).time_ordered()).unwrap();
    assert!(outcome.is_complete);
    let mut files = MemoryFiles::default();
    let written = pass.finish(&mut files).unwrap();
    (files.all(), written)
}

fn open(files: &BTreeMap<String, Vec<u8>>, table: &str) -> SerializedFileReader<bytes::Bytes> {
    SerializedFileReader::new(bytes::Bytes::from(files[table].clone())).unwrap()
}

fn rows_of_groups(file: &SerializedFileReader<bytes::Bytes>) -> Vec<i64> {
    file.metadata().row_groups().iter().map(|group| group.num_rows()).collect()
}

/// Calls `each` with the values of the column `name` in each row group, in order.
fn columns(
    file: &SerializedFileReader<bytes::Bytes>,
    name: &str,
    mut each: impl FnMut(ColumnReader, usize),
) {
    let schema = file.metadata().file_metadata().schema_descr();
    let at = schema.columns().iter().position(|column| column.name() == name).unwrap();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).unwrap();
        let rows = group.metadata().num_rows() as usize;
        each(group.get_column_reader(at).unwrap(), rows);
    }
}

/// Returns the integers of a column without nulls.
fn wholes(file: &SerializedFileReader<bytes::Bytes>, name: &str) -> Vec<i64> {
    let mut all = Vec::new();
    columns(file, name, |reader, rows| {
        let ColumnReader::Int64ColumnReader(mut reader) = reader else { panic!("{name}") };
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let read = reader.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
        assert_eq!((read.0, values.len()), (rows, rows), "{name}");
        all.extend(values);
    });
    all
}

fn texts(file: &SerializedFileReader<bytes::Bytes>, name: &str) -> Vec<ByteArray> {
    let mut all = Vec::new();
    columns(file, name, |reader, rows| {
        let ColumnReader::ByteArrayColumnReader(mut reader) = reader else { panic!("{name}") };
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let read = reader.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
        assert_eq!((read.0, values.len()), (rows, rows), "{name}");
        all.extend(values);
    });
    all
}

fn native(provider: &str, event_id: u32, version: u8) -> EventType {
    EventType { provider: provider.into(), event_id, version, ..EventType::default() }
}

fn writer(types: Vec<EventType>) -> SessionWriter<Vec<u8>> {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = types;
    session.threads = (0..THREADS).map(|at| SessionThread::new(100 + at)).collect();
    SessionWriter::new(session, Vec::new()).unwrap()
}

fn event(event_type: usize, thread: u64, stack: &[u64], values: Vec<Value>) -> Step {
    Step::Event(SessionEvent {
        event_type,
        thread: thread as usize,
        ticks_later: 1000,
        stack: stack.to_vec(),
        values,
        ..SessionEvent::default()
    })
}

/// Writes a stream of samples, one in each microsecond. Stack, thread and state follow from the
/// index of a sample.
fn samples(count: u64) -> Vec<u8> {
    let rundown = "Microsoft-Windows-DotNETRuntimeRundown";
    let mut writer =
        writer(vec![native("Microsoft-DotNETCore-SampleProfiler", 0, 0), native(rundown, 144, 1)]);
    for at in 0..count {
        let stack = [0x1000 * (1 + at % METHODS) + 1];
        let state = if at.is_multiple_of(5) { EXTERNAL } else { MANAGED };
        writer.step(event(0, at % THREADS, &stack, vec![Value::U32(state)])).unwrap();
    }
    for method in 0..METHODS {
        let text = |text: &str| Value::Text(text.to_owned());
        let values = vec![
            Value::U64(method + 1),
            Value::U64(7),
            Value::U64(0x1000 * (1 + method)),
            Value::U32(0x100),
            Value::U32(0x0600_0001),
            Value::U32(8),
            text("T"),
            text(&format!("M{method}")),
            text("void  ()"),
            Value::U16(0),
        ];
        writer.step(event(1, 0, &[], values)).unwrap();
    }
    writer.finish().unwrap().out
}

#[test]
fn a_trace_of_more_rows_than_a_row_group_has_is_written_whole_through_a_temporary_file() {
    // The count is no multiple of the rows of a batch, a page or a row group.
    let count = MAX_GROUP_ROWS as u64 + 15_001;
    let bytes = samples(count);
    let (spill, made) = counting_spill();
    let wanted = tables(&["events", "samples", "stacks", "frames"]);
    let mut options = of_tables(&wanted);
    options.has_payload = false;
    let (files, written) = read(&bytes, &options, spill);
    let rows: BTreeMap<&str, u64> =
        written.tables.iter().map(|(name, rows)| (name.as_str(), *rows)).collect();
    assert_eq!((rows["events"], rows["samples"]), (count + METHODS, count));
    // Each of the two long tables has a temporary file.
    assert_eq!(made.load(Ordering::Relaxed), 2);

    // Names of stacks are joined by ids, as in a query.
    let frames: BTreeMap<i64, String> = rows_of(&files, "frames")
        .iter()
        .map(|row| (whole(row, "frame_id").unwrap(), text(row, "text").unwrap().to_owned()))
        .collect();
    let stacks: BTreeMap<i64, &String> = rows_of(&files, "stacks")
        .iter()
        .map(|row| (whole(row, "stack_id").unwrap(), &frames[&whole(row, "frame_id").unwrap()]))
        .collect();
    assert_eq!(stacks.len() as u64, METHODS);

    for (table, more) in [("events", METHODS as i64), ("samples", 0)] {
        let file = open(&files, table);
        let rows = count as i64 + more;
        let groups = rows_of_groups(&file);
        assert_eq!(groups.iter().sum::<i64>(), rows, "{table}");
        // A row group ends with a batch of rows.
        assert!(
            groups.len() == 2 && (MAX_GROUP_ROWS..MAX_GROUP_ROWS + 4096).contains(&groups[0]),
            "{groups:?}"
        );
        let times = wholes(&file, "time_ns");
        let mut order: Vec<usize> = (0..times.len()).collect();
        // The row of a sample is written when the thread's next sample comes.
        order.sort_by_key(|at| times[*at]);
        let threads = wholes(&file, "thread_id");
        let states = (table == "samples").then(|| texts(&file, "state"));
        let mut ids = Vec::new();
        columns(&file, "stack_id", |reader, rows| {
            let ColumnReader::Int64ColumnReader(mut reader) = reader else { panic!("{table}") };
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            reader.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
            let mut values = values.into_iter();
            ids.extend(levels.iter().map(|level| (*level == 1).then(|| values.next().unwrap())));
        });
        assert_eq!(
            (times.len(), threads.len(), ids.len()),
            (rows as usize, rows as usize, rows as usize)
        );
        for (number, at) in order.into_iter().enumerate().take(count as usize) {
            let number = number as u64;
            let context = || format!("{table}, row {at}, sample {number}");
            assert_eq!(times[at] - times[0], 1000 * number as i64, "{}", context());
            assert_eq!(threads[at] as u64, 100 + number % THREADS, "{}", context());
            let name = stacks[&ids[at].unwrap()];
            let method = format!("T.M{}(", number % METHODS);
            assert!(name.contains(&method), "{}: {name}", context());
            if let Some(states) = &states {
                let state: &[u8] = if number.is_multiple_of(5) { b"native" } else { b"managed" };
                assert_eq!(states[at].data(), state, "{}", context());
            }
        }
        // Events of methods have no stacks.
        assert!(ids[count as usize..].iter().all(Option::is_none), "{table}");
    }
}

/// Returns a text that cannot be compressed, and is different for each number.
fn noise(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{state:016x}")
    };
    (0..100).map(next).collect()
}

#[test]
fn pages_of_large_texts_wait_in_the_temporary_file_and_come_back_in_their_order() {
    let count = 40_000;
    let message = EventType::new("Demo", 1, "Message").field("text", FieldType::Text);
    let mut writer = writer(vec![message]);
    for at in 0..count {
        writer.step(event(0, at % THREADS, &[], vec![Value::Text(noise(at))])).unwrap();
    }
    let bytes = writer.finish().unwrap().out;
    let (spill, made) = counting_spill();
    let (files, _) = read(&bytes, &of_tables(&tables(&["events"])), spill);
    assert_eq!(made.load(Ordering::Relaxed), 1);
    let file = open(&files, "events");
    assert_eq!(rows_of_groups(&file), [40_000]);
    let payloads = texts(&file, "payload");
    assert_eq!(payloads.len() as u64, count);
    for (at, payload) in payloads.iter().enumerate() {
        let expected = format!("{{\"text\":\"{}\"}}", noise(at as u64));
        assert_eq!(payload.data(), expected.as_bytes(), "row {at}");
    }
}
