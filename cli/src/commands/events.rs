//! `nettrace events`: the events, one a line.

use super::{Context, failed};
use crate::args::{BigInts, EventFormat, EventsArgs, Order};
use crate::event_types::EventTypes;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::{Input, Regions, Spare, Work};
use crate::render::{Csv, Detail, Form, Ndjson, Text};
use crate::selection::Selection;
use nettrace_parser::{Error, Event, Reader, TimeOrdered, parallel};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Events in one of the two orders.
enum Events {
    Time(Box<TimeOrdered<Input>>),
    File(Box<Reader<Input>>),
}

impl Events {
    fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        match self {
            Events::Time(ordered) => ordered.next_event(),
            Events::File(reader) => reader.next_event(),
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
    let mut events = match args.order {
        Order::Time => Events::Time(Box::new(trace.reader.time_ordered())),
        Order::File => Events::File(Box::new(trace.reader)),
    };
    let detail = detail(args);
    let mut selection = Selection::new(&args.fields);
    let mut form = match args.format {
        EventFormat::Text => Form::Text(Text::new(detail, context.style, context.terminal_columns())),
        EventFormat::Ndjson => Form::Ndjson(Ndjson::new(detail)),
        EventFormat::Csv => {
            let is_one_type = matches!(args.event.as_slice(), [pattern] if pattern.is_exact());
            Form::Csv(Csv::new(detail, selection.as_ref(), is_one_type))
        }
    };
    let mut types = EventTypes::default();
    let mut filter = Filter::new(args);
    let mut left = args.limit.unwrap_or(u64::MAX);
    form.begin(context.out.buffer(), has_processes);
    let mut is_whole = false;
    while left > 0 {
        let event = match events.next() {
            Ok(Some(event)) => event,
            Ok(None) => {
                is_whole = true;
                break;
            }
            Err(error) => {
                context.out.finish()?;
                return Err(failed(&file, events.reader(), &error));
            }
        };
        let place = types.place_of(&event);
        if !filter.accepts(&event, place, &types) {
            continue;
        }
        form.event(context.out.buffer(), &event, place, &types, selection.as_mut());
        left -= 1;
        context.out.hand_on()?;
    }
    form.end(context.out.buffer());
    context.out.finish()?;
    context.progress.end();
    if is_whole {
        let of_fields = selection.map_or_else(Vec::new, |selection| selection.unmatched(&types));
        for message in filter.unmatched(&types).into_iter().chain(of_fields) {
            context.messages.warning(&format!("{file}: {message}"));
        }
        context.messages.losses(&file, events.reader());
    }
    Ok(context.conclude(&file, events.reader(), is_whole))
}

fn detail(args: &EventsArgs) -> Detail {
    Detail {
        stacks: args.stacks,
        raw: args.raw,
        utc: args.utc,
        big_ints_as_strings: args.big_ints == BigInts::String,
    }
}

/// Whether events are shown one by one, without a look at those before, and so many that threads gain: not as
/// aligned text, not the first few, and not those that a filter lets through, which must know at the end what it
/// has never met.
fn several_threads(args: &EventsArgs) -> bool {
    args.format != EventFormat::Text
        && args.limit.is_none()
        && args.fields.is_empty()
        && !Filter::is_any(args)
}

/// Shows the events of regions.
struct Writer {
    types: EventTypes,
    form: Form,
    out: Vec<u8>,
    spare: Arc<Spare<Vec<u8>>>,
}

impl Work for Writer {
    type Made = Vec<u8>;

    #[inline]
    fn take(&mut self, event: &Event<'_>) {
        let place = self.types.place_of(event);
        self.form.event(&mut self.out, event, place, &self.types, None);
    }

    fn made(&mut self) -> Vec<u8> {
        std::mem::replace(&mut self.out, self.spare.take().unwrap_or_default())
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
    let form = || match args.format {
        EventFormat::Csv => Form::Csv(Csv::new(detail, None, false)),
        _ => Form::Ndjson(Ndjson::new(detail)),
    };
    let order = match args.order {
        Order::Time => parallel::Order::Time,
        Order::File => parallel::Order::File,
    };
    form().begin(context.out.buffer(), false);
    let spare = Arc::new(Spare::new());
    let worker =
        || Writer { types: EventTypes::default(), form: form(), out: Vec::new(), spare: Arc::clone(&spare) };
    let mut written = Ok(());
    let outcome = regions.read(order, worker, |mut out| {
        written = context.out.pass_on(&out);
        out.clear();
        spare.give(out);
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
    context.messages.losses(file, &outcome);
    Ok(context.conclude(file, &outcome, true))
}
