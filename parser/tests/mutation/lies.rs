//! Measures how often the reader finds no fault in a damaged trace: mutants of recorded traces are
//! compared with the original.
//!
//! A mutant lies if the reader finds no damage and an end mark, but more than 1 % of the events are
//! wrong or missing. Overwritten bytes themselves (a payload, an address of a stack, a name) are
//! not compared, because no reader could know that they are wrong. All other facts of all events
//! are compared.
//!
//! `PROPTEST_CASES=1024 cargo test -p nettrace-parser --test mutation -- --nocapture lies` prints
//! the table of `parser/fuzz/README.md`, with the traces of `NETTRACE_SHARED`. `SEED` chooses other
//! mutants.

use crate::change::EXTREMES;
use crate::random::Random;
use nettrace_parser::{BlockKind, Event, Item, Reader, Version, raw};
use nettrace_testdata::{cases, corpus};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{Range, RangeInclusive};

/// An undamaged stream and the positions of its parts.
#[derive(Default)]
pub(crate) struct Sound {
    pub(crate) name: String,
    is_v6: bool,
    pub(crate) bytes: Vec<u8>,
    events: Vec<Told>,
    /// Positions of bytes of framing, of headers of blocks and rows, of sizes, counts and ids.
    structure: Vec<usize>,
    /// Position and size in bytes of each field with a length or a count.
    lengths: Vec<(usize, usize)>,
    /// Positions of definitions. Bytes overwritten there may change names.
    metadata: Vec<Range<usize>>,
    /// Positions of the addresses of stacks, each with their hash.
    stacks: Vec<(Range<usize>, u64)>,
    /// Start, start of the content, and end of each block except the first.
    blocks: Vec<(usize, usize, usize)>,
}

/// Facts of an event that are compared.
#[derive(Clone)]
struct Told {
    offset: u64,
    payload: Range<usize>,
    row: u64,
    /// Time and sequence number, which compressed headers store as differences to the previous
    /// header.
    counted: (u64, u32),
    /// Range of times in the header of the event's block.
    within: RangeInclusive<u64>,
    content: u64,
    stack: u64,
    event_type: u64,
    is_defined: bool,
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Told {
    fn by(event: &Event<'_>) -> Told {
        let at = event.payload_offset() as usize;
        let ids = (event.metadata_id(), event.raw_thread(), event.capture_thread());
        let place = (event.processor(), event.payload_size(), event.thread_id());
        Told {
            offset: event.offset(),
            payload: at..at + event.payload().len(),
            row: hash((ids, place)),
            counted: (event.timestamp_ticks(), event.sequence_number()),
            within: 0..=u64::MAX,
            content: hash(event.payload()),
            stack: hash(event.stack().bytes()),
            event_type: hash((event.provider(), event.name(), event.id())),
            is_defined: event.metadata().is_some(),
        }
    }
}

/// Traces that are read if they exist, each up to [`MAX_BYTES`].
const TRACES: [&str; 14] = [
    "net3.1-linux-x64/all.netperf",
    "net10-linux-x64/all.netperf",
    "net3.1-linux-x64/all.nettrace",
    "net3.1-linux-x64/lossy.nettrace",
    "net3.1-linux-x64/killed-1.nettrace",
    "net8-linux-x64/all.nettrace",
    "net9-linux-x64/all.nettrace",
    "net10-linux-x64/all.nettrace",
    "net10-linux-x64/lossy.nettrace",
    "net10-linux-x64/waits.nettrace",
    "net10-linux-x64/samples-only.nettrace",
    "net10-linux-x64/alloc-sampled.nettrace",
    "one-collect-v6/cpu.nettrace",
    "one-collect-v6/cpu-and-switches.nettrace",
];
/// Maximum number of bytes that are read of a trace.
const MAX_BYTES: u64 = 300 << 10;

fn u32_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes(four.try_into().unwrap()) as usize)
}

impl Sound {
    /// Reads whole blocks from the beginning of a trace, and adds an end mark.
    pub(crate) fn from_trace(name: &str) -> Sound {
        let whole = corpus::trace(name).bytes();
        let mut reader = Reader::from_slice(&whole);
        let mut starts = Vec::new();
        while let Some(block) = reader.next_block().expect("it can be read") {
            starts.push(block.offset);
        }
        let (is_v6, is_complete) =
            (matches!(reader.version(), Some(Version::V6 { .. })), reader.is_complete());
        let mut bytes = whole;
        let cut = starts.iter().copied().find(|start| *start > MAX_BYTES);
        // The last block of a killed process is cut.
        if let Some(cut) = cut.or(starts.last().copied().filter(|_| !is_complete)) {
            bytes.truncate(cut as usize);
            bytes.extend_from_slice(if is_v6 { &[0; 4] } else { &[1] });
        }
        let name = name.to_owned();
        let mut sound = Sound { name, is_v6, bytes, ..Sound::default() };
        sound.look();
        sound
    }

