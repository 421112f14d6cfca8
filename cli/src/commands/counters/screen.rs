//! Shows the board on the terminal while the sessions go on.

use super::View;
use super::board::{Board, Pressed, Seen};
use crate::context::Context;
use crate::failure::Failure;
use crate::live::scrape::Scrape;
use crate::screen::{Input, Screen, Theme};
use std::time::{Duration, Instant};

/// How often it is drawn without a key.
const REFRESH: Duration = Duration::from_millis(250);
/// How often signals and the clock are looked at.
const TICK: Duration = Duration::from_millis(100);

impl View<'_> {
    /// Until the user quits, a signal comes or the time is over. Of processes that have
    /// ended the last values stay.
    pub(super) fn show_board(&mut self, context: &mut Context<'_>) -> Result<(), Failure> {
        let mut board =
            Board::new(Theme::of(context.style), self.scrape.as_ref().map(Scrape::address));
        let shown = self.run_board(&mut board);
        // The terminal is its own again.
        for notice in board.into_notices() {
            context.messages.warning(&notice);
        }
        shown
    }

    fn run_board(&mut self, board: &mut Board) -> Result<(), Failure> {
        let mut screen = Screen::enter()?;
        let mut drawn: Option<Instant> = None;
        while self.signals.seen().is_none() && !self.is_late() {
            self.publish()?;
            if drawn.is_none_or(|drawn| drawn.elapsed() >= REFRESH) {
                board.update(self.seen());
                self.notices().into_iter().for_each(|notice| board.say(notice));
                screen.draw(|frame| board.draw(frame))?;
                drawn = Some(Instant::now());
            }
            match screen.next(TICK)? {
                Input::Key(key) => match board.press(key) {
                    Pressed::Quit => {
                        self.quit();
                        break;
                    }
                    Pressed::Something => drawn = None,
                    Pressed::Nothing => {}
                },
                Input::Resized => drawn = None,
                Input::Nothing => {}
                Input::HungUp => {
                    self.quit();
                    break;
                }
            }
        }
        Ok(())
    }

    /// A program that was started is to end, too: while the screen is ours, Ctrl-C is a
    /// key, and the program gets no signal.
    fn quit(&self) {
        if !self.args.command.is_empty() {
            self.signals.wish_end();
        }
    }

    fn seen(&self) -> Vec<Seen> {
        let of = |feed: &super::CounterFeed| Seen {
            label: feed.label.clone(),
            snapshot: feed.with(|live| live.snapshot()),
            lost: feed.lost(),
            is_over: feed.is_over(),
        };
        self.feeds.iter().map(of).collect()
    }
}
