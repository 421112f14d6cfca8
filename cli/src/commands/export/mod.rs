//! `nettrace export parquet`: writes traces as tables.

mod dataset;
mod inputs;
mod keys;
mod trace;

use crate::args::{ChosenActivity, ExportArgs, ExportFormat, ParquetArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, plain};
use crate::units;
use dataset::Dataset;
use inputs::{InputSource, Named};
use keys::Keys;
use nettrace_analysis::fact::SeenFact;
use nettrace_tables::Table;
use nettrace_tables::schema::{INPUTS, TABLES};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use trace::{Exporter, InputResult};

pub(super) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match &args.format {
        ExportFormat::Parquet(args) => parquet(args, context),
    }
}

fn parquet(args: &ParquetArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let tables = tables(&args.tables)?;
    let keys = Keys::parse(&args.partition_by)?;
    let mut named = inputs::find(&args.inputs);
    let dataset = Dataset::open(&args.output, &keys)?;
    for input in named.iter_mut().filter(|input| input.is_stream()) {
        let spooled = match &input.place {
            InputSource::Stdin => dataset.spool(context.stdin()?),
            _ => File::open(input.path()).and_then(|file| dataset.spool(file)),
        };
        input.place = match spooled {
            Ok(path) => InputSource::File(path),
            Err(error) => {
                InputSource::Nothing { path: input.path().to_owned(), why: plain(&error) }
            }
        };
    }
    let exporter = Exporter {
        dataset: &dataset,
        keys: &keys,
        tables: &tables,
        has_payload: !args.no_payload,
        cut_stacks: args.cut_stacks.how(),
        during: ChosenActivity::from_args(Some(&args.during), None)?,
        async_callers: args.async_callers,
        lines: args.lines.then_some(&*args.symbols),
        wide: &args.wide,
        wide_matched: args.wide.iter().map(|_| AtomicBool::new(false)).collect(),
        skips_existing: args.skip_existing,
        read: args.read,
    };
    let processors = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = args.threads.map_or_else(processors, NonZeroUsize::get).min(named.len());
    let counts = export_all(&exporter, &named, threads, context)?;
    dataset.finish(&tables, &keys)?;
    context.progress.end();
    for (event, is_matched) in args.wide.iter().zip(&exporter.wide_matched) {
        if counts.exported > 0 && !is_matched.load(Ordering::Relaxed) {
            context.messages.warning(&format!(
                "--wide {event}: no trace that was read has such an event; `nettrace stats` lists events as PROVIDER/EVENT"
            ));
        }
    }
    let mut text = format!(
        "{} exported to {}",
        units::counted(counts.exported, "trace"),
        args.output.display()
    );
    for (count, what) in [
        (counts.skipped, "skipped"),
        (counts.duplicates, "duplicates"),
        (counts.failed, "unreadable"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {what}", units::count(count)));
        }
    }
    context.messages.note(&text);
    Ok(if counts.failed + counts.damaged > 0 { Exit::Damaged } else { Exit::Fine })
}

/// Numbers of inputs by result.
#[derive(Debug, Default)]
struct ResultCounts {
    exported: u64,
    skipped: u64,
    duplicates: u64,
    failed: u64,
    damaged: u64,
}

/// Exports all inputs. Messages are printed in the order of the inputs.
fn export_all(
    exporter: &Exporter<'_>,
    named: &[Named],
    threads: usize,
    context: &mut Context<'_>,
) -> Result<ResultCounts, Failure> {
    let duplicates = Duplicates::find(named);
    let (next, stops) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let mut counts = ResultCounts::default();
    let mut fault = None;
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, stops) = (sender.clone(), &next, &stops);
            let duplicates = &duplicates;
            scope.spawn(move || {
                while !stops.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = named.get(at) else { break };
                    let result = exporter.export(input, |hash| duplicates.is_first(hash, at));
                    if sender.send((at, result)).is_err() {
                        break;
                    }
                }
            });
        }
        // The loop below ends when all threads have dropped their senders.
        drop(sender);
        // A small trace is complete before a large one; messages keep the order of the command
        // line.
        let mut waiting: BTreeMap<usize, Result<InputResult, Failure>> = BTreeMap::new();
        let mut reported = 0;
        for (at, result) in receiver {
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&reported) {
                reported += 1;
                match result {
                    Ok(result) => report(&result, &mut counts, context),
                    Err(failure) => {
                        stops.store(true, Ordering::Relaxed);
                        fault.get_or_insert(failure);
                    }
                }
            }
        }
    });
    fault.map_or(Ok(counts), Err)
}

/// Counts the result of one input, and prints the messages about it.
fn report(result: &InputResult, counts: &mut ResultCounts, context: &mut Context<'_>) {
    match result {
        InputResult::Exported { file, ended, warnings, wide_left_out, has_untold_samples } => {
            counts.exported += 1;
            for text in warnings {
                context.messages.warning(&format!("{file}: {text}"));
            }
            if *wide_left_out > 0 {
                context.messages.warning(&format!(
                    "{file}: {} of --wide have no row, because at most 256 layouts of payloads get files of their own; name fewer events",
                    units::counted(*wide_left_out, "event")
                ));
            }
            if *has_untold_samples {
                context.messages.note(&format!("{file}: {}", SeenFact::Untold.text()));
            }
            context.messages.losses(file, ended);
            if context.conclude(file, ended, true) != Exit::Fine {
                counts.damaged += 1;
            }
        }
        InputResult::Skipped { is_damaged } => {
            counts.skipped += 1;
            counts.damaged += u64::from(*is_damaged);
        }
        InputResult::Duplicate { file } => {
            counts.duplicates += 1;
            context
                .messages
                .warning(&format!("{file}: another input has the same content; left out"));
        }
        InputResult::Failed(failure) => {
            counts.failed += 1;
            context.messages.error(failure);
        }
    }
}

/// Inputs with equal content, of which only the first on the command line is exported.
struct Duplicates {
    /// Index of the first input with each content, by the content's hash. Inputs whose size is
    /// unique are added only when they are exported.
    first: Mutex<BTreeMap<String, usize>>,
}

impl Duplicates {
    fn find(named: &[Named]) -> Duplicates {
        let mut sizes: BTreeMap<u64, u32> = BTreeMap::new();
        for input in named {
            *sizes.entry(input.size()).or_default() += 1;
        }
        let mut first = BTreeMap::new();
        for (at, input) in named.iter().enumerate() {
            if sizes.get(&input.size()).is_some_and(|count| *count > 1)
                && let Ok(hashed) = input.hash()
            {
                first.entry(hashed.hash.hex()).or_insert(at);
            }
        }
        Duplicates { first: Mutex::new(first) }
    }

    fn is_first(&self, hash: &str, at: usize) -> bool {
        let mut first = self.first.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match first.entry(hash.to_owned()) {
            Entry::Occupied(known) => *known.get() == at,
            Entry::Vacant(place) => {
                place.insert(at);
                true
            }
        }
    }
}

/// Returns the tables that the user chose, and `inputs`.
fn tables(names: &[String]) -> Result<Vec<&'static Table>, Failure> {
    if let Some(name) = names.iter().find(|name| Table::by_name(name).is_none()) {
        let known: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let text = format!("there is no table {name}; the tables are {}", known.join(", "));
        return Err(Failure::Usage(text));
    }
    let wants = |table: &&Table| {
        table.name == INPUTS.name || names.is_empty() || names.iter().any(|name| name == table.name)
    };
    Ok(TABLES.iter().filter(wants).collect())
}
