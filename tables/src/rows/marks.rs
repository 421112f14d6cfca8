//! Makes the rows of what the analysis reports during the pass: samples with their weights, waits
//! for locks, and activities.

use super::{RowPrefix, ids, json};
use crate::options::Sheets;
use crate::schema::{ACTIVITIES, ALLOCATIONS, CONTENTIONS, SAMPLES};
use crate::sheet::Sheet;
use nettrace_analysis::convert::{Convert, ConvertError};
use nettrace_analysis::model::{
    Category, Ends, Model, Moment, SampleTimes, Span, ThreadHandle, TimelineMark,
};
use nettrace_analysis::{Kind, Profile, Resolved, Sample};
use nettrace_parser::Event;
use nettrace_parser::view::{ContentionStart, KnownProvider, View};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of unfinished waits that are kept for a thread. If there are more, events about
/// the ends of waits were lost.
const MAX_OPEN_WAITS: usize = 64;

/// The tables of samples, waits and activities, and data for their rows.
#[derive(Default)]
pub(crate) struct SharedSheets {
    pub(crate) samples: Option<Sheet>,
    pub(crate) contentions: Option<Sheet>,
    pub(crate) activities: Option<Sheet>,
    /// How readings divide the time of samples, once all samples are rows; `None` without readings.
    pub(crate) times: Option<Arc<SampleTimes>>,
    has_allocations: bool,
    prefix: Option<RowPrefix>,
    /// Sample of the current event's allocation, which the analysis reports before the pass sees
    /// the event.
    allocation: Option<Sample>,
    /// Start events of waits that have not ended, which name lock and owner, by thread and time.
    locks: BTreeMap<(ThreadHandle, i64), ContentionStart>,
    text: Vec<u8>,
}

pub(crate) fn shared_of(sheets: &Sheets<'_>) -> io::Result<SharedSheets> {
    Ok(SharedSheets {
        samples: sheets.sheet(&SAMPLES)?,
        contentions: sheets.sheet(&CONTENTIONS)?,
        activities: sheets.sheet(&ACTIVITIES)?,
        has_allocations: sheets.sheet(&ALLOCATIONS)?.is_some(),
        ..SharedSheets::default()
    })
}

impl SharedSheets {
    pub(crate) fn wants_samples(&self) -> bool {
        self.samples.is_some() || self.contentions.is_some() || self.has_allocations
    }

    pub(crate) fn wants_marks(&self) -> bool {
        self.activities.is_some()
    }
}

/// Tables that two parts share: the converter, which gets samples and marks, and the pass, which
/// gets events.
#[derive(Clone)]
pub(crate) struct SharedTables(Arc<Mutex<SharedSheets>>);

impl SharedTables {
    pub(crate) fn new(sheets: SharedSheets, input_id: i64) -> SharedTables {
        let prefix = Some(RowPrefix { input_id, start: None, has_start: false });
        SharedTables(Arc::new(Mutex::new(SharedSheets { prefix, ..sheets })))
    }

    fn lock(&self) -> MutexGuard<'_, SharedSheets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the rows also need events, because only these name the locks of waits.
    pub(crate) fn wants_events(&self) -> bool {
        self.lock().contentions.is_some()
    }

    pub(crate) fn begin(&self, prefix: RowPrefix) {
        self.lock().prefix = Some(prefix);
    }

    /// Remembers the lock of a wait, if the event is the start of one.
    #[inline]
    pub(crate) fn note_lock(&self, event: &Event<'_>, moment: &Moment) {
        if event.known_provider() != KnownProvider::Runtime || event.id() != 81 {
            return;
        }
        let mut shared = self.lock();
        if shared.contentions.is_some()
            && let Some(start) = ContentionStart::from_event(event)
        {
            shared.locks.insert((moment.thread, moment.nanos().unwrap_or(0)), start);
            let of_thread = (moment.thread, i64::MIN)..=(moment.thread, i64::MAX);
            let oldest =
                shared.locks.range(of_thread).rev().nth(MAX_OPEN_WAITS).map(|(key, _)| *key);
            oldest.map(|key| shared.locks.remove(&key));
        }
    }

    pub(crate) fn take_allocation(&self) -> Option<Sample> {
        self.lock().allocation.take()
    }

    pub(crate) fn take(&self) -> SharedSheets {
        std::mem::take(&mut *self.lock())
    }
}

/// Writes samples, waits and activities to the tables.
pub(crate) struct Marks {
    shared: SharedTables,
    /// Table of samples. It is taken out of `shared`, so that no mutex is locked when a sample is
    /// added.
    samples: Option<(Sheet, RowPrefix)>,
    wants_samples: bool,
    wants_marks: bool,
}

impl Marks {
    pub(crate) fn new(shared: SharedTables, wants_samples: bool, wants_marks: bool) -> Marks {
        Marks { shared, samples: None, wants_samples, wants_marks }
    }
}

