//! One trace.

use super::super::info::InfoReport;
use super::dataset::{Dataset, TraceFiles, failure_name};
use super::inputs::{Hashed, Named, Place};
use super::keys::{Facts, Keys, program};
use crate::args::ReadArgs;
use crate::failure::{Failure, plain};
use crate::input::{Ended, Input};
use crate::json_text;
use crate::progress::Progress;
use crate::survey::Survey;
use nettrace_export::EventPattern;
use nettrace_parser::{Reader, Trace};
use nettrace_tables::schema::INPUTS;
use nettrace_tables::{
    ContentHash, Destination, InputRow, Table, TableOptions, TablePass, TraceRow,
};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What all traces are exported with.
pub(super) struct Exporter<'e> {
    pub(super) dataset: &'e Dataset,
    pub(super) keys: &'e Keys,
    pub(super) tables: &'e [&'static Table],
    pub(super) has_payload: bool,
    pub(super) wide: &'e [String],
    /// Whether there was an event for each of them.
    pub(super) wide_matched: Vec<AtomicBool>,
    pub(super) skips_existing: bool,
    pub(super) read: ReadArgs,
}

/// What became of an input.
pub(super) enum Done {
    Exported {
        file: String,
        ended: Box<Ended>,
        /// Events of `--wide` without a row.
        wide_left_out: u64,
    },
    /// It was there.
    Skipped { is_damaged: bool },
    /// Another input is the same.
    Duplicate { file: String },
    /// It is a row of `inputs`, and nothing else.
    Failed(Failure),
}

/// Files of tables, created when the pass ends.
struct Files<'f>(&'f TraceFiles<'f>);

impl Destination for Files<'_> {
    fn create(&mut self, table: &str, part: &str) -> io::Result<Box<dyn Write + Send>> {
        self.0.create(table, part)
    }
}

