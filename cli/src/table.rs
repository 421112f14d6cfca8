//! Writes tables for people, at most as wide as the terminal.
//!
//! If a table is too wide, columns first get as narrow as their contents, then the least important
//! columns are left out, which the page says at its end, then names are cut. If results do not go
//! to a terminal, or with `--wide`, everything is shown.

use crate::context::Context;
use crate::cut::Text;
use crate::style::Paint;
use crate::units;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Minimum width of the last column, in columns of the terminal; other columns are left out for it.
const MIN_LAST_COLUMN: usize = 30;

/// Maximum number of rows whose texts are held at a time.
const MAX_HELD_ROWS: usize = 4096;

/// A column: its heading, its minimum width, and how important it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    width: usize,
    is_left: bool,
    /// Rank by which columns are left out: the highest first, 0 never.
    rank: u8,
    /// Minimum width as the last column; other columns are left out for it.
    least: usize,
    /// Whether the column is never cut as the last column.
    is_whole: bool,
}

/// Returns a column of numbers, at the right edge.
pub(crate) const fn right(heading: &'static str, width: usize, rank: u8) -> Column {
    Column { heading, width, is_left: false, rank, least: MIN_LAST_COLUMN, is_whole: false }
}

/// Returns a column of words, at the left edge. The last column takes the rest of the line.
pub(crate) const fn left(heading: &'static str, width: usize, rank: u8) -> Column {
    Column { heading, width, is_left: true, rank, least: MIN_LAST_COLUMN, is_whole: false }
}

impl Column {
    /// Sets the minimum width of the last column; other columns are left out for it.
    pub(crate) const fn at_least(self, least: usize) -> Column {
        Column { least, ..self }
    }

    /// Sets whether the last column is shown whole, even if lines become longer than the terminal.
    pub(crate) const fn whole(self, is_whole: bool) -> Column {
        Column { is_whole, ..self }
    }

    /// Keeps a column that the user chose from being left out.
    pub(crate) const fn asked_for(self, is_asked_for: bool) -> Column {
        if is_asked_for { Column { rank: 0, ..self } } else { self }
    }

    /// Sets the content of the column: `cell` makes the cell of each row.
    pub(crate) fn fill<'c, R>(self, cell: &'c dyn Fn(&R) -> Cell) -> Filled<'c, R> {
        Filled { column: self, cell, is_shown: true }
    }
}

/// A column with the function that makes the cell of each row.
pub(crate) struct Filled<'c, R> {
    column: Column,
    cell: &'c dyn Fn(&R) -> Cell,
    is_shown: bool,
}

impl<R> Filled<'_, R> {
    /// Leaves the column out unless `is_shown`.
    pub(crate) fn only_if(self, is_shown: bool) -> Self {
        Filled { is_shown, ..self }
    }
}