    /// Finds the positions of the parts of the stream.
    fn look(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut reader = Reader::from_slice(&bytes);
        let is_v3 = reader.trace().is_ok() && reader.version() == Some(Version::V3);
        // End of the header, if the current block is an event block.
        let mut rows_from = None;
        let mut within = 0..=u64::MAX;
        while let Some(item) = reader.next_item().expect("it can be read") {
            match item {
                Item::Block(block) => {
                    let (start, body) = (block.offset as usize, block.span.start as usize);
                    let end = body + block.content.len();
                    rows_from = None;
                    if block.kind == BlockKind::Trace {
                        continue;
                    }
                    self.blocks.push((start, body, end));
                    self.structure.extend(start..body);
                    self.lengths.push(if self.is_v6 { (start, 3) } else { (body & !3, 4) });
                    if !self.is_v6 {
                        // The size is before the padding.
                        let name = u32_at(&bytes, start + 11);
                        *self.lengths.last_mut().unwrap() = (start + 16 + name, 4);
                    }
                    match block.kind {
                        BlockKind::Event if is_v3 => rows_from = Some(body),
                        BlockKind::Event => {
                            self.structure.extend(body..body + 20);
                            rows_from = Some(body + 20);
                            let (_, header) = raw::event_block_header(block.content).unwrap();
                            within = header.min_ticks as u64..=header.max_ticks as u64;
                        }
                        BlockKind::Stack => self.look_at_stacks(&bytes, body, end),
                        kind => {
                            self.structure.extend(body..end);
                            if kind == BlockKind::Metadata {
                                self.metadata.push(body..end);
                            }
                        }
                    }
                }
                Item::Event(event) => {
                    let told = Told { within: within.clone(), ..Told::by(&event) };
                    assert!(rows_from.is_some_and(|from| from <= told.offset as usize));
                    let row = told.offset as usize..told.payload.start;
                    if row.len() >= 44 {
                        self.lengths.push((row.start, 4));
                        self.lengths.push((row.end - 4, 4));
                    } else if bytes[row.start] & 0x80 != 0 {
                        self.lengths.push((row.end - 1, 1));
                    }
                    self.structure.extend(row);
                    self.events.push(told);
                }
                other => panic!("neither a block nor an event: {other:?}"),
            }
        }
        assert!(
            reader.is_complete() && reader.damage().findings().is_empty(),
            "{} is sound",
            self.name
        );
        self.bytes = bytes;
    }

    fn look_at_stacks(&mut self, bytes: &[u8], body: usize, end: usize) {
        self.structure.extend(body..body + 8);
        self.lengths.push((body + 4, 4));
        let mut at = body + 8;
        while at < end {
            let addresses = at + 4..at + 4 + u32_at(bytes, at);
            self.structure.extend(at..at + 4);
            self.lengths.push((at, 4));
            at = addresses.end;
            self.stacks.push((addresses.clone(), hash(&bytes[addresses])));
        }
    }

