//! View of the buffers of .NET 11's async profiler.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 1 |
//! | 4 | size of the buffer |
//! | 4 | id of the thread's async context |
//! | 8 | OS id of the thread that the buffer is about |
//! | 4 | number of sub-events |
//! | 8, 8 | ticks of the first and the last sub-event |
//! | 1 | id of a sub-event |
//! | LEB128 | ticks since the one before |
//! | 0, 1 or 2 | size of the sub-event's payload, by its id |
//! | | the payload; sub-events follow up to the end |
//!
//! Sub-event 22 is the manifest: for each id how many bytes the size of its payload has. It comes
//! once for each configuration, so that a later buffer may have none.
//!
//! A call stack is: 1 byte reserved, 1 byte index of the continuation, 1 byte number of frames, for
//! id 6 the id of the parent's dispatcher, the id of the dispatcher, then the frames from the leaf:
//! the first address, and the difference of each further one (zigzag). Those of state machines (ids
//! 16 and 19) have a state behind each address (zigzag).

use super::{KnownProvider, View};
use crate::bytes::{take_first, varuint64, zigzag};
use crate::event::Event;

/// Id of the event that carries a buffer.
const BUFFER: u32 = 1;
/// Version of buffers that are known.
const VERSION: u8 = 1;
/// Id of the sub-event that tells how the others state their sizes.
const MANIFEST: u8 = 22;

/// Buffer with the sub-events of one thread: event 1, `AsyncEvents`, of
/// `System.Runtime.CompilerServices.AsyncProfilerEventSource`.
///
/// It is written when it is full, so later than what it tells, and maybe by another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsyncBuffer<'r> {
    /// Id of the thread's async context.
    pub context_id: u32,
    /// OS id of the thread that the sub-events are about.
    pub os_thread_id: u64,
    /// Number of sub-events that the buffer states.
    pub event_count: u32,
    /// Ticks of the event clock before the first sub-event.
    pub first_ticks: u64,
    /// Ticks of the last sub-event.
    pub last_ticks: u64,
    rest: &'r [u8],
}

impl<'r> View<'r> for AsyncBuffer<'r> {
    fn from_event(event: &Event<'r>) -> Option<AsyncBuffer<'r>> {
        if event.known_provider() != KnownProvider::AsyncProfiler || event.id() != BUFFER {
            return None;
        }
        let mut payload = event.payload();
        let size = usize::try_from(take_first::<u32>(&mut payload)?).ok()?;
        AsyncBuffer::from_bytes(payload.get(..size)?)
    }
}

impl<'r> AsyncBuffer<'r> {
    /// Returns the buffer in the bytes of the field `Buffer`; `None` if its header is incomplete or
    /// its version unknown.
    pub fn from_bytes(bytes: &'r [u8]) -> Option<AsyncBuffer<'r>> {
        let mut rest = bytes;
        if take_first::<u8>(&mut rest)? != VERSION {
            return None;
        }
        let size = usize::try_from(take_first::<u32>(&mut rest)?).ok()?;
        let context_id = take_first(&mut rest)?;
        let os_thread_id = take_first(&mut rest)?;
        let event_count = take_first(&mut rest)?;
        let first_ticks = take_first(&mut rest)?;
        let last_ticks = take_first(&mut rest)?;
        let header = bytes.len().saturating_sub(rest.len());
        let rest = rest.get(..size.saturating_sub(header)).unwrap_or(rest);
        Some(AsyncBuffer { context_id, os_thread_id, event_count, first_ticks, last_ticks, rest })
    }

    /// Returns the sub-events, oldest first. Kinds that later runtimes add are read behind the
    /// manifest, if it is in this buffer.
    pub fn events(&self) -> AsyncEvents<'r> {
        self.events_by(AsyncManifest::default())
    }

    /// Returns the sub-events, oldest first, with kinds of which a manifest has told: that of
    /// [`AsyncEvents::manifest`] after an earlier buffer of the process.
    ///
    /// ```
    /// use nettrace_parser::view::{AsyncBuffer, AsyncManifest};
    /// fn count(buffers: &[AsyncBuffer<'_>]) -> usize {
    ///     let mut manifest = AsyncManifest::default();
    ///     let mut count = 0;
    ///     for buffer in buffers {
    ///         let mut events = buffer.events_by(manifest);
    ///         count += events.by_ref().count();
    ///         manifest = *events.manifest();
    ///     }
    ///     count
    /// }
    /// # assert_eq!(count(&[]), 0);
    /// ```
    pub fn events_by(&self, manifest: AsyncManifest) -> AsyncEvents<'r> {
        AsyncEvents { rest: self.rest, ticks: self.first_ticks, manifest }
    }
}

