//! Exceptions: where they were thrown, and how they were handled. The events are:
//!
//! | event | meaning |
//! |---|---|
//! | runtime 80 Exception/Start | an exception was thrown; its type, message, flags |
//! | 250, 251 ExceptionCatch | a catch block started, ended |
//! | 252, 253 ExceptionFinally | a finally or fault block started, ended |
//! | 254, 255 ExceptionFilter | a filter started, ended |
//! | 256 Exception/Stop | the exception was handled |
//!
//! The throwing thread writes the events. An exception may be thrown and handled while another is
//! handled; its events then lie between those of the outer exception. A catch block that another
//! exception leaves has no end event. The flags of an exception say whether it was thrown while
//! none was handled; blocks that are still open then have ended without an event. [`Handlers`]
//! tracks the blocks, also for timelines.

use super::contract::{DEFAULT_ROWS, Moment, Recording, Report, SCHEMA};
use super::counts::{ThreadCount, increase, increase_all};
use crate::hash::HashMap;

use super::distribution::{Distribution, Spread};
use super::message_group::group_of;
use super::rate::{Rate, RateCounter};
use super::stack_rows::{ShownFrames, StackRow, is_dispatch, stack_rows};
use crate::model::intervals::{Bounds, CatchBlock, Clause, Handlers, Interval, nanos_between};
use crate::model::{
    Mode, Model, NameOptions, RecentTexts, Resolved, StackHandle, TextHandle, ThreadHandle,
    handler_text, type_text,
};
use crate::sorted::SortFew;
use nettrace_parser::view::{self, KnownProvider, View};
use nettrace_parser::{Event, Utf16};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum time from the start of a catch block to its `throw;` that counts as the cost of throwing,
/// in nanoseconds: 5 ms, as the sampler may stop the thread meanwhile. What a block does for longer is
/// the program's own work.
const MAX_AGAIN_NANOS: u64 = 5_000_000;
/// Maximum number of message groups of one type and stack; further messages share a group.
const MAX_MESSAGES: usize = 10_000;

/// Exceptions of a trace, by type and by thread.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExceptionsReport {
    /// Version of this document: [`SCHEMA`](super::SCHEMA).
    pub schema: u32,
    /// Number of exceptions thrown, including rethrown ones.
    pub count: u64,
    /// Whether the trace has the events of catch, filter and finally blocks.
    pub is_handling_traced: bool,
    /// Exceptions by type, most frequent first, then by name.
    pub types: Vec<ExceptionType>,
    /// Number of exceptions by thread, most first.
    pub threads: Vec<ThreadCount>,
    /// Number of exceptions over time.
    pub rate: Rate,
}

/// Exceptions of one type.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExceptionType {
    /// Name of the type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of exceptions thrown, including rethrown ones.
    pub count: u64,
    /// Number of exceptions rethrown by `throw;`.
    pub rethrown: u64,
    /// Number of times that exceptions were rethrown without an event, which are not part of
    /// `count`. From .NET 9 on `throw;` has none: a catch block starts though nothing was thrown.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub rethrown_without_event: u64,
    /// Number of exceptions thrown while another was handled.
    pub nested: u64,
    /// Number of exceptions that were caught.
    pub caught: u64,
    /// Number of exceptions whose catch block was left by another exception.
    pub left_by_exception: u64,
    /// Time of the first exception, in nanoseconds since the session's start.
    pub first_ns: i64,
    /// Time of the last exception, in nanoseconds since the session's start.
    pub last_ns: i64,
    /// Times from the throw until the catch block starts, including filters and finally blocks.
    pub to_catch: Spread,
    /// Times that catch blocks ran.
    pub in_catch: Spread,
    /// Times that filters ran.
    pub in_filter: Spread,
    /// Times that finally blocks ran while the exception propagated.
    pub in_finally: Spread,
    /// Messages of the exceptions, with each number replaced by `#`, most frequent first.
    pub messages: Vec<MessageCount>,
    /// Types of inner exceptions, most frequent first. An exception with an inner exception that is
    /// thrown in a catch block is assumed to wrap the exception that the block caught; other inner
    /// exceptions are unknown.
    pub inner: Vec<TypeCount>,
    /// Methods whose catch blocks caught the exceptions, most frequent first.
    pub caught_in: Vec<MethodCount>,
    /// Stacks that threw the exceptions, most frequent first.
    pub stacks: Vec<StackRow>,
    /// Number of stacks beyond those in `stacks`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub stacks_left_out: u64,
    /// Stacks that threw exceptions for the first time, if others rethrew them by `throw;`.
    #[cfg_attr(feature = "serde", serde(skip))]
    begun: Vec<StackRow>,
    /// Time from the starts of catch blocks that rethrow by `throw;` to the throw, or to the next
    /// block if the throw has no event, in nanoseconds.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) again_ns: u64,
}

