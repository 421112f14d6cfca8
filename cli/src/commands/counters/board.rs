//! Screen of `counters`: its state, its drawing, and its keys.

use super::series_rows::{Group, SeriesRow, distinct, distributions, folded, row};
use crate::screen::{
    Pressed, Selection, Theme, help, is_interrupt, newest_sparkline, put, put_right,
};
use crate::units;
use crossterm::event::{KeyCode, KeyEvent};
use nettrace_analysis::live::{CountersSnapshot, LiveSeries};
use nettrace_parser::utc_text;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use ratatui_core::terminal::Frame;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use unicode_width::UnicodeWidthStr;

const KEYS: [(&str, &str); 11] = [
    ("q", "quits, as does Ctrl-C; Ctrl-Z suspends"),
    ("?", "shows this help"),
    ("/", "filters by name, provider and tags; Esc removes the filter"),
    ("s", "sorts by name, by value, by change"),
    ("r", "reverses the order"),
    ("t", "folds and unfolds the tags of all counters"),
    ("Enter", "folds or unfolds the tags of the selected counter"),
    ("p", "pauses the display; recording continues"),
    ("↑ ↓", "selects a row; also PgUp, PgDn, Home and End"),
    ("added", "what an UpDownCounter added since the session began"),
    ("grey", "no value has come for three intervals"),
];

/// State of one process when the screen is drawn.
#[derive(Debug, Clone)]
pub(super) struct ProcessState {
    pub(super) label: String,
    pub(super) snapshot: CountersSnapshot,
    /// Number of events that the process lost.
    pub(super) lost: u64,
    pub(super) is_over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Name,
    Value,
    Change,
}

/// State of the screen.
#[derive(Debug)]
pub(super) struct CounterBoard {
    theme: Theme,
    /// Address at which Prometheus can scrape the values.
    address: Option<SocketAddr>,
    seen: Vec<ProcessState>,
    /// Reasons why values are missing, in the order in which they were reported.
    notices: Vec<String>,
    sort: Sort,
    is_reversed: bool,
    filter: String,
    is_typing: bool,
    is_paused: bool,
    has_help: bool,
    folds_all: bool,
    /// Counters whose folding differs from `folds_all`.
    turned: BTreeSet<Group>,
    list: Selection,
}

impl CounterBoard {
    pub(super) fn new(theme: Theme, address: Option<SocketAddr>) -> CounterBoard {
        CounterBoard {
            theme,
            address,
            seen: Vec::new(),
            notices: Vec::new(),
            sort: Sort::Name,
            is_reversed: false,
            filter: String::new(),
            is_typing: false,
            is_paused: false,
            has_help: false,
            folds_all: false,
            turned: BTreeSet::new(),
            list: Selection::new(),
        }
    }

    /// Replaces the values that are shown, unless the view is paused.
    pub(super) fn update(&mut self, seen: Vec<ProcessState>) {
        if !self.is_paused {
            self.seen = seen;
        }
    }

    pub(super) fn add_notice(&mut self, notice: String) {
        self.notices.push(notice);
    }

