//! One pass over a trace that fills its tables.

use crate::options::TableOptions;
use crate::rows::code;
use crate::rows::events::EventRows;
use crate::rows::marks::{Marks, Shared, shared_of};
use crate::rows::thrown::exception;
use crate::rows::{self, Place};
use crate::schema::{
    ACTIVITIES, ALLOCATIONS, CONTENTIONS, COUNTERS, EVENTS, EXCEPTIONS, FRAMES, GCS, JIT, LOGS,
    METHODS, SAMPLES, STACKS, THREADS,
};
use crate::sheet::{Ending, Sheet};
use crate::wide::Wide;
use nettrace_analysis::report::{
    Counters, Gc, Jit, Logs, Moment, Report, ReportInput, ReportPass, Reports, Resolving,
};
use nettrace_analysis::{AnalysisOptions, Kind, Model, StackHandle};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered, Trace};
use std::io::{self, Write};

/// Messages that are kept before they become rows.
const MOST_MESSAGES: u32 = 1024;

/// Where the files of a trace go.
pub trait Destination {
    /// Creates the file of a table. Only called for tables with rows. A table of one event
    /// type has a file for each layout of its payload, whose name ends in `part`; it is
    /// empty for all others.
    ///
    /// # Errors
    /// If it cannot be created.
    fn create(&mut self, table: &str, part: &str) -> io::Result<Box<dyn Write + Send>>;
}

/// Fills the tables of one trace.
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct TablePass {
    pass: ReportPass<Observers>,
}

/// The tables of a trace that were written, and their rows.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
#[must_use = "a trace that is cut or damaged gives tables without an error"]
pub struct TableRows {
    /// Name of each table that has rows, and their number.
    pub tables: Vec<(String, u64)>,
    /// Events of [`TableOptions::wide`] without a row, because a trace has at most 256 layouts
    /// of payloads with files of their own.
    pub wide_left_out: u64,
    /// For each pattern of [`TableOptions::wide`], whether the trace has such an event.
    pub wide_matched: Vec<bool>,
    /// How reading went. If the trace is truncated or damaged, tables lack rows. `None` if
    /// the events were passed one by one.
    pub outcome: Option<Outcome>,
}

impl TablePass {
    /// A pass for the trace `input_id`.
    ///
    /// # Errors
    /// If a schema cannot be made.
    pub fn new(input_id: i64, options: &TableOptions) -> io::Result<TablePass> {
        let (patterns, make_spill) = options.wide_events();
        let shared = shared_of(options)?;
        let (wants_samples, wants_marks) = (shared.wants_samples(), shared.wants_marks());
        let shared = Shared::new(shared, input_id);
        let observers = Observers {
            place: Place { input_id, start: None, has_start: false },
            wants_samples: wants_samples || wants_marks,
            events: options
                .sheet(&EVENTS)?
                .map(|sheet| EventRows::new(sheet, options.has_payload())),
            wide: (!patterns.is_empty()).then(|| Wide::new(patterns.to_vec(), make_spill.clone())),
            exceptions: options.sheet(&EXCEPTIONS)?,
            allocations: options.sheet(&ALLOCATIONS)?,
            gcs: options.sheet(&GCS)?.map(|sheet| (Gc::new(), sheet)),
            jit: options.sheet(&JIT)?.map(|sheet| (Jit::new(), sheet)),
            counters: options.sheet(&COUNTERS)?.map(|sheet| (Counters::new(), sheet)),
            logs: options.sheet(&LOGS)?.map(|sheet| (Logs::new(), sheet)),
            messages: 0,
            threads: options.sheet(&THREADS)?,
            stacks: options.sheet(&STACKS)?,
            frames: options.sheet(&FRAMES)?,
            methods: options.sheet(&METHODS)?,
            shared: shared.clone(),
        };
        let kinds = [
            Kind::Cpu,
            Kind::OffCpu,
            Kind::AllocationTicks,
            Kind::AllocationSamples,
            Kind::Contention,
        ];
        let mut pass = ReportPass::with_options(
            observers,
            AnalysisOptions::new().kinds(kinds).skip_profile(true),
        );
        if wants_samples || wants_marks {
            pass.add(Box::new(Marks::new(shared, wants_samples, wants_marks)));
        }
        Ok(TablePass { pass })
    }

    /// Processes the next event; events must come in time order.
    // In this crate, which is built for speed, whoever calls it.
    #[inline(never)]
    pub fn event(&mut self, event: &Event<'_>) {
        let tables = self.pass.reports_mut();
        if !tables.place.has_start {
            tables.begin(event.session());
        }
        self.pass.event(event);
    }

    /// For information that the trace does not contain, such as perf maps.
    pub fn model_mut(&mut self) -> &mut Model {
        self.pass.model_mut()
    }

    /// Reads all remaining events.
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        events.for_each(|event| self.event(&event))?;
        let outcome = events.outcome();
        self.pass.set_outcome(outcome.clone());
        Ok(outcome)
    }

    /// Ends the trace: writes the files that `destination` creates.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self, destination: &mut dyn Destination) -> io::Result<TableRows> {
        let finished = self.pass.finish();
        let mut written = TableRows { outcome: finished.outcome, ..TableRows::default() };
        let encoded = finished.output.0?;
        written.wide_left_out = encoded.wide_left_out;
        written.wide_matched = encoded.wide_matched;
        for (table, part, sheet) in encoded.sheets {
            let rows = sheet.finish(|| destination.create(&table, &part))?;
            if rows > 0 {
                written.tables.push((table, rows));
            }
        }
        Ok(written)
    }
}