impl ExceptionType {
    /// Returns the stacks that threw the exceptions for the first time, most frequent first, as far
    /// as events tell: what an await rethrows is among them.
    pub(crate) fn first_throws(&self) -> &[StackRow] {
        if self.begun.is_empty() { &self.stacks } else { &self.begun }
    }
}

/// Group of messages that differ only in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MessageCount {
    /// Message with each number replaced by `#`.
    pub message: String,
    /// Number of messages.
    pub count: u64,
}

/// Type of an inner exception, with its number of occurrences.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TypeCount {
    /// Name of the type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub type_name: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Method that caught exceptions, with its number of occurrences.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MethodCount {
    /// Name of the method.
    pub method: String,
    /// Number of occurrences.
    pub count: u64,
}

/// Exceptions of one type from one stack. Sites are merged at the end, because filters of frames
/// need resolved stacks.
#[derive(Debug, Default)]
struct ThrowSite {
    count: u64,
    rethrown: u64,
    again: u64,
    again_nanos: u64,
    nested: u64,
    caught: u64,
    left: u64,
    first: i64,
    last: i64,
    rate: RateCounter,
    /// `None` until a handler is reported, which saves memory if each exception has its own site.
    spreads: Option<Box<Spreads>>,
    messages: BTreeMap<TextHandle, u64>,
    inner: BTreeMap<TextHandle, u64>,
    caught_in: BTreeMap<TextHandle, u64>,
    threads: BTreeMap<ThreadHandle, u64>,
}

/// Durations of handlers, and times until they were found.
#[derive(Debug, Default)]
struct Spreads {
    to_catch: Distribution,
    in_catch: Distribution,
    in_filter: Distribution,
    in_finally: Distribution,
}

impl ThrowSite {
    /// Adds the time since a catch block started, at whose end the block throws again.
    fn spent_again(&mut self, since: Option<i64>, nanos: i64) {
        let spent = since.map_or(0, |since| nanos_between(since, nanos).min(MAX_AGAIN_NANOS));
        increase(&mut self.again_nanos, spent);
    }

    fn merge(&mut self, other: &ThrowSite) {
        self.first = if self.count == 0 { other.first } else { self.first.min(other.first) };
        self.last = if self.count == 0 { other.last } else { self.last.max(other.last) };
        increase(&mut self.count, other.count);
        increase(&mut self.rethrown, other.rethrown);
        increase(&mut self.again, other.again);
        increase(&mut self.again_nanos, other.again_nanos);
        increase(&mut self.nested, other.nested);
        increase(&mut self.caught, other.caught);
        increase(&mut self.left, other.left);
        self.rate.merge(&other.rate);
        if let Some(others) = &other.spreads {
            let mine = self.spreads.get_or_insert_default();
            mine.to_catch.merge(&others.to_catch);
            mine.in_catch.merge(&others.in_catch);
            mine.in_filter.merge(&others.in_filter);
            mine.in_finally.merge(&others.in_finally);
        }
        increase_all(&mut self.messages, &other.messages);
        increase_all(&mut self.inner, &other.inner);
        increase_all(&mut self.caught_in, &other.caught_in);
        increase_all(&mut self.threads, &other.threads);
    }
}

/// Type of the exceptions of a site, and the stack that threw them.
type SiteKey = (TextHandle, StackHandle);

/// Index of a site in [`Exceptions::sites`].
type SitePlace = usize;

