//! Fills the tables of a trace in one pass.

use crate::column::Table;
use crate::deferred::ResolvedStacks;
use crate::options::{Sheets, TableOptions};
use crate::rows::code;
use crate::rows::events::EventRows;
use crate::rows::exceptions::add_exception;
use crate::rows::marks::{Marks, SharedTables, shared_of};
use crate::rows::{self, RowPrefix};
use crate::schema::{
    ACTIVITIES, ALLOCATIONS, CONTENTIONS, COUNTERS, EVENTS, EXCEPTIONS, FRAMES, GCS, JIT, LOGS,
    METHODS, SAMPLES, STACKS, THREAD_TIMES, THREADS,
};
use crate::sheet::Sheet;
use crate::spill::MakeSpill;
use crate::wide::Wide;
use nettrace_analysis::model::{LineCoverage, Model, Moment};
use nettrace_analysis::report::{Counters, Gc, Jit, Logs, Report, ReportInput, ReportPass};
use nettrace_analysis::unstable::{ReportSet, Resolving};
use nettrace_analysis::{AnalysisOptions, Kind, ThreadTimes};
use nettrace_parser::{Event, Outcome, Source, TimeOrdered, Trace};
use std::io::{self, Write};
use std::sync::Arc;

/// Maximum number of log messages that are gathered before they are written as rows.
const MAX_WAITING_MESSAGES: u32 = 1024;

/// Creates the files of a trace's tables.
pub trait Destination {
    /// Creates the file of a table that has rows. `part` is the end of the file's name. It
    /// distinguishes the files of an event type's table, which has one file for each layout of the
    /// payload. It is empty for other tables.
    ///
    /// # Errors
    /// If the file cannot be created.
    fn create(&mut self, table: &str, part: &str) -> io::Result<Box<dyn Write + Send>>;
}

/// Fills the tables of one trace.
#[expect(missing_debug_implementations, reason = "as the analysis that it holds")]
pub struct TablePass {
    pass: ReportPass<'static, Observers>,
}

/// Result of writing the tables of a trace.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
#[must_use = "a trace that is cut or damaged gives tables without an error"]
pub struct TableRows {
    /// Name and number of rows of each table that has rows.
    pub tables: Vec<(String, u64)>,
    /// Number of events of [`TableOptions::wide`] that were left out, because at most 256 layouts
    /// of payloads get files.
    pub wide_left_out: u64,
    /// For each pattern of [`TableOptions::wide`], whether an event of the trace matches it.
    pub wide_matched: Vec<bool>,
    /// Whether the trace has samples of a process whose runtime does not tell managed from native
    /// code. What is no known wait and no known native call has the state `managed` there.
    pub has_untold_samples: bool,
    /// Numbers of methods with source lines; `None` unless [`TableOptions::lines`] asks for lines.
    pub lines: Option<LineCoverage>,
    /// How reading the trace ended. If the trace is truncated or damaged, rows are missing. `None`
    /// if the caller read the events itself.
    pub outcome: Option<Outcome>,
}

