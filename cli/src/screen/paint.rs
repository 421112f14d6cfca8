//! Draws texts, sparklines and boxes at places of the screen.

use super::Theme;
use crate::printable::printable;
use crate::sparkline::sparkline;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use ratatui_core::terminal::Frame;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Writes a text in at most `width` columns, and returns the column after it. A text that is cut
/// ends in an ellipsis.
pub(crate) fn put(
    buffer: &mut Buffer,
    (x, y): (u16, u16),
    width: u16,
    text: &str,
    style: Style,
) -> u16 {
    let area = buffer.area;
    if y < area.y || y >= area.bottom() || x >= area.right() {
        return x;
    }
    let width = width.min(area.right() - x);
    let fitted = fit(&printable(text), usize::from(width));
    buffer.set_stringn(x, y, fitted, usize::from(width), style).0
}

/// Writes a text at the right end of `width` columns.
pub(crate) fn put_right(
    buffer: &mut Buffer,
    (x, y): (u16, u16),
    width: u16,
    text: &str,
    style: Style,
) {
    let used = u16::try_from(text.width()).unwrap_or(u16::MAX).min(width);
    put(buffer, (x.saturating_add(width - used), y), used, text, style);
}

/// Returns a sparkline of the newest values, as many as there are columns.
pub(crate) fn newest_sparkline(values: &[f64], columns: usize) -> String {
    sparkline(&values[values.len().saturating_sub(columns)..])
}

fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let (mut fitted, mut used) = (String::new(), 1);
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        fitted.push(character);
    }
    if columns > 0 {
        fitted.push('…');
    }
    fitted
}

/// Draws a box in the middle of the screen that explains the keys.
pub(crate) fn help(frame: &mut Frame<'_>, theme: Theme, title: &str, keys: &[(&str, &str)]) {
    let area = frame.area();
    let key_width = keys.iter().map(|(key, _)| key.width()).max().unwrap_or(0);
    let text_width = keys.iter().map(|(_, text)| text.width()).max().unwrap_or(0);
    let wanted = (key_width + text_width + 6).max(title.width() + 4);
    let width = u16::try_from(wanted).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(keys.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let inner = usize::from(width.saturating_sub(2));
    let buffer = frame.buffer_mut();
    for row in 0..height {
        let y = place.y + row;
        let line = match row {
            0 => format!("┌{:─<inner$}┐", fit(&format!("─ {title} "), inner)),
            _ if row + 1 == height => format!("└{:─<inner$}┘", ""),
            _ => format!("│{:inner$}│", ""),
        };
        buffer.set_stringn(place.x, y, line, usize::from(width), Style::reset());
        let Some((key, text)) = usize::from(row).checked_sub(1).and_then(|at| keys.get(at)) else {
            continue;
        };
        if row + 1 < height {
            let key_width = u16::try_from(key_width).unwrap_or(0);
            put(buffer, (place.x + 2, y), key_width, key, theme.strong());
            let x = place.x + 4 + key_width;
            put(buffer, (x, y), (place.x + width).saturating_sub(x + 1), text, Style::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::backend::TestBackend;
    use ratatui_core::terminal::Terminal;

    #[test]
    fn a_text_that_is_too_long_ends_in_an_ellipsis() {
        assert_eq!(fit("counters", 8), "counters");
        assert_eq!(fit("counters", 5), "coun…");
        assert_eq!(fit("語語語", 4), "語…");
        assert_eq!(fit("語語語", 0), "");
    }

    #[test]
    fn texts_stay_on_the_screen_however_small_it_is() {
        for (width, height) in [(1, 1), (20, 2), (9, 30), (80, 24)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let draw = |frame: &mut Frame<'_>| {
                let buffer = frame.buffer_mut();
                put(buffer, (0, 40), 10, "below", Style::new());
                put(buffer, (90, 0), 10, "beside", Style::new());
                put_right(buffer, (5, 0), 30, "right", Style::new());
                help(frame, Theme::coloured(true), "Keys", &[("q", "quits"), ("?", "this")]);
            };
            terminal.draw(draw).unwrap();
        }
    }
}
