//! Exports one trace: a file for each table, or a row with the reason why it could not be read.

use super::dataset::{Dataset, TraceFiles, failure_name};
use super::inputs::{Hashed, InputSource, Named};
use super::keys::{Facts, Keys, program};
use crate::analysed::{left_out, none_chosen};
use crate::args::{ChosenActivity, ReadArgs};
use crate::failure::{Failure, plain};
use crate::input::{Ended, Input, ended};
use crate::pdbs;
use crate::progress::Progress;
use nettrace_analysis::info::{Survey, TraceInfo};
use nettrace_analysis::model::LineCoverage;
use nettrace_analysis::report::{During, ReportPass};
use nettrace_analysis::{AnalysisError, CutStacks, Filter, ThreadTimes};
use nettrace_export::EventPattern;
use nettrace_parser::{Reader, Trace};
use nettrace_tables::schema::{INPUTS, SAMPLES, THREAD_TIMES};
use nettrace_tables::{ContentHash, Destination, InputRow, Table, TableOptions, TablePass};
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options and state that all traces of an export share.
pub(super) struct Exporter<'e> {
    pub(super) dataset: &'e Dataset,
    pub(super) keys: &'e Keys,
    pub(super) tables: &'e [&'static Table],
    pub(super) has_payload: bool,
    pub(super) cut_stacks: CutStacks,
    /// Activities to whose spans the rows are limited; `None` for all rows.
    pub(super) during: Option<ChosenActivity>,
    pub(super) async_callers: bool,
    /// Folders of PDBs, if frames are source lines.
    pub(super) lines: Option<&'e [PathBuf]>,
    pub(super) wide: &'e [String],
    /// Whether any trace had an event that matches, for each pattern of `wide`.
    pub(super) wide_matched: Vec<AtomicBool>,
    pub(super) skips_existing: bool,
    pub(super) read: ReadArgs,
}

/// Result of one input.
pub(super) enum InputResult {
    Exported {
        file: String,
        ended: Box<Ended>,
        /// What the trace lacks of the chosen activities and of source lines.
        warnings: Vec<String>,
        /// Number of events of `--wide` without a row.
        wide_left_out: u64,
        /// Whether the states of threads in a table of samples are not those of the sampler.
        has_untold_samples: bool,
    },
    /// An earlier export has written the trace.
    Skipped { is_damaged: bool },
    /// Another input has the same content.
    Duplicate { file: String },
    /// The trace could not be read, and has a row only in `inputs`.
    Failed(Failure),
}

/// Files of a trace as the destination for [`TablePass::finish`].
struct TableFiles<'f>(&'f TraceFiles<'f>);

impl Destination for TableFiles<'_> {
    fn create(&mut self, table: &str, part: &str) -> io::Result<Box<dyn Write + Send>> {
        self.0.create(table, part)
    }
}

