//! `nettrace events`: the events, one a line.

use super::{Context, failed};
use crate::args::{BigInts, EventFormat, EventsArgs, Order};
use crate::event_types::EventTypes;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::Input;
use crate::render::{Csv, Detail, Form, Ndjson, Text};
use crate::selection::Selection;
use nettrace_parser::{Error, Event, Reader, TimeOrdered};

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
    let file = trace.file;
    let mut events = match args.order {
        Order::Time => Events::Time(Box::new(trace.reader.time_ordered())),
        Order::File => Events::File(Box::new(trace.reader)),
    };
    let detail = Detail {
        stacks: args.stacks,
        raw: args.raw,
        utc: args.utc,
        big_ints_as_strings: args.big_ints == BigInts::String,
    };
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
