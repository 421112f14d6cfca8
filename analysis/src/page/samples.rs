//! Samples of a page: columns with one value for each row.

use super::call_nodes::CallNodeColumns;
use crate::hash::HashMap;
use crate::html::Columns;
use crate::model::{
    EndpointSpans, Kind, Resolved, StackHandle, ThreadState, UNKNOWN_ENDPOINT, WaitFor,
};
use crate::numbering::Numbering;
use crate::over_time::{KeyedSample, SampleKey, SampleRows};
use crate::report::waiting_call;
use serde_json::{Value, json};

/// Returns the page's number for the state of a sample: 0 managed, 1 native, 2 waiting, 3 ready. A
/// thread that takes a lock counts as managed, because it spins in managed code.
fn state_number(state: ThreadState) -> u64 {
    match state {
        ThreadState::Managed | ThreadState::TakingLock => 0,
        ThreadState::Native => 1,
        ThreadState::Waiting => 2,
        ThreadState::Ready => 3,
    }
}

/// A value of each key of samples, which is computed at its first use.
struct ByKey<'k, V> {
    keys: &'k [SampleKey],
    values: Vec<Option<V>>,
}

impl<'k, V: Copy> ByKey<'k, V> {
    fn new(keys: &'k [SampleKey]) -> ByKey<'k, V> {
        ByKey { keys, values: vec![None; keys.len()] }
    }

    /// Returns the value of a row's key; `None` if there is no such key.
    fn get(&mut self, row: &KeyedSample, value: impl FnOnce(&SampleKey) -> V) -> Option<V> {
        let place = row.key as usize;
        let known = self.values.get_mut(place)?;
        if known.is_none() {
            *known = self.keys.get(place).map(value);
        }
        *known
    }
}

/// Writes the samples of a kind that pass the filter, and the endpoints of their requests. Returns
/// what the document says about the kind: among others labels, the kinds of waits of the threads, and
/// the calls in which they waited for requests. `name`: the name of the kind's columns.
pub(super) fn write_samples(
    (kind, name): (Kind, &str),
    mut samples: SampleRows,
    served: &EndpointSpans,
    resolved: &Resolved<'_>,
    nodes: &mut CallNodeColumns,
    columns: &mut Columns,
) -> Value {
    let mut rows = std::mem::take(&mut samples.rows);
    let keys = samples.keys();
    let mut admitted = ByKey::new(keys);
    rows.retain(|row| {
        admitted.get(row, |key| resolved.admits(key.stack, key.mode)).unwrap_or_default()
    });
    let rows = rows.as_slice();
    columns.add_steps(format!("{name}.t"), rows.iter().map(|row| row.nanos));
    columns.add(format!("{name}.weight"), rows.iter().map(|row| row.weight));
    let thread = |row: &KeyedSample| keys.get(row.key as usize).map_or(0, |key| key.thread.0);
    columns.add(format!("{name}.thread"), rows.iter().map(|row| u64::from(thread(row))));
    let mut leaves = ByKey::new(keys);
    let leaf = |key: &SampleKey| match key.is_rest() {
        true => nodes.rest(),
        false => {
            let stack = resolved.sample_stack(key.stack, key.mode);
            nodes.leaf(stack.0, resolved.frames(stack))
        }
    };
    let mut leaf = leaf;
    let of_rows = rows.iter().map(|row| leaves.get(row, &mut leaf).unwrap_or(0).into());
    columns.add(format!("{name}.node"), of_rows);
    if kind == Kind::Cpu {
        let mut states = ByKey::new(keys);
        let state = |key: &SampleKey| state_number(resolved.state(key.stack, key.mode));
        let of_rows = rows.iter().map(|row| states.get(row, state).unwrap_or_default());
        columns.add(format!("{name}.state"), of_rows);
    }
    if rows.iter().any(|row| row.count != 1) {
        columns.add(format!("{name}.count"), rows.iter().map(|row| row.count));
    }
    if rows.iter().any(|row| row.samples != 1) {
        columns.add(format!("{name}.samples"), rows.iter().map(|row| row.samples.into()));
    }
    let label = |key: &SampleKey| key.label.map(|label| resolved.model().text(label));
    let labels = write_words(format!("{name}.label"), rows, keys, label, columns);
    let mut about = json!({ "name": kind.name(), "unit": kind.unit(), "labels": labels });
    let endpoints = endpoints_of(rows, keys, served, resolved);
    if endpoints.iter().any(|at| *at > 0) {
        columns.add(format!("{name}.endpoint"), endpoints.iter().map(|at| u64::from(*at)));
    }
    if kind == Kind::Cpu
        && let Some(about) = about.as_object_mut()
    {
        let waits_for = |key: &SampleKey| match key.is_rest() {
            true => None,
            false => resolved.waits_for(key.stack, key.mode).map(WaitFor::name),
        };
        let waits = write_words("cpu.for".to_owned(), rows, keys, waits_for, columns);
        about.insert("waits_for".to_owned(), json!(waits));
        about.insert("calls".to_owned(), write_calls(rows, keys, &endpoints, resolved, columns));
        let is_recording = |row: &&KeyedSample| {
            keys.get(row.key as usize).is_some_and(|key| resolved.is_recording(key.stack))
        };
        // Percentages of the page leave out the node's time.
        if let Some(node) = rows.iter().find(is_recording).and_then(|row| leaves.get(row, |_| 0)) {
            about.insert("recording".to_owned(), json!(node));
        }
    }
    about
}

/// Returns the number of the endpoint for whose request the thread of each row worked, from 1; 0 if
/// it worked for none.
fn endpoints_of(
    rows: &[KeyedSample],
    keys: &[SampleKey],
    served: &EndpointSpans,
    resolved: &Resolved<'_>,
) -> Vec<u32> {
    let mut threads = ByKey::new(keys);
    let of_thread = |key: &SampleKey| {
        Some(served.of_thread(resolved.model().thread(key.thread)?.os_thread_id?))
    };
    let endpoint = |row: &KeyedSample| {
        let endpoint = served.endpoint_of(threads.get(row, of_thread)??.at(row.nanos)?);
        let endpoint = Some(endpoint).filter(|at| *at != UNKNOWN_ENDPOINT);
        resolved.served_by(keys.get(row.key as usize)?.stack, endpoint)
    };
    let mut endpoint = endpoint;
    rows.iter().map(|row| endpoint(row).map_or(0, |at| at.saturating_add(1))).collect()
}

/// Writes the numbers of the calls in which threads waited for requests, and returns the calls. The
/// number 0 says that there is none.
fn write_calls(
    rows: &[KeyedSample],
    keys: &[SampleKey],
    endpoints: &[u32],
    resolved: &Resolved<'_>,
    columns: &mut Columns,
) -> Value {
    let mut calls = Numbering::default();
    let mut known: HashMap<StackHandle, u64> = HashMap::default();
    let mut of_keys = ByKey::new(keys);
    let mut call_of = |key: &SampleKey| {
        if key.is_rest() || !resolved.is_waiting(key.stack, key.mode) {
            return 0;
        }
        let stack = resolved.sample_stack(key.stack, key.mode);
        *known
            .entry(stack)
            .or_insert_with(|| calls.id(waiting_call(resolved, resolved.frames(stack))).0)
    };
    let number = |(row, endpoint): (&KeyedSample, &u32)| match endpoint {
        0 => 0,
        _ => of_keys.get(row, &mut call_of).unwrap_or_default(),
    };
    let numbers: Vec<u64> = rows.iter().zip(endpoints).map(number).collect();
    let calls = calls.into_values();
    if !calls.is_empty() {
        columns.add("cpu.call", numbers);
    }
    calls.into_iter().map(|(call, by)| json!({ "call": call, "by": by })).collect()
}

/// Writes a column of numbers of the words of rows, and returns the words. The number 0 says that
/// there is no word, and 1 is the first word. Without any word there is no column.
fn write_words<'w>(
    column: String,
    rows: &[KeyedSample],
    keys: &[SampleKey],
    word: impl Fn(&SampleKey) -> Option<&'w str>,
    columns: &mut Columns,
) -> Vec<&'w str> {
    let mut known = Numbering::default();
    let mut numbers = ByKey::new(keys);
    let mut number = |key: &SampleKey| word(key).map_or(0, |word| known.id(word).0);
    // Most kinds of samples have no words.
    let is_any = rows.iter().any(|row| numbers.get(row, &mut number).is_some_and(|at| at > 0));
    if is_any {
        columns
            .add(column, rows.iter().map(|row| numbers.get(row, &mut number).unwrap_or_default()));
    }
    known.into_values()
}