/// Computes an [`ExceptionsReport`]. Memory is bounded by the number of types, messages,
/// threads and stacks.
#[derive(Debug)]
pub struct Exceptions {
    sites: Vec<(SiteKey, ThrowSite)>,
    places: HashMap<SiteKey, SitePlace>,
    /// Handlers in progress of each thread, with the site of their exception; `None` if the filter did
    /// not accept the throw.
    threads: Vec<Handlers<Option<SitePlace>, ()>>,
    /// Groups of messages; `None` if only figures are wanted.
    groups: Option<RecentTexts<TextHandle>>,
    is_handling_traced: bool,
    top: usize,
}

impl Default for Exceptions {
    /// Lists the top 20 stacks of each type.
    fn default() -> Exceptions {
        Exceptions {
            sites: Vec::new(),
            places: HashMap::default(),
            threads: Vec::new(),
            groups: Some(RecentTexts::default()),
            is_handling_traced: false,
            top: DEFAULT_ROWS,
        }
    }
}

impl Exceptions {
    /// Leaves out messages, and the methods that caught exceptions.
    #[must_use]
    pub(crate) fn without_names(self) -> Exceptions {
        Exceptions { groups: None, ..self }
    }

    /// Returns whether an event says that an exception was handled, which changes nothing here.
    pub(crate) fn is_end(event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime && event.id() == 256
    }

    fn thrown(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let stack = model.stack_of(event, moment.thread);
        let exception = view::Exception::from_event(event);
        let flags = exception.map_or(0, |exception| exception.flags);
        let is_nested = exception.is_some_and(|exception| exception.is_nested());
        let type_name = match exception {
            Some(exception) => model.texts_mut().intern_repeated(exception.type_name),
            // Version 0 of the event has no fields.
            None => model.texts_mut().intern("(unknown type)"),
        };
        // A throw that the filter does not accept may leave a block whose exception it accepts.
        let place = moment.is_selected.then(|| self.place_of((type_name, stack), moment.nanos));
        let Some(handlers) = handlers_of(&mut self.threads, moment.thread) else { return };
        let inner = if flags & 1 != 0 && is_nested { handlers.caught() } else { None };
        let inner = inner.flatten().and_then(|place| self.sites.get(place));
        let inner = inner.map(|((type_name, _), _)| *type_name);
        let catching_since = handlers.catching_since();
        handlers.thrown(moment.nanos, is_nested, place, note_left(&mut self.sites));
        let Some((_, site)) = place.and_then(|place| self.sites.get_mut(place)) else { return };
        site.last = moment.nanos;
        site.rate.add(moment.nanos);
        site.count = site.count.saturating_add(1);
        site.nested = site.nested.saturating_add(u64::from(is_nested));
        if flags & 4 != 0 {
            site.rethrown = site.rethrown.saturating_add(1);
            site.spent_again(catching_since, moment.nanos);
        }
        if let Some((exception, groups)) = exception.zip(self.groups.as_mut()) {
            let texts = model.texts_mut();
            let group = if site.messages.len() >= MAX_MESSAGES {
                // Messages with names in them may all differ.
                texts.intern("(other messages)")
            } else {
                let find = |text: Utf16<'_>| texts.intern(&group_of(&text.to_string()));
                groups.meaning_of(exception.message, find)
            };
            increase(site.messages.entry(group).or_default(), 1);
        }
        if let Some(inner) = inner {
            increase(site.inner.entry(inner).or_default(), 1);
        }
        increase(site.threads.entry(moment.thread).or_default(), 1);
    }

    /// Returns the place of a site, which is added if unknown. `nanos`: time of its exception.
    fn place_of(&mut self, key: SiteKey, nanos: i64) -> SitePlace {
        *self.places.entry(key).or_insert_with(|| {
            self.sites.push((key, ThrowSite { first: nanos, ..ThrowSite::default() }));
            self.sites.len().saturating_sub(1)
        })
    }