/// How sub-events of each kind state the size of their payload. A runtime writes it as sub-event 22,
/// once for each configuration; those of .NET 11 are known without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsyncManifest {
    /// Number of bytes of the size, by id.
    size_bytes: [u8; 256],
}

impl Default for AsyncManifest {
    fn default() -> AsyncManifest {
        let mut size_bytes = [AsyncManifest::UNKNOWN; 256];
        for (place, id) in size_bytes.iter_mut().zip(0..=u8::MAX) {
            *place = match id {
                6 | 7 | 8 | 16 | 19 | MANIFEST => 2,
                1 | 2 | 5 | 11 | 12 | 15 | 23 => 1,
                3 | 4 | 9 | 10 | 13 | 14 | 17 | 18 | 20 | 21 => 0,
                _ => AsyncManifest::UNKNOWN,
            };
        }
        AsyncManifest { size_bytes }
    }
}

impl AsyncManifest {
    /// Stands for kinds of which nothing is known.
    const UNKNOWN: u8 = u8::MAX;

    /// Takes the payload of sub-event 22: 4 numbers, the number of wrappers, and the kinds with id,
    /// version and number of bytes of the size.
    fn learn(&mut self, payload: &[u8]) -> Option<()> {
        let mut rest = payload;
        for _ in 0..4 {
            take_varint(&mut rest)?;
        }
        let _wrappers: u8 = take_first(&mut rest)?;
        let count = usize::from(take_first::<u8>(&mut rest)?);
        for [id, _version, bytes] in rest.as_chunks::<3>().0.iter().take(count) {
            if let Some(known) = self.size_bytes.get_mut(usize::from(*id)).filter(|_| *bytes <= 2) {
                *known = *bytes;
            }
        }
        Some(())
    }

    /// Returns the size of a payload, which `rest` begins with.
    fn take_size(&self, id: u8, rest: &mut &[u8]) -> Option<usize> {
        Some(match self.size_bytes.get(usize::from(id))? {
            0 => 0,
            1 => usize::from(take_first::<u8>(rest)?),
            2 => usize::from(take_first::<u16>(rest)?),
            _ => return None,
        })
    }
}

/// Iterator over the sub-events of an [`AsyncBuffer`]. It ends at one that cannot be read.
#[derive(Debug, Clone)]
pub struct AsyncEvents<'r> {
    rest: &'r [u8],
    ticks: u64,
    manifest: AsyncManifest,
}

impl<'r> AsyncEvents<'r> {
    /// Returns the bytes that are not read yet. At the end of the iterator these are what cannot be
    /// read, because the buffer ends within a sub-event, or because only the manifest of a later
    /// runtime tells the size of one.
    pub fn unread(&self) -> &'r [u8] {
        self.rest
    }

    /// Returns the manifest, with what the sub-events so far have told.
    pub fn manifest(&self) -> &AsyncManifest {
        &self.manifest
    }
}

impl<'r> Iterator for AsyncEvents<'r> {
    type Item = AsyncEvent<'r>;

    fn next(&mut self) -> Option<AsyncEvent<'r>> {
        let mut rest = self.rest;
        let id = take_first(&mut rest)?;
        let later = take_varint(&mut rest)?;
        let size = self.manifest.take_size(id, &mut rest)?;
        let (payload, rest) = rest.split_at_checked(size)?;
        self.rest = rest;
        self.ticks = self.ticks.saturating_add(later);
        if id == MANIFEST {
            self.manifest.learn(payload);
        }
        let detail = AsyncDetail::from_payload(id, payload).unwrap_or(AsyncDetail::Other(payload));
        Some(AsyncEvent { id, ticks: self.ticks, detail })
    }
}

/// Sub-event of the async profiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsyncEvent<'r> {
    /// Id of its kind.
    pub id: u8,
    /// Time in ticks of the event clock.
    pub ticks: u64,
    /// What it says.
    pub detail: AsyncDetail<'r>,
}