/// Everything that fills tables.
struct Observers {
    place: Place,
    wants_samples: bool,
    events: Option<EventRows>,
    wide: Option<Wide>,
    exceptions: Option<Sheet>,
    allocations: Option<Sheet>,
    gcs: Option<(Gc, Sheet)>,
    jit: Option<(Jit, Sheet)>,
    counters: Option<(Counters, Sheet)>,
    logs: Option<(Logs, Sheet)>,
    /// Messages since the last rows.
    messages: u32,
    threads: Option<Sheet>,
    stacks: Option<Sheet>,
    frames: Option<Sheet>,
    methods: Option<Sheet>,
    shared: Shared,
}

impl Observers {
    fn begin(&mut self, session: &Trace) {
        self.place.begin(session);
        self.shared.begin(self.place);
    }

    /// Whether a table has rows of events, and not only of samples, threads and code.
    fn wants_events(&self) -> bool {
        self.events.is_some()
            || self.wide.is_some()
            || self.exceptions.is_some()
            || self.allocations.is_some()
            || self.gcs.is_some()
            || self.jit.is_some()
            || self.counters.is_some()
            || self.logs.is_some()
            || self.shared.wants_events()
    }
}

impl Reports for Observers {
    type Outputs = Encoded;

    fn inputs(&self) -> Vec<ReportInput> {
        let events = self.wants_events().then_some(ReportInput::Events);
        let samples = self.wants_samples.then_some(ReportInput::Samples);
        // Threads are learnt in any case.
        events.into_iter().chain(samples).collect()
    }

    fn wanting(&self, _: &Event<'_>) -> u32 {
        u32::from(self.wants_events())
    }

    #[inline]
    fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, _: u32) -> u64 {
        let place = self.place;
        if let Some(events) = &mut self.events {
            events.add(event, moment, model, place);
        }
        if let Some(wide) = &mut self.wide {
            wide.add(event, moment, model, place);
        }
        if let Some(sheet) = &mut self.exceptions {
            exception(sheet, event, moment, model, place);
        }
        if let Some(sheet) = &mut self.allocations {
            rows::allocations::allocation(sheet, event, &self.shared, model, place);
        }
        self.shared.event(event, moment);
        if let Some((report, _)) = &mut self.gcs {
            report.event(event, moment, model);
        }
        if let Some((report, _)) = &mut self.jit {
            report.event(event, moment, model);
        }
        if let Some((report, _)) = &mut self.counters {
            report.event(event, moment, model);
        }
        if let Some((report, sheet)) = &mut self.logs
            && report.event(event, moment, model)
        {
            self.messages = self.messages.saturating_add(1);
            if self.messages >= MOST_MESSAGES {
                self.messages = 0;
                report.take().iter().for_each(|row| rows::logs::message(sheet, row, place));
            }
        }
        1
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> Encoded {
        let resolved = resolving.for_report::<Gc>();
        let (model, place) = (resolved.model(), self.place);
        let stacks: Vec<StackHandle> = model.stacks().handles().collect();
        let code = code::Code::new(resolved);
        let ending = Ending { resolved, stack_ids: code.stack_ids(), stacks: &stacks };
        let shared = self.shared.take();
        let (mut of_stacks, mut frames, mut methods) = (self.stacks, self.frames, self.methods);
        code.write(of_stacks.as_mut(), frames.as_mut(), methods.as_mut(), place);
        let mut threads = self.threads;
        if let Some(sheet) = &mut threads {
            rows::threads(sheet, model, place);
        }
        let gcs = self.gcs.map(|(report, mut sheet)| {
            rows::gcs::collections(&mut sheet, &report.finish(resolved), place);
            sheet
        });
        let jit = self.jit.map(|(report, mut sheet)| {
            rows::jit::methods(&mut sheet, &report.finish(resolved), place);
            sheet
        });
        let counters = self.counters.map(|(report, mut sheet)| {
            rows::counters::values(&mut sheet, &report.finish(resolved), place);
            sheet
        });
        let logs = self.logs.map(|(report, mut sheet)| {
            let report = report.finish(resolved);
            report.messages.iter().for_each(|row| rows::logs::message(&mut sheet, row, place));
            sheet
        });
        let sheets = [
            (&EVENTS, self.events.map(EventRows::into_sheet)),
            (&SAMPLES, shared.samples),
            (&STACKS, of_stacks),
            (&FRAMES, frames),
            (&METHODS, methods),
            (&THREADS, threads),
            (&GCS, gcs),
            (&ALLOCATIONS, self.allocations),
            (&EXCEPTIONS, self.exceptions),
            (&CONTENTIONS, shared.contentions),
            (&JIT, jit),
            (&COUNTERS, counters),
            (&ACTIVITIES, shared.activities),
            (&LOGS, logs),
        ];
        let settled = sheets.into_iter().filter_map(|(table, sheet)| {
            let mut sheet = sheet?;
            sheet.settle(&ending);
            Some((table.name.to_owned(), String::new(), sheet))
        });
        let mut sheets: Vec<_> = settled.collect();
        let (mut wide_left_out, mut wide_matched) = (0, Vec::new());
        if let Some(wide) = self.wide {
            wide_left_out = wide.left_out();
            wide_matched = wide.matched().to_vec();
            match wide.into_sheets() {
                Ok(wide) => sheets.extend(wide.into_iter().map(|(table, part, mut sheet)| {
                    sheet.settle(&ending);
                    (table, part, sheet)
                })),
                Err(error) => return Encoded(Err(error)),
            }
        }
        Encoded(Ok(EncodedTables { sheets, wide_left_out, wide_matched }))
    }
}

/// The tables of a trace, in memory.
struct Encoded(io::Result<EncodedTables>);

struct EncodedTables {
    /// Name, what the name of the file ends in, rows.
    sheets: Vec<(String, String, Sheet)>,
    wide_left_out: u64,
    wide_matched: Vec<bool>,
}