    /// Returns all notices, to be printed after the screen is closed.
    pub(super) fn into_notices(self) -> Vec<String> {
        self.notices
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Pressed {
        if is_interrupt(key) {
            return Pressed::Quit;
        }
        if self.has_help {
            self.has_help = false;
            return Pressed::Something;
        }
        if self.is_typing {
            match key.code {
                KeyCode::Char(character) => self.filter.push(character),
                KeyCode::Backspace => drop(self.filter.pop()),
                KeyCode::Enter => self.is_typing = false,
                KeyCode::Esc => {
                    self.is_typing = false;
                    self.filter.clear();
                }
                _ => return Pressed::Nothing,
            }
            self.list.selected = 0;
            return Pressed::Something;
        }
        match key.code {
            code if self.list.press(code, self.rows().len()) => {}
            KeyCode::Char('q') => return Pressed::Quit,
            KeyCode::Char('?' | 'h') => self.has_help = true,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('s') => {
                self.sort = match self.sort {
                    Sort::Name => Sort::Value,
                    Sort::Value => Sort::Change,
                    Sort::Change => Sort::Name,
                };
            }
            KeyCode::Char('r') => self.is_reversed = !self.is_reversed,
            KeyCode::Char('t') => {
                self.folds_all = !self.folds_all;
                self.turned.clear();
            }
            KeyCode::Enter => {
                if let Some(SeriesRow { group, .. }) =
                    self.rows().into_iter().nth(self.list.selected)
                {
                    if !self.turned.remove(&group) {
                        self.turned.insert(group.clone());
                    }
                    // The row of the counter itself, which stands for its tag sets or above them.
                    let first = self.rows().iter().position(|row| row.group == group);
                    self.list.selected = first.unwrap_or(self.list.selected);
                }
            }
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            _ => return Pressed::Nothing,
        }
        Pressed::Something
    }

    /// Returns the rows of the table, filtered and sorted.
    fn rows(&self) -> Vec<SeriesRow> {
        let mut rows = Vec::new();
        for (process, seen) in self.seen.iter().enumerate() {
            let all = &seen.snapshot.series;
            let groups = all.chunk_by(|one, other| {
                one.series.provider == other.series.provider
                    && one.series.name == other.series.name
                    && one.series.kind == other.series.kind
            });
            for group in groups {
                let Some(first) = group.first() else { continue };
                let key = (process, first.series.provider.clone(), first.series.name.clone());
                let is_folded = self.folds_all != self.turned.contains(&key);
                // Quantiles of one distribution stand beside each other.
                let lines: Vec<Vec<&LiveSeries>> = distributions(group);
                if is_folded && lines.len() > 1 {
                    rows.extend(Some(folded(&key, &lines)).filter(|row| self.is_wanted(row)));
                    continue;
                }
                let of_tags = lines.iter().map(|line| row(&key, line));
                let mut of_tags: Vec<SeriesRow> =
                    of_tags.filter(|row| self.is_wanted(row)).collect();
                // Sorted by name, a counter's tag sets stand below its name, because a name with
                // all its tags has no room on a terminal of 80 columns.
                if self.sort == Sort::Name && lines.len() > 1 && !of_tags.is_empty() {
                    of_tags = of_tags.into_iter().map(SeriesRow::below_its_name).collect();
                    rows.push(folded(&key, &lines).above_its_tags());
                }
                rows.append(&mut of_tags);
            }
        }
        match self.sort {
            Sort::Name => rows.sort_by(|one, other| {
                (&one.group.1, &one.group.2, one.group.0, &one.name).cmp(&(
                    &other.group.1,
                    &other.group.2,
                    other.group.0,
                    &other.name,
                ))
            }),
            Sort::Value => rows.sort_by(|one, other| other.size.total_cmp(&one.size)),
            Sort::Change => rows.sort_by(|one, other| other.change.total_cmp(&one.change)),
        }
        if self.is_reversed {
            rows.reverse();
        }
        rows
    }

    /// Returns whether each word of the filter is in the names of a row: process, provider,
    /// counter.
    fn is_wanted(&self, row: &SeriesRow) -> bool {
        let label = self.seen.get(row.group.0).map_or("", |seen| &seen.label);
        let text = format!("{label} {} {}", row.group.1, row.name).to_lowercase();
        self.filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let rows = self.rows();
        let buffer = frame.buffer_mut();
        self.draw_head(buffer, rows.iter().filter(|row| !row.is_heading).count());
        let notice_rows = u16::from(!self.notices.is_empty() && area.height > 6);
        // Lines above the table: head, headings, and the address.
        let top = 2 + u16::from(self.address.is_some());
        let page = usize::from(area.height.saturating_sub(top + 1 + notice_rows));
        self.list.fitting = page.max(1);
        self.list.selected = self.list.selected.min(rows.len().saturating_sub(1));
        let unit = rows.iter().map(|row| row.unit.width()).max().unwrap_or(0);
        let columns = Columns::for_width(area.width, self.seen.len() > 1, unit);
        columns.draw_headings(buffer, top - 1, self.theme);
        let lines = lines(&rows, columns.provider == 0 && self.sort == Sort::Name);
        self.bring_in_sight(&lines);
        let mut shown: BTreeMap<(&Group, String), Vec<&SeriesRow>> = BTreeMap::new();
        for row in &rows {
            let cut = row.shown.cut(usize::from(columns.name));
            shown.entry((&row.group, cut)).or_default().push(row);
        }
        let mut provider = None;
        for (line, y) in lines.iter().skip(self.list.first).take(page).zip(top..) {
            let (at, row) = match line {
                BoardLine::Provider(name) => {
                    put(buffer, (0, y), area.width, &format!("[{name}]"), self.theme.name());
                    continue;
                }
                BoardLine::Row(at, row) => (*at, *row),
            };
            let style = match (at == self.list.selected, row.is_stopped) {
                (true, _) => self.theme.selected(),
                (false, true) => self.theme.faint(),
                (false, false) => Style::new(),
            };
            // The provider's name is shown once, unless another provider's row is in between.
            let is_new = provider.replace(&row.group.1) != Some(&row.group.1);
            let label = self.seen.get(row.group.0).map_or("", |seen| &seen.label);
            let name = columns.name_of(row, &shown);
            columns.draw_row(buffer, y, (row, &name), label, is_new, style, self.theme);
        }
        let bottom = area.height.saturating_sub(1);
        if let Some(notice) = self.notices.last().filter(|_| notice_rows > 0) {
            put(buffer, (0, bottom.saturating_sub(1)), area.width, notice, self.theme.warning());
        }
        let foot = if self.is_typing {
            format!("/{}▏ Enter keeps the filter, Esc removes it", self.filter)
        } else if self.filter.is_empty() {
            "q quit  ? help  / filter  s sort  t tags  p pause".to_owned()
        } else {
            format!("filter: {}  (Esc removes it)  q quit  ? help", self.filter)
        };
        put(buffer, (0, bottom), area.width, &foot, self.theme.faint());
        if self.has_help {
            help(frame, self.theme, "nettrace counters", &KEYS);
        }
    }

    /// Scrolls until the selected row is on the screen, with its provider's heading if that is the
    /// line above.
    fn bring_in_sight(&mut self, lines: &[BoardLine<'_>]) {
        let is_selected = |line: &BoardLine<'_>| matches!(line, BoardLine::Row(at, _) if *at == self.list.selected);
        let selected = lines.iter().position(is_selected).unwrap_or(0);
        let is_below_provider =
            selected > 0 && matches!(lines.get(selected - 1), Some(BoardLine::Provider(_)));
        let upper = selected - usize::from(is_below_provider);
        self.list.scroll_to(selected, upper);
    }

    fn draw_head(&self, buffer: &mut Buffer, shown: usize) {
        if let Some(address) = self.address {
            let text = format!("metrics at http://{address}/metrics");
            put(buffer, (0, 1), buffer.area.width, &text, Style::new());
        }
        let mut parts = Vec::new();
        match self.seen.as_slice() {
            [one] => parts.push(one.label.clone()),
            several => parts.push(units::counted(several.len() as u64, "process")),
        }
        let newest = self.seen.iter().filter_map(|seen| {
            let start = i128::from(seen.snapshot.start_unix_ns?);
            let points = seen.snapshot.series.iter().filter_map(|live| live.series.points.last());
            points.map(|point| start + i128::from(point.ts_ns)).max()
        });
        if let Some(newest) = newest.max() {
            parts.push(format!("{} UTC", utc_text(newest, 0)));
        }
        parts.push(format!("{} shown", units::counted(shown as u64, "counter")));
        let sort = match self.sort {
            Sort::Name => "name",
            Sort::Value => "value",
            Sort::Change => "change",
        };
        parts.push(format!("by {sort}{}", if self.is_reversed { ", reversed" } else { "" }));
        let mut x = put(buffer, (0, 0), buffer.area.width, &parts.join("  "), self.theme.strong());
        let lost: u64 = self.seen.iter().map(|seen| seen.lost).sum();
        let left_out: u64 = self.seen.iter().map(|seen| seen.snapshot.values_left_out).sum();
        let mut marks = Vec::new();
        if self.is_paused {
            marks.push(("PAUSED".to_owned(), self.theme.warning()));
        }
        if !self.seen.is_empty() && self.seen.iter().all(|seen| seen.is_over) {
            marks.push(("ENDED".to_owned(), self.theme.warning()));
        }
        if lost > 0 {
            marks.push((format!("{} lost", units::counted(lost, "event")), self.theme.bad()));
        }
        if left_out > 0 {
            let text = format!("{} not shown", units::counted(left_out, "value"));
            marks.push((text, self.theme.bad()));
        }
        for (mark, style) in marks {
            x = put(buffer, (x + 2, 0), buffer.area.width, &mark, style);
        }
    }
}

/// Line of the table.
#[derive(Debug)]
enum BoardLine<'r> {
    /// Name of a provider, above its rows.
    Provider(&'r str),
    /// Row with its index among the rows.
    Row(usize, &'r SeriesRow),
}

/// Returns the lines of a table. If `has_headings`, each provider's name stands above its rows.
fn lines(rows: &[SeriesRow], has_headings: bool) -> Vec<BoardLine<'_>> {
    let mut lines = Vec::new();
    let mut provider = None;
    for (at, row) in rows.iter().enumerate() {
        let is_new = provider.replace(&row.group.1) != Some(&row.group.1);
        if has_headings && is_new {
            lines.push(BoardLine::Provider(&row.group.1));
        }
        lines.push(BoardLine::Row(at, row));
    }
    lines
}

/// Widths of the columns in terminal cells; 0 for a column that does not fit.
#[derive(Debug, Clone, Copy)]
struct Columns {
    process: u16,
    provider: u16,
    name: u16,
    value: u16,
    unit: u16,
    trend: u16,
}

/// Minimum width of the column of units in terminal cells, on screens of at least 50.
const MIN_UNIT_COLUMNS: u16 = 12;

impl Columns {
    /// Divides the width of the screen among the columns. `unit` is the width of the widest unit.
    fn for_width(width: u16, has_processes: bool, unit: usize) -> Columns {
        let widest = u16::try_from(unit).unwrap_or(u16::MAX);
        let unit = match width {
            0..50 => 0,
            50..80 => MIN_UNIT_COLUMNS,
            _ => widest.clamp(MIN_UNIT_COLUMNS, width / 4),
        };
        let value = if width >= 30 { 14 } else { 9 };
        let trend = if width >= 80 { (width / 5).min(40) } else { 0 };
        let process = if has_processes && width >= 60 { (width / 6).min(24) } else { 0 };
        let provider = if width >= 100 { (width / 5).min(30) } else { 0 };
        let gaps = [unit, value, trend, process, provider].iter().filter(|one| **one > 0).count();
        let others = unit + value + trend + process + provider;
        let gaps = u16::try_from(gaps).unwrap_or(0) * 2;
        let name = width.saturating_sub(others + gaps);
        Columns { process, provider, name, value, unit, trend }
    }

    /// Returns the name of a row, cut so that it differs from other rows of its counter.
    fn name_of(
        self,
        row: &SeriesRow,
        shown: &BTreeMap<(&Group, String), Vec<&SeriesRow>>,
    ) -> String {
        let cut = row.shown.cut(usize::from(self.name));
        let alike = shown.get(&(&row.group, cut.clone())).map_or(&[][..], Vec::as_slice);
        let names: Vec<&str> = alike.iter().map(|row| row.name.as_str()).collect();
        let own = alike.iter().position(|other| std::ptr::eq(*other, row));
        let distinct = own.filter(|_| names.len() > 1).and_then(|own| distinct(&names, own));
        distinct.unwrap_or(cut)
    }

    /// Returns the left edges of process, provider, name, value, unit, trend.
    fn edges(self) -> [u16; 6] {
        let mut x = 0;
        [self.process, self.provider, self.name, self.value, self.unit, self.trend].map(|width| {
            let edge = x;
            x += if width > 0 { width + 2 } else { 0 };
            edge
        })
    }

    fn draw_headings(self, buffer: &mut Buffer, y: u16, theme: Theme) {
        let [process, provider, name, value, unit, trend] = self.edges();
        let style = theme.faint();
        put(buffer, (process, y), self.process, "PROCESS", style);
        put(buffer, (provider, y), self.provider, "PROVIDER", style);
        put(buffer, (name, y), self.name, "COUNTER", style);
        put_right(buffer, (value, y), self.value, "VALUE", style);
        put(buffer, (unit, y), self.unit, "UNIT", style);
        put(buffer, (trend, y), self.trend, "TREND", style);
    }

    #[expect(clippy::too_many_arguments, reason = "all that a row consists of")]
    fn draw_row(
        self,
        buffer: &mut Buffer,
        y: u16,
        (row, shown): (&SeriesRow, &str),
        label: &str,
        is_new_provider: bool,
        style: Style,
        theme: Theme,
    ) {
        let [process, provider, name, value, unit, trend] = self.edges();
        let width = buffer.area.width;
        if style == theme.selected() {
            put(buffer, (0, y), width, &" ".repeat(usize::from(width)), style);
        }
        put(buffer, (process, y), self.process, label, style);
        let provider_style = if style == Style::new() { theme.name() } else { style };
        if is_new_provider {
            put(buffer, (provider, y), self.provider, &row.group.1, provider_style);
        }
        put(buffer, (name, y), self.name, shown, style);
        // The values of a distribution also take the room of the columns to the right.
        if row.value.len() > usize::from(self.value) {
            let room = self.value + 2 + self.unit + if self.trend > 0 { 2 + self.trend } else { 0 };
            let text = match self.unit {
                0 => row.value.clone(),
                _ => format!("{} {}", row.value, row.unit),
            };
            put(buffer, (value, y), room, &text, style);
            return;
        }
        put_right(buffer, (value, y), self.value, &row.value, style);
        put(buffer, (unit, y), self.unit, &row.unit, style);
        let trend_style = if style == Style::new() { theme.good() } else { style };
        let line = newest_sparkline(&row.history, usize::from(self.trend));
        put(buffer, (trend, y), self.trend, &line, trend_style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::pages::{self, page, style_at, text};
    use crossterm::event::KeyModifiers;
    use nettrace_analysis::live::{Live, LiveCounters};
    use nettrace_parser::{Reader, Whole};
    use nettrace_testdata::corpus;
    use ratatui_core::backend::TestBackend;
    use ratatui_core::style::{Color, Modifier};
    use ratatui_core::terminal::Terminal;

    /// Returns the state of a recorded session `later` nanoseconds after its end.
    fn seen(later: i64) -> ProcessState {
        let bytes = corpus::trace("net10-linux-x64/metrics.nettrace").bytes();
        let mut live = Live::new(LiveCounters::default().interval(1.0));
        let mut events = Reader::new(Whole::new(&bytes[..])).time_ordered();
        let mut last = 0;
        while let Some(event) = events.next_event().unwrap() {
            last = event.nanos().unwrap_or(0);
            live.event(&event);
        }
        let snapshot = live.snapshot_at(last + later);
        ProcessState { label: "shop (4711)".to_owned(), snapshot, lost: 0, is_over: false }
    }

    fn board(seen: Vec<ProcessState>, is_coloured: bool) -> CounterBoard {
        let mut board = CounterBoard::new(Theme::coloured(is_coloured), None);
        board.update(seen);
        board
    }

    fn drawn(board: &mut CounterBoard, width: u16, height: u16) -> Terminal<TestBackend> {
        pages::drawn(width, height, |frame| board.draw(frame))
    }

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn press(board: &mut CounterBoard, keys: &str) {
        for character in keys.chars() {
            let code = match character {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                character => KeyCode::Char(character),
            };
            board.press(key(code));
        }
    }

    #[test]
    fn the_screen_looks_as_expected_wide_narrow_and_tiny() {
        let mut board = board(vec![seen(0)], true);
        page("counters-wide", &text(&drawn(&mut board, 140, 40)));
        page("counters-80", &text(&drawn(&mut board, 80, 24)));
        page("counters-narrow", &text(&drawn(&mut board, 40, 12)));
        // A screen too small for anything must not panic.
        for size in [(1, 1), (3, 2), (10, 3), (300, 4)] {
            drawn(&mut board, size.0, size.1);
        }
    }

    #[test]
    fn where_metrics_are_served_stands_in_the_head() {
        let address = Some(([127, 0, 0, 1], 9464).into());
        let mut board = CounterBoard::new(Theme::coloured(true), address);
        board.update(vec![seen(0)]);
        let shown = text(&drawn(&mut board, 80, 24));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1], "metrics at http://127.0.0.1:9464/metrics");
        assert!(lines[2].starts_with("COUNTER") && lines[3] == "[Nettrace.Workload]", "{shown}");
    }

    #[test]
    fn without_a_column_for_it_the_provider_stands_above_its_counters() {
        let mut board = board(vec![seen(0)], true);
        drawn(&mut board, 80, 10);
        board.press(key(KeyCode::End));
        drawn(&mut board, 80, 10);
        board.press(key(KeyCode::Home));
        // The heading of the first row is on the screen again.
        let shown = text(&drawn(&mut board, 80, 10));
        assert_eq!(shown.lines().nth(2), Some("[Nettrace.Workload]"), "{shown}");
        press(&mut board, "s");
        assert!(!text(&drawn(&mut board, 80, 40)).contains("[Nettrace.Workload]"));
    }

    #[test]
    fn a_folded_counter_that_has_stopped_keeps_its_last_value() {
        let of = |later| {
            let mut board = board(vec![seen(later)], true);
            press(&mut board, "t");
            let rows = board.rows();
            rows.into_iter().find(|row| row.name == "orders (2 tag sets)").unwrap()
        };
        let (going_on, stopped) = (of(0), of(5_000_000_000));
        assert!(stopped.is_stopped && !going_on.is_stopped);
        assert_eq!(stopped.value, going_on.value);
    }

    #[test]
    fn a_new_size_is_drawn_from_the_next_time_on_with_the_selected_row_in_sight() {
        let mut board = board(vec![seen(0)], true);
        let mut terminal = drawn(&mut board, 100, 40);
        board.press(key(KeyCode::End));
        terminal.draw(|frame| board.draw(frame)).unwrap();
        for height in [10, 6, 30] {
            terminal.backend_mut().resize(60, height);
            terminal.draw(|frame| board.draw(frame)).unwrap();
            let last = board.rows().pop().unwrap();
            let name = &last.name[..last.name.len().min(10)];
            assert!(text(&terminal).contains(name), "{height}: {}", text(&terminal));
        }
    }

    #[test]
    fn without_colour_nothing_is_coloured_and_what_is_over_is_still_fainter() {
        let (mut plain, mut coloured) =
            (board(vec![seen(5_000_000_000)], false), board(vec![seen(5_000_000_000)], true));
        let (one, other) = (drawn(&mut plain, 120, 30), drawn(&mut coloured, 120, 30));
        assert_eq!(text(&one), text(&other));
        let has_colour = |terminal: &Terminal<TestBackend>| {
            terminal.backend().buffer().content().iter().any(|cell| cell.fg != Color::Reset)
        };
        assert!(!has_colour(&one) && has_colour(&other));
        // All series have stopped; the first row is the selected one.
        assert!(style_at(&one, (30, 4)).add_modifier.contains(Modifier::DIM));
        assert_eq!(style_at(&other, (30, 4)).fg, Some(Color::DarkGray));
        let mut fresh = board(vec![seen(0)], false);
        assert!(
            !style_at(&drawn(&mut fresh, 120, 30), (30, 4)).add_modifier.contains(Modifier::DIM)
        );
    }

    #[test]
    fn typing_filters_and_escape_takes_the_filter_away() {
        let mut board = board(vec![seen(0)], true);
        let all = board.rows().len();
        press(&mut board, "/ORDERS kind");
        assert!(text(&drawn(&mut board, 100, 30)).contains("/ORDERS kind"));
        let names: Vec<String> = board.rows().into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["orders", "orders kind=book", "orders kind=tëä"]);
        press(&mut board, "\n");
        // Keys that are typed now are no longer part of the filter.
        press(&mut board, "s");
        assert_eq!(board.sort, Sort::Value);
        // Two more keys lead back to the order by name.
        press(&mut board, "ss\u{1b}");
        assert_eq!((board.sort, board.rows().len()), (Sort::Name, all));
    }

    #[test]
    fn keys_sort_reverse_fold_pause_help_and_quit() {
        let mut board = board(vec![seen(0)], true);
        press(&mut board, "s");
        let sizes: Vec<f64> = board.rows().iter().map(|row| row.size).collect();
        assert!(sizes.is_sorted_by(|one, other| one >= other), "{sizes:?}");
        press(&mut board, "r");
        let sizes: Vec<f64> = board.rows().iter().map(|row| row.size).collect();
        assert!(sizes.is_sorted());
        press(&mut board, "rss");
        let unfolded = board.rows().len();
        press(&mut board, "t");
        let rows = board.rows();
        assert!(rows.len() < unfolded);
        let orders = rows.iter().find(|row| row.name == "orders (2 tag sets)").unwrap();
        let sum: f64 = {
            press(&mut board, "t");
            board
                .rows()
                .iter()
                .filter(|row| row.name.starts_with("orders kind"))
                .map(|row| row.size)
                .sum()
        };
        assert!((orders.size - sum).abs() < 1e-9);
        // A paused view shows nothing new.
        press(&mut board, "p");
        let before = text(&drawn(&mut board, 120, 40));
        assert!(before.contains("PAUSED"));
        board.update(Vec::new());
        assert_eq!(text(&drawn(&mut board, 120, 40)), before);
        press(&mut board, "?");
        assert!(text(&drawn(&mut board, 120, 40)).contains("nettrace counters"));
        // Any key closes the help, also q.
        assert_eq!(board.press(key(KeyCode::Char('q'))), Pressed::Something);
        assert_eq!(board.press(key(KeyCode::Char('q'))), Pressed::Quit);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(board.press(interrupt), Pressed::Quit);
    }

    #[test]
    fn enter_folds_the_tags_of_the_selected_counter_only() {
        let mut board = board(vec![seen(0)], true);
        let at = board.rows().iter().position(|row| row.name == "load").unwrap();
        let before = board.rows().len();
        // Folding works from the row of a tag set, too.
        board.list.selected = at + 1;
        press(&mut board, "\n");
        let rows = board.rows();
        assert_eq!((rows.len(), board.list.selected), (before - 2, at));
        assert_eq!((&*rows[at].name, &*rows[at].value), ("load (2 tag sets)", "0.25000…0.50000"));
        press(&mut board, "\n");
        assert_eq!(board.rows().len(), before);
    }

    #[test]
    fn several_processes_stand_in_one_table() {
        let other = ProcessState { label: "shop (4712)".to_owned(), ..seen(0) };
        let mut board = board(vec![seen(0), other], true);
        press(&mut board, "/dotnet.process.cpu.count\n");
        page("counters-two", &text(&drawn(&mut board, 120, 8)));
        let rows = board.rows();
        assert_eq!(rows.iter().map(|row| row.group.0).collect::<Vec<_>>(), [0, 1]);
    }
}
