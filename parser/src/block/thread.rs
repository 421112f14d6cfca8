//! Reads thread blocks of version 6 (FORMAT.md 7.6).
//!
//! Rows fill the block up to its end. A row is a u16 size (not counting itself), a varuint64
//! index, and any number of entries in any order: a u8 kind, then 1 name (string), 2 process
//! id (varuint64), 3 OS thread id (varuint64), 4 key and value (two strings).

use super::rows;
use crate::bytes::{Parsed, before, sized_row, string_v6, u8, u16, varuint64};
use crate::damage::BlockDamage;
use crate::error::{Fault, FaultAt, located};
use nom::Parser;

/// Thread of version 6, which may be anything that emits events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Thread {
    /// Index by which events refer to the thread.
    pub index: u64,
    /// Name of the thread; `None` if the stream does not store one.
    pub name: Option<Box<str>>,
    /// OS process id; `None` if the stream does not store one.
    pub process_id: Option<u64>,
    /// OS thread id, which threads with different indexes may share. `None` if the stream does
    /// not store one.
    pub os_thread_id: Option<u64>,
    /// Further keys and values, in stored order.
    pub pairs: Vec<(Box<str>, Box<str>)>,
}

/// One entry of a thread's row. Texts are UTF-8, unless the writer made a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadEntry<'a> {
    /// Name of the thread.
    Name(&'a [u8]),
    /// OS id of the thread's process.
    ProcessId(u64),
    /// OS id of the thread.
    OsThreadId(u64),
    /// A further key and its value.
    Pair(&'a [u8], &'a [u8]),
}

impl Thread {
    /// Stores an entry's value; if a kind occurs twice, the last entry wins.
    fn apply(&mut self, entry: ThreadEntry<'_>) {
        let text = |bytes: &[u8]| -> Box<str> { String::from_utf8_lossy(bytes).into() };
        match entry {
            ThreadEntry::Name(name) => self.name = Some(text(name)),
            ThreadEntry::ProcessId(id) => self.process_id = Some(id),
            ThreadEntry::OsThreadId(id) => self.os_thread_id = Some(id),
            ThreadEntry::Pair(key, value) => self.pairs.push((text(key), text(value))),
        }
    }
}

/// Reads an entry of a thread's row ([FORMAT.md 7.6](crate::format_guide#7.6)), which is
/// a [sized row](sized_row) of a varuint64 index and entries.
///
/// # Errors
/// [`Fault::UnknownEntry`]: entries of unknown kinds have an unknown size, so the rest of the
/// row cannot be read. Also the errors of reading the entry's value.
pub fn entry(input: &[u8]) -> Parsed<'_, ThreadEntry<'_>> {
    let (rest, kind) = u8(input)?;
    match kind {
        1 => string_v6.map(ThreadEntry::Name).parse(rest),
        2 => varuint64.map(ThreadEntry::ProcessId).parse(rest),
        3 => varuint64.map(ThreadEntry::OsThreadId).parse(rest),
        4 => (string_v6, string_v6).map(|(key, value)| ThreadEntry::Pair(key, value)).parse(rest),
        other => FaultAt::error(input, Fault::UnknownEntry(other)),
    }
}

/// Steps over a row, which contains at least an index.
pub(crate) fn next_row(input: &[u8]) -> Parsed<'_, ()> {
    match sized_row(input)? {
        (_, []) => FaultAt::error(input, Fault::RowSize(0)),
        (rest, _) => Ok((rest, ())),
    }
}

/// Returns whether the content of a thread block, `len` bytes long, can begin with these bytes.
pub(crate) fn begins(len: usize, content: &[u8]) -> bool {
    let Ok((rest, size)) = u16(content) else { return false };
    let size = usize::from(size);
    let Ok((entries, _)) = varuint64(rest) else { return false };
    let has_entries = before(rest, entries) < size;
    let is_known = entries.first().is_some_and(|kind| (1..=4).contains(kind));
    size > 0
        && size <= len.saturating_sub(2)
        && before(rest, entries) <= size
        && (!has_entries || is_known)
}

/// Reads all rows of a thread block. If a row has an unknown entry, the entries before it
/// are kept.
pub(crate) fn block(
    content: &[u8],
    damage: &mut BlockDamage<'_>,
    mut define: impl FnMut(usize, Thread, &mut BlockDamage<'_>),
) {
    rows::read_each(content, content, "thread row", damage, sized_row, |at, row, damage| {
        let row_at = at.saturating_add(2);
        let (rest, index) = match varuint64(row) {
            Ok(done) => done,
            Err(error) => {
                let fault = located(row, error).fault;
                return damage.add_lost_row(row_at, row.len(), "thread row", fault);
            }
        };
        let mut thread = Thread { index, ..Thread::default() };
        let entries_at = row_at.saturating_add(before(row, rest));
        rows::read_entries(rest, entries_at, "thread entry", damage, entry, |_, entry, _| {
            thread.apply(entry);
        });
        define(row_at, thread, damage);
    });
}
