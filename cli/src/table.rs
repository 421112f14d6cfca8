//! Tables for people: as wide as the terminal at most.
//!
//! Where a table is too wide, its least important columns are left out, then names are cut in the middle. Where
//! results do not go to a terminal, or with `--wide`, everything is shown.

use crate::context::Context;
use crate::style::Paint;
use crate::units;
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The last column is given at least this much before columns are left out for it.
const LEAST_NAME: usize = 30;

/// A column: what stands above it, how wide it is at least, and how important it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    width: usize,
    is_left: bool,
    /// 0: never left out; of others the highest goes first.
    rank: u8,
}

/// A column of numbers, at the right edge.
pub(crate) const fn right(heading: &'static str, width: usize, rank: u8) -> Column {
    Column { heading, width, is_left: false, rank }
}

/// A column of words, at the left edge. The last one takes what is left of the line.
pub(crate) const fn left(heading: &'static str, width: usize, rank: u8) -> Column {
    Column { heading, width, is_left: true, rank }
}

/// A cell, and how it is set off.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    pub(crate) fn new(text: String, paint: &Paint) -> Cell {
        Cell { text: clean(text), paint: paint.clone() }
    }
}

/// Whoever fills a table need not think of where its words come from.
fn clean(text: String) -> String {
    match nettrace_export::hidden::printable(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell { text: clean(text), paint: Paint::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::from(text.to_owned())
    }
}

#[derive(Debug)]
enum Line {
    Row(Vec<Cell>),
    /// More about the row above.
    Detail(Cell),
}

/// A table that is put together row by row.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    lines: Vec<Line>,
}

impl Table {
    pub(crate) fn new(columns: impl AsRef<[Column]>) -> Table {
        Table { columns: columns.as_ref().to_vec(), lines: Vec::new() }
    }

    /// Adds a row, with a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.lines.push(Line::Row(cells.into_iter().collect()));
    }

    /// Adds a line below the last row that tells more of it.
    pub(crate) fn detail(&mut self, text: String, paint: &Paint) {
        self.lines.push(Line::Detail(Cell::new(text, paint)));
    }

    /// Writes it.
    pub(crate) fn write(&self, context: &mut Context<'_>) -> io::Result<()> {
        let (width, heading) = (context.table_width(), context.style.faint());
        self.write_to(context.out.buffer(), width, &heading)
    }

    fn write_to(&self, out: &mut Vec<u8>, width: Option<usize>, heading: &Paint) -> io::Result<()> {
        let layout = Layout::of(self, width);
        let heads = self.columns.iter().map(|column| Cell::new(column.heading.to_owned(), &Paint::default()));
        let head = layout.line(&self.columns, &heads.collect::<Vec<_>>());
        writeln!(out, "{}", heading.over(head))?;
        for line in &self.lines {
            match line {
                Line::Row(cells) => writeln!(out, "{}", layout.line(&self.columns, cells))?,
                Line::Detail(cell) => {
                    let text = width.map_or_else(|| cell.text.clone(), |width| cut(&cell.text, width));
                    writeln!(out, "{}", cell.paint.over(text))?;
                }
            }
        }
        Ok(())
    }
}

/// Which columns are shown, and how wide each is.
struct Layout {
    /// Of each column its width; `None`: it is left out.
    widths: Vec<Option<usize>>,
    /// The last column may be this wide.
    last: Option<usize>,
}

impl Layout {
    fn of(table: &Table, width: Option<usize>) -> Layout {
        let mut widths: Vec<usize> =
            table.columns.iter().map(|column| column.width.max(column.heading.width())).collect();
        for line in &table.lines {
            let Line::Row(cells) = line else { continue };
            for (widest, cell) in widths.iter_mut().zip(cells) {
                *widest = (*widest).max(cell.text.width());
            }
        }
        let mut shown: Vec<Option<usize>> = widths.into_iter().map(Some).collect();
        let Some(width) = width else { return Layout { widths: shown, last: None } };
        let natural = shown.last().copied().flatten().unwrap_or(0);
        let fixed = |shown: &[Option<usize>]| -> usize {
            let front = shown.split_last().map_or(&[][..], |(_, front)| front);
            front.iter().flatten().map(|width| width + 2).sum()
        };
        while fixed(&shown) + natural.min(LEAST_NAME) > width {
            let droppable = table.columns.iter().zip(&shown).enumerate();
            let droppable = droppable.filter(|(_, (column, shown))| column.rank > 0 && shown.is_some());
            let Some((at, _)) = droppable.max_by_key(|(at, (column, _))| (column.rank, *at)) else { break };
            shown[at] = None;
        }
        let last = width.saturating_sub(fixed(&shown)).max(8);
        Layout { widths: shown, last: Some(last) }
    }