impl TablePass {
    /// Makes a pass that fills the tables of the trace with this id. `make_spill` makes the temporary
    /// files that hold large tables until the trace ends.
    ///
    /// # Errors
    /// If a schema cannot be made.
    pub fn new(
        input_id: i64,
        options: &TableOptions,
        make_spill: MakeSpill,
    ) -> io::Result<TablePass> {
        let sheets = Sheets::new(options, make_spill.clone());
        let shared = shared_of(&sheets)?;
        let (wants_samples, wants_marks) = (shared.wants_samples(), shared.wants_marks());
        let shared = SharedTables::new(shared, input_id);
        let observers = Observers {
            prefix: RowPrefix { input_id, start: None, has_start: false },
            wants_samples: wants_samples || wants_marks,
            events: sheets.sheet(&EVENTS)?.map(|sheet| EventRows::new(sheet, options.has_payload)),
            wide: (!options.wide.is_empty()).then(|| Wide::new(options.wide.clone(), make_spill)),
            exceptions: sheets.sheet(&EXCEPTIONS)?,
            allocations: sheets.sheet(&ALLOCATIONS)?,
            gcs: sheets.sheet(&GCS)?.map(|sheet| (Gc::default(), sheet)),
            jit: sheets.sheet(&JIT)?.map(|sheet| (Jit::default(), sheet)),
            counters: sheets.sheet(&COUNTERS)?.map(|sheet| (Counters::default(), sheet)),
            logs: sheets.sheet(&LOGS)?.map(|sheet| (Logs::default(), sheet)),
            messages: 0,
            threads: sheets.sheet(&THREADS)?,
            times: options.thread_times.clone().zip(sheets.sheet(&THREAD_TIMES)?),
            stacks: sheets.sheet(&STACKS)?,
            frames: sheets.sheet(&FRAMES)?,
            methods: sheets.sheet(&METHODS)?,
            shared: shared.clone(),
        };
        let mut analysis = AnalysisOptions::default();
        // Each sample is a row, so that sums by stack are not needed, unless readings divide them.
        let times = options.thread_times.as_ref().filter(|_| wants_samples);
        analysis.skips_profile = times.is_none();
        analysis.thread_times = times.cloned();
        analysis.cut_stacks = options.cut_stacks;
        analysis.filter.clone_from(&options.filter);
        analysis.async_callers = options.async_callers;
        analysis.lines = options.lines;
        analysis.kinds = vec![
            Kind::Cpu,
            Kind::OffCpu,
            Kind::AllocationTicks,
            Kind::AllocationSamples,
            Kind::Contention,
        ];
        let mut pass = ReportPass::with_options(observers, analysis);
        if wants_samples || wants_marks {
            pass.add(Box::new(Marks::new(shared, wants_samples, wants_marks)));
        }
        Ok(TablePass { pass })
    }

    /// Processes the next event; events must come in time order.
    // The function is not inlined, because callers may be built for size.
    #[inline(never)]
    pub fn event(&mut self, event: &Event<'_>) {
        let tables = self.pass.reports_mut();
        if !tables.prefix.has_start {
            tables.begin(event.session());
        }
        self.pass.event(event);
    }

    /// Returns the model of the trace, to which the caller can add information that the trace does
    /// not contain, such as perf maps.
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

    /// Ends the trace and writes its tables to the files that `destination` creates.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self, destination: &mut dyn Destination) -> io::Result<TableRows> {
        let finished = self.pass.finish();
        let mut written =
            TableRows { outcome: finished.outcome, lines: finished.lines, ..TableRows::default() };
        let encoded = finished.output.0?;
        written.wide_left_out = encoded.wide_left_out;
        written.wide_matched = encoded.wide_matched;
        written.has_untold_samples = encoded.has_untold_samples;
        for (table, part, sheet) in encoded.sheets {
            let rows = sheet
                .finish_with(&encoded.resolved_stacks, || destination.create(&table, &part))?;
            if rows > 0 {
                written.tables.push((table, rows));
            }
        }
        Ok(written)
    }
}

/// The parts that observe a trace and fill one table each.
struct Observers {
    prefix: RowPrefix,
    wants_samples: bool,
    events: Option<EventRows>,
    wide: Option<Wide>,
    exceptions: Option<Sheet>,
    allocations: Option<Sheet>,
    gcs: Option<(Gc, Sheet)>,
    jit: Option<(Jit, Sheet)>,
    counters: Option<(Counters, Sheet)>,
    logs: Option<(Logs, Sheet)>,
    /// Number of log messages that are gathered and not written as rows yet.
    messages: u32,
    threads: Option<Sheet>,
    times: Option<(Arc<ThreadTimes>, Sheet)>,
    stacks: Option<Sheet>,
    frames: Option<Sheet>,
    methods: Option<Sheet>,
    shared: SharedTables,
}

impl Observers {
    fn begin(&mut self, session: &Trace) {
        self.prefix.begin(session);
        self.shared.begin(self.prefix);
    }

    /// Adds the rows that an event makes alone.
    #[inline]
    fn add_rows(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let prefix = self.prefix;
        if let Some(events) = &mut self.events {
            events.add(event, moment, model, prefix);
        }
        if let Some(wide) = &mut self.wide {
            wide.add(event, moment, model, prefix);
        }
        if let Some(sheet) = &mut self.exceptions {
            add_exception(sheet, event, moment, model, prefix);
        }
        if let Some(sheet) = &mut self.allocations {
            rows::allocations::add_allocation(sheet, event, &self.shared, model, prefix);
        }
    }

