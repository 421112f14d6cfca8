//! Screen of `top`: its state, its drawing, and its keys.

use super::rows::{self, TopRow, decimal};
use super::state::TopState;
use crate::args::TopView;
use crate::cut::{self, Text};
use crate::screen::{Pressed, Selection, Theme, help, is_interrupt, put, put_right};
use crate::units;
use crossterm::event::{KeyCode, KeyEvent};
use nettrace_analysis::fact::SeenFact;
use nettrace_analysis::live::TopCaller;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use ratatui_core::terminal::Frame;

const KEYS: [(&str, &str); 13] = [
    ("q", "quits, as does Ctrl-C; Ctrl-Z suspends"),
    ("?", "shows this help"),
    ("m", "methods: self is the innermost, total anywhere on the stack"),
    ("t", "threads"),
    ("a", "allocated types"),
    ("e", "thrown exceptions"),
    ("c", "places where threads waited for a lock"),
    ("w", "places where threads wait"),
    ("h", "HTTP requests"),
    ("Enter", "callers of the row, or methods of the thread; Esc leaves them"),
    ("s", "sorts methods by total, and by self again"),
    ("p", "pauses"),
    ("↑ ↓", "selects a row; also PgUp, PgDn, Home and End"),
];

const VIEWS: [(TopView, char, &str); 7] = [
    (TopView::Methods, 'm', "methods"),
    (TopView::Threads, 't', "threads"),
    (TopView::Allocations, 'a', "allocations"),
    (TopView::Exceptions, 'e', "exceptions"),
    (TopView::Contention, 'c', "contention"),
    (TopView::Waits, 'w', "waits"),
    (TopView::Http, 'h', "http"),
];

/// Width of a column of numbers in terminal cells.
const NUMBER_COLUMNS: u16 = 10;
/// Number of rows above the list, without the verdict.
const ROWS_ABOVE: u16 = 5;

/// Text behind the name of a process whose runtime does not tell managed from native code.
const UNTOLD: &str = "  managed not told from native";

/// State of the screen.
#[derive(Debug)]
pub(super) struct TopBoard {
    theme: Theme,
    view: TopView,
    seen: Option<TopState>,
    list: Selection,
    /// Row whose callers are shown, or thread whose methods are shown; `None` for the view itself.
    inside: Option<TopRow>,
    callers: Vec<TopCaller>,
    /// Whether methods are sorted by total.
    is_by_total: bool,
    is_paused: bool,
    has_help: bool,
}

impl TopBoard {
    pub(super) fn new(theme: Theme, view: TopView) -> TopBoard {
        TopBoard {
            theme,
            view,
            seen: None,
            list: Selection::new(),
            inside: None,
            callers: Vec::new(),
            is_by_total: false,
            is_paused: false,
            has_help: false,
        }
    }

    pub(super) fn update(&mut self, seen: TopState) {
        // Keeps the row selected, wherever it is now.
        let name = self.rows().get(self.list.selected).map(TopRow::about);
        self.seen = Some(seen);
        if self.list.selected > 0
            && let Some(name) = name
            && let Some(place) = self.rows().iter().position(|row| row.about() == name)
        {
            self.list.selected = place;
        }
    }

