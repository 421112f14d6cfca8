//! Reads a trace with heap dumps, and chooses a dump.

use crate::args::{DumpArgs, FormArg, InputArgs};
use crate::context::{Context, Trace};
use crate::exit::Exit;
use crate::expression::Regex;
use crate::failure::Failure;
use crate::heap_file::{GcDump, HeapFile};
use crate::input::{Ended, ended};
use crate::outer_types::{self, Modules};
use crate::table::end_page;
use crate::units;
use nettrace_analysis::heap::{HeapDump, HeapReader, RECORD};
use nettrace_parser::Outcome;
use std::path::{Path, PathBuf};

/// Trace that was read, with its heap dumps.
pub(super) struct HeapTrace {
    /// Name of the trace in messages.
    pub(super) file: String,
    ended: Ended,
    /// Whether the dumps come from a running process instead of a file.
    is_live: bool,
    is_mono: bool,
    pub(super) dumps: Vec<HeapDump>,
    /// Index of the chosen dump in `dumps`; `None` if there is no dump.
    chosen: Option<usize>,
    /// Whether the dump was chosen by default instead of by the user.
    is_default: bool,
    /// Empty dump, for documents of a trace without a dump.
    none: HeapDump,
}

impl HeapTrace {
    /// Reads a trace. `FILE#2` is its second dump, unless a file has that name.
    pub(super) fn read(
        file: &Path,
        args: &DumpArgs,
        context: &mut Context<'_>,
    ) -> Result<HeapTrace, Failure> {
        let trace = HeapTrace::read_quietly(file, args, context)?;
        if trace.is_default && trace.dumps.len() > 1 {
            let shown = trace.dump().map_or(1, |dump| dump.index);
            let text = format!(
                "{}: it has {} heap dumps; this is number {shown}, --dump N shows another",
                trace.file,
                units::count(trace.dumps.len() as u64)
            );
            context.messages.note(&text);
        }
        Ok(trace)
    }

    /// Reads a trace like [`HeapTrace::read`], without a message about other dumps.
    pub(super) fn read_quietly(
        file: &Path,
        args: &DumpArgs,
        context: &mut Context<'_>,
    ) -> Result<HeapTrace, Failure> {
        let (path, of_name) = split(file);
        let asked = args.dump.or(of_name);
        let input = InputArgs { file: path.clone(), read: args.read };
        let Trace { file, reader, .. } = match HeapFile::open(&input, context)? {
            HeapFile::Trace(trace) => *trace,
            HeapFile::GcDump(read) => {
                let GcDump { file, dump, ended } = *read;
                if !args.modules.symbols.is_empty() {
                    let text = "--symbols is of no use: a .gcdump has no tokens of types";
                    context.messages.warning(&format!("{file}: {text}"));
                }
                context.progress.end();
                return HeapTrace::chosen(file, ended, false, vec![dump], asked);
            }
        };
        let mut events = reader.time_ordered();
        events.trace().map(drop).map_err(|error| Failure::read(&file, &error, 0))?;
        let mut heap = HeapReader::default();
        if let Err(error) = heap.read(&mut events) {
            return Err(crate::context::failed(&file, events.reader(), &error));
        }
        let is_mono = heap.is_mono();
        let modules = Modules::Of { folders: &args.modules.symbols, trace: &path };
        outer_types::add(&mut heap, modules, &mut context.messages);
        let dumps = heap.finish();
        context.progress.end();
        HeapTrace::chosen(file, ended(events.reader()), is_mono, dumps, asked)
    }

    /// Chooses the dump that was asked for, or the usual one.
    fn chosen(
        file: String,
        ended: Ended,
        is_mono: bool,
        dumps: Vec<HeapDump>,
        asked: Option<usize>,
    ) -> Result<HeapTrace, Failure> {
        let chosen = match asked {
            None => HeapDump::usual(&dumps),
            Some(number) => {
                let chosen = number.checked_sub(1).filter(|at| *at < dumps.len());
                if chosen.is_none() {
                    let there = match dumps.len() {
                        0 => "no heap dump".to_owned(),
                        count => units::counted(count as u64, "heap dump"),
                    };
                    return Err(Failure::input(
                        file,
                        format!("it has {there}, but no number {number}"),
                    ));
                }
                chosen
            }
        };
        let (is_default, none) = (asked.is_none(), HeapDump::default());
        Ok(HeapTrace { file, ended, is_live: false, is_mono, dumps, chosen, is_default, none })
    }