    /// Reads a mutant in which the bytes `touched` differ, and compares its events with the
    /// original.
    fn held_against(&self, mutant: &[u8], touched: &Range<usize>) -> Verdict {
        let touches = |range: &Range<usize>| range.start < touched.end && touched.start < range.end;
        let types_are_touched = self.metadata.iter().any(touches);
        let stacks: HashSet<u64> = self
            .stacks
            .iter()
            .filter(|(range, _)| touches(range))
            .map(|(_, stack)| *stack)
            .collect();
        let mut reader = Reader::from_slice(mutant);
        let mut verdict = Verdict::default();
        let (mut moved, mut moved_by, mut moves) = (0, (0, 0), 3);
        let mut ahead = self.events.iter().peekable();
        let put_in = mutant.len() - self.bytes.len();
        while let Ok(Some(event)) = reader.next_event() {
            let mut found = Told::by(&event);
            if found.offset as usize > touched.start {
                found.offset -= put_in as u64;
            }
            let mut is_right = false;
            while let Some(due) = ahead.next_if(|due| due.offset <= found.offset) {
                let by = (
                    found.counted.0.wrapping_sub(due.counted.0),
                    found.counted.1.wrapping_sub(due.counted.1),
                );
                let is_there = due.offset == found.offset && due.row == found.row;
                // Times and numbers after the overwritten bytes may start from a wrong value. An
                // event is right if its difference to the original is that of the previous event.
                if is_there
                    && by != (0, 0)
                    && by != moved_by
                    && moves > 0
                    && due.payload.end > touched.start
                    && due.within.contains(&found.counted.0)
                {
                    (moved_by, moves) = (by, moves - 1);
                }
                moved += u64::from(by != (0, 0) && by == moved_by);
                is_right = is_there
                    && (by == (0, 0) || by == moved_by && due.within.contains(&found.counted.0))
                    && (due.content == found.content || touches(&due.payload))
                    && (due.stack == found.stack || stacks.contains(&due.stack))
                    && (due.event_type == found.event_type
                        || types_are_touched && found.is_defined);
            }
            verdict.right += u64::from(is_right);
            verdict.others += u64::from(!is_right);
        }
        verdict.moved = moved;
        verdict.missing = (self.events.len() as u64).saturating_sub(verdict.right);
        verdict.notes = reader
            .damage()
            .notes()
            .map(|note| format!("{}: {}", note.context, note.fault))
            .take(3)
            .collect();
        verdict.lost = reader.losses().total();
        verdict.says_whole = !reader.damage().is_damaged() && reader.is_complete();
        verdict
    }

    fn is_lie(&self, verdict: &Verdict) -> bool {
        // A wrong event is missing and another one, but counts once.
        let wrong = verdict.missing.max(verdict.others);
        verdict.says_whole && wrong * 100 > self.events.len() as u64
    }

    fn is_moved(&self, verdict: &Verdict) -> bool {
        verdict.says_whole
            && !self.is_lie(verdict)
            && verdict.moved * 100 > self.events.len() as u64
    }

    fn mark(&self) -> &'static [u8] {
        if self.is_v6 { &[0; 4] } else { &[1] }
    }

    /// Returns a mutant of a class, and the range of bytes that differ.
    pub(crate) fn mutant(&self, class: &str, random: &mut Random) -> (Vec<u8>, Range<usize>) {
        let mut bytes = self.bytes.clone();
        let touched = match class {
            "bit flipped" => {
                let at = *random.one(&self.structure);
                bytes[at] ^= 1 << random.below(8);
                at..at + 1
            }
            "byte set" => {
                let at = *random.one(&self.structure);
                let any = random.next() as u8;
                bytes[at] = *random.one(&[0, 0xff, 0x7f, 0x80, any, any]);
                at..at + 1
            }
            "stretch zeroed" => {
                let from = self.structure[0];
                let end = bytes.len() - 4;
                let start = from + random.below(end - from);
                let most = 16 << random.below(12);
                let range = start..end.min(start + 1 + random.below(most));
                bytes[range.clone()].fill(0);
                range
            }
            "kind changed" => {
                let (start, ..) = *random.one(&self.blocks);
                let at = if self.is_v6 { start + 3 } else { start };
                bytes[at] ^= 1 << random.below(8);
                at..at + 1
            }
            "end mark written" => {
                let (start, ..) = *random.one(&self.blocks);
                let mark = self.mark();
                bytes[start..start + mark.len()].copy_from_slice(mark);
                start..start + mark.len()
            }
            "end mark put in" => {
                let (start, ..) = *random.one(&self.blocks);
                bytes.splice(start..start, self.mark().iter().copied());
                start..start + self.mark().len()
            }
            "block zeroed" => {
                let (start, body, end) = *random.one(&self.blocks);
                let range = if random.below(2) == 0 { start..end } else { body..end };
                bytes[range.clone()].fill(0);
                range
            }
            _ => {
                let (at, width) = *random.one(&self.lengths);
                let right = u32_at(&bytes, at);
                let wrong = match random.below(4) {
                    0 => *random.one(&EXTREMES),
                    1 => right as u32 ^ (1 << random.below(8 * width)),
                    2 => (right as u32).wrapping_add(1 + random.below(40) as u32),
                    _ => (right as u32).wrapping_sub(1 + random.below(40) as u32),
                };
                bytes[at..at + width].copy_from_slice(&wrong.to_le_bytes()[..width]);
                at..at + width
            }
        };
        (bytes, touched)
    }
}

