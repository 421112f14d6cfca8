//! One trace.

use super::super::info::InfoReport;
use super::dataset::{Dataset, TraceFiles};
use super::inputs::{Hashed, Named};
use super::keys::{Facts, Keys, path_text, program};
use crate::args::ReadArgs;
use crate::failure::{Failure, plain};
use crate::input::{Ended, Input};
use crate::json_text;
use crate::progress::Progress;
use crate::survey::Survey;
use nettrace_export::EventPattern;
use nettrace_parser::{Limits, Reader};
use nettrace_tables::schema::INPUTS;
use nettrace_tables::{
    ContentHash, Destination, InputRow, Table, TableOptions, TablePass, TraceRow,
};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

/// What all traces are exported with.
pub(super) struct Exporter<'e> {
    pub(super) dataset: &'e Dataset,
    pub(super) keys: &'e Keys,
    pub(super) tables: &'e [&'static Table],
    pub(super) has_payload: bool,
    pub(super) wide: &'e [String],
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
    Skipped,
    /// Another input is the same.
    Again { file: String },
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
    /// With what options a trace was exported: another set is another data set.
    fn options(&self) -> String {
        let names: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        let payload = if self.has_payload { "" } else { " no-payload" };
        let sound = if self.read.only_sound { " only-sound" } else { "" };
        let wide: String = self.wide.iter().map(|event| format!(" wide={event}")).collect();
        format!("{}{payload}{sound}{wide}", names.join(","))
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
        let hashed = match input.hash() {
            Ok(hashed) => hashed,
            Err(error) => {
                let failure = Failure::open(&input.name, input.path(), &error);
                return self.failed(input, None, failure);
            }
        };
        let hash = hashed.hash.hex();
        if !is_first(&hash) {
            return Ok(Done::Again { file: input.name.clone() });
        }
        if self.skips_existing && self.dataset.exported(&hash, &self.options()) {
            return Ok(Done::Skipped);
        }
        self.read(input, hashed)
    }

    fn read(&self, input: &Named, hashed: Hashed) -> Result<Done, Failure> {
        let progress = Rc::new(Progress::new(false));
        let source = match Input::open(input.path(), false, self.read.input_limit.0, progress) {
            Ok(source) => source,
            Err(failure) => return self.failed(input, Some(hashed), failure),
        };
        let is_gzip = source.is_gzip();
        let limits = Limits::new().only_sound(self.read.only_sound);
        let mut reader = Reader::with_limits(source, limits);
        let header = match reader.trace() {
            Ok(header) => header.clone(),
            Err(error) => {
                let failure = Failure::read(&input.name, &error, 0);
                return self.failed(input, Some(hashed), failure);
            }
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
            Ok(written.wide_left_out)
        });
        let wide_left_out = written.map_err(|error| self.unwritten(&error))?;
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
                lost_doubted: info.lost_doubted.unwrap_or(0),
                losses_known: info.losses_known,
                lost_threads: info.lost_threads,
                restarts: info.restarts,
                threads: info.threads,
                types: info.types,
                stacks: info.stacks,
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
        let id = match &hashed {
            Some(hashed) => hashed.hash.clone(),
            None => {
                let mut id = ContentHash::new();
                id.add(path_text(input.path()).as_bytes());
                id
            }
        };
        let row = InputRow {
            input_id: id.input_id(),
            path: input.name.clone(),
            content_hash: hashed.as_ref().map(|hashed| hashed.hash.hex()),
            file_bytes: hashed.as_ref().map(|hashed| hashed.bytes),
            status: "failed",
            reason: Some(reason),
            trace: None,
        };
        let facts = Facts { path: &input.name, ..Facts::default() };
        let name = format!("failed-{}", id.hex());
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