    fn clause_begins(
        &mut self,
        event: &Event<'_>,
        clause: Clause,
        moment: &Moment,
        model: &mut Model,
    ) {
        self.is_handling_traced = true;
        let at = moment.edge(event);
        let Some(handlers) = handlers_of(&mut self.threads, moment.thread) else { return };
        let Some(cause) = handlers.begin(clause, at, (), note_left(&mut self.sites)) else {
            return;
        };
        let site = cause.exception.and_then(|place| self.sites.get_mut(place));
        let Some((_, site)) = site else { return };
        if clause == Clause::Catch {
            if cause.is_again {
                site.again = site.again.saturating_add(1);
                site.spent_again(Some(cause.thrown_nanos), moment.nanos);
            } else {
                site.caught = site.caught.saturating_add(1);
                let nanos = nanos_between(cause.thrown_nanos, moment.nanos);
                site.spreads.get_or_insert_default().to_catch.add(nanos);
            }
            if self.groups.is_none() {
                return;
            }
            let texts = model.texts_mut();
            let method = event.field("MethodName").and_then(|method| texts.intern_value(method));
            if let Some(method) = method {
                increase(site.caught_in.entry(method).or_default(), 1);
            }
        }
    }

    fn clause_ends(&mut self, event: &Event<'_>, clause: Clause, moment: &Moment) {
        let at = moment.edge(event);
        let Some(handlers) = self.threads.get_mut(moment.thread.index()) else { return };
        let Some(block) = handlers.end(clause, at, note_left(&mut self.sites)) else { return };
        let place = block.what.exception.flatten();
        let Some((_, site)) = place.and_then(|place| self.sites.get_mut(place)) else { return };
        let spreads = site.spreads.get_or_insert_default();
        let spread = match clause {
            Clause::Catch => &mut spreads.in_catch,
            Clause::Filter => &mut spreads.in_filter,
            Clause::Finally => &mut spreads.in_finally,
        };
        spread.add(block.nanos);
    }
}

/// Returns the handlers of a thread. Handles count from 0 in the order in which threads appear.
fn handlers_of<E: Clone>(
    threads: &mut Vec<Handlers<E, ()>>,
    thread: ThreadHandle,
) -> Option<&mut Handlers<E, ()>> {
    if thread.index() >= threads.len() {
        threads.resize_with(thread.index().saturating_add(1), Handlers::default);
    }
    threads.get_mut(thread.index())
}

/// Returns a function that counts the catch blocks that another exception left.
fn note_left(
    sites: &mut [(SiteKey, ThrowSite)],
) -> impl FnMut(Interval<CatchBlock<Option<SitePlace>, ()>>) + use<'_> {
    |Interval { bounds, what: block, .. }| {
        if bounds == Bounds::LeftByException
            && block.clause == Clause::Catch
            // What is thrown again is no other exception.
            && block.left_by != block.exception
            && let Some(place) = block.exception.flatten()
            && let Some((_, site)) = sites.get_mut(place)
        {
            site.left = site.left.saturating_add(1);
        }
    }
}

impl Report for Exceptions {
    type Output = ExceptionsReport;

    const NAME: &'static str = "exceptions";
    const ABOUT: &'static str = "What was thrown, where, and what caught it";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x8000, 4)];

    fn top(mut self, rows: usize) -> Exceptions {
        self.top = rows;
        self
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime
            && (matches!(event.id(), 80 | 256) || Clause::of_runtime(event.id()).is_some())
    }

    fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) -> bool {
        match event.id() {
            80 => self.thrown(event, moment, model),
            256 => {}
            id => match Clause::of_runtime(id) {
                Some((clause, true)) => self.clause_begins(event, clause, moment, model),
                Some((clause, false)) => self.clause_ends(event, clause, moment),
                None => return false,
            },
        }
        true
    }

    fn finish(self, resolved: &Resolved<'_>) -> ExceptionsReport {
        let texts = resolved.model().texts();
        let mut types: BTreeMap<String, (ThrowSite, Vec<StackOfSite>)> = BTreeMap::new();
        let mut all = ThrowSite::default();
        // The order of merging decides ties.
        let mut sites = self.sites;
        sites.sort_few_by_key(|(key, _)| *key);
        for ((stored, stack), site) in &sites {
            if resolved.selected(*stack, Mode::Unknown).is_none() {
                continue;
            }
            let row = types.entry(type_text(texts.get(*stored), resolved.names())).or_default();
            row.0.merge(site);
            row.1.push((*stack, site.count, site.rethrown));
            all.rate.merge(&site.rate);
            all.count = all.count.saturating_add(site.count);
            increase_all(&mut all.threads, &site.threads);
        }
        let mut types: Vec<_> = types.into_iter().collect();
        types.sort_few_by(|(one_name, (one, _)), (other_name, (other, _))| {
            other.count.cmp(&one.count).then_with(|| one_name.cmp(other_name))
        });
        let mut frames = ShownFrames::new(resolved);
        let types = types
            .into_iter()
            .map(|(name, (site, stacks))| {
                type_row(name, &site, stacks, self.top, resolved, &mut frames)
            })
            .collect();
        let mut threads: Vec<ThreadCount> = all
            .threads
            .iter()
            .map(|(thread, count)| {
                let row = resolved.model().thread(*thread);
                ThreadCount {
                    thread_id: row.and_then(|row| row.os_thread_id),
                    name: row.and_then(|row| row.name.clone()),
                    count: *count,
                }
            })
            .collect();
        threads.sort_few_by_key(|row| (Reverse(row.count), row.thread_id));
        ExceptionsReport {
            schema: SCHEMA,
            count: all.count,
            is_handling_traced: self.is_handling_traced,
            types,
            threads,
            rate: all.rate.rate(),
        }
    }
}