/// Result of reading a mutant.
#[derive(Default, Debug)]
struct Verdict {
    right: u64,
    others: u64,
    missing: u64,
    /// Number of right events whose time or sequence number was computed from an overwritten one.
    moved: u64,
    says_whole: bool,
    /// Findings that are notes, not damage.
    notes: Vec<String>,
    lost: u64,
}

pub(crate) const CLASSES: [&str; 8] = [
    "bit flipped",
    "byte set",
    "stretch zeroed",
    "length wrong",
    "kind changed",
    "end mark written",
    "end mark put in",
    "block zeroed",
];

/// Counts of the results of a class of mutants.
#[derive(Default, Clone, Copy, Debug)]
struct Sum {
    mutants: u64,
    lies: u64,
    moved: u64,
    events: u64,
    right: u64,
}

/// Returns the beginnings of the [`TRACES`] that exist.
pub(crate) fn sounds() -> impl Iterator<Item = Sound> {
    let found = corpus::all();
    let is_there = move |name: &&str| found.iter().any(|trace| trace.name() == *name);
    TRACES.into_iter().filter(is_there).map(Sound::from_trace)
}

/// Reads `count` mutants of each class of each trace, and sums them by version and class.
fn sums(count: u32, mut show: impl FnMut(&str)) -> BTreeMap<(&'static str, &'static str), Sum> {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let mut random = Random(seed.unwrap_or(2026));
    let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for sound in sounds() {
        let version = if sound.is_v6 { "V6" } else { "V3–V5" };
        for class in CLASSES {
            // Fewer traces are of version 6.
            for _ in 0..if sound.is_v6 { 3 * count } else { count } {
                let (bytes, touched) = sound.mutant(class, &mut random);
                if bytes == sound.bytes {
                    continue;
                }
                let verdict = sound.held_against(&bytes, &touched);
                let is_lie = sound.is_lie(&verdict);
                if is_lie {
                    show(&format!("{}, {class} at {touched:?}: {verdict:?}", sound.name));
                }
                let sum = sums.entry((version, class)).or_default();
                sum.mutants += 1;
                sum.lies += u64::from(is_lie);
                sum.moved += u64::from(sound.is_moved(&verdict));
                sum.events += sound.events.len() as u64;
                sum.right += verdict.right;
            }
        }
    }
    sums
}

fn table(sums: &BTreeMap<(&'static str, &'static str), Sum>) -> String {
    let mut table =
        "| version | class | mutants | wrong at exit 0 | | times or numbers moved at exit 0 | recovered |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut row = |version: &str, class: &str, sum: &Sum| {
        let (lies, recovered) = (
            100.0 * sum.lies as f64 / sum.mutants as f64,
            100.0 * sum.right as f64 / sum.events as f64,
        );
        let Sum { mutants, lies: count, moved, .. } = sum;
        table += &format!(
            "| {version} | {class} | {mutants} | {count} | {lies:.2} % | {moved} | {recovered:.1} % |\n"
        );
    };
    for version in ["V3–V5", "V6"] {
        let mut all = Sum::default();
        for ((_, class), sum) in sums.iter().filter(|((of, _), _)| *of == version) {
            row(version, class, sum);
            all.mutants += sum.mutants;
            all.lies += sum.lies;
            all.moved += sum.moved;
            all.events += sum.events;
            all.right += sum.right;
        }
        row(version, "all", &all);
    }
    table
}

/// Reads mutants of a fixed seed, so that the numbers depend on the reader alone. The table of
/// `parser/fuzz/README.md` has one in 500, from four times as many mutants and more traces.
#[test]
fn at_most_one_mutant_in_250_passes_for_whole_though_its_events_are_wrong() {
    let one_in = if corpus::shared_folder().is_some() { 500 } else { 250 };
    let sums = sums(cases(15), |lie| println!("{lie}"));
    println!("{}", table(&sums));
    for of_version in ["V3–V5", "V6"] {
        let all = || sums.iter().filter(|((version, _), _)| *version == of_version);
        let lies: u64 = all().map(|(_, sum)| sum.lies).sum();
        let mutants: u64 = all().map(|(_, sum)| sum.mutants).sum();
        assert!(mutants > 0 && lies * one_in <= mutants, "{of_version}: {lies} of {mutants}");
    }
}
