//! Log messages of a page: all, or evenly spread ones and counts of all by level and time.

use super::Page;
use super::sums::Sums;
use crate::fact::thinned::{PagePart, Thinning};
use crate::report::{LogRow, Logs, Report};

/// Maximum number of messages.
const MAX_ROWS: usize = 20_000;
/// Maximum number of bytes that messages take.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of sums by level and time.
const MAX_SUMS: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct PageMessages {
    rows: Vec<LogRow>,
    bytes: usize,
    /// Distance between messages that are kept.
    step: u64,
    count: u64,
    /// Counts of all messages by level.
    sums: Sums<1>,
}

impl Default for PageMessages {
    fn default() -> PageMessages {
        PageMessages { rows: Vec::new(), bytes: 0, step: 1, count: 0, sums: Sums::exact(MAX_SUMS) }
    }
}

impl PageMessages {
    pub(super) fn add(&mut self, row: LogRow) {
        self.sums.add(row.ts_ns, [row.level as u32], 0);
        let number = self.count;
        self.count = number.saturating_add(1);
        if !number.is_multiple_of(self.step) {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes_of(&row));
        self.rows.push(row);
        while self.rows.len() > MAX_ROWS || self.bytes > MAX_BYTES && self.rows.len() > 1 {
            self.step = self.step.saturating_mul(2);
            let mut places = 0_usize..;
            self.rows.retain(|_| places.next().is_some_and(|place| place.is_multiple_of(2)));
            self.bytes = self.rows.iter().map(bytes_of).fold(0, usize::saturating_add);
        }
    }

    /// Returns the messages that are kept. Writes the counts of all, if some are left out.
    pub(super) fn finish(self, page: &mut Page) -> Vec<LogRow> {
        let (kept, all, step) = (self.rows.len() as u64, self.count, self.step);
        if step > 1 {
            let about = PagePart::Report(Logs::NAME);
            page.thin(about, Thinning::OneOf { list: "messages", kept, all, step });
            page.add_sums("logs.others", self.sums, ["level"], false);
        }
        self.rows
    }
}

/// Returns about how many bytes a message takes.
fn bytes_of(row: &LogRow) -> usize {
    let texts = [&row.logger, &row.event, &row.message].map(String::len);
    let more =
        [&row.exception, &row.template, &row.arguments, &row.request, &row.trace_id, &row.span_id];
    let more = more.map(|text| text.as_ref().map_or(0, String::len));
    let scopes = row.scopes.iter().map(|scope| scope.len());
    texts.into_iter().chain(more).chain(scopes).fold(size_of::<LogRow>(), usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::LogLevel;

    fn row(ts_ns: i64, message: String) -> LogRow {
        LogRow {
            ts_ns,
            thread_id: None,
            level: LogLevel::Warning,
            logger: String::new(),
            event: String::new(),
            message,
            exception: None,
            template: None,
            arguments: None,
            request: None,
            trace_id: None,
            span_id: None,
            scopes: Vec::new(),
        }
    }

    #[test]
    fn messages_are_evenly_spread_and_all_are_counted() {
        let mut messages = PageMessages::default();
        (0..50_000).for_each(|at| messages.add(row(at, String::new())));
        let mut page = Page::default();
        assert_eq!(messages.sums.count(), 50_000);
        let rows = messages.finish(&mut page);
        let times: Vec<i64> = rows.iter().map(|row| row.ts_ns).collect();
        assert_eq!(times, (0..50_000).step_by(4).collect::<Vec<_>>());
        let how = Thinning::OneOf { list: "messages", kept: 12_500, all: 50_000, step: 4 };
        assert_eq!(page.thinned.first().map(|thinned| thinned.how), Some(how));
        assert!(page.sums.contains_key("logs.others"));
    }

    #[test]
    fn long_messages_are_bounded_by_their_bytes() {
        let mut messages = PageMessages::default();
        (0..1000).for_each(|at| messages.add(row(at, "x".repeat(1 << 15))));
        assert!(messages.bytes <= MAX_BYTES && messages.rows.len() > 100, "{}", messages.bytes);
    }

    #[test]
    fn a_page_with_all_messages_has_no_counts() {
        let mut messages = PageMessages::default();
        (0..100).for_each(|at| messages.add(row(at, String::new())));
        let mut page = Page::default();
        assert_eq!(messages.finish(&mut page).len(), 100);
        assert!(page.sums.is_empty() && page.thinned.is_empty());
    }
}
