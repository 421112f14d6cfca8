//! Writes what ratatui draws as escape sequences. ratatui's own backend for crossterm is not used,
//! because it brings three procedural macros that take longer to build than this file.

use crossterm::terminal;
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use std::io::{self, Write};

/// A terminal that understands the usual escape sequences.
pub(super) struct AnsiBackend<W> {
    out: W,
    /// Bytes of one drawing. They are written at once, so that no half of a drawing is seen.
    buffer: Vec<u8>,
}

impl<W: Write> AnsiBackend<W> {
    pub(super) fn new(out: W) -> AnsiBackend<W> {
        AnsiBackend { out, buffer: Vec::new() }
    }

    fn put(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }
}

impl<W: Write> Backend for AnsiBackend<W> {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut next = None;
        let mut style = None;
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                self.put(&format!("\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1));
            }
            let wanted = (cell.fg, cell.bg, cell.modifier);
            if style != Some(wanted) {
                self.put(&sequence(cell.fg, cell.bg, cell.modifier));
                style = Some(wanted);
            }
            self.put(cell.symbol());
            // A wide character takes two cells, of which only the first is drawn.
            next = (unicode_width::UnicodeWidthStr::width(cell.symbol()) == 1)
                .then(|| (x.saturating_add(1), y));
        }
        self.put("\x1b[0m");
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.put("\x1b[?25l");
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.put("\x1b[?25h");
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // ratatui does not call this in a view that takes the whole screen.
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        self.put(&format!("\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1));
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.put(match clear_type {
            ClearType::All => "\x1b[0m\x1b[2J",
            ClearType::AfterCursor => "\x1b[J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[K",
        });
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        let (width, height) = terminal::size()?;
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.buffer).and_then(|()| self.out.flush());
        self.buffer.clear();
        written
    }
}

/// Returns the sequence that switches from any style to this one.
fn sequence(foreground: Color, background: Color, modifier: Modifier) -> String {
    let mut text = "\x1b[0".to_owned();
    const MODIFIERS: [(Modifier, &str); 4] = [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::UNDERLINED, ";4"),
        (Modifier::REVERSED, ";7"),
    ];
    for (one, code) in MODIFIERS {
        if modifier.contains(one) {
            text.push_str(code);
        }
    }
    for (color, base) in [(foreground, 30), (background, 40)] {
        text.push_str(&color_code(color, base));
    }
    text.push('m');
    text
}

/// Returns the parameter of a colour; `base` is 30 for the text, 40 for its background.
fn color_code(color: Color, base: u32) -> String {
    let plain = |number: u32| format!(";{}", base + number);
    let bright = |number: u32| format!(";{}", base + 60 + number);
    match color {
        Color::Reset => String::new(),
        Color::Black => plain(0),
        Color::Red => plain(1),
        Color::Green => plain(2),
        Color::Yellow => plain(3),
        Color::Blue => plain(4),
        Color::Magenta => plain(5),
        Color::Cyan => plain(6),
        Color::Gray => plain(7),
        Color::DarkGray => bright(0),
        Color::LightRed => bright(1),
        Color::LightGreen => bright(2),
        Color::LightYellow => bright(3),
        Color::LightBlue => bright(4),
        Color::LightMagenta => bright(5),
        Color::LightCyan => bright(6),
        Color::White => bright(7),
        Color::Rgb(red, green, blue) => format!(";{};2;{red};{green};{blue}", base + 8),
        Color::Indexed(number) => format!(";{};5;{number}", base + 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::style::Style;

    #[test]
    fn cells_beside_each_other_are_written_in_one_go() {
        let mut backend = AnsiBackend::new(Vec::new());
        let cell = |symbol: &str, style: Style| {
            let mut cell = Cell::EMPTY;
            cell.set_symbol(symbol).set_style(style);
            cell
        };
        let bold = Style::new().add_modifier(Modifier::BOLD).fg(Color::Red);
        let cells =
            [cell("a", Style::new()), cell("b", Style::new()), cell("語", bold), cell("c", bold)];
        let places = [(1, 2), (2, 2), (3, 2), (5, 2)];
        let content = places.iter().zip(&cells).map(|((x, y), cell)| (*x, *y, cell));
        backend.draw(content).unwrap();
        backend.flush().unwrap();
        let text = String::from_utf8(backend.out.clone()).unwrap();
        assert_eq!(text, "\x1b[3;2H\x1b[0mab\x1b[0;1;31m語\x1b[3;6Hc\x1b[0m");
    }
}
