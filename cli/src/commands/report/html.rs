//! `report html`: writes a trace as one HTML file.

use super::summary::complete;
use crate::analysed::{Analysed, chosen_spans};
use crate::analysis_options::AnalysisArgs;
use crate::args::{HtmlArgs, InputArgs};
use crate::async_runs::add_async_runs;
use crate::commands::convert::with_ending;
use crate::commands::heap::missing;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::heap_file::{GcDump, HeapFile};
use crate::input::Ended;
use crate::new_file;
use nettrace_analysis::model::LineCoverage;
use nettrace_analysis::page::{self, Page, PageAbout};
use std::path::{Path, PathBuf};

/// File to which a page is written.
#[derive(Debug)]
pub(crate) struct PageTarget {
    /// Path of the file; `None` for standard output.
    pub(crate) path: Option<PathBuf>,
    pub(crate) is_forced: bool,
}

pub(super) fn run(args: &HtmlArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let path = match &args.output {
        Some(path) => (path != Path::new("-")).then(|| path.clone()),
        None => Some(with_ending(&args.input.file, "html")),
    };
    let target = PageTarget { path, is_forced: args.force };
    let exit = write_page(&args.input, &args.counted, &target, context)?;
    if let (Some(path), None) = (&target.path, &args.output) {
        context.messages.note(&format!("wrote {}", path.display()));
    }
    Ok(exit)
}

/// Reads the trace and writes its page.
pub(crate) fn write_page(
    input: &InputArgs,
    counted: &impl AnalysisArgs,
    target: &PageTarget,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let mut options = counted.options();
    add_async_runs(&mut options, input, context)?;
    let opened = HeapFile::open(input, context)?;
    let maps = counted.names().into_iter().flat_map(|names| &names.perf_map);
    let read: Vec<&Path> =
        [input.file.as_path()].into_iter().chain(maps.map(PathBuf::as_path)).collect();
    if let Some(path) = &target.path {
        new_file::check(path, target.is_forced, &read)?;
    }
    let trace = match opened {
        HeapFile::Trace(trace) => *trace,
        HeapFile::GcDump(read) => return write_heap_page(input, *read, target, context),
    };
    let mut trace = Analysed::new(trace)?;
    let file = trace.file.clone();
    options.filter.spans = chosen_spans(counted.during(), None, &options, input, context)?;
    options.thread_times = trace.thread_times(input);
    let mut pass = page::pass(options);
    trace.read(|events| pass.read(events))?;
    let mut unused = counted.add_names(&input.file, pass.model_mut())?;
    let finished = pass.finish();
    unused.extend(finished.lines.iter().flat_map(LineCoverage::advice));
    let mut page = finished.output;
    let ended = trace.ended();
    let summary = page.summary.as_mut();
    let heap = summary.and_then(|summary| complete(summary, input, context));
    if let Some(heap) = heap
        && let Some(dump) = heap.dumps.get(heap.usual)
    {
        page.add_heap(dump, heap.report, &heap.retained);
    }
    write(&page, input, &ended, target, &read, context)?;
    for text in &unused {
        context.messages.warning(text);
    }
    context.messages.losses(&file, &ended);
    Ok(context.conclude(&file, &ended, true))
}

/// Writes the page of a `.gcdump`, which has a heap and nothing else.
fn write_heap_page(
    input: &InputArgs,
    read: GcDump,
    target: &PageTarget,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let GcDump { file, dump, ended } = read;
    let page = Page::from_heap(&dump);
    write(&page, input, &ended, target, &[&input.file], context)?;
    missing(&file, &dump, context);
    let exit = context.conclude(&file, &ended, true);
    Ok(if dump.losses.is_complete() { exit } else { Exit::Damaged })
}

fn write(
    page: &Page,
    input: &InputArgs,
    ended: &Ended,
    target: &PageTarget,
    read: &[&Path],
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let about = about(input, ended);
    match &target.path {
        Some(path) => {
            new_file::write(path, target.is_forced, read, |out| page.write(&about, out))?;
        }
        None => page.write(&about, &mut context.out)?,
    }
    context.out.finish()?;
    context.progress.end();
    Ok(())
}

fn about(input: &InputArgs, ended: &Ended) -> PageAbout {
    let title = match input.file.file_name() {
        Some(name) if !input.is_stdin() => name.to_string_lossy().into_owned(),
        _ => input.name(),
    };
    let file = std::fs::metadata(&input.file).ok().filter(std::fs::Metadata::is_file);
    PageAbout::from_file(title, ended.outcome(), file.map(|file| file.len()))
}
