//! Makes the marks for exceptions, and for the blocks of code that run because of them.

use super::mark::{Category, SpanScope};
use super::mark_text::MarkText;
use super::subject::{self, SpanSubject};
use super::{SpanMoment, Spans};
use crate::model::intervals::{CatchBlock, Clause, Interval};
use crate::model::{NameOptions, type_text};
use nettrace_parser::view::{Exception, View};

/// The exceptions of one thread, known by their types, and the spans of their blocks.
pub(super) type SpanHandlers = crate::model::intervals::Handlers<MarkText, SpanSubject>;

/// Name of an exception whose type is unknown.
const UNTOLD: &str = "exception";

fn name_of(clause: Clause) -> &'static str {
    match clause {
        Clause::Catch => "catch",
        Clause::Finally => "finally",
        Clause::Filter => "filter",
    }
}

/// Adds two types to the span of a block: that of the block's exception, and that of the exception
/// that left the block.
pub(super) fn shown(
    interval: Interval<CatchBlock<MarkText, SpanSubject>>,
) -> Interval<SpanSubject> {
    interval.map(|block| {
        let mut subject = block.what;
        for (name, exception) in [("exception", block.exception), ("left_by", block.left_by)] {
            if let Some(exception) = exception {
                subject::text(&mut subject.arguments, name, exception);
            }
        }
        subject
    })
}

impl Spans {
    pub(super) fn exception(&mut self, moment: SpanMoment<'_, '_>) {
        let mut instant = moment.instant(Category::Exception, UNTOLD);
        let mut is_nested = false;
        if let Some(exception) = Exception::from_event(moment.event) {
            let show = |name: &str| type_text(name, NameOptions::default());
            instant.name = self.type_names.text(exception.type_name, show);
            let message = self.value(exception.message);
            subject::text(&mut instant.arguments, "message", message);
            subject::address(&mut instant.arguments, "hresult", Some(exception.hresult.into()));
            if exception.is_rethrown() {
                subject::text(&mut instant.arguments, "thrown", "again");
            }
            is_nested = exception.is_nested();
        }
        let over = |block| self.open.show(shown(block));
        let handlers = self.handlers.entry(moment.thread).or_default();
        handlers.thrown(moment.nanos, is_nested, instant.name.clone(), over);
        self.instant(instant);
    }

    pub(super) fn clause(&mut self, moment: SpanMoment<'_, '_>, clause: Clause, begins: bool) {
        let mut block = SpanSubject::new(Category::Exception, SpanScope::Thread, name_of(clause));
        if begins {
            self.texts_of(moment.event, &mut block.arguments);
        }
        let over = |block| self.open.show(shown(block));
        let handlers = self.handlers.entry(moment.thread).or_default();
        if begins {
            handlers.begin(clause, moment.edge(), block, over);
            return;
        }
        let ended = handlers.end(clause, moment.edge(), over).map(shown);
        let ended = ended.unwrap_or_else(|| Interval::without_start(moment.edge(), None, block));
        self.open.show(ended);
    }

    /// Takes the blocks that still run at the end of the trace.
    pub(super) fn finish_handlers(&mut self) -> Vec<Interval<SpanSubject>> {
        let threads = std::mem::take(&mut self.handlers);
        let nanos = self.last_nanos;
        threads.into_values().flat_map(|handlers| handlers.finish(nanos)).map(shown).collect()
    }
}
