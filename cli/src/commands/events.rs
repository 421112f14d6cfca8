//! `nettrace events`: the events, one a line.

use crate::args::{BigInts, EventFormat, EventsArgs, Order};
use crate::context::{Context, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Ended, Input, Regions, Spare};
use crate::output::Output;
use crate::render::{Form, Text};
use crate::stack_names::{self, StackNames};
use nettrace_export::{Csv, Detail, EventTypes, Filter, Ndjson, Page, Selection};
use nettrace_parser::parallel::{self, MakeParts};
use nettrace_parser::{Error, Event, Reader, TimeOrdered, Visit};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Shows events, as many as are wanted.
struct Show<'a, 'o> {
    types: EventTypes,
    filter: Filter,
    is_filtered: bool,
    form: Form,
    names: StackNames<'a>,
    selection: Option<Selection>,
    /// Events that are still wanted.
    left: u64,
    page: Page,
    out: &'a mut Output<'o>,
    written: io::Result<()>,
}

impl Visit for Show<'_, '_> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        let type_index = self.types.index_of(&event);
        self.names.learn(&event);
        if self.is_filtered && !self.filter.accepts(&event, type_index, &self.types) {
            return;
        }
        self.names.name(&event, &mut self.form);
        self.form.event(&mut self.page, &event, type_index, &self.types, self.selection.as_mut());
        self.left -= 1;
        if let Err(error) = self.out.hand_on_page(&mut self.page) {
            self.written = Err(error);
        }
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.left > 0 && self.written.is_ok()
    }
}

/// The same for events in time order, which come from several loops: what is done with
/// them is there once.
struct Apart<'a, 's, 'c>(&'a mut Show<'s, 'c>);

impl Visit for Apart<'_, '_, '_> {
    #[inline(never)]
    fn event(&mut self, event: Event<'_>) {
        self.0.event(event);
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.0.wants_more()
    }
}

/// Events in one of the two orders.
enum Events {
    Time(Box<TimeOrdered<Input>>),
    File(Box<Reader<Input>>),
}

impl Events {
    fn show(&mut self, show: &mut Show<'_, '_>) -> Result<(), Error> {
        match self {
            Events::File(reader) => reader.visit(show),
            Events::Time(ordered) => ordered.visit(&mut Apart(show)),
        }
    }

    fn reader(&self) -> &Reader<Input> {
        match self {
            Events::Time(ordered) => ordered.reader(),
            Events::File(reader) => reader,
        }
    }
}

pub(super) fn run(args: &EventsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut trace = context.open(&args.input)?;
    // What cannot be read at all is said before anything is written.
    trace.reader.trace().map(drop).map_err(|error| Failure::read(&trace.file, &error, 0))?;
    context.forgo_progress_on_terminal();
    let has_processes = trace.reader.version().is_some_and(|version| version.major() >= 6);
    if let Some(regions) = several_threads(args).then(|| trace.regions(args.threads)).flatten() {
        return in_regions(args, context, &trace.file, &regions);
    }
    let file = trace.file;
    let detail = detail(args);
    let model = match detail.frames {
        true => stack_names::model_of(&args.input, context)?,
        false => None,
    };
    let is_safe = args.csv_safe.unwrap_or(!args.shape.raw && context.has_user);
    let selection = Selection::new(&args.fields);
    let mut form = match args.format {
        EventFormat::Text => {
            Form::Text(Text::new(detail, context.style, context.terminal_columns()))
        }
        EventFormat::Ndjson => Form::Ndjson(Ndjson::new(detail)),
        EventFormat::Csv => {
            let is_one_type =
                matches!(args.filter.event.as_slice(), [pattern] if pattern.is_exact());
            Form::Csv(Csv::new(detail, selection.as_ref(), is_one_type).safe(is_safe))
        }
    };
    form.begin(context.out.buffer(), has_processes);
    let filter = args.filter_options();
    let is_filtered = !filter.is_empty();
    let mut show = Show {
        types: EventTypes::default(),
        filter: Filter::new(filter),
        is_filtered,
        form,
        names: StackNames::new(detail.frames, model.as_ref()),
        selection,
        left: args.limit.unwrap_or(u64::MAX),
        page: Page::default(),
        out: &mut context.out,
        written: Ok(()),
    };
    let mut events = match args.order {
        Order::Time => Events::Time(Box::new(trace.reader.time_ordered())),
        Order::File => Events::File(Box::new(trace.reader)),
    };
    let outcome = events.show(&mut show);
    let reader = events.reader();
    let is_whole = show.left > 0;
    let Show { types, filter, mut form, selection, mut page, written, .. } = show;
    written?;
    page.pour(context.out.buffer());
    if let Err(error) = outcome {
        context.out.finish()?;
        return Err(failed(&file, reader, &error));
    }
    form.end(context.out.buffer());
    context.out.finish()?;
    context.progress.end();
    let ended = Ended::from(reader);
    if is_whole {
        let of_fields = selection.map_or_else(Vec::new, |selection| selection.unmatched(&types));
        for message in filter.unmatched(&types).into_iter().chain(of_fields) {
            context.messages.warning(&format!("{file}: {message}"));
        }
        context.messages.losses(&file, &ended);
    }
    Ok(context.conclude(&file, &ended, is_whole))
}