fn filled_table<R>(columns: &[Filled<'_, R>], rows: &[R]) -> Table {
    let shown = columns.iter().filter(|filled| filled.is_shown);
    let mut table = Table::new(shown.map(|filled| filled.column).collect::<Vec<_>>());
    rows.iter().for_each(|row| table.add_row(cells(columns, row)));
    table
}

/// Returns the cells of a row.
fn cells<R>(columns: &[Filled<'_, R>], row: &R) -> impl Iterator<Item = Cell> {
    let shown = columns.iter().filter(|filled| filled.is_shown);
    shown.map(|filled| (filled.cell)(row))
}

/// Rows that are to be listed in a table.
pub(crate) struct List<'l, 'c, R> {
    context: &'l mut Context<'c>,
    rows: &'l [R],
    most: usize,
    says_more: bool,
    further: u64,
}

/// Lists the first `most` rows, and below them the number of further rows.
pub(crate) fn list<'l, 'c, R>(
    context: &'l mut Context<'c>,
    rows: &'l [R],
    most: usize,
) -> List<'l, 'c, R> {
    List { context, rows, most, says_more: true, further: 0 }
}

/// Lists the first `most` rows, without saying that there are more.
pub(crate) fn first<'l, 'c, R>(
    context: &'l mut Context<'c>,
    rows: &'l [R],
    most: usize,
) -> List<'l, 'c, R> {
    List { says_more: false, ..list(context, rows, most) }
}

impl<R> List<'_, '_, R> {
    /// Adds a number of rows that exist, but not in `rows`.
    pub(crate) fn and_further(self, further: u64) -> Self {
        List { further, ..self }
    }

    /// Returns a table of the rows, for a layout that several tables share.
    pub(crate) fn table<const N: usize>(self, columns: [Filled<'_, R>; N]) -> Table {
        filled_table(&columns, self.rows.get(..self.most).unwrap_or(self.rows))
    }

    /// Writes the rows with these columns.
    pub(crate) fn columns<const N: usize>(self, columns: [Filled<'_, R>; N]) -> io::Result<()> {
        self.columns_and_details(columns, |_| Vec::new())
    }

    /// Writes the rows with these columns, and below each row the lines that `details` returns for
    /// it.
    pub(crate) fn columns_and_details<const N: usize>(
        self,
        columns: [Filled<'_, R>; N],
        details: impl Fn(&R) -> Vec<Detail>,
    ) -> io::Result<()> {
        let faint = self.context.style.faint();
        let shown = self.rows.get(..self.most).unwrap_or(self.rows);
        let empty = filled_table(&columns, &[]);
        // The texts of very many rows would take more memory than the rows themselves, so only
        // those of one piece are held at a time. Each text is made twice.
        let mut widest = Widest::of_table(&empty);
        shown.chunks(MAX_HELD_ROWS).for_each(|rows| widest.add(&filled_table(&columns, rows)));
        let layout = Layout::new(&empty.columns, widest, self.context.table_width());
        empty.write_in(&layout, self.context)?;
        for rows in shown.chunks(MAX_HELD_ROWS) {
            let mut table = empty.clone();
            for row in rows {
                table.add_row(cells(&columns, row));
                details(row).into_iter().for_each(|detail| table.add_detail(detail, &faint));
            }
            table.write_lines(self.context.out.buffer(), &layout)?;
            self.context.out.hand_on()?;
        }
        if self.says_more {
            match self.rows.len() > self.most {
                true => left_out(self.context, self.rows.len() + self.further as usize, self.most)?,
                false if self.further > 0 => {
                    let text = format!("… {} more", units::count(self.further));
                    writeln!(self.context.out.buffer(), "{}", faint.over(text))?;
                }
                false => {}
            }
        }
        Ok(())
    }
}

/// Text and style of a cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: Text,
    paint: Paint,
}

impl Cell {
    pub(crate) fn new(text: impl Into<Text>, paint: &Paint) -> Cell {
        Cell { text: text.into(), paint: paint.clone() }
    }
}

/// Every text can be a cell, because a [`Text`] is printable wherever it comes from.
impl<T: Into<Text>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), paint: Paint::default() }
    }
}

#[derive(Debug, Clone)]
enum TableLine {
    Row(Vec<Cell>),
    /// A line with details of the row above.
    Detail(Detail, Paint),
}

/// A line below a row: `     150  thrown in  Program.Main ← Program.Run`. Only its text is cut
/// where the terminal is narrow.
#[derive(Debug, Clone)]
pub(crate) struct Detail {
    head: String,
    text: Text,
}

impl Detail {
    /// Creates a line. `head` stands before the text, and includes the spaces between them.
    pub(crate) fn new(head: String, text: impl Into<Text>) -> Detail {
        Detail { head, text: text.into() }
    }
}

/// A table that is built row by row.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    lines: Vec<TableLine>,
}

impl Table {
    pub(crate) fn new(columns: impl AsRef<[Column]>) -> Table {
        Table { columns: columns.as_ref().to_vec(), lines: Vec::new() }
    }

