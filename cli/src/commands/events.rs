//! `nettrace events`: writes each event as a line.

use crate::args::{BigInts, EventsArgs, Order};
use crate::context::{Context, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions, ended};
use crate::output::Output;
use crate::stack_names::{self, StackNames};
use nettrace_export::{EventParts, EventWriter, WriteOptions};
use nettrace_parser::{Error, Event, Reader, Visit, parallel};
use std::io;
use std::ops::ControlFlow;

pub(super) fn run(args: &EventsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    args.format.check_utc(args.utc)?;
    let mut trace = context.open(&args.input)?;
    // An unreadable trace fails before anything is written.
    trace.reader.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
    context.forgo_progress_on_terminal();
    let has_processes = trace.reader.version().is_some_and(|version| version.major() >= 6);
    let options = options(args, has_processes, context);
    let has_frames = options.detail.frames;
    let mut writer = EventWriter::new(args.format.form(), options);
    let parts = EventParts::for_writer(&writer)
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
            by_one(args.order, &mut writer, names, trace.reader, &file, &mut context.out)?
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

fn by_one(
    order: Order,
    writer: &mut EventWriter,
    names: StackNames<'_>,
    mut reader: Reader<Input>,
    file: &str,
    out: &mut Output<'_>,
) -> Result<Ended, Failure> {
    let mut show = EventPrinter { writer, names, out, written: Ok(()) };
    let ended = |result: Result<(), Error>, reader: &Reader<Input>| match result {
        Ok(()) => Ok(ended(reader)),
        Err(error) => Err(failed(file, reader, &error)),
    };
    let ended = match order {
        Order::File => ended(reader.visit(&mut show), &reader),
        Order::Time => {
            let mut ordered = reader.time_ordered();
            ended(ordered.visit(&mut show), ordered.reader())
        }
    };
    show.written?;
    if ended.is_err() {
        show.out.write_page(show.writer.page())?;
        show.out.finish()?;
    }
    ended
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
