//! Chooses colours, and decides when to use them.

use anstyle::{AnsiColor, Style as Ansi};
use clap::ValueEnum;
pub(crate) use nettrace_export::Paint;

/// The value of `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// Only on a terminal
    #[default]
    Auto,
    Always,
    Never,
}

/// Returns whether to colour a stream, by the option, else by the environment, else by whether it
/// is a terminal.
pub(crate) fn is_coloured(
    choice: ColorChoice,
    is_terminal: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => {
            takes_sequences();
            true
        }
        ColorChoice::Never => false,
        ColorChoice::Auto if is_set("NO_COLOR") => false,
        ColorChoice::Auto
            if variable("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0") =>
        {
            true
        }
        ColorChoice::Auto => {
            is_terminal && variable("TERM").is_none_or(|term| term != "dumb") && takes_sequences()
        }
    }
}

/// Returns whether the terminal takes escape sequences. A console of Windows does so only when it is
/// told to, which this does; old ones cannot.
pub(crate) fn takes_sequences() -> bool {
    #[cfg(windows)]
    return crossterm::ansi_support::supports_ansi();
    #[cfg(not(windows))]
    true
}

/// The few styles of text in results and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    is_coloured: bool,
}

impl Style {
    pub(crate) fn new(is_coloured: bool) -> Style {
        Style { is_coloured }
    }

    pub(crate) fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// Returns the style of headings and of important text.
    pub(crate) fn strong(self) -> Paint {
        self.paint(Ansi::new().bold())
    }

    /// Returns the style of less important text.
    pub(crate) fn faint(self) -> Paint {
        self.paint(Ansi::new().dimmed())
    }

    /// Returns the style of good values.
    pub(crate) fn good(self) -> Paint {
        self.paint(AnsiColor::Green.on_default())
    }

    /// Returns the style of values that deserve a look.
    pub(crate) fn warning(self) -> Paint {
        self.paint(AnsiColor::Yellow.on_default())
    }

    /// Returns the style of errors and bad values.
    pub(crate) fn bad(self) -> Paint {
        self.paint(AnsiColor::Red.on_default().bold())
    }

    /// Returns the style of names.
    pub(crate) fn name(self) -> Paint {
        self.paint(AnsiColor::Cyan.on_default())
    }

    fn paint(self, style: Ansi) -> Paint {
        match self.is_coloured {
            true => Paint::new(style.render().to_string(), style.render_reset().to_string()),
            false => Paint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_over_the_environment_and_that_over_the_terminal() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned())
        };
        use ColorChoice::{Always, Auto, Never};
        let none = with(&[]);
        assert!(is_coloured(Auto, true, &none) && !is_coloured(Auto, false, &none));
        assert!(is_coloured(Always, false, &with(&[("NO_COLOR", "1")])));
        assert!(!is_coloured(Never, true, &with(&[("CLICOLOR_FORCE", "1")])));
        assert!(!is_coloured(Auto, true, &with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")])));
        assert!(is_coloured(Auto, true, &with(&[("NO_COLOR", "")])));
        assert!(is_coloured(Auto, false, &with(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")])));
        assert!(!is_coloured(Auto, false, &with(&[("CLICOLOR_FORCE", "0")])));
        assert!(!is_coloured(Auto, true, &with(&[("TERM", "dumb")])));
    }
}
