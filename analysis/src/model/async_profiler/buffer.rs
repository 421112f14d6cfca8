//! Reads the buffers of .NET 11's async profiler.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | size of the buffer, which follows |
//! | 1 | version, 1 |
//! | 4 | size of the buffer again |
//! | 4 | id of the thread's async context |
//! | 8 | OS id of the thread that the buffer is about |
//! | 4 | number of sub-events |
//! | 8, 8 | ticks of the first and the last sub-event |
//! | 1 | id of a sub-event |
//! | LEB128 | ticks since the one before |
//! | 0, 1 or 2 | size of the sub-event's payload, by its id |
//! | | the payload; sub-events follow up to the end |
//!
//! A call stack is: 1 byte reserved, 1 byte index of the continuation, 1 byte number of frames, for
//! id 6 the id of the parent's dispatcher, the id of the dispatcher, then the frames from the leaf:
//! the first address, and the difference of each further one (zigzag). Those of state machines (ids
//! 16 and 19) have a state behind each address.

use crate::bytes::{little_u32, little_u64};
use crate::model::varints::Varints;

/// Size of a buffer's header in bytes, with the size before it.
const HEADER: usize = 41;
/// Version of buffers that are known.
const VERSION: u8 = 1;
/// Maximum number of frames of a call stack, which its number in one byte bounds.
const MAX_FRAMES: usize = 255;

/// A buffer with the sub-events of one thread.
#[derive(Debug)]
pub(super) struct AsyncBuffer<'b> {
    pub(super) os_thread: u64,
    ticks: u64,
    rest: &'b [u8],
}

/// What a sub-event says. Numbers are ids of dispatchers, which are 0 for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AsyncStep {
    Created {
        parent: u64,
        dispatcher: u64,
    },
    Resumed(u64),
    /// The thread leaves its innermost context: `is_over` if that is complete.
    Left {
        is_over: bool,
    },
    /// The innermost context goes on with the method this many frames further.
    MethodsEnd(u64),
    Stack {
        dispatcher: u64,
        is_appended: bool,
        is_resumed: bool,
        addresses: Vec<u64>,
    },
    /// What was known about the thread is over.
    Reset,
}

impl<'b> AsyncBuffer<'b> {
    /// Returns the buffer in a payload; `None` if it is damaged or of another version.
    pub(super) fn from_payload(payload: &'b [u8]) -> Option<AsyncBuffer<'b>> {
        let (header, _) = payload.split_first_chunk::<HEADER>()?;
        let size = usize::try_from(little_u32(*header.first_chunk()?)).ok()?;
        let rest = payload.get(HEADER..size.checked_add(4)?)?;
        let thread = header.get(13..)?.first_chunk()?;
        let ticks = header.get(25..)?.first_chunk()?;
        let is_known = header.get(4) == Some(&VERSION);
        is_known.then(|| AsyncBuffer {
            os_thread: little_u64(*thread),
            ticks: little_u64(*ticks),
            rest,
        })
    }
}

impl Iterator for AsyncBuffer<'_> {
    /// Ticks of a sub-event, and what it says.
    type Item = (u64, Option<AsyncStep>);

    fn next(&mut self) -> Option<(u64, Option<AsyncStep>)> {
        let (id, rest) = self.rest.split_first()?;
        let (later, rest) = number(rest)?;
        let bytes_of_size = match id {
            6 | 7 | 8 | 16 | 19 | 22 => 2,
            1 | 2 | 5 | 11 | 12 | 15 | 23 => 1,
            3 | 4 | 9 | 10 | 13 | 14 | 17 | 18 | 20 | 21 => 0,
            // The size of what later runtimes add is in their manifest only.
            _ => return None,
        };
        let (size, rest) = rest.split_at_checked(bytes_of_size)?;
        let size = size.iter().rev().fold(0usize, |sum, byte| sum << 8 | usize::from(*byte));
        let (payload, rest) = rest.split_at_checked(size)?;
        self.rest = rest;
        self.ticks = self.ticks.saturating_add(later);
        Some((self.ticks, step(*id, payload)))
    }
}

fn step(id: u8, payload: &[u8]) -> Option<AsyncStep> {
    let mut numbers = Varints::new(payload);
    Some(match id {
        1 | 11 => AsyncStep::Created { parent: numbers.next()?, dispatcher: numbers.next()? },
        2 | 12 => AsyncStep::Resumed(numbers.next()?),
        3 | 13 => AsyncStep::Left { is_over: false },
        4 | 14 => AsyncStep::Left { is_over: true },
        5 | 15 => AsyncStep::MethodsEnd(numbers.next()?),
        10 | 18 => AsyncStep::MethodsEnd(1),
        6 | 7 | 8 | 16 | 19 => stack(id, payload)?,
        20 => AsyncStep::Reset,
        _ => return None,
    })
}