    /// Adds a row, with a cell for each column.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.lines.push(TableLine::Row(cells.into_iter().collect()));
    }

    /// Adds a line with details below the last row.
    pub(crate) fn add_detail(&mut self, detail: Detail, paint: &Paint) {
        self.lines.push(TableLine::Detail(detail, paint.clone()));
    }

    /// Writes the table.
    pub(crate) fn write(&self, context: &mut Context<'_>) -> io::Result<()> {
        self.write_in(&Layout::of_tables([self], context.table_width()), context)
    }

    /// Writes the table in a layout that several tables share.
    pub(crate) fn write_in(&self, layout: &Layout, context: &mut Context<'_>) -> io::Result<()> {
        let heading = context.style.faint();
        for column in layout.left_out(&self.columns) {
            context.note_left_out(column.heading);
        }
        self.write_to(context.out.buffer(), layout, &heading)
    }

    fn write_to(&self, out: &mut Vec<u8>, layout: &Layout, heading: &Paint) -> io::Result<()> {
        let heads = self.columns.iter().map(|column| Cell::from(column.heading));
        let head = layout.line(&self.columns, &heads.collect::<Vec<_>>());
        writeln!(out, "{}", heading.over(head))?;
        self.write_lines(out, layout)
    }

    fn write_lines(&self, out: &mut Vec<u8>, layout: &Layout) -> io::Result<()> {
        for line in &self.lines {
            match line {
                TableLine::Row(cells) => writeln!(out, "{}", layout.line(&self.columns, cells))?,
                TableLine::Detail(Detail { head, text }, paint) => {
                    let room = layout.most.map(|most| most.saturating_sub(head.width()));
                    let text = room.map_or_else(|| text.whole(), |room| text.cut(room));
                    writeln!(out, "{}", paint.over(format!("{head}{text}")))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the layout for tables of a page that have the same columns: a column that is left out of
/// one is left out of all.
pub(crate) fn layout_of(tables: &[Table], context: &Context<'_>) -> Layout {
    Layout::of_tables(tables, context.table_width())
}

/// The width of each column in its widest row, or of its heading.
#[derive(Debug, Default)]
struct Widest(Vec<usize>);

impl Widest {
    fn of_table(table: &Table) -> Widest {
        let headings = table.columns.iter().map(|column| column.heading.width());
        let mut widest = Widest(headings.collect());
        widest.add(table);
        widest
    }

    fn add(&mut self, table: &Table) {
        for line in &table.lines {
            let TableLine::Row(cells) = line else { continue };
            for (widest, cell) in self.0.iter_mut().zip(cells) {
                *widest = (*widest).max(cell.text.whole().width());
            }
        }
    }
}

/// Choice of the columns that are shown, and their widths.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Width of each column; `None` if the column is left out.
    widths: Vec<Option<usize>>,
    /// Maximum width of the last column.
    last: Option<usize>,
    /// Maximum width of a line.
    most: Option<usize>,
}

impl Layout {
    fn of_tables<'t>(tables: impl IntoIterator<Item = &'t Table>, width: Option<usize>) -> Layout {
        let mut tables = tables.into_iter();
        let Some(first) = tables.next() else { return Layout::new(&[], Widest::default(), width) };
        let mut widest = Widest::of_table(first);
        tables.for_each(|table| widest.add(table));
        Layout::new(&first.columns, widest, width)
    }

    fn new(columns: &[Column], widest: Widest, width: Option<usize>) -> Layout {
        let Widest(needed) = widest;
        let wide = columns.iter().zip(&needed);
        let wide = wide.map(|(column, needed)| Some(column.width.max(*needed)));
        let wide: Vec<Option<usize>> = wide.collect();
        let Some(most) = width else { return Layout { widths: wide, last: None, most: None } };
        let front = |shown: &[Option<usize>]| -> usize {
            let front = shown.split_last().map_or(&[][..], |(_, front)| front);
            front.iter().flatten().map(|width| width + 2).sum()
        };
        // Columns that line up with other tables look better, so they become narrower only if there
        // is no room for all.
        if front(&wide) + wide.last().copied().flatten().unwrap_or(0) <= most {
            let last = Some(most - front(&wide));
            return Layout { widths: wide, last, most: width };
        }
        let natural = needed.last().copied().unwrap_or(0);
        let least = columns.last().map_or(0, |column| column.least);
        let mut shown: Vec<Option<usize>> = needed.into_iter().map(Some).collect();
        while front(&shown) + natural.min(least) > most {
            let droppable = columns.iter().zip(&shown).enumerate();
            let droppable =
                droppable.filter(|(_, (column, shown))| column.rank > 0 && shown.is_some());
            let Some((at, _)) = droppable.max_by_key(|(at, (column, _))| (column.rank, *at)) else {
                break;
            };
            shown[at] = None;
        }
        let is_whole = columns.last().is_some_and(|column| column.is_whole);
        let last = (!is_whole).then(|| most.saturating_sub(front(&shown)).max(8));
        Layout { widths: shown, last, most: width }
    }

    /// Returns whether the column at this index is left out.
    pub(crate) fn lacks(&self, column: usize) -> bool {
        self.widths.get(column).is_some_and(Option::is_none)
    }

    fn left_out<'c>(&self, columns: &'c [Column]) -> impl Iterator<Item = &'c Column> {
        columns
            .iter()
            .zip(&self.widths)
            .filter(|(_, width)| width.is_none())
            .map(|(column, _)| column)
    }

    fn line(&self, columns: &[Column], cells: &[Cell]) -> String {
        let mut line = String::new();
        let end = self.widths.iter().rposition(Option::is_some).unwrap_or(0);
        for (at, ((column, width), cell)) in columns.iter().zip(&self.widths).zip(cells).enumerate()
        {
            let Some(width) = *width else { continue };
            let is_last = at == end;
            let is_free = is_last && column.is_left;
            let text = match self.last {
                Some(most) if at + 1 == columns.len() => cell.text.cut(most),
                _ => cell.text.whole(),
            };
            let padding = " ".repeat(width.saturating_sub(text.width()));
            if !line.is_empty() {
                line.push_str("  ");
            }
            if !column.is_left {
                line.push_str(&padding);
            }
            line.push_str(&cell.paint.over(text));
            if column.is_left && !is_free {
                line.push_str(&padding);
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Ends a page with a line about the columns that its tables lack.
pub(crate) fn end_page(context: &mut Context<'_>) -> io::Result<()> {
    let headings = context.take_left_out();
    let (what, them) = match headings.as_slice() {
        [] => return Ok(()),
        [_] => ("column", "it"),
        _ => ("columns", "them"),
    };
    let text = format!("{what} left out: {}; --wide shows {them}", headings.join(", "));
    let (text, faint) = (wrapped(&text, context.table_width()), context.style.faint());
    writeln!(context.out.buffer(), "{}", faint.over(text))
}

/// Writes how many rows were left out, and how to see them.
pub(crate) fn left_out(context: &mut Context<'_>, all: usize, shown: usize) -> io::Result<()> {
    if all <= shown {
        return Ok(());
    }
    let faint = context.style.faint();
    let text = format!("… {} more; --top N shows more", units::count((all - shown) as u64));
    writeln!(context.out.buffer(), "{}", faint.over(text))
}

/// Writes a line of prose, broken between words if the terminal is narrow.
pub(crate) fn prose(context: &mut Context<'_>, paint: &Paint, text: &str) -> io::Result<()> {
    let text = wrapped(text, context.table_width());
    writeln!(context.out.buffer(), "{}", paint.over(text))
}

/// Breaks a text between words into lines that are no wider than `width`.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| text.width() > *width) else { return text.to_owned() };
    let (mut lines, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let wide = word.width();
        if used > 0 && used + 1 + wide > width {
            lines.push_str("\n  ");
            used = 2;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += wide;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::{Caller, callers};

    const COLUMNS: &[Column] =
        &[right("COUNT", 7, 0), right("RARE", 9, 2), right("SOME", 9, 1), left("NAME", 4, 0)];

    fn shown(width: Option<usize>, name: &str) -> Vec<String> {
        let mut table = Table::new(COLUMNS);
        table.add_row(["1", "22", "333", name].map(Cell::from));
        let mut out = Vec::new();
        let layout = Layout::of_tables([&table], width);
        table.write_to(&mut out, &layout, &Paint::default()).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn without_a_width_everything_is_shown() {
        let name = "x".repeat(200);
        assert_eq!(
            shown(None, &name),
            [
                "  COUNT       RARE       SOME  NAME".to_owned(),
                format!("      1         22        333  {name}")
            ]
        );
    }

    #[test]
    fn columns_get_narrow_before_the_least_important_ones_go_and_then_names_are_cut() {
        let name = "0123456789012345678901234567890123456789";
        assert_eq!(shown(Some(71), name)[0], "  COUNT       RARE       SOME  NAME");
        assert_eq!(shown(Some(70), name)[0], "COUNT  RARE  SOME  NAME");
        assert_eq!(shown(Some(48), name)[0], "COUNT  SOME  NAME");
        let cut = shown(Some(40), name);
        assert_eq!(cut[0], "COUNT  NAME");
        assert!(
            cut[1].starts_with("    1  0123") && cut[1].contains('…') && cut[1].ends_with("6789")
        );
        for width in [20, 40, 45, 60, 80] {
            assert!(shown(Some(width), name).iter().all(|line| line.width() <= width), "{width}");
        }
    }

    #[test]
    fn a_column_that_was_asked_for_stays() {
        let columns = COLUMNS.iter().map(|column| column.asked_for(column.heading == "RARE"));
        let table = Table::new(columns.collect::<Vec<_>>());
        let layout = Layout::of_tables([&table], Some(12));
        let left_out: Vec<&str> =
            layout.left_out(&table.columns).map(|column| column.heading).collect();
        assert_eq!(left_out, ["SOME"]);
    }

    #[test]
    fn tables_of_one_layout_have_the_same_columns() {
        let of = |name: &str| {
            let mut table = Table::new(COLUMNS);
            table.add_row(["1", "22", "333", name].map(Cell::from));
            table
        };
        let (short, long) = (of("x"), of(&"x".repeat(40)));
        let layout = Layout::of_tables([&short, &long], Some(48));
        let shown = |table: &Table| {
            let mut out = Vec::new();
            table.write_to(&mut out, &layout, &Paint::default()).unwrap();
            String::from_utf8(out).unwrap().lines().next().unwrap().to_owned()
        };
        assert_eq!([shown(&short), shown(&long)], ["COUNT  SOME  NAME"; 2]);
    }

    #[test]
    fn a_line_below_a_row_is_cut_in_its_text_alone() {
        let mut table = Table::new(COLUMNS);
        table.add_row(["1", "22", "333", "x"].map(Cell::from));
        let frame =
            |place, name| Caller { place, name, is_endpoint: false, is_own: true, line: None };
        let frames = callers(&[frame(0, "App.Save"), frame(1, "App.Run")]);
        let detail = Detail::new("     150  thrown in  ".to_owned(), frames);
        table.add_detail(detail, &Paint::default());
        let mut out = Vec::new();
        let layout = Layout::of_tables([&table], Some(36));
        table.write_to(&mut out, &layout, &Paint::default()).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out.lines().last(), Some("     150  thrown in  App.Save ← …"));
    }

    #[test]
    fn wide_characters_take_two_columns() {
        let lines = shown(None, "日本");
        assert_eq!(lines[1].width(), lines[0].width());
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", Some(8)), "one two\n  three");
        assert_eq!(wrapped("one two three", None), "one two three");
    }
}