/// Stack of a site, its exceptions, and how many of these were rethrown by `throw;`.
type StackOfSite = (StackHandle, u64, u64);

fn type_row(
    type_name: String,
    site: &ThrowSite,
    stacks: Vec<StackOfSite>,
    top: usize,
    resolved: &Resolved<'_>,
    frames: &mut ShownFrames<'_, '_>,
) -> ExceptionType {
    let (texts, names) = (resolved.model().texts(), resolved.names());
    let named = |counts: &BTreeMap<TextHandle, u64>, shown: &dyn Fn(&str) -> String| {
        // Names that are stored differently may be shown as one text.
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (text, count) in counts {
            increase(sums.entry(shown(texts.get(*text))).or_default(), *count);
        }
        let mut rows: Vec<(String, u64)> = sums.into_iter().collect();
        rows.sort_few_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        rows.truncate(top);
        rows.into_iter()
    };
    let spread = |of: fn(&Spreads) -> &Distribution| {
        site.spreads.as_deref().map_or_else(Spread::default, |spreads| of(spreads).spread())
    };
    let thrown = |(stack, count, rethrown): &StackOfSite| {
        let begun = count.saturating_sub(*rethrown);
        (site.rethrown > 0 && begun > 0).then_some((*stack, begun))
    };
    let begun: Vec<_> = stacks.iter().filter_map(thrown).collect();
    let all = stacks.into_iter().map(|(stack, count, _)| (stack, count));
    let (stacks, stacks_left_out) = stack_rows(frames, all, is_dispatch, top);
    let (begun, _) = stack_rows(frames, begun, is_dispatch, top);
    ExceptionType {
        type_name,
        count: site.count,
        rethrown: site.rethrown,
        rethrown_without_event: site.again,
        again_ns: site.again_nanos,
        nested: site.nested,
        caught: site.caught,
        left_by_exception: site.left,
        first_ns: site.first,
        last_ns: site.last,
        to_catch: spread(|spreads| &spreads.to_catch),
        in_catch: spread(|spreads| &spreads.in_catch),
        in_filter: spread(|spreads| &spreads.in_filter),
        in_finally: spread(|spreads| &spreads.in_finally),
        messages: named(&site.messages, &str::to_owned)
            .map(|(message, count)| MessageCount { message, count })
            .collect(),
        inner: named(&site.inner, &|stored| type_text(stored, names))
            .map(|(type_name, count)| TypeCount { type_name, count })
            .collect(),
        caught_in: named(&site.caught_in, &|reported| catcher(reported, names))
            .map(|(method, count)| MethodCount { method, count })
            .collect(),
        stacks,
        stacks_left_out,
        begun,
    }
}

/// Returns the shown name of a method that caught an exception. The code that resumes async methods
/// catches exceptions only to throw them again in the awaiting method.
fn catcher(reported: &str, names: NameOptions) -> String {
    let is_carrier = reported.contains("System.Runtime.CompilerServices.AsyncHelpers")
        && ["::DispatchContinuations", "::MoveNext"].iter().any(|name| reported.contains(name));
    match is_carrier && !names.is_raw {
        true => CARRIED.to_owned(),
        false => handler_text(reported, names),
    }
}

/// Text shown for the code that carries an exception of an async method to the awaiting method.
const CARRIED: &str = "(carried to the awaiting method)";
