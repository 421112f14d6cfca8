//! Styles of text in views, with colours and without.

use crate::style::Style as Plain;
use ratatui_core::style::{Color, Modifier, Style};

/// The few styles of text in views. Without colours they differ only in brightness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    is_coloured: bool,
}

impl Theme {
    /// Creates the theme with the same choice of colours as the style of results.
    pub(crate) fn from_style(style: Plain) -> Theme {
        Theme { is_coloured: style.is_coloured() }
    }

    #[cfg(test)]
    pub(crate) fn coloured(is_coloured: bool) -> Theme {
        Theme { is_coloured }
    }

    /// Returns the style of headings and of important text.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Returns the style of less important text, and of things that are over.
    pub(crate) fn faint(self) -> Style {
        match self.is_coloured {
            true => Style::new().fg(Color::DarkGray),
            false => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// Returns the style of the row that keys act on, and of bars.
    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn name(self) -> Style {
        self.colour(Color::Cyan)
    }

    pub(crate) fn good(self) -> Style {
        self.colour(Color::Green)
    }

    pub(crate) fn warning(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(crate) fn bad(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn colour(self, colour: Color) -> Style {
        if self.is_coloured { Style::new().fg(colour) } else { Style::new() }
    }
}
