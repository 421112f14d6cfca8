//! Stores the frames of all stacks in several pieces of memory.
//!
//! A single list would be in memory twice each time it grows, because growing copies it.

use super::handle::FrameHandle;

/// Number of frames in a piece, which takes 1 MiB. A stack with more frames gets a separate piece.
const PIECE: usize = 1 << 18;

#[derive(Debug, Default)]
pub(super) struct KeptFrames {
    pieces: Vec<Vec<FrameHandle>>,
}

/// Where [`KeptFrames`] keeps the frames of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FramesPlace {
    piece: u32,
    start: u32,
    count: u32,
}

impl FramesPlace {
    pub(super) const NONE: FramesPlace = FramesPlace { piece: 0, start: 0, count: 0 };
}

impl KeptFrames {
    /// Stores the frames of a stack.
    pub(super) fn keep(&mut self, frames: &[FrameHandle]) -> FramesPlace {
        let has_room = |piece: &Vec<FrameHandle>| piece.len().saturating_add(frames.len()) <= PIECE;
        if !self.pieces.last().is_some_and(has_room) {
            // Most traces need only one piece, which grows.
            let room = if self.pieces.is_empty() { 0 } else { PIECE };
            self.pieces.push(Vec::with_capacity(room.max(frames.len())));
        }
        let index = self.pieces.len().saturating_sub(1);
        let Some(piece) = self.pieces.last_mut() else { return FramesPlace::NONE };
        let place = FramesPlace {
            piece: short(index),
            start: short(piece.len()),
            count: short(frames.len()),
        };
        piece.extend_from_slice(frames);
        place
    }

    /// Returns the frames at a place.
    #[inline]
    pub(super) fn get(&self, place: FramesPlace) -> &[FrameHandle] {
        let piece = self.pieces.get(place.piece as usize);
        piece.and_then(|piece| piece.get(range(place))).unwrap_or_default()
    }

    /// Replaces the frames at a place by as many or fewer frames. Returns the place of the new
    /// frames.
    pub(super) fn replace<'f>(
        &mut self,
        place: FramesPlace,
        frames: impl ExactSizeIterator<Item = &'f FrameHandle>,
    ) -> FramesPlace {
        let shorter = FramesPlace { count: place.count.min(short(frames.len())), ..place };
        let piece = self.pieces.get_mut(place.piece as usize);
        if let Some(kept) = piece.and_then(|piece| piece.get_mut(range(shorter))) {
            kept.iter_mut().zip(frames).for_each(|(kept, frame)| *kept = *frame);
        }
        shorter
    }
}

fn range(place: FramesPlace) -> std::ops::Range<usize> {
    let start = place.start as usize;
    start..start.saturating_add(place.count as usize)
}

fn short(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(from: u32, count: u32) -> Vec<FrameHandle> {
        (from..from + count).map(FrameHandle).collect()
    }

    #[test]
    fn stacks_are_as_they_were_kept_and_take_little_more_room_than_their_frames() {
        let mut kept = KeptFrames::default();
        let stacks: Vec<Vec<FrameHandle>> =
            (0..700).map(|number| frames(number, number * 7 % 4097)).collect();
        let long = frames(0, PIECE as u32 + 1);
        let mut places: Vec<FramesPlace> = stacks.iter().map(|stack| kept.keep(stack)).collect();
        let room: usize = kept.pieces.iter().map(Vec::capacity).sum();
        let all: usize = kept.pieces.iter().map(Vec::len).sum();
        assert!(all > 4 * PIECE && room < all + all / 50 + PIECE, "{room} {all}");
        places.push(kept.keep(&long));
        places.push(kept.keep(&stacks[699]));
        let expected = stacks.iter().chain([&long, &stacks[699]]);
        for (place, stack) in places.iter().zip(expected) {
            assert_eq!(kept.get(*place), stack);
        }
    }

    #[test]
    fn what_is_kept_instead_leaves_other_stacks_as_they_are() {
        let mut kept = KeptFrames::default();
        let [one, other] = [frames(0, 5), frames(9, 3)].map(|stack| kept.keep(&stack));
        let shorter = kept.replace(one, frames(2, 2).iter().rev());
        assert_eq!(kept.get(shorter), [FrameHandle(3), FrameHandle(2)]);
        assert_eq!(kept.get(other), frames(9, 3));
        let none = kept.replace(other, [].iter());
        assert_eq!(kept.get(none), []);
    }
}
