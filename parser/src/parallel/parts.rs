//! Computes the result of a region from its events, as a whole or in parts.

use super::region::Region;
use crate::error::Error;
use crate::event::Event;
use crate::reader::Visit;
use crate::source::Source;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Makes parts of a result from events, such as lines of text, for
/// [`read_in_parts`](super::read_in_parts).
pub trait MakeParts {
    /// Part of the result, such as a `String`.
    type Part: Send;

    /// Adds the next event to the current part. Mark short implementations
    /// `#[inline(always)]`, as for [`Visit::event`].
    fn event(&mut self, event: Event<'_>);

    /// Returns the size in bytes of the current part.
    fn part_bytes(&self) -> usize;

    /// Takes the current part and begins the next one.
    fn take_part(&mut self) -> Self::Part;
}

/// Size in bytes at which a part is passed on. Such a part fits the processor's cache, and takes
/// much longer to make, about 0.1 ms, than to pass on.
const PART_BYTES: usize = 256 << 10;

/// Result of the next events of a region.
#[derive(Debug)]
pub(super) struct Part<T> {
    pub(super) made: T,
    pub(super) bytes: usize,
    /// Number of events of the region up to the end of this part.
    pub(super) events: u64,
    /// Time in ticks of the region's oldest event so far.
    pub(super) oldest: u64,
}

/// Function that receives parts and may stop the work on a region.
pub(super) type Give<'g, T> = &'g mut dyn FnMut(Part<T>) -> ControlFlow<()>;

/// Way to compute results from the events of regions.
pub(super) trait Work<S> {
    type Made;
    /// Number of events in a portion, if one thread reads the stream.
    const PORTION_EVENTS: u64;
    /// Minimum size of a region in file order, in event bytes.
    const CUT_BYTES: u64;

    /// Reads the region, and passes on its result as long as several threads can read the stream
    /// correctly.
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
    /// Minimum size of a region in file order. It is large enough that starting a worker pays off.
    const CUT_BYTES: u64 = 1 << 20;

    fn work(&self, region: &mut Region<'_, S>, give: Give<'_, T>) -> Result<(), Error> {
        let made = (self.work)(region)?;
        // Events that `work` did not read must still be counted.
        region.for_each(|_| {})?;
        if region.is_regular() {
            let (events, oldest) = (region.count, region.oldest);
            let _ = give(Part { made, bytes: 0, events, oldest });
        }
        Ok(())
    }
}

/// Work with parts, for which each thread has a maker.
pub(super) struct InParts<F, M> {
    maker: F,
    /// Makers that no thread is using.
    spare: Mutex<Vec<M>>,
}

impl<F, M> InParts<F, M> {
    pub(super) fn new(maker: F) -> InParts<F, M> {
        InParts { maker, spare: Mutex::new(Vec::new()) }
    }
}

impl<S: Source, M: MakeParts, F: Fn() -> M> Work<S> for InParts<F, M> {
    type Made = M::Part;
    /// Number of events in a portion, which is not limited, because the size of each part is.
    const PORTION_EVENTS: u64 = u64::MAX - 1;
    /// Minimum size of a region in file order. It is smaller than for `WholeRegion`, because parts
    /// that wait for their region's turn may be many times as large as the region.
    const CUT_BYTES: u64 = 256 << 10;

    fn work(&self, region: &mut Region<'_, S>, give: Give<'_, M::Part>) -> Result<(), Error> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut maker = spare.unwrap_or_else(&self.maker);
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() && !region.is_at_end() {
            let visited = region.visit(&mut Filling(&mut maker));
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