fn detail(args: &EventsArgs) -> Detail {
    let mut detail = args.shape.detail(args.format, args.stacks, args.utc);
    detail.big_ints_as_strings = args.big_ints == BigInts::String;
    detail
}

/// Whether several threads may write the events. Each must be able to write an event
/// without knowing the ones before it: text is aligned by what came before, `--limit`
/// stops after a few, and a filter reports at the end what it has never matched.
fn several_threads(args: &EventsArgs) -> bool {
    args.format != EventFormat::Text
        && args.limit.is_none()
        && args.fields.is_empty()
        && !args.shape.frames
        && args.filter_options().is_empty()
}

/// Room for an ordinary part, which ends with the line that makes it full.
const PAGE_BYTES: usize = 320 << 10;
/// Bytes that a page keeps for the next part.
const MOST_KEPT: usize = 1 << 20;

/// Writes the events of a part.
struct Writer {
    types: EventTypes,
    form: Form,
    page: Page,
    spare: Arc<Spare<Page>>,
}

impl MakeParts for Writer {
    type Part = Page;

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        let type_index = self.types.index_of(&event);
        self.form.event(&mut self.page, &event, type_index, &self.types, None);
    }

    #[inline(always)]
    fn part_bytes(&self) -> usize {
        self.page.len()
    }

    fn part(&mut self) -> Page {
        std::mem::replace(
            &mut self.page,
            self.spare.take().unwrap_or_else(|| Page::with_room(PAGE_BYTES)),
        )
    }
}

/// The same with several threads.
fn in_regions(
    args: &EventsArgs,
    context: &mut Context<'_>,
    file: &str,
    regions: &Regions,
) -> Result<Exit, Failure> {
    let detail = detail(args);
    let is_safe = args.csv_safe.unwrap_or(!args.shape.raw && context.has_user);
    let form = || match args.format {
        EventFormat::Csv => Form::Csv(Csv::new(detail, None, false).safe(is_safe)),
        _ => Form::Ndjson(Ndjson::new(detail)),
    };
    let order = match args.order {
        Order::Time => parallel::Order::Time,
        Order::File => parallel::Order::File,
    };
    form().begin(context.out.buffer(), false);
    let spare = Arc::new(Spare::new());
    let worker = || Writer {
        types: EventTypes::default(),
        form: form(),
        page: Page::default(),
        spare: Arc::clone(&spare),
    };
    let mut written = Ok(());
    let outcome = regions.read_in_parts(order, worker, |mut page| {
        written = context.out.pass_on(page.filled());
        page.clear(MOST_KEPT);
        spare.give(page);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    written?;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            context.out.finish()?;
            return Err(Failure::read(file, &error, 0));
        }
    };
    context.out.finish()?;
    context.progress.end();
    let ended = Ended::from(outcome);
    context.messages.losses(file, &ended);
    Ok(context.conclude(file, &ended, true))
}
