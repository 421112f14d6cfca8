//! The selected row of a list that scrolls.

use crossterm::event::KeyCode;

/// The effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressed {
    Quit,
    Something,
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Selection {
    /// Index of the selected row.
    pub(crate) selected: usize,
    /// Index of the first row that is on the screen.
    pub(crate) first: usize,
    /// Number of rows that fitted on the screen at the last drawing.
    pub(crate) fitting: usize,
}

impl Selection {
    pub(crate) fn new() -> Selection {
        Selection { selected: 0, first: 0, fitting: 10 }
    }

    /// Selects the first row.
    pub(crate) fn reset(&mut self) {
        (self.selected, self.first) = (0, 0);
    }

    /// Moves the selection in a list of `count` rows. Returns false if the key does not move it.
    pub(crate) fn press(&mut self, key: KeyCode, count: usize) -> bool {
        let selected = match key {
            KeyCode::Up | KeyCode::Char('k') => self.selected.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.selected + 1,
            KeyCode::PageUp => self.selected.saturating_sub(self.fitting),
            KeyCode::PageDown => self.selected + self.fitting,
            KeyCode::Home => 0,
            KeyCode::End => usize::MAX,
            _ => return false,
        };
        self.selected = selected.min(count.saturating_sub(1));
        true
    }

    /// Scrolls so that `line`, the line of the selected row, is on the screen, with the lines from
    /// `upper` on above it if they fit.
    pub(crate) fn scroll_to(&mut self, line: usize, upper: usize) {
        let last_first = (line + 1).saturating_sub(self.fitting);
        self.first = self.first.clamp(last_first, upper.max(last_first));
    }
}