impl AsyncEvent<'_> {
    /// Returns the name of its kind.
    pub fn name(&self) -> &'static str {
        let index = usize::from(self.id).checked_sub(1);
        index.and_then(|index| NAMES.get(index)).copied().unwrap_or_default()
    }
}

/// Names of the kinds of sub-events, from id 1 on.
const NAMES: [&str; 23] = [
    "CreateRuntimeAsyncContext",
    "ResumeRuntimeAsyncContext",
    "SuspendRuntimeAsyncContext",
    "CompleteRuntimeAsyncContext",
    "UnwindRuntimeAsyncException",
    "CreateRuntimeAsyncCallstack",
    "ResumeRuntimeAsyncCallstack",
    "SuspendRuntimeAsyncCallstack",
    "ResumeRuntimeAsyncMethod",
    "CompleteRuntimeAsyncMethod",
    "CreateStateMachineAsyncContext",
    "ResumeStateMachineAsyncContext",
    "SuspendStateMachineAsyncContext",
    "CompleteStateMachineAsyncContext",
    "UnwindStateMachineAsyncException",
    "ResumeStateMachineAsyncCallstack",
    "ResumeStateMachineAsyncMethod",
    "CompleteStateMachineAsyncMethod",
    "AppendStateMachineAsyncCallstack",
    "ResetAsyncThreadContext",
    "ResetAsyncContinuationWrapperIndex",
    "AsyncProfilerMetadata",
    "AsyncProfilerSyncClock",
];

/// What a sub-event says beside its kind. A dispatcher resumes the methods of one chain of async
/// calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AsyncDetail<'r> {
    /// Nothing.
    None,
    /// A context is made: ids 1 and 11.
    Created {
        /// Id of the dispatcher that made it; 0 for none.
        parent: u64,
        /// Id of its own dispatcher.
        dispatcher: u64,
    },
    /// The context of this dispatcher is resumed: ids 2 and 12.
    Resumed {
        /// Id of the dispatcher.
        dispatcher: u64,
    },
    /// An exception leaves methods: ids 5 and 15.
    Unwound {
        /// Number of methods.
        frames: u64,
    },
    /// The call stack of a dispatcher: ids 6, 7, 8, 16 and 19.
    Stack(AsyncStack<'r>),
    /// A time by two clocks: id 23.
    Clock {
        /// Ticks of the event clock.
        ticks: u64,
        /// Time in UTC, in units of 100 ns since 1601.
        file_time: u64,
    },
    /// Bytes without a meaning that is known: those of ids 22 and from 24 on, and a payload that is
    /// damaged.
    Other(&'r [u8]),
}

impl<'r> AsyncDetail<'r> {
    fn from_payload(id: u8, payload: &'r [u8]) -> Option<AsyncDetail<'r>> {
        let mut rest = payload;
        let mut number = || take_varint(&mut rest);
        Some(match id {
            1 | 11 => AsyncDetail::Created { parent: number()?, dispatcher: number()? },
            2 | 12 => AsyncDetail::Resumed { dispatcher: number()? },
            5 | 15 => AsyncDetail::Unwound { frames: number()? },
            6 | 7 | 8 | 16 | 19 => AsyncDetail::Stack(AsyncStack::from_payload(id, payload)?),
            0 | MANIFEST | 24.. => return None,
            23 => AsyncDetail::Clock { ticks: number()?, file_time: number()? },
            _ => AsyncDetail::None,
        })
    }
}

/// Call stack of async methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsyncStack<'r> {
    /// Index of the frame `Continuation_Wrapper_N` on the thread's own stacks, below the method that
    /// is resumed first.
    pub continuation: u8,
    /// Id of the dispatcher that made this one; 0 for none. Only for id 6.
    pub parent: Option<u64>,
    /// Id of the dispatcher.
    pub dispatcher: u64,
    has_states: bool,
    frames: u8,
    rest: &'r [u8],
}

impl<'r> AsyncStack<'r> {
    fn from_payload(id: u8, payload: &'r [u8]) -> Option<AsyncStack<'r>> {
        let (head, mut rest) = payload.split_first_chunk::<3>()?;
        let [_, continuation, frames] = *head;
        let parent = if id == 6 { Some(take_varint(&mut rest)?) } else { None };
        let dispatcher = take_varint(&mut rest)?;
        let has_states = matches!(id, 16 | 19);
        let stack = AsyncStack { continuation, parent, dispatcher, has_states, frames, rest };
        (stack.frames().count() == usize::from(frames)).then_some(stack)
    }

    /// Returns the frames, innermost first. A stack without frames is the one that was known for the
    /// dispatcher.
    pub fn frames(&self) -> AsyncFrames<'r> {
        AsyncFrames { of: *self, left: self.frames, address: 0 }
    }
}

/// Frame of an [`AsyncStack`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsyncFrame {
    /// Address of code; that of state machines is the start of its method. 0 if the frame has no
    /// code, as for an awaiter of a library.
    pub address: u64,
    /// State of a state machine; `None` for a method that the runtime itself suspends.
    pub state: Option<i64>,
}