    /// Returns whether a table needs the events themselves, and not only samples, threads and code.
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

impl ReportSet for Observers {
    type Outputs = Encoded;
    type Interest = ();

    fn inputs(&self) -> Vec<ReportInput> {
        let events = self.wants_events().then_some(ReportInput::Events);
        let samples = self.wants_samples.then_some(ReportInput::Samples);
        // The analysis always records threads.
        events.into_iter().chain(samples).collect()
    }

    fn interest(&self, _: &Event<'_>) -> Option<()> {
        self.wants_events().then_some(())
    }

    #[inline]
    fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, (): &()) -> u64 {
        let prefix = self.prefix;
        if moment.is_selected {
            self.add_rows(event, moment, model);
        }
        self.shared.note_lock(event, moment);
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
            // Messages may be most of a trace, so the report does not keep them until the end.
            if self.messages >= MAX_WAITING_MESSAGES {
                self.messages = 0;
                report.take().iter().for_each(|row| rows::logs::add_message(sheet, row, prefix));
            }
        }
        1
    }

    fn outputs(self, resolving: &mut Resolving<'_>) -> Encoded {
        // Any report of events would do, because all reports share the names.
        let resolved = resolving.for_report::<Gc>();
        let (model, prefix) = (resolved.model(), self.prefix);
        let code = code::Code::new(resolved);
        let shared = self.shared.take();
        let (mut stacks, mut frames, mut methods) = (self.stacks, self.frames, self.methods);
        code.write(stacks.as_mut(), frames.as_mut(), methods.as_mut(), prefix);
        let resolved_stacks = ResolvedStacks::new(code.into_stack_ids(), resolved, shared.times);
        let mut threads = self.threads;
        if let Some(sheet) = &mut threads {
            rows::write_threads(sheet, model, prefix);
        }
        let times = self.times.map(|(times, mut sheet)| {
            rows::thread_times::write_readings(&mut sheet, &times, prefix);
            sheet
        });
        let gcs = self.gcs.map(|(report, mut sheet)| {
            rows::gcs::write_collections(&mut sheet, &report.finish(resolved), prefix);
            sheet
        });
        let jit = self.jit.map(|(report, mut sheet)| {
            rows::jit::write_methods(&mut sheet, &report.finish(resolved), prefix);
            sheet
        });
        let counters = self.counters.map(|(report, mut sheet)| {
            rows::counters::write_values(&mut sheet, &report.finish(resolved), prefix);
            sheet
        });
        let logs = self.logs.map(|(report, mut sheet)| {
            let report = report.finish(resolved);
            report.messages.iter().for_each(|row| rows::logs::add_message(&mut sheet, row, prefix));
            sheet
        });
        let sheets = [
            (&EVENTS, self.events.map(EventRows::into_sheet)),
            (&SAMPLES, shared.samples),
            (&STACKS, stacks),
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
            (&THREAD_TIMES, times),
        ];
        let named = |(table, sheet): (&Table, Option<Sheet>)| {
            Some((table.name.to_owned(), String::new(), sheet?))
        };
        let mut sheets: Vec<_> = sheets.into_iter().filter_map(named).collect();
        let (mut wide_left_out, mut wide_matched) = (0, Vec::new());
        if let Some(wide) = self.wide {
            wide_left_out = wide.left_out();
            wide_matched = wide.matched().to_vec();
            match wide.into_sheets() {
                Ok(wide) => sheets.extend(wide),
                Err(error) => return Encoded(Err(error)),
            }
        }
        let has_untold_samples = resolved.has_untold_states();
        Encoded(Ok(EncodedTables {
            sheets,
            resolved_stacks,
            wide_left_out,
            wide_matched,
            has_untold_samples,
        }))
    }
}

/// The encoded tables of a trace, or the error that prevented them.
struct Encoded(io::Result<EncodedTables>);

struct EncodedTables {
    /// For each table, its name, the end of its file's name, and its rows.
    sheets: Vec<(String, String, Sheet)>,
    resolved_stacks: ResolvedStacks,
    wide_left_out: u64,
    wide_matched: Vec<bool>,
    has_untold_samples: bool,
}