impl Exporter<'_> {
    /// Returns the options of this export as text: tables, then options that change their content.
    fn options(&self) -> String {
        let names: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        format!("{}{}", names.join(","), self.content_options())
    }

    /// Returns the options that change the content of tables, as text.
    fn content_options(&self) -> String {
        let payload = if self.has_payload { "" } else { " no-payload" };
        let wide: String = self.wide.iter().map(|event| format!(" wide={event}")).collect();
        let cut = match self.cut_stacks {
            CutStacks::Mark => " cut-stacks=mark",
            CutStacks::Keep => " cut-stacks=keep",
            _ => "",
        };
        let during = self.during.as_ref().map_or_else(String::new, |chosen| {
            let threads = if chosen.is_on_all_threads { " all-threads" } else { "" };
            format!(" during={}{threads}", chosen.choice)
        });
        let callers = if self.async_callers { " async" } else { "" };
        let lines = if self.lines.is_some() { " lines" } else { "" };
        format!("{payload}{cut}{callers}{lines}{wide}{during}")
    }

    /// Returns whether an earlier export wrote all tables of this export with equal content.
    /// `written` is the earlier export's [`Exporter::options`].
    fn covers(&self, written: &str) -> bool {
        let (tables, content) = written.split_at(written.find(' ').unwrap_or(written.len()));
        let is_there = |name: &str| tables.split(',').any(|table| table == name);
        content == self.content_options() && self.tables.iter().all(|table| is_there(table.name))
    }

    /// Exports a trace. `is_first` returns whether no earlier input has content with this hash.
    ///
    /// # Errors
    /// The tables cannot be written.
    pub(super) fn export(
        &self,
        input: &Named,
        is_first: impl FnOnce(&str) -> bool,
    ) -> Result<InputResult, Failure> {
        if let InputSource::Nothing { why, .. } = &input.place {
            let failure = Failure::input(input.name.clone(), why.clone());
            return self.failed(input, None, failure);
        }
        let hashed = match input.hash() {
            Ok(hashed) => hashed,
            Err(error) => {
                let failure = Failure::open(&input.name, input.path(), &error);
                return self.failed(input, None, failure);
            }
        };
        let hash = hashed.hash.hex();
        if !is_first(&hash) {
            // Equal inputs that are no traces, such as empty files, get a row each.
            return match self.open(input) {
                Ok(_) => Ok(InputResult::Duplicate { file: input.name.clone() }),
                Err(failure) => self.failed(input, Some(hashed), failure),
            };
        }
        if self.skips_existing
            && let Some(written) = self.dataset.written(&hash)
            && self.covers(&written.options)
            && self.dataset.is_whole(&hash)
        {
            self.forget_failures(input);
            return Ok(InputResult::Skipped { is_damaged: written.status != "ok" });
        }
        self.read(input, hashed)
    }

    /// Returns whether a table of this export has the states of threads.
    fn has_states(&self) -> bool {
        self.tables.iter().any(|table| table.name == SAMPLES.name)
    }

    /// Opens a trace and reads its header.
    fn open(&self, input: &Named) -> Result<(Reader<Input>, Trace), Failure> {
        let progress = Rc::new(Progress::new(false));
        let source = Input::open(input.path(), false, self.read.input_limit.0, progress)?;
        let mut reader = Reader::new(source);
        let header = reader.trace().cloned();
        match header {
            Ok(header) => Ok((reader, header)),
            Err(error) => Err(Failure::read(&input.name, &error, 0)),
        }
    }

    /// Returns the times of threads that a recording has, if they are to be exported.
    fn thread_times(&self, input: &Named, header: &Trace) -> Option<ThreadTimes> {
        let is_wanted = self.tables.iter().any(|table| table.name == THREAD_TIMES.name);
        let is_file = is_wanted && input.name != "-";
        let limit = self.read.input_limit.0;
        let second = is_file.then(|| Input::open_second(input.path(), header, limit)).flatten();
        ThreadTimes::read(&mut second?).ok()
    }

    /// Returns the filter of the chosen activities, and what the trace lacks of them. If it has none,
    /// the filter accepts nothing of what happened.
    fn filter(&self, input: &Named) -> Result<(Filter, Vec<String>), Failure> {
        let mut filter = Filter::default();
        let Some(chosen) = &self.during else { return Ok((filter, Vec::new())) };
        let mut pass = ReportPass::new(During::new(chosen.choice.clone()));
        let mut events = self.open(input)?.0.time_ordered();
        if let Err(AnalysisError::Read(error)) = pass.read(&mut events) {
            return Err(Failure::read(&input.name, &error, events.reader().position()));
        }
        let found = pass.finish().output;
        let none = none_chosen(&chosen.choice, &found);
        let lacking = none.map_or_else(|| left_out(&chosen.choice, &found), |text| vec![text]);
        filter.spans = Some(chosen.limit(found.spans));
        Ok((filter, lacking))
    }

    /// Removes the row of an earlier export that could not read this input.
    fn forget_failures(&self, input: &Named) {
        // Standard input is a different input each time.
        if input.name != "-" {
            self.dataset.forget_failures(&input.name);
        }
    }

    fn read(&self, input: &Named, hashed: Hashed) -> Result<InputResult, Failure> {
        let (reader, header) = match self.open(input) {
            Ok(opened) => opened,
            Err(failure) => return self.failed(input, Some(hashed), failure),
        };
        let (filter, mut warnings) = match self.filter(input) {
            Ok(filter) => filter,
            Err(failure) => return self.failed(input, Some(hashed), failure),
        };
        let hash = hashed.hash.hex();
        // The folder depends on events, such as the event with the command line, so that it is set
        // after all events were read.
        let mut files = TraceFiles::new(self.dataset, PathBuf::new(), hash);
        let (mut survey, mut events) = (Survey::bounded(), reader.time_ordered());
        let mut options = TableOptions::default();
        options.tables = self.tables.to_vec();
        options.has_payload = self.has_payload;
        options.wide = self.wide.iter().map(|event| EventPattern::new(event)).collect();
        options.cut_stacks = self.cut_stacks;
        options.async_callers = self.async_callers;
        options.lines = self.lines.is_some();
        options.filter = filter;
        options.thread_times = self.thread_times(input, &header).map(Arc::new);
        let make_spill = self.dataset.make_spill();
        let made = TablePass::new(hashed.hash.input_id(), &options, make_spill);
        let mut pass = made.map_err(|error| self.unwritten(&error))?;
        let read = events.for_each(|event| {
            survey.event(&event);
            pass.event(&event);
        });
        if let Err(error) = read {
            let failure = Failure::read(&input.name, &error, events.reader().position());
            return self.failed(input, Some(hashed), failure);
        }
        if let Some(folders) = self.lines {
            warnings.extend(pdbs::add(folders, input.path(), pass.model_mut())?);
        }
        let ended = ended(events.reader());
        let info = ended.info(&survey, &header);
        let row = self.row(input, &hashed, info, &ended);
        files.keep_in(self.keys.folder(&Facts {
            path: &input.name,
            process: row.process_name.as_deref(),
            command_line: row.info.as_ref().and_then(|info| info.command_line.as_deref()),
            start_unix_ns: row.info.as_ref().and_then(|info| info.start_unix_ns),
            properties: &header.pairs,
        }));
        let written = pass.finish(&mut TableFiles(&files)).and_then(|written| {
            row.write(&self.options(), files.create(INPUTS.name, "")?)?;
            files.publish()?;
            for table in self.tables.iter().filter(|table| table.name != INPUTS.name) {
                if !written.tables.iter().any(|(name, _)| name == table.name) {
                    files.remove(table.name)?;
                }
            }
            Ok(written)
        });
        let written = written.map_err(|error| self.unwritten(&error))?;
        self.forget_failures(input);
        for (is_matched, is_here) in self.wide_matched.iter().zip(&written.wide_matched) {
            is_matched.fetch_or(*is_here, Ordering::Relaxed);
        }
        let wide_left_out = written.wide_left_out;
        warnings.extend(written.lines.iter().flat_map(LineCoverage::advice));
        Ok(InputResult::Exported {
            file: input.name.clone(),
            ended: Box::new(ended),
            warnings,
            wide_left_out,
            has_untold_samples: written.has_untold_samples && self.has_states(),
        })
    }

    fn row(&self, input: &Named, hashed: &Hashed, info: TraceInfo, ended: &Ended) -> InputRow {
        let condition = crate::messages::Condition::new(ended, true);
        let reason = condition.is_bad().then(|| match info.damage.first() {
            Some(damage) => damage.fault.clone(),
            None => "the stream ends without its end mark".to_owned(),
        });
        InputRow {
            input_id: hashed.hash.input_id(),
            path: input.name.clone(),
            content_hash: Some(hashed.hash.hex()),
            file_bytes: Some(hashed.bytes),
            status: if condition.is_bad() { "damaged" } else { "ok" },
            reason,
            process_name: info.command_line.as_deref().and_then(program),
            info: Some(info),
        }
    }

    /// Writes a row with the reason for an input that could not be read.
    fn failed(
        &self,
        input: &Named,
        hashed: Option<Hashed>,
        failure: Failure,
    ) -> Result<InputResult, Failure> {
        let reason = match &failure {
            Failure::Input { message, .. } => message.clone(),
            other => other.to_string(),
        };
        let content = hashed.as_ref().map(|hashed| hashed.hash.hex());
        let name = failure_name(&input.name, content.as_deref());
        let mut id = ContentHash::new();
        id.add(name.as_bytes());
        let row = InputRow {
            input_id: id.input_id(),
            path: input.name.clone(),
            content_hash: content,
            file_bytes: hashed.as_ref().map(|hashed| hashed.bytes),
            status: "failed",
            reason: Some(reason),
            process_name: None,
            info: None,
        };
        let facts = Facts { path: &input.name, ..Facts::default() };
        let files = TraceFiles::new(self.dataset, self.keys.folder(&facts), name);
        let written = files.create(INPUTS.name, "").and_then(|out| row.write(&self.options(), out));
        written.and_then(|()| files.publish()).map_err(|error| self.unwritten(&error))?;
        Ok(InputResult::Failed(failure))
    }

    fn unwritten(&self, error: &io::Error) -> Failure {
        Failure::input(
            self.dataset.folder().display().to_string(),
            format!("cannot be written: {}", plain(error)),
        )
    }
}
