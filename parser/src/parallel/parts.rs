//! The work on the events of a region: one result for all of them, or parts.

use super::region::Region;
use crate::error::Error;
use crate::event::Event;
use crate::reader::Visit;
use crate::source::Source;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Makes something from events, for example lines of text, and passes it on in parts,
/// with [`read_in_parts`](super::read_in_parts).
pub trait MakeParts {
    /// A part of the result.
    type Part: Send;

    /// Adds the next event to the current part. As for [`Visit::event`], mark short
    /// implementations `#[inline(always)]`.
    fn event(&mut self, event: Event<'_>);

    /// Returns the size of the current part, in bytes.
    fn part_bytes(&self) -> usize;

    /// Takes the current part and begins the next one.
    fn take_part(&mut self) -> Self::Part;
}

/// Size in bytes at which a part is passed on. It takes about a tenth of a millisecond to
/// make, much longer than passing it on, and fits the processor's cache.
const PART_BYTES: usize = 256 << 10;

/// The result of the next events of a region.
#[derive(Debug)]
pub(super) struct Part<T> {
    pub(super) made: T,
    pub(super) bytes: usize,
    /// Number of events of the region so far, including those of this part.
    pub(super) events: u64,
    /// Time of the region's oldest event so far.
    pub(super) oldest: u64,
}

/// Function that receives parts and may stop the work on a region.
pub(super) type Give<'g, T> = &'g mut dyn FnMut(Part<T>) -> ControlFlow<()>;

/// The work on the events of a region.
pub(super) trait Work<S> {
    type Made;
    /// Number of events in a portion, if there are no regions.
    const PORTION_EVENTS: u64;
    /// Minimum size of a region in file order, in event bytes.
    const CUT_BYTES: u64;

    /// Reads the region, and passes on its result while it equals that of a single thread.
    fn work(&self, region: &mut Region<'_, S>, give: Give<'_, Self::Made>) -> Result<(), Error>;
}

/// Work with one result for each region.
pub(super) struct WholeRegion<F, T> {
    work: F,
    made: PhantomData<fn() -> T>,
}

impl<F, T> WholeRegion<F, T> {
    pub(super) fn new(work: F) -> WholeRegion<F, T> {
        WholeRegion { work, made: PhantomData }
    }
}

impl<S: Source, T, F> Work<S> for WholeRegion<F, T>
where
    F: Fn(&mut Region<'_, S>) -> Result<T, Error>,
{
    type Made = T;
    const PORTION_EVENTS: u64 = 8192;
    /// Large enough that starting a worker pays off.
    const CUT_BYTES: u64 = 1 << 20;

    fn work(&self, region: &mut Region<'_, S>, give: Give<'_, T>) -> Result<(), Error> {
        let made = (self.work)(region)?;
        // Events that `work` did not read must still be counted.
        region.for_each(|_| {})?;
        if region.is_regular() {
            let (events, oldest) = (region.count, region.oldest);
            // The region is finished, whatever is returned.
            let _ = give(Part { made, bytes: 0, events, oldest });
        }
        Ok(())
    }
}

/// Work with parts; each thread has a maker of its own.
pub(super) struct InParts<F, M> {
    maker: F,
    /// Makers that no thread uses now.
    spare: Mutex<Vec<M>>,
}

impl<F, M> InParts<F, M> {
    pub(super) fn new(maker: F) -> InParts<F, M> {
        InParts { maker, spare: Mutex::new(Vec::new()) }
    }
}

impl<S: Source, M: MakeParts, F: Fn() -> M> Work<S> for InParts<F, M> {
    type Made = M::Part;
    /// Unlimited: parts are bounded by their size.
    const PORTION_EVENTS: u64 = u64::MAX - 1;
    /// Smaller than for `WholeRegion`, because the result of a region waits for its turn,
    /// and may be many times as large.
    const CUT_BYTES: u64 = 256 << 10;

    fn work(&self, region: &mut Region<'_, S>, give: Give<'_, M::Part>) -> Result<(), Error> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut maker = spare.unwrap_or_else(&self.maker);
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() && !region.is_at_end() {
            let visited = region.visit(&mut Filling(&mut maker));
            // Later events may already have been read, so this check covers more than the
            // events of this part.
            if !region.is_regular() {
                break;
            }
            let bytes = maker.part_bytes();
            if bytes > 0 {
                let (events, oldest) = (region.count, region.oldest);
                flow = give(Part { made: maker.take_part(), bytes, events, oldest });
            }
            visited?;
        }
        if maker.part_bytes() > 0 {
            drop(maker.take_part());
        }
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(maker);
        Ok(())
    }
}

/// Visitor that fills a part.
struct Filling<'m, M>(&'m mut M);

impl<M: MakeParts> Visit for Filling<'_, M> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.0.event(event);
    }

    #[inline(always)]
    fn wants_more(&self) -> bool {
        self.0.part_bytes() < PART_BYTES
    }
}
