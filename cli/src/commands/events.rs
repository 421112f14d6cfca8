//! `nettrace events`: writes each event as a line.

use crate::analysed::chosen_spans;
use crate::args::{BigInts, EventsArgs, Order};
use crate::context::{Context, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions, ended};
use crate::output::Output;
use crate::stack_names::{self, StackNames};
use nettrace_analysis::model::ActivitySpans;
use nettrace_analysis::{AnalysisOptions, Filter};
use nettrace_export::{EventParts, EventWriter, WriteOptions};
use nettrace_parser::{Error, Event, Reader, Visit, parallel};
use std::io;
use std::ops::ControlFlow;

pub(super) fn run(args: &EventsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    args.format.check_utc(args.utc)?;
    let spans =
        chosen_spans(Some(&args.during), None, &AnalysisOptions::default(), &args.input, context)?;
    let mut trace = context.open(&args.input)?;
    // An unreadable trace fails before anything is written.
    trace.reader.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
    context.forgo_progress_on_terminal();
    let has_processes = trace.reader.version().is_some_and(|version| version.major() >= 6);
    let options = options(args, has_processes, context);
    let has_frames = options.detail.frames;
    let mut writer = EventWriter::new(args.format.form(), options);
    let parts = EventParts::from_writer(&writer)
        .filter(|_| spans.is_none())
        .and_then(|parts| trace.regions(args.threads).map(|regions| (parts, regions)));
    let file = trace.file;
    let ended = match parts {
        Some((parts, regions)) => {
            by_several(args.order, &mut writer, &parts, &regions, &file, &mut context.out)?
        }
        None => {
            let model = match has_frames {
                true => stack_names::model_of(&args.input, context)?,
                false => None,
            };
            let names = StackNames::new(has_frames, model.as_ref());
            let shown = ShownEvents { order: args.order, spans, file: &file };
            by_one(shown, &mut writer, names, trace.reader, &mut context.out)?
        }
    };
    writer.finish(context.out.buffer());
    context.out.finish()?;
    context.progress.end();
    let is_whole = writer.wants_more();
    if is_whole {
        for message in writer.unmatched() {
            context.messages.warning(&format!("{file}: {message}"));
        }
        context.messages.losses(&file, &ended);
    }
    Ok(context.conclude(&file, &ended, is_whole))
}

fn options(args: &EventsArgs, has_processes: bool, context: &Context<'_>) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.detail = args.shape.detail(args.format, args.stacks, args.utc);
    options.detail.big_ints_as_strings = args.big_ints == BigInts::String;
    options.filter = args.filter_options();
    options.fields.clone_from(&args.fields);
    options.limit = args.limit;
    options.csv_safe = args.csv_safe.unwrap_or(!args.shape.raw && context.has_user);
    options.text = context.event_text();
    options.text.has_processes = has_processes;
    options
}

/// Writer of each event to the output.
struct EventPrinter<'a, 'o> {
    writer: &'a mut EventWriter,
    names: StackNames<'a>,
    out: &'a mut Output<'o>,
    written: io::Result<()>,
}

impl Visit for EventPrinter<'_, '_> {
    // Not inlined: events in time order come from several loops, and each would copy the writer.
    #[inline(never)]
    fn event(&mut self, event: Event<'_>) {
        self.names.learn(&event);
        let names = &mut self.names;
        self.writer.put_named(&event, |event| names.frames(event));
        if let Err(error) = self.out.hand_on_page(self.writer.page()) {
            self.written = Err(error);
        }
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.written.is_ok() && self.writer.wants_more()
    }
}

/// Events that are shown inside the spans of activities. The model of the stacks' names learns from
/// all.
struct InsideSpans<V> {
    filter: Filter,
    shown: V,
}

impl Visit for InsideSpans<&mut EventPrinter<'_, '_>> {
    fn event(&mut self, event: Event<'_>) {
        match self.filter.accepts_event(&event) {
            true => self.shown.event(event),
            false => self.shown.names.learn(&event),
        }
    }

    fn wants_more(&self) -> bool {
        self.shown.wants_more()
    }
}

/// Which events of a file are shown, and how.
struct ShownEvents<'f> {
    order: Order,
    /// Spans of activities inside which they are; `None` for all.
    spans: Option<ActivitySpans>,
    file: &'f str,
}

fn by_one(
    shown: ShownEvents<'_>,
    writer: &mut EventWriter,
    names: StackNames<'_>,
    reader: Reader<Input>,
    out: &mut Output<'_>,
) -> Result<Ended, Failure> {
    let mut show = EventPrinter { writer, names, out, written: Ok(()) };
    let ended = match shown.spans {
        None => visit(&mut show, shown.order, reader, shown.file),
        Some(spans) => {
            let mut filter = Filter::default();
            filter.spans = Some(spans);
            let mut inside = InsideSpans { filter, shown: &mut show };
            visit(&mut inside, shown.order, reader, shown.file)
        }
    };
    show.written?;
    if ended.is_err() {
        show.out.write_page(show.writer.page())?;
        show.out.finish()?;
    }
    ended
}

fn visit(
    show: &mut impl Visit,
    order: Order,
    mut reader: Reader<Input>,
    file: &str,
) -> Result<Ended, Failure> {
    let ended = |result: Result<(), Error>, reader: &Reader<Input>| match result {
        Ok(()) => Ok(ended(reader)),
        Err(error) => Err(failed(file, reader, &error)),
    };
    match order {
        Order::File => ended(reader.visit(show), &reader),
        Order::Time => {
            let mut ordered = reader.time_ordered();
            ended(ordered.visit(show), ordered.reader())
        }
    }
}

fn by_several(
    order: Order,
    writer: &mut EventWriter,
    parts: &EventParts,
    regions: &Regions,
    file: &str,
    out: &mut Output<'_>,
) -> Result<Ended, Failure> {
    out.write_page(writer.page())?;
    let order = match order {
        Order::Time => parallel::Order::Time,
        Order::File => parallel::Order::File,
    };
    let mut written = Ok(());
    let result = regions.read_in_parts(
        order,
        || parts.part(),
        |page| {
            written = out.pass_on(page.filled());
            parts.reuse(page);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    written?;
    match result {
        Ok(outcome) => Ok(Ended::from(outcome)),
        Err(error) => {
            out.finish()?;
            Err(Failure::read(file, &error, 0))
        }
    }
}
