//! Exceptions of a page, one row each, so that the page groups them by type, message and stack in
//! any range of time. Messages that differ only in numbers are one, as in the report. After the first [`MAX_ROWS`], exceptions are only counted by type, message
//! and stack.

use super::sums::Sums;
use crate::fact::thinned::Thinning;
use crate::hash::HashMap;
use crate::model::{Model, RecentTexts, StackHandle, TextHandle, Texts};
use crate::report::{Moment, group_of};
use crate::words::page::MANY_MORE;
use nettrace_parser::view::{self, KnownProvider, View};
use nettrace_parser::{Event, Utf16};

/// The event `Exception/Start` of the runtime.
const THROWN: u32 = 80;
/// Maximum number of exceptions with a row of their own.
const MAX_ROWS: usize = 50_000;
/// Maximum number of sums of exceptions without a row.
const MAX_SUMS: usize = 1 << 15;
/// Maximum number of different pairs of message and stack among the sums. Beyond it, messages and
/// stacks are not told apart, so that there is room for bins of time.
const MAX_PLACES: usize = MAX_SUMS / 16;
/// Maximum number of different types.
const MAX_TYPES: usize = 5_000;
/// Maximum number of different messages.
const MAX_MESSAGES: usize = 20_000;

#[derive(Debug, Clone, Copy)]
pub(super) struct ExceptionRow {
    pub(super) nanos: i64,
    pub(super) thread: u32,
    pub(super) type_name: u32,
    pub(super) message: u32,
    pub(super) stack: StackHandle,
}

#[derive(Debug)]
pub(super) struct PageExceptions {
    pub(super) rows: Vec<ExceptionRow>,
    /// Sums of exceptions without a row, by type and by number in `places`, from 1.
    pub(super) others: Sums<2>,
    /// Pairs of message and stack of exceptions without a row.
    pub(super) places: Vec<(u32, StackHandle)>,
    known_places: HashMap<(u32, StackHandle), u32>,
    /// Number of exceptions whose message and stack are not kept.
    without_place: u64,
    pub(super) types: LimitedTexts,
    pub(super) messages: LimitedTexts,
}

/// Number in place of a message and a stack that are not kept.
const NO_PLACE: u32 = 0;

impl Default for PageExceptions {
    fn default() -> PageExceptions {
        PageExceptions {
            rows: Vec::new(),
            others: Sums::new(MAX_SUMS),
            places: Vec::new(),
            known_places: HashMap::default(),
            without_place: 0,
            types: LimitedTexts::default(),
            messages: LimitedTexts::default(),
        }
    }
}

/// A limited number of different texts, the first ones.
#[derive(Debug, Default)]
pub(super) struct LimitedTexts {
    pub(super) texts: Texts,
    /// Handles of texts that came lately.
    recent: RecentTexts<TextHandle>,
    /// Handle of [`MANY_MORE`], once it is used in place of a text.
    many_more: Option<TextHandle>,
    /// Number of uses of [`MANY_MORE`] in place of a text.
    replaced: u64,
}

impl LimitedTexts {
    /// Returns the number of what `shown` returns for a stored text, or that of [`MANY_MORE`] if
    /// there are `most` other texts.
    fn number(
        &mut self,
        stored: Utf16<'_>,
        most: usize,
        shown: impl FnOnce(String) -> String,
    ) -> u32 {
        let LimitedTexts { texts, recent, many_more, replaced } = self;
        let find = |text: Utf16<'_>| {
            let kept = texts.intern_up_to(&shown(text.to_string()), most);
            kept.unwrap_or_else(|| *many_more.get_or_insert_with(|| texts.intern(MANY_MORE)))
        };
        let handle = recent.meaning_of(stored, find);
        *replaced = replaced.saturating_add(u64::from(Some(handle) == *many_more));
        handle.0
    }
}

impl PageExceptions {
    pub(super) fn wants(event: &Event<'_>) -> bool {
        event.id() == THROWN && event.known_provider() == KnownProvider::Runtime
    }

    pub(super) fn add(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let Some(thrown) = view::Exception::from_event(event) else { return };
        let stack = model.stack_of(event, moment.thread);
        let type_name = self.types.number(thrown.type_name, MAX_TYPES, |name| name);
        // .NET 6 and later write `NULL` for an exception without a message.
        let group = |message: String| match message.as_str() {
            "NULL" => String::new(),
            message => group_of(message),
        };
        let message = self.messages.number(thrown.message, MAX_MESSAGES, group);
        if self.rows.len() >= MAX_ROWS {
            let place = self.place(message, stack);
            self.others.add(moment.nanos, [type_name, place], 0);
            return;
        }
        self.rows.push(ExceptionRow {
            nanos: moment.nanos,
            thread: moment.thread.0,
            type_name,
            message,
            stack,
        });
    }

    /// Returns the number of a pair of message and stack.
    fn place(&mut self, message: u32, stack: StackHandle) -> u32 {
        if let Some(known) = self.known_places.get(&(message, stack)) {
            return *known;
        }
        if self.places.len() >= MAX_PLACES {
            self.without_place = self.without_place.saturating_add(1);
            return NO_PLACE;
        }
        self.places.push((message, stack));
        let place = u32::try_from(self.places.len()).unwrap_or(NO_PLACE);
        self.known_places.insert((message, stack), place);
        place
    }

    /// Returns which details of exceptions are missing because there is no room.
    pub(super) fn thinnings(&self) -> impl Iterator<Item = Thinning> {
        let (types, messages) = (self.types.replaced, self.messages.replaced);
        let all = [
            (types, Thinning::ManyTypes { exceptions: types, kept: MAX_TYPES as u64 }),
            (messages, Thinning::ManyMessages { exceptions: messages, kept: MAX_MESSAGES as u64 }),
            (self.without_place, Thinning::ByType { exceptions: self.without_place }),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).map(|(_, thinning)| thinning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_text_keeps_its_handle_when_the_table_is_full() {
        let mut texts = LimitedTexts::default();
        let number = |texts: &mut LimitedTexts, text: &str| {
            let stored: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            texts.number(Utf16::new(&stored, true), 2, |text| text)
        };
        let known = [number(&mut texts, "a"), number(&mut texts, "b")];
        assert_eq!(texts.replaced, 0);
        let others = [number(&mut texts, "c"), number(&mut texts, "d")];
        assert_eq!([number(&mut texts, "a"), number(&mut texts, "b")], known);
        let all: Vec<&str> = texts.texts.all().collect();
        assert_eq!((all, others), (vec!["a", "b", MANY_MORE], [2, 2]));
        assert_eq!(texts.replaced, 2);
    }
}
