//! Compares screens of tests with files of expected text.

use ratatui_core::backend::TestBackend;
use ratatui_core::style::Style;
use ratatui_core::terminal::{Frame, Terminal};
use std::path::Path;

/// Compares a screen with `tests/expected/screen-NAME.txt`. With `UPDATE_EXPECT` set, the file is
/// written again.
pub(crate) fn page(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(format!("screen-{name}.txt"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{}; UPDATE_EXPECT=1 writes it again", path.display());
}

/// Draws a view on a terminal of this size.
pub(crate) fn drawn(
    width: u16,
    height: u16,
    draw: impl FnOnce(&mut Frame<'_>),
) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(draw).unwrap();
    terminal
}

/// Returns the lines on a terminal, without spaces at their ends.
pub(crate) fn text(terminal: &Terminal<TestBackend>) -> String {
    let buffer = terminal.backend().buffer();
    let line =
        |y: u16| -> String { (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..buffer.area.height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

/// Returns the style of a cell.
pub(crate) fn style_at(terminal: &Terminal<TestBackend>, at: (u16, u16)) -> Style {
    terminal.backend().buffer()[at].style()
}