impl Convert for Marks {
    fn wants_samples(&self) -> bool {
        self.wants_samples
    }

    fn wants_marks(&self) -> bool {
        self.wants_marks
    }

    fn sample(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        let is_cpu = matches!(sample.kind, Kind::Cpu | Kind::OffCpu);
        if is_cpu && let Some((sheet, prefix)) = &mut self.samples {
            add_cpu_sample(sheet, sample, model, *prefix);
            return Ok(());
        }
        let mut shared = self.shared.lock();
        let shared = &mut *shared;
        let Some(prefix) = shared.prefix else { return Ok(()) };
        match sample.kind {
            Kind::Cpu | Kind::OffCpu => {
                if let Some(sheet) = &mut shared.samples {
                    add_cpu_sample(sheet, sample, model, prefix);
                }
                if prefix.has_start {
                    self.samples = shared.samples.take().map(|sheet| (sheet, prefix));
                }
            }
            Kind::AllocationTicks | Kind::AllocationSamples => shared.allocation = Some(*sample),
            Kind::Contention => {
                // The start of the wait is computed from the duration in its stop, so it lies
                // before the time of the start's event by the time that writing the event took.
                let began = (sample.thread, sample.nanos)..=(sample.thread, i64::MAX);
                let key = shared.locks.range(began).next().map(|(key, _)| *key);
                let start = key.and_then(|key| shared.locks.remove(&key));
                if let Some(sheet) = &mut shared.contentions {
                    add_contention(sheet, sample, start, model, prefix);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        let TimelineMark::Span(span) = mark else { return Ok(()) };
        if span.category == Category::Activity {
            let mut shared = self.shared.lock();
            let SharedSheets { activities, text, prefix, .. } = &mut *shared;
            if let (Some(sheet), Some(prefix)) = (activities, *prefix) {
                add_activity(sheet, span, model, prefix, text);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, resolved: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        let mut shared = self.shared.lock();
        shared.times = resolved.sample_times();
        if let Some((sheet, _)) = self.samples {
            shared.samples = Some(sheet);
        }
        Ok(())
    }
}

fn add_cpu_sample(sheet: &mut Sheet, sample: &Sample, model: &Model, prefix: RowPrefix) {
    let (process, thread) = ids(model, sample.thread);
    let has_stack = !model.addresses(sample.stack).is_empty();
    let mut row = sheet.row();
    prefix.begin_row(&mut row, sample.nanos);
    row.count(process);
    row.count(thread);
    if sample.kind == Kind::Cpu {
        row.named(0, "cpu")
    } else {
        row.named(1, "off_cpu")
    }
    row.state(sample.stack, sample.mode);
    row.count(sample.weight);
    row.stack(has_stack.then_some(sample.stack));
    row.flag(model.is_repaired(sample.stack));
    row.ran(sample, thread);
    let bytes = row.end();
    sheet.end_row(bytes);
}

fn add_contention(
    sheet: &mut Sheet,
    sample: &Sample,
    start: Option<ContentionStart>,
    model: &Model,
    prefix: RowPrefix,
) {
    let (process, thread) = ids(model, sample.thread);
    let mut row = sheet.row();
    prefix.begin_row(&mut row, sample.nanos);
    row.count(process);
    row.count(thread);
    row.count(sample.weight);
    row.unsigned(start.as_ref().and_then(|start| start.lock_id));
    let owner = start.as_ref().and_then(|start| start.owner_thread_id);
    row.count(owner.filter(|owner| *owner != 0));
    row.stack(Some(sample.stack));
    row.flag(sample.is_open_wait());
    let bytes = row.end();
    sheet.end_row(bytes);
}

fn add_activity(
    sheet: &mut Sheet,
    span: &Span,
    model: &Model,
    prefix: RowPrefix,
    text: &mut Vec<u8>,
) {
    let (process, thread) = ids(model, span.thread);
    let (_, end_thread) = ids(model, span.end_thread);
    json::write_arguments(text, &span.arguments);
    let mut row = sheet.row();
    prefix.begin_row(&mut row, span.start_nanos);
    row.count(process);
    row.count(thread);
    row.count(end_thread);
    row.text(&*span.name);
    row.count(match span.ends {
        // The duration is unknown.
        Ends::NoStart | Ends::Left | Ends::SharedStop | Ends::NoStop if span.nanos == 0 => None,
        _ => Some(span.nanos),
    });
    row.text(match span.ends {
        Ends::LossBetween => "loss_between",
        Ends::NoStart => "no_start",
        Ends::Left => "left",
        Ends::OpenAtEnd => "open_at_end",
        Ends::SharedStop => "shared_stop",
        Ends::NoStop => "no_stop",
        _ => "known",
    });
    row.bytes(Some(text.as_slice()));
    row.text(&*span.activity_key(model).unwrap_or_default());
    let bytes = row.end();
    sheet.end_row(bytes);
}
