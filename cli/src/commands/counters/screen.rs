//! Shows the board on the terminal while the sessions run.

use super::View;
use super::board::{CounterBoard, ProcessState};
use crate::context::Context;
use crate::failure::Failure;
use crate::live::scrape::Scrape;
use crate::screen::{Pressed, Screen, TerminalInput, Theme};
use std::time::{Duration, Instant};

/// Interval at which the screen is drawn if no key is pressed.
const REDRAW_INTERVAL: Duration = Duration::from_millis(250);
/// Time to wait for a key before signals and the clock are checked.
const KEY_WAIT: Duration = Duration::from_millis(100);

impl View<'_> {
    /// Shows the board until the user quits, a signal comes or the time is over. Processes that
    /// have ended keep their last values on it.
    pub(super) fn show_board(&mut self, context: &mut Context<'_>) -> Result<(), Failure> {
        let mut board = CounterBoard::new(
            Theme::from_style(context.style),
            self.scrape.as_ref().map(Scrape::address),
        );
        let shown = self.run_board(&mut board, context);
        // `run_board` has restored the terminal, so that messages can be written.
        for notice in board.into_notices() {
            context.messages.warning(&notice);
        }
        shown
    }

    fn run_board(
        &mut self,
        board: &mut CounterBoard,
        context: &Context<'_>,
    ) -> Result<(), Failure> {
        let mut screen = Screen::enter()?;
        let mut drawn: Option<Instant> = None;
        while !self.end.is_due() {
            self.publish(context)?;
            if drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW_INTERVAL) {
                board.update(self.seen());
                self.take_notices().into_iter().for_each(|notice| board.add_notice(notice));
                screen.draw(|frame| board.draw(frame))?;
                drawn = Some(Instant::now());
            }
            match screen.next(KEY_WAIT)? {
                TerminalInput::Key(key) => match board.press(key) {
                    Pressed::Quit => {
                        self.quit();
                        break;
                    }
                    Pressed::Something => drawn = None,
                    Pressed::Nothing => {}
                },
                TerminalInput::Resized => drawn = None,
                TerminalInput::Nothing => {}
                TerminalInput::HungUp => {
                    self.quit();
                    break;
                }
            }
        }
        Ok(())
    }

    /// Stops a started program. It gets no signal from Ctrl-C, which is a key while the board has
    /// the terminal.
    fn quit(&self) {
        if !self.args.command.is_empty() {
            self.end.signals().request_stop();
        }
    }

    fn seen(&self) -> Vec<ProcessState> {
        let of = |session: &super::CounterSession| ProcessState {
            label: session.label.clone(),
            snapshot: session.with(|live| live.snapshot()),
            lost: session.lost(),
            is_over: session.is_over(),
        };
        self.sessions.iter().map(of).collect()
    }
}