    pub(super) fn view(&self) -> TopView {
        self.view
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Returns the view and the row whose callers are to be shown.
    pub(super) fn wants_callers(&self) -> Option<(TopView, String)> {
        let is_wanted = !matches!(self.view, TopView::Threads | TopView::Http) && !self.is_paused;
        self.inside.as_ref().filter(|_| is_wanted).map(|row| (self.view, row.about()))
    }

    pub(super) fn take_callers(&mut self, callers: Vec<TopCaller>) {
        self.callers = callers;
    }

    /// Returns the rows of the list that is shown.
    fn rows(&self) -> Vec<TopRow> {
        let Some(seen) = &self.seen else { return Vec::new() };
        let Some(inside) = &self.inside else {
            return match self.view {
                TopView::Methods if self.is_by_total => {
                    let mut methods: Vec<_> = seen.snapshot.methods.iter().collect();
                    methods.sort_by_key(|row| std::cmp::Reverse(row.total_samples));
                    methods.into_iter().map(rows::method).collect()
                }
                view => rows::rows(&seen.snapshot, view),
            };
        };
        if self.view == TopView::Threads {
            let mut threads = seen.snapshot.threads.iter();
            let thread = threads.find(|row| Some(row.thread_id) == inside.thread_id);
            return thread.map_or(Vec::new(), |row| row.methods.iter().map(rows::method).collect());
        }
        let callers = self.callers.iter().map(|caller| TopRow {
            cells: vec![decimal(caller.percent)],
            before: "  ".repeat(caller.depth.min(20)),
            name: caller.name.to_string(),
            thread_id: None,
        });
        callers.collect()
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Pressed {
        if is_interrupt(key) {
            return Pressed::Quit;
        }
        if self.has_help {
            self.has_help = false;
            return Pressed::Something;
        }
        let count = self.rows().len();
        match key.code {
            code if self.list.press(code, count) => {}
            KeyCode::Char('q') => return Pressed::Quit,
            KeyCode::Char('?') => self.has_help = true,
            KeyCode::Char('s') => self.is_by_total = !self.is_by_total,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Enter if self.inside_is().is_some() => {
                let row = self.rows().into_iter().nth(self.list.selected);
                let Some(row) = row else { return Pressed::Nothing };
                self.inside = Some(row);
                self.callers.clear();
                self.list.reset();
            }
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => {
                self.inside = None;
                self.list.reset();
            }
            KeyCode::Char(character) => {
                let Some((view, _, _)) = VIEWS.iter().find(|(_, key, _)| *key == character) else {
                    return Pressed::Nothing;
                };
                (self.view, self.inside) = (*view, None);
                self.list.reset();
            }
            _ => return Pressed::Nothing,
        }
        Pressed::Something
    }

    /// Returns the sentence in the first line, if anything stands out.
    fn verdict(&self) -> Option<String> {
        let mut facts = self.seen.as_ref()?.snapshot.verdicts.facts.iter();
        facts.find(|fact| **fact != SeenFact::Untold).map(SeenFact::text)
    }

    /// Returns the number of rows above the list.
    fn above(&self) -> u16 {
        ROWS_ABOVE + u16::from(self.verdict().is_some())
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let rows = self.rows();
        let above = self.above();
        let list = &mut self.list;
        list.selected = list.selected.min(rows.len().saturating_sub(1));
        list.fitting = usize::from(area.height.saturating_sub(above + 1)).max(1);
        list.scroll_to(list.selected, list.selected);
        let buffer = frame.buffer_mut();
        self.draw_head(buffer, area.width);
        self.draw_list(buffer, area.width, &rows);
        self.draw_foot(buffer, area.width, area.height, rows.len());
        if self.has_help {
            help(frame, self.theme, "nettrace top", &KEYS);
        }
    }

    fn draw_head(&self, buffer: &mut Buffer, width: u16) {
        let Some(seen) = &self.seen else {
            put(buffer, (0, 0), width, "waiting for the first events", self.theme.faint());
            return;
        };
        let x = put(buffer, (0, 0), width, &seen.label, self.theme.strong());
        let window = decimal(seen.snapshot.window_ns as f64 / 1e9);
        let state = match (seen.is_over, self.is_paused) {
            (true, _) => "  has ended".to_owned(),
            (false, true) => "  paused".to_owned(),
            (false, false) => format!("  last {window} s"),
        };
        let x = put(buffer, (x, 0), width.saturating_sub(x), &state, Style::new());
        let x = match seen.snapshot.header.is_untold {
            true => put(buffer, (x, 0), width.saturating_sub(x), UNTOLD, self.theme.faint()),
            false => x,
        };
        if let Some(missing) = rows::missing(seen) {
            let room = width.saturating_sub(x + 2);
            put(buffer, (x + 2, 0), room, &missing, self.theme.warning());
        }
        let line = rows::header_line(seen, usize::from(width));
        if let Some(verdict) = self.verdict() {
            put(buffer, (0, 1), width, &verdict, self.theme.warning());
        }
        let y = self.above();
        put(buffer, (0, y - 4), width, &line, self.theme.name());
        put(buffer, (0, y - 3), width, &seen.cost.text(), self.theme.faint());
        self.draw_tabs(buffer, width);
    }

    fn draw_tabs(&self, buffer: &mut Buffer, width: u16) {
        let tabs = VIEWS.map(|(view, key, name)| (view, format!(" {key} {name}")));
        let needed: usize = tabs.iter().map(|(_, text)| text.len() + 1).sum();
        let end = if needed <= usize::from(width) { " " } else { "" };
        let mut x = 0;
        for (view, text) in tabs {
            let style = if view == self.view { self.theme.selected() } else { Style::new() };
            x = put(
                buffer,
                (x, self.above() - 2),
                width.saturating_sub(x),
                &format!("{text}{end}"),
                style,
            );
        }
    }

    fn draw_list(&self, buffer: &mut Buffer, width: u16, rows: &[TopRow]) {
        let (numbers, about) = match (&self.inside, self.view) {
            (None, view) => rows::headings(view),
            (Some(_), TopView::Threads) => rows::headings(TopView::Methods),
            (Some(_), _) => (&["SHARE %"][..], "CALLER"),
        };
        // A narrow screen has room only for the first columns of numbers.
        let room = usize::from(width.saturating_sub(20) / NUMBER_COLUMNS).max(1).min(numbers.len());
        let at = |index: usize| u16::try_from(index).unwrap_or(0).saturating_mul(NUMBER_COLUMNS);
        for (index, heading) in numbers.iter().take(room).enumerate() {
            put_right(
                buffer,
                (at(index), self.above() - 1),
                NUMBER_COLUMNS,
                heading,
                self.theme.faint(),
            );
        }
        let name_at = at(room) + 2;
        let name_width = width.saturating_sub(name_at);
        put(buffer, (name_at, self.above() - 1), name_width, about, self.theme.faint());
        let visible = rows.iter().enumerate().skip(self.list.first).take(self.list.fitting);
        for ((place, row), y) in visible.zip(self.above()..) {
            let is_selected = place == self.list.selected;
            let style = if is_selected { self.theme.selected() } else { Style::new() };
            if is_selected {
                put(buffer, (0, y), width, &" ".repeat(usize::from(width)), style);
            }
            for (index, cell) in row.cells.iter().take(room).enumerate() {
                put_right(buffer, (at(index), y), NUMBER_COLUMNS, cell, style);
            }
            let name = row.text().cut(usize::from(name_width));
            put(buffer, (name_at, y), name_width, &name, style);
        }
        if rows.is_empty() && self.seen.is_some() {
            put(buffer, (name_at, self.above()), name_width, "nothing yet", self.theme.faint());
        }
    }

    fn draw_foot(&self, buffer: &mut Buffer, width: u16, height: u16, count: usize) {
        if height <= self.above() {
            return;
        }
        let enter = match self.inside_is() {
            Some(what) => format!("Enter {what}"),
            None if self.inside.is_some() => "Esc back".to_owned(),
            None => String::new(),
        };
        let hint = format!("q quit  ? keys  {enter}").trim_end().to_owned();
        let x = put(buffer, (0, height - 1), width, &hint, self.theme.faint()).saturating_add(3);
        let room = width.saturating_sub(x);
        let about = match &self.inside {
            Some(row) => {
                let what =
                    if self.view == TopView::Threads { "methods of thread" } else { "callers of" };
                let parts = [cut::fixed(&format!("{what} ")), cut::main(&row.about())];
                Text::parts(parts).cut(usize::from(room))
            }
            None => units::counted(count as u64, "row"),
        };
        put(buffer, (x, height - 1), room, &about, self.theme.faint());
    }

    /// Returns the list that Enter would show for the selected row.
    fn inside_is(&self) -> Option<&'static str> {
        match self.view {
            _ if self.inside.is_some() => None,
            TopView::Http => None,
            TopView::Threads => Some("methods"),
            _ => Some("callers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::cost::Cost;
    use crate::screen::pages::{self, page, text};
    use crossterm::event::KeyModifiers;
    use nettrace_analysis::live::{Live, LiveTop, TopCallee};
    use nettrace_parser::{Reader, Whole};
    use nettrace_testdata::corpus;
    use ratatui_core::backend::TestBackend;
    use ratatui_core::style::{Color, Modifier};
    use ratatui_core::terminal::Terminal;

    /// Replays a recorded session to its end, with its names.
    fn top() -> (Live<LiveTop>, i64) {
        let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
        let mut top = Live::new(LiveTop::default().rows(50));
        let mut events = Reader::new(Whole::new(&bytes[..])).time_ordered();
        let mut last = 0;
        while let Some(event) = events.next_event().unwrap() {
            // Events of the rundown describe earlier methods, and must not move the window of time.
            match event.provider() {
                "Microsoft-Windows-DotNETRuntimeRundown" => {
                    top.report.names_mut().learn(&event);
                }
                _ => {
                    last = event.nanos().unwrap_or(0);
                    top.event(&event);
                }
            }
        }
        (top, last)
    }

    fn seen((top, last): &(Live<LiveTop>, i64)) -> TopState {
        let snapshot = top.snapshot_at(*last);
        let cost = Cost {
            process_before_percent: None,
            process_percent: Some(45.5),
            events_per_s: Some(1234.0),
            events_percent: Some(6.25),
            own_percent: Some(1.5),
        };
        TopState {
            label: "workload (4711)".to_owned(),
            snapshot,
            lost: 0,
            is_over: false,
            trouble: None,
            cost,
        }
    }

    fn drawn(board: &mut TopBoard, width: u16, height: u16) -> Terminal<TestBackend> {
        pages::drawn(width, height, |frame| board.draw(frame))
    }

    fn press(board: &mut TopBoard, code: KeyCode) -> Pressed {
        board.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn the_screen_looks_as_expected_wide_narrow_and_tiny() {
        let mut board = TopBoard::new(Theme::coloured(true), TopView::Methods);
        drawn(&mut board, 80, 24);
        board.update(seen(&top()));
        page("top-wide", &text(&drawn(&mut board, 140, 30)));
        page("top-narrow", &text(&drawn(&mut board, 40, 12)));
        page("top-80", &text(&drawn(&mut board, 80, 24)));
        press(&mut board, KeyCode::Char('t'));
        page("top-threads-80", &text(&drawn(&mut board, 80, 24)));
        for size in [(1, 1), (3, 2), (10, 3), (300, 6)] {
            drawn(&mut board, size.0, size.1);
        }
    }

    #[test]
    fn keys_change_what_is_shown_and_enter_shows_callers() {
        let top = top();
        let mut board = TopBoard::new(Theme::coloured(false), TopView::Methods);
        board.update(seen(&top));
        for (key, expected) in [
            ('t', "THREAD, METHOD"),
            ('a', "BYTES/s"),
            ('e', "Workload.WidgetException"),
            ('c', "WAITS"),
            ('w', "sleep"),
            ('h', "/items/#"),
            ('?', "quits"),
        ] {
            assert_eq!(press(&mut board, KeyCode::Char(key)), Pressed::Something);
            let text = text(&drawn(&mut board, 120, 40));
            assert!(text.contains(expected), "{key}: {text}");
        }
        // Any key closes the help.
        press(&mut board, KeyCode::Esc);
        press(&mut board, KeyCode::Char('e'));
        press(&mut board, KeyCode::Enter);
        let (view, name) = board.wants_callers().unwrap();
        assert_eq!(view, TopView::Exceptions);
        board.take_callers(top.0.report.callers(top.1, TopCallee::Exception(&name)));
        let shown = text(&drawn(&mut board, 120, 40));
        assert!(shown.contains("Workload.Program.ExceptionRound"), "{shown}");
        press(&mut board, KeyCode::Esc);
        assert_eq!(board.wants_callers(), None);
        press(&mut board, KeyCode::Char('t'));
        press(&mut board, KeyCode::Enter);
        let shown = text(&drawn(&mut board, 120, 40));
        assert!(shown.contains("methods of thread") && shown.contains("SELF %"), "{shown}");
        assert_eq!(press(&mut board, KeyCode::Char('q')), Pressed::Quit);
    }

    #[test]
    fn without_colours_nothing_is_coloured_and_the_selection_is_reversed() {
        let mut board = TopBoard::new(Theme::coloured(false), TopView::Methods);
        board.update(seen(&top()));
        press(&mut board, KeyCode::Down);
        let terminal = drawn(&mut board, 100, 20);
        let buffer = terminal.backend().buffer();
        assert!(buffer.content().iter().all(|cell| cell.fg == Color::Reset));
        assert!(buffer[(50, 6)].modifier.contains(Modifier::REVERSED));
        // The selected row stays on the screen of a smaller terminal.
        press(&mut board, KeyCode::End);
        let terminal = drawn(&mut board, 60, 8);
        let buffer = terminal.backend().buffer();
        let is_reversed = |y: u16| buffer[(10, y)].modifier.contains(Modifier::REVERSED);
        assert!((5..7).any(is_reversed));
    }

    #[test]
    fn what_is_lost_stands_above_the_cost() {
        let mut board = TopBoard::new(Theme::coloured(true), TopView::Methods);
        let mut seen = seen(&top());
        seen.lost = 7;
        board.update(seen);
        let shown = text(&drawn(&mut board, 80, 12));
        assert!(shown.contains("7 events lost") && shown.contains("watching: 1,234"), "{shown}");
    }

    #[test]
    fn the_first_line_says_that_the_runtime_does_not_tell_managed_from_native() {
        let mut board = TopBoard::new(Theme::coloured(true), TopView::Methods);
        let mut seen = seen(&top());
        seen.snapshot.header.is_untold = true;
        seen.snapshot.verdicts.facts.push(SeenFact::Untold);
        let lists_at = board.above();
        board.update(seen);
        let shown = text(&drawn(&mut board, 80, 24));
        let first = shown.lines().next().unwrap_or_default();
        assert!(first.contains("managed not told from native"), "{shown}");
        // The sentence takes no line from the list.
        let others = board.seen.as_ref().unwrap().snapshot.verdicts.facts.len() - 1;
        assert_eq!(board.above(), lists_at + u16::from(others > 0));
    }

    #[test]
    fn eighty_columns_have_room_for_the_sums_the_views_and_the_keys() {
        let mut board = TopBoard::new(Theme::coloured(true), TopView::Methods);
        let mut seen = seen(&top());
        let header = &mut seen.snapshot.header;
        header.gc_percent = 35.4;
        seen.cost.process_percent = Some(798.7);
        let header = &mut seen.snapshot.header;
        header.allocated_bytes_per_s = 1234.0 * 1024.0 * 1024.0;
        (header.exceptions_per_s, header.contentions_per_s) = (12_345.6, 1_234.5);
        header.threadpool_queue = Some(1_234.0);
        board.update(seen);
        let shown = text(&drawn(&mut board, 80, 24));
        let sums = ["CPU 799 %", "GC 35.4 %", "alloc 1.2 GiB/s", "exc 12,346/s", "locks 1,235/s"];
        for expected in sums.iter().chain(&["queue 1,234", "h http"]) {
            assert!(shown.contains(expected), "{expected}: {shown}");
        }
        press(&mut board, KeyCode::Char('?'));
        let shown = text(&drawn(&mut board, 80, 24));
        let help: Vec<&str> = shown.lines().filter_map(|line| line.split('│').nth(1)).collect();
        assert_eq!(help.len(), KEYS.len(), "{shown}");
        assert!(!help.iter().any(|line| line.contains('…')), "{shown}");
    }

    #[test]
    fn the_last_line_says_what_enter_shows() {
        let mut board = TopBoard::new(Theme::coloured(true), TopView::Methods);
        board.update(seen(&top()));
        let foot =
            |board: &mut TopBoard| text(&drawn(board, 80, 24)).lines().last().unwrap().to_owned();
        assert!(foot(&mut board).starts_with("q quit  ? keys  Enter callers   "));
        press(&mut board, KeyCode::Char('t'));
        assert!(foot(&mut board).starts_with("q quit  ? keys  Enter methods   "));
        press(&mut board, KeyCode::Enter);
        assert!(foot(&mut board).starts_with("q quit  ? keys  Esc back   methods of thread "));
        press(&mut board, KeyCode::Char('h'));
        assert!(!foot(&mut board).contains("Enter"));
    }
}