    /// Creates a trace from the dumps that a process reported.
    pub(super) fn live(label: String, outcome: Outcome, dumps: Vec<HeapDump>) -> HeapTrace {
        let chosen = HeapDump::usual(&dumps);
        HeapTrace {
            file: label,
            ended: outcome.into(),
            is_live: true,
            is_mono: false,
            dumps,
            chosen,
            is_default: true,
            none: HeapDump::default(),
        }
    }

    /// Returns how reading the trace ended.
    pub(super) fn ended(&self) -> &Ended {
        &self.ended
    }

    /// Returns the chosen dump.
    pub(super) fn dump(&self) -> Option<&HeapDump> {
        self.dumps.get(self.chosen?)
    }

    /// Returns the chosen dump; without one, an empty dump for JSON, so that programs always get a
    /// document.
    pub(super) fn dump_for(&self, form: FormArg) -> Option<&HeapDump> {
        self.dump().or(form.json.then_some(&self.none))
    }

    /// Returns the last dump after the chosen one that, like it, is or is not of all generations.
    pub(super) fn last(&self) -> Option<&HeapDump> {
        let first = self.dump()?;
        let is_of_all = first.is_of_all_generations();
        let later = self.dumps.get(first.index..).unwrap_or_default();
        later.iter().rfind(|dump| dump.is_of_all_generations() == is_of_all)
    }

    /// Warns of what is missing, and returns the exit code.
    pub(super) fn conclude(&self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        end_page(context)?;
        context.out.finish()?;
        let trace = self.ended();
        match (self.dump(), self.is_live) {
            (Some(dump), _) => missing(&self.file, dump, context),
            (None, true) => {
                let text = format!("{}: it made no heap dump", self.file);
                context.messages.warning(&text);
            }
            (None, false) => {
                let [runtime, mono] = RECORD;
                let providers = if self.is_mono { mono } else { runtime };
                let text = format!(
                    "{}: the trace has no heap dump; record with --providers {providers}",
                    self.file
                );
                context.messages.warning(&text);
            }
        }
        context.messages.losses(&self.file, trace);
        let exit = context.conclude(&self.file, trace, true);
        let is_complete = self.dump().is_none_or(|dump| dump.losses.is_complete());
        // A file may lack a dump, but a process was requested to make one.
        let is_there = self.dump().is_some() || !self.is_live;
        Ok(match is_complete {
            _ if !is_there => Exit::Failed,
            true => exit,
            false => Exit::Damaged,
        })
    }
}

/// Warns of what is missing from a dump.
pub(crate) fn missing(file: &str, dump: &HeapDump, context: &mut Context<'_>) {
    let losses = dump.losses;
    let mut parts = Vec::new();
    if losses.is_cut_off {
        parts.push("its end".to_owned());
    }
    for (count, noun, rest) in [
        (losses.object_events, "event", " of objects"),
        (losses.reference_events, "event", " of references"),
        (losses.references, "reference", " from an unknown object"),
        (losses.repeated_objects, "object", " that was reported twice"),
        (losses.faults, "broken row", ""),
    ] {
        if count > 0 {
            parts.push(format!("{}{rest}", units::counted(count, noun)));
        }
    }
    if losses.roots {
        parts.push("roots".to_owned());
    }
    if !parts.is_empty() {
        let text = format!("{file}: dump {} is incomplete: {}", dump.index, parts.join(", "));
        context.messages.warning(&text);
    }
    if let Some(about) = dump.gcdump() {
        for text in about.warnings(dump) {
            context.messages.warning(&format!("{file}: {text}"));
        }
    }
    if losses.undescribed_objects > 0 {
        let text = format!(
            "{file}: the types of {} have no names: the runtime describes each type only once, to the first session that asks",
            units::counted(losses.undescribed_objects, "object")
        );
        context.messages.warning(&text);
    }
}

/// Returns a test for objects whose type's name matches; all match without `wanted`.
pub(super) fn types_like<'d>(
    dump: &'d HeapDump,
    wanted: Option<&Regex>,
) -> impl Fn(u32) -> bool + use<'d> {
    let fits: Vec<bool> = dump
        .types()
        .iter()
        .map(|row| wanted.is_none_or(|wanted| wanted.is_match(&row.name)))
        .collect();
    let of_objects =
        move |dump: &HeapDump, object| fits.get(dump.type_of(object) as usize) == Some(&true);
    move |object| of_objects(dump, object)
}

/// Splits `FILE#2` into `FILE` and `2`, unless a file has that name.
fn split(file: &Path) -> (PathBuf, Option<usize>) {
    let parts = file.to_str().and_then(|text| text.rsplit_once('#'));
    match parts.and_then(|(path, number)| Some((path, number.parse().ok()?))) {
        Some((path, number)) if !file.exists() => (PathBuf::from(path), Some(number)),
        _ => (file.to_owned(), None),
    }
}