    fn line(&self, columns: &[Column], cells: &[Cell]) -> String {
        let mut line = String::new();
        let end = self.widths.iter().rposition(Option::is_some).unwrap_or(0);
        for (at, ((column, width), cell)) in columns.iter().zip(&self.widths).zip(cells).enumerate() {
            let Some(width) = *width else { continue };
            let is_last = at == end;
            let is_free = is_last && column.is_left;
            let text = match self.last {
                Some(most) if at + 1 == columns.len() => cut(&cell.text, most),
                _ => cell.text.clone(),
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

/// Says how many rows were left out, and how to see them.
pub(crate) fn left_out(context: &mut Context<'_>, all: usize, shown: usize) -> io::Result<()> {
    if all <= shown {
        return Ok(());
    }
    let faint = context.style.faint();
    let text = format!("… {} more; --top N shows more", units::count((all - shown) as u64));
    writeln!(context.out.buffer(), "{}", faint.over(text))
}

/// A text that is at most `most` columns wide: without the arguments of a method if that is enough, else without its
/// middle. The end of a name says more than its begin, so it keeps more of it.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let without_arguments = match (text.find('('), text.ends_with(')')) {
        (Some(at), true) if at > 0 => format!("{}(…)", &text[..at]),
        _ => text.to_owned(),
    };
    if without_arguments.width() <= most {
        return without_arguments;
    }
    let room = most.saturating_sub(1);
    let (front, mut back) = (room / 3, room - room / 3);
    let mut begin = String::new();
    let mut used = 0;
    for c in without_arguments.chars() {
        used += c.width().unwrap_or(0);
        if used > front {
            break;
        }
        begin.push(c);
    }
    let mut end: Vec<char> = Vec::new();
    for c in without_arguments.chars().rev() {
        let Some(left) = back.checked_sub(c.width().unwrap_or(0)) else { break };
        back = left;
        end.push(c);
    }
    begin.push('…');
    begin.extend(end.iter().rev());
    begin
}

/// A text in lines that are no wider than `width`, broken between words.
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

    const COLUMNS: &[Column] =
        &[right("COUNT", 7, 0), right("RARE", 9, 2), right("SOME", 9, 1), left("NAME", 4, 0)];

    fn shown(width: Option<usize>, name: &str) -> Vec<String> {
        let mut table = Table::new(COLUMNS);
        table.row(["1", "22", "333", name].map(Cell::from));
        let mut out = Vec::new();
        table.write_to(&mut out, width, &Paint::default()).unwrap();
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
    fn the_least_important_columns_go_first_and_then_the_middle_of_names() {
        let name = "0123456789012345678901234567890123456789";
        assert_eq!(shown(Some(62), name)[0], "  COUNT       RARE       SOME  NAME");
        assert_eq!(shown(Some(60), name)[0], "  COUNT       SOME  NAME");
        let cut = shown(Some(45), name);
        assert_eq!(cut[0], "  COUNT  NAME");
        assert!(cut[1].starts_with("      1  0123") && cut[1].contains('…') && cut[1].ends_with("6789"));
        for width in [20, 40, 45, 60, 80] {
            assert!(shown(Some(width), name).iter().all(|line| line.width() <= width), "{width}");
        }
    }

    #[test]
    fn a_name_loses_its_arguments_before_its_middle() {
        assert_eq!(cut("a!B.C(int,string)", 20), "a!B.C(int,string)");
        assert_eq!(cut("a!B.C(int,string)", 10), "a!B.C(…)");
        assert_eq!(cut("abcdefghij", 7), "ab…ghij");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("日本語日本語", 7), "日…本語");
        let lines = shown(None, "日本");
        assert_eq!(lines[1].width(), lines[0].width());
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", Some(8)), "one two\n  three");
        assert_eq!(wrapped("one two three", None), "one two three");
    }
}