/// Iterator over the frames of an [`AsyncStack`].
#[derive(Debug, Clone)]
pub struct AsyncFrames<'r> {
    of: AsyncStack<'r>,
    left: u8,
    address: u64,
}

impl Iterator for AsyncFrames<'_> {
    type Item = AsyncFrame;

    fn next(&mut self) -> Option<AsyncFrame> {
        let is_first = self.left == self.of.frames;
        self.left = self.left.checked_sub(1)?;
        let number = take_varint(&mut self.of.rest)?;
        self.address = match is_first {
            true => number,
            false => self.address.wrapping_add_signed(zigzag(number)),
        };
        let state = match self.of.has_states {
            true => Some(zigzag(take_varint(&mut self.of.rest)?)),
            false => None,
        };
        Some(AsyncFrame { address: self.address, state })
    }
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let (after, number) = varuint64(rest).ok()?;
    *rest = after;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leb(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    /// Returns a buffer of version 1 with sub-events: id, ticks since the one before, and the rest
    /// with the size in front.
    fn buffer(events: &[(u8, u64, Vec<u8>)]) -> Vec<u8> {
        let of = |(id, later, rest): &(u8, u64, Vec<u8>)| [&[*id][..], &leb(*later), rest].concat();
        let rest: Vec<u8> = events.iter().flat_map(of).collect();
        let size = u32::try_from(rest.len() + 37).unwrap();
        let mut bytes = vec![1];
        bytes.extend([size, 7].map(u32::to_le_bytes).concat());
        bytes.extend(99u64.to_le_bytes());
        bytes.extend(u32::try_from(events.len()).unwrap().to_le_bytes());
        bytes.extend([1000u64, 2000].map(u64::to_le_bytes).concat());
        bytes.extend(rest);
        bytes
    }

    fn sized(bytes: &[u8]) -> Vec<u8> {
        [&[u8::try_from(bytes.len()).unwrap()], bytes].concat()
    }

    fn wide(bytes: &[u8]) -> Vec<u8> {
        [&[u8::try_from(bytes.len()).unwrap(), 0], bytes].concat()
    }

    #[test]
    fn sub_events_have_their_times_and_stacks_their_addresses() {
        // Zigzag: 16 back is 31, 32 further is 64; state -2 is 3.
        let stack = [vec![0, 4, 3, 5], leb(0x4000), vec![31], leb(64)].concat();
        let machine = [vec![0, 0, 1, 5], leb(0x4000), vec![3]].concat();
        let bytes = buffer(&[
            (2, 10, sized(&[5])),
            (7, 0, wide(&stack)),
            (10, 200, Vec::new()),
            (16, 1, wide(&machine)),
            (6, 0, wide(&[0, 0, 0, 9, 5])),
            (23, 1, sized(&[1, 2])),
        ]);
        let buffer = AsyncBuffer::from_bytes(&bytes).unwrap();
        assert_eq!((buffer.os_thread_id, buffer.event_count, buffer.context_id), (99, 6, 7));
        let events: Vec<AsyncEvent<'_>> = buffer.events().collect();
        let times: Vec<(u64, &str)> = events.iter().map(|it| (it.ticks, it.name())).collect();
        assert_eq!(times[0], (1010, "ResumeRuntimeAsyncContext"));
        assert_eq!(times[2], (1210, "CompleteRuntimeAsyncMethod"));
        assert_eq!(times[5], (1212, "AsyncProfilerSyncClock"));
        let frames = |at: usize| match events[at].detail {
            AsyncDetail::Stack(stack) => {
                (stack, stack.frames().map(|it| (it.address, it.state)).collect::<Vec<_>>())
            }
            _ => panic!("{events:?}"),
        };
        let (stack, addresses) = frames(1);
        assert_eq!((stack.dispatcher, stack.continuation, stack.parent), (5, 4, None));
        assert_eq!(addresses, [(0x4000, None), (0x3ff0, None), (0x4010, None)]);
        assert_eq!(frames(3).1, [(0x4000, Some(-2))]);
        assert_eq!((frames(4).0.parent, frames(4).0.dispatcher), (Some(9), 5));
        assert_eq!(events[5].detail, AsyncDetail::Clock { ticks: 1, file_time: 2 });
    }

    #[test]
    fn kinds_of_later_runtimes_are_skipped_by_the_size_that_the_manifest_tells() {
        // Frequency, ticks, time, size of buffers, wrappers, then three kinds.
        let manifest = [1, 2, 3, 4, 32, 3, 24, 1, 1, 25, 1, 0, 26, 1, 2];
        let bytes = buffer(&[
            (22, 0, wide(&manifest)),
            (24, 5, sized(&[7, 7, 7])),
            (25, 5, Vec::new()),
            (26, 5, wide(&[8, 8])),
            (2, 5, sized(&[5])),
        ]);
        let mut events = AsyncBuffer::from_bytes(&bytes).unwrap().events();
        let all: Vec<_> = events.by_ref().map(|it| (it.id, it.ticks, it.detail)).collect();
        assert_eq!(all[1], (24, 1005, AsyncDetail::Other(&[7, 7, 7])));
        assert_eq!(all[2..4].iter().map(|it| it.0).collect::<Vec<_>>(), [25, 26]);
        assert_eq!(all[4], (2, 1020, AsyncDetail::Resumed { dispatcher: 5 }));
        assert!(events.unread().is_empty());
        // A later buffer of the process has no manifest of its own.
        let later = buffer(&[(26, 1, wide(&[8])), (27, 1, sized(&[5]))]);
        let mut events = AsyncBuffer::from_bytes(&later).unwrap().events_by(*events.manifest());
        assert_eq!((events.by_ref().count(), events.unread()), (1, &[27, 1, 1, 5][..]));
        // A manifest that is cut off, or has sizes that there are not, tells what it has.
        let cut = buffer(&[(22, 0, wide(&[1, 2, 3, 4, 32, 9, 24, 1, 1, 25, 1, 3, 26]))]);
        let mut events = AsyncBuffer::from_bytes(&cut).unwrap().events();
        assert_eq!(events.by_ref().count(), 1);
        let known = [24, 25, 26].map(|id: usize| events.manifest().size_bytes[id]);
        assert_eq!(known, [1, AsyncManifest::UNKNOWN, AsyncManifest::UNKNOWN]);
    }

    #[test]
    fn a_buffer_that_lies_is_read_as_far_as_it_goes_and_the_rest_is_there() {
        let bytes = buffer(&[(2, 1, sized(&[5])), (7, 1, vec![255, 255, 0])]);
        for end in 0..bytes.len() {
            let cut = AsyncBuffer::from_bytes(bytes.get(..end).unwrap());
            assert!(cut.is_none_or(|buffer| buffer.events().count() <= 2));
        }
        let mut events = AsyncBuffer::from_bytes(&bytes).unwrap().events();
        assert_eq!((events.by_ref().count(), events.unread().len()), (1, 5));
        // What later runtimes add cannot be read without their manifest.
        let later = buffer(&[(24, 1, sized(&[5]))]);
        let mut events = AsyncBuffer::from_bytes(&later).unwrap().events();
        assert_eq!((events.next(), events.unread()), (None, &[24, 1, 1, 5][..]));
        // A stack with more frames than it has addresses says nothing.
        let short = buffer(&[(7, 1, wide(&[0, 0, 9, 5, 1]))]);
        let mut events = AsyncBuffer::from_bytes(&short).unwrap().events();
        assert_eq!(events.next().unwrap().detail, AsyncDetail::Other(&[0, 0, 9, 5, 1]));
        let other_version = [&[2], bytes.get(1..).unwrap()].concat();
        assert_eq!(AsyncBuffer::from_bytes(&other_version), None);
    }
}