impl Exporter<'_> {
    /// With what options a trace was exported: the tables, then all else that decides
    /// what is in them.
    fn options(&self) -> String {
        let names: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        let payload = if self.has_payload { "" } else { " no-payload" };
        let wide: String = self.wide.iter().map(|event| format!(" wide={event}")).collect();
        format!("{}{payload}{wide}", names.join(","))
    }

    /// Whether what is there has all tables that are wanted, made in the same way.
    fn suffices(&self, written: &str) -> bool {
        let wanted = self.options();
        let parts = |text: &str| {
            let (tables, rest) = text.split_once(' ').unwrap_or((text, ""));
            (tables.split(',').map(str::to_owned).collect::<Vec<_>>(), rest.to_owned())
        };
        let ((wanted, rest), (written, rest_there)) = (parts(&wanted), parts(written));
        rest == rest_there && wanted.iter().all(|table| written.contains(table))
    }

    /// Exports a trace. `is_first` tells whether its content comes here for the first
    /// time.
    ///
    /// # Errors
    /// The tables cannot be written.
    pub(super) fn export(
        &self,
        input: &Named,
        is_first: impl FnOnce(&str) -> bool,
    ) -> Result<Done, Failure> {
        if let Place::Nothing { why, .. } = &input.place {
            let failure = Failure::Input { file: input.name.clone(), message: why.clone() };
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
            // Of inputs that are no traces, such as two empty files, each has its row.
            return match self.open(input) {
                Ok(_) => Ok(Done::Duplicate { file: input.name.clone() }),
                Err(failure) => self.failed(input, Some(hashed), failure),
            };
        }
        if self.skips_existing
            && let Some(written) = self.dataset.written(&hash)
            && self.suffices(&written.options)
        {
            self.forget_failures(input);
            return Ok(Done::Skipped { is_damaged: written.status != "ok" });
        }
        self.read(input, hashed)
    }

    /// Opens a trace and reads its header.
    fn open(&self, input: &Named) -> Result<(Reader<Input>, Trace, bool), Failure> {
        let progress = Rc::new(Progress::new(false));
        let source = Input::open(input.path(), false, self.read.input_limit.0, progress)?;
        let is_gzip = source.is_gzip();
        let mut reader = Reader::new(source);
        let header = reader.trace().cloned();
        match header {
            Ok(header) => Ok((reader, header, is_gzip)),
            Err(error) => Err(Failure::read(&input.name, &error, 0)),
        }
    }

    /// An input that failed before may be whole now.
    fn forget_failures(&self, input: &Named) {
        // Standard input is another one each time.
        if input.name != "-" {
            self.dataset.forget_failures(&input.name);
        }
    }

    fn read(&self, input: &Named, hashed: Hashed) -> Result<Done, Failure> {
        let (reader, header, is_gzip) = match self.open(input) {
            Ok(opened) => opened,
            Err(failure) => return self.failed(input, Some(hashed), failure),
        };
        let has_inline_stacks = reader.version().is_some_and(|version| version.major() == 3);
        let hash = hashed.hash.hex();
        // The folder depends on what events say; it is known when the first file is made.
        let mut files = TraceFiles::new(self.dataset, PathBuf::new(), hash);
        let (mut survey, mut events) = (Survey::bounded(), reader.time_ordered());
        let options = TableOptions::new(self.tables, self.dataset.make_spill());
        let wide = self.wide.iter().map(|event| EventPattern::new(event)).collect();
        let options = options.payload(self.has_payload).wide(wide);
        let made = TablePass::new(hashed.hash.input_id(), &options);
        let mut pass = made.map_err(|error| self.unwritten(&error))?;
        let read = events.for_each(|event| {
            survey.take(&event);
            if has_inline_stacks {
                survey.take_inline_stack(&event);
            }
            pass.event(&event);
        });
        if let Err(error) = read {
            let failure = Failure::read(&input.name, &error, events.reader().position());
            return self.failed(input, Some(hashed), failure);
        }
        let ended: Ended = events.reader().into();
        let properties = header.pairs.clone();
        let start = header.start.unix_nanos().and_then(|start| i64::try_from(start).ok());
        let info = InfoReport::new(header, is_gzip, &ended, &survey);
        let row = self.row(input, &hashed, &info, start, &ended);
        let trace = row.trace.as_ref();
        files.keep_in(self.keys.folder(&Facts {
            path: &input.name,
            process: trace.and_then(|trace| trace.process_name.as_deref()),
            command_line: trace.and_then(|trace| trace.command_line.as_deref()),
            start_unix_ns: start,
            properties: &properties,
        }));
        let written = pass.finish(&mut Files(&files)).and_then(|written| {
            row.write(&self.options(), files.create(INPUTS.name, "")?)?;
            files.publish()?;
            Ok(written)
        });
        let written = written.map_err(|error| self.unwritten(&error))?;
        self.forget_failures(input);
        for (is_matched, is_here) in self.wide_matched.iter().zip(&written.wide_matched) {
            is_matched.fetch_or(*is_here, Ordering::Relaxed);
        }
        let wide_left_out = written.wide_left_out;
        Ok(Done::Exported { file: input.name.clone(), ended: Box::new(ended), wide_left_out })
    }

    fn row(
        &self,
        input: &Named,
        hashed: &Hashed,
        info: &InfoReport,
        start_unix_ns: Option<i64>,
        ended: &Ended,
    ) -> InputRow {
        let condition = crate::messages::Condition::of(ended, true);
        let reason = condition.is_bad().then(|| match info.damage.first() {
            Some(damage) => damage.fault.clone(),
            None => "the stream ends without its end mark".to_owned(),
        });
        let process_name = info.command_line.as_deref().and_then(program);
        InputRow {
            input_id: hashed.hash.input_id(),
            path: input.name.clone(),
            content_hash: Some(hashed.hash.hex()),
            file_bytes: Some(hashed.bytes),
            status: if condition.is_bad() { "damaged" } else { "ok" },
            reason,
            trace: Some(TraceRow {
                format_version: info.version,
                format_minor_version: info.minor,
                complete: info.complete,
                end_offset: info.end_offset,
                compressed: info.compressed,
                writer: info.writer.clone(),
                process_id: info.process_id,
                processes: info.processes,
                processes_are_at_least: info.processes_are_at_least,
                process_name,
                command_line: info.command_line.clone(),
                os: info.os.clone(),
                architecture: info.architecture.clone(),
                pointer_size: info.pointer_size,
                processors: info.processors,
                ticks_per_second: info.ticks_per_second,
                sampling_period_ns: info.sampling_period_ns,
                start_unix_ns,
                duration_ns: info.duration_ns,
                events: info.events,
                events_with_stack: info.events_with_stack,
                payload_bytes: info.payload_bytes,
                lost: info.lost,
                losses_known: info.losses_known,
                lost_is_at_least: info.lost_is_at_least,
                lost_threads: info.lost_threads,
                restarts: info.restarts,
                threads: info.threads,
                threads_are_at_least: info.threads_are_at_least,
                types: info.types,
                types_are_at_least: info.types_are_at_least,
                stacks: info.stacks,
                stacks_are_at_least: info.stacks_are_at_least,
                providers: json(&info.providers),
                blocks: json(&info.blocks),
                bytes: json(&info.bytes),
                damage_count: info.damage_count,
                damage_bytes: info.damage_bytes,
                damage: json(&info.damage),
                notes: json(&info.notes),
                properties: json(&info.properties),
            }),
        }
    }

    /// What could not be read is a row with the reason.
    fn failed(
        &self,
        input: &Named,
        hashed: Option<Hashed>,
        failure: Failure,
    ) -> Result<Done, Failure> {
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
            trace: None,
        };
        let facts = Facts { path: &input.name, ..Facts::default() };
        let files = TraceFiles::new(self.dataset, self.keys.folder(&facts), name);
        let written = files.create(INPUTS.name, "").and_then(|out| row.write(&self.options(), out));
        written.and_then(|()| files.publish()).map_err(|error| self.unwritten(&error))?;
        Ok(Done::Failed(failure))
    }

    fn unwritten(&self, error: &io::Error) -> Failure {
        Failure::Input {
            file: self.dataset.folder().display().to_string(),
            message: format!("cannot be written: {}", plain(error)),
        }
    }
}

fn json(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let _ = json_text::line(&mut text, value);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}
