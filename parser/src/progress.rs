//! Tells a program how far reading is.

use crate::following::Following;
use crate::source::{Source, Span};
use std::io;
use std::rc::Rc;

/// Receives how far a long read is, such as a progress bar.
///
/// It is called often, for each block of the stream, so an implementation decides itself how often it
/// shows something. [`Watched`] calls it for any reader.
pub trait Progress {
    /// Receives that `done` bytes were read, of `whole` if that is known. Packed files count as they
    /// are packed. `done` never falls, unless a file is read a second time.
    fn reached(&self, done: u64, whole: Option<u64>);
}

impl<P: Progress + ?Sized> Progress for Rc<P> {
    fn reached(&self, done: u64, whole: Option<u64>) {
        (**self).reached(done, whole);
    }
}

/// Source that reports how far it was read.
///
/// ```
/// use nettrace_parser::{Progress, Reader, Watched, Whole};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// #[derive(Default)]
/// struct Percent(Cell<u64>);
///
/// impl Progress for Percent {
///     fn reached(&self, done: u64, whole: Option<u64>) {
///         self.0.set(whole.map_or(0, |whole| done * 100 / whole.max(1)));
///     }
/// }
///
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let percent = Rc::new(Percent::default());
/// let source = Watched::new(Whole::new(&bytes), Rc::clone(&percent));
/// Reader::new(source).for_each(|event| println!("{} {} %", event.provider(), percent.0.get()))?;
/// assert_eq!(percent.0.get(), 100);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Watched<S, P> {
    source: S,
    progress: P,
}

impl<S: Source, P: Progress> Watched<S, P> {
    /// Creates a source that reports to `progress`. The whole is the length of the source, if it knows
    /// that.
    pub fn new(source: S, progress: P) -> Watched<S, P> {
        Watched { source, progress }
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }
}

impl<S: Source, P: Progress> Source for Watched<S, P> {
    #[inline]
    fn start(&self) -> u64 {
        self.source.start()
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }

    fn fill(&mut self, end: u64) -> io::Result<bool> {
        let filled = self.source.fill(end);
        let present = self.source.start().saturating_add(self.source.bytes().len() as u64);
        self.progress.reached(end.min(present), self.source.length());
        filled
    }

    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.source.fill_at_once(end)
    }

    fn release(&mut self, before: u64) {
        self.source.release(before);
    }

    fn approach(&self, span: Span) {
        self.source.approach(span);
    }

    fn length(&self) -> Option<u64> {
        self.source.length()
    }

    fn following(&self) -> Option<Following> {
        self.source.following()
    }
}
