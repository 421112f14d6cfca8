//! Exceptions, and the blocks of code that they run into.

use super::mark::{Category, SpanScope, TimelineMark};
use super::runtime::texts_of;
use super::subject::{self, Subject};
use super::{Moment, Spans};
use crate::model::intervals::{Block, Clause, Interval};
use crate::model::{NameOptions, type_text};
use nettrace_parser::view::Exception;
use std::sync::Arc;

/// An exception's type, and what a timeline shows of a block.
pub(super) type Handlers = crate::model::intervals::Handlers<Arc<str>, Subject>;

/// What the type of an exception is called where it is not known.
const UNTOLD: &str = "exception";

fn name_of(clause: Clause) -> &'static str {
    match clause {
        Clause::Catch => "catch",
        Clause::Finally => "finally",
        Clause::Filter => "filter",
    }
}

/// What is shown of a block: its exception, and the one that left it.
pub(super) fn shown(interval: Interval<Block<Arc<str>, Subject>>) -> Interval<Subject> {
    interval.map(|block| {
        let mut subject = block.what;
        let told = |exception: Option<Arc<str>>| exception.map(|name| name.to_string()).unwrap_or_default();
        subject::text(&mut subject.arguments, "exception", told(block.exception));
        subject::text(&mut subject.arguments, "left_by", told(block.left_by));
        subject
    })
}

impl Spans {
    pub(super) fn exception(&mut self, moment: Moment<'_, '_>) {
        let mut instant = moment.instant(Category::Exception, UNTOLD);
        let mut is_nested = false;
        if let Some(exception) = Exception::of(moment.event) {
            instant.name = type_text(&exception.type_name.to_string(), NameOptions::default());
            subject::text(&mut instant.arguments, "message", exception.message.to_string());
            subject::address(&mut instant.arguments, "hresult", Some(exception.hresult.into()));
            if exception.is_rethrown() {
                subject::text(&mut instant.arguments, "thrown", "again".to_owned());
            }
            is_nested = exception.is_nested();
        }
        let over = |block| self.ready.push(TimelineMark::Span(self.open.losses.span(shown(block))));
        let handlers = self.handlers.entry(moment.thread).or_default();
        handlers.thrown(moment.nanos, is_nested, instant.name.as_str().into(), over);
        self.instant(instant);
    }

    pub(super) fn clause(&mut self, moment: Moment<'_, '_>, clause: Clause, begins: bool) {
        let mut block = Subject::new(Category::Exception, SpanScope::Thread, name_of(clause));
        let over = |block| self.ready.push(TimelineMark::Span(self.open.losses.span(shown(block))));
        let handlers = self.handlers.entry(moment.thread).or_default();
        if begins {
            texts_of(moment.event, &mut block.arguments);
            handlers.begin(clause, moment.edge(), block, over);
            return;
        }
        let ended = handlers.end(clause, moment.edge(), over).map(shown);
        let ended = ended.unwrap_or_else(|| Interval::without_start(moment.edge(), None, block));
        self.ready.push(TimelineMark::Span(self.open.losses.span(ended)));
    }

    /// The trace's end: blocks that run.
    pub(super) fn finish_handlers(&mut self) -> Vec<Interval<Subject>> {
        let threads = std::mem::take(&mut self.handlers);
        let nanos = self.last_nanos;
        threads.into_values().flat_map(|handlers| handlers.finish(nanos)).map(shown).collect()
    }
}