fn stack(id: u8, payload: &[u8]) -> Option<AsyncStep> {
    let ([_, _, count], rest) = payload.split_first_chunk()?;
    let mut numbers = Varints::new(rest);
    if id == 6 {
        numbers.next()?;
    }
    let dispatcher = numbers.next()?;
    let is_machine = matches!(id, 16 | 19);
    let (mut addresses, mut at) = (Vec::with_capacity(usize::from(*count).min(MAX_FRAMES)), 0u64);
    for index in 0..*count {
        let number = numbers.next()?;
        at = if index == 0 { number } else { at.wrapping_add(unzigzag(number)) };
        if is_machine {
            numbers.next()?;
        }
        // The start of a method is no return address. A library's awaiter has no code.
        addresses.extend((at != 0).then(|| at.saturating_add(u64::from(is_machine))));
    }
    let is_resumed = matches!(id, 7 | 16);
    Some(AsyncStep::Stack { dispatcher, is_appended: id == 19, is_resumed, addresses })
}

/// Returns a difference, whose lowest bit is its sign.
fn unzigzag(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// Takes a number off the front.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)?;
    let (number, rest) = bytes.split_at_checked(end.saturating_add(1))?;
    Some((Varints::new(number).next()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leb(value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        crate::model::varints::push(&mut bytes, value);
        bytes
    }

    /// Returns a payload of version 1 with sub-events: id, ticks since the one before, and the rest
    /// with the size in front.
    fn payload(events: &[(u8, u64, Vec<u8>)]) -> Vec<u8> {
        let mut rest = Vec::new();
        for (id, later, payload) in events {
            rest.push(*id);
            rest.extend(leb(*later));
            rest.extend(payload);
        }
        let size = u32::try_from(rest.len() + HEADER - 4).unwrap();
        let mut bytes = size.to_le_bytes().to_vec();
        bytes.push(1);
        bytes.extend(size.to_le_bytes());
        bytes.extend(7u32.to_le_bytes());
        bytes.extend(99u64.to_le_bytes());
        bytes.extend(u32::try_from(events.len()).unwrap().to_le_bytes());
        bytes.extend([1000u64, 2000].map(u64::to_le_bytes).concat());
        bytes.extend(rest);
        bytes
    }

    #[test]
    fn sub_events_have_their_times_and_stacks_their_addresses() {
        // Zigzag: 16 back is 31, 32 further is 64.
        let stack = [vec![0, 0, 3, 5], leb(0x4000), vec![31], leb(64)].concat();
        let machine = [vec![0, 0, 1, 5], leb(0x4000), vec![0]].concat();
        let sized = |size: u8, bytes: &[u8]| [&[size], bytes].concat();
        let wide = |bytes: &[u8]| [&[u8::try_from(bytes.len()).unwrap(), 0], bytes].concat();
        let bytes = payload(&[
            (2, 10, sized(1, &[5])),
            (7, 0, wide(&stack)),
            (10, 200, Vec::new()),
            (22, 1, wide(&[1, 2, 3])),
            (16, 1, wide(&machine)),
            (3, 1, Vec::new()),
        ]);
        let buffer = AsyncBuffer::from_payload(&bytes).unwrap();
        assert_eq!(buffer.os_thread, 99);
        let of = |is_resumed, addresses: &[u64]| AsyncStep::Stack {
            dispatcher: 5,
            is_appended: false,
            is_resumed,
            addresses: addresses.to_vec(),
        };
        let expected = [
            (1010, Some(AsyncStep::Resumed(5))),
            (1010, Some(of(true, &[0x4000, 0x3ff0, 0x4010]))),
            (1210, Some(AsyncStep::MethodsEnd(1))),
            (1211, None),
            (1212, Some(of(true, &[0x4001]))),
            (1213, Some(AsyncStep::Left { is_over: false })),
        ];
        assert_eq!(buffer.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_buffer_that_lies_is_read_as_far_as_it_goes() {
        let bytes = payload(&[(2, 1, vec![1, 5]), (7, 1, vec![255, 255, 0])]);
        for end in 0..bytes.len() {
            let cut = bytes.get(..end).unwrap();
            assert!(AsyncBuffer::from_payload(cut).is_none_or(|buffer| buffer.count() <= 2));
        }
        assert_eq!(AsyncBuffer::from_payload(&bytes).unwrap().count(), 1);
        let later = payload(&[(24, 1, vec![1, 5])]);
        assert_eq!(AsyncBuffer::from_payload(&later).unwrap().count(), 0, "sizes are not known");
        // A stack with more frames than it has addresses says nothing.
        let short = payload(&[(7, 1, vec![5, 0, 0, 0, 9, 5, 1])]);
        let rows: Vec<_> = AsyncBuffer::from_payload(&short).unwrap().collect();
        assert_eq!(rows, [(1001, None)]);
    }
}
