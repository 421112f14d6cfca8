//! Headers of fixed size, read at once from an array.
//!
//! The next blob is found by the blob's size field, never by adding header and payload:
//! the runtime pads blobs, the reference reader's test writer does not (FORMAT.md 6.2).

use super::{BlobHeader, Extent, size_of_header};
use crate::error::{Fault, FaultAt};
use crate::primitive::Parsed;
use bytemuck::{Pod, Zeroable};
use nettrace_guid::Guid;

type U32 = [u8; 4];
type U64 = [u8; 8];

/// Fixed blob header of version 3 ([FORMAT.md 5](crate::format_guide#5)), 56 bytes;
/// payload, stack size and stack follow.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FixedV3 {
    event_size: U32,
    metadata_id: U32,
    thread: U32,
    timestamp: U64,
    activity: [u8; 16],
    related_activity: [u8; 16],
    payload_size: U32,
}

/// The 44 bytes that uncompressed headers of versions 4 to 6 begin with.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Front {
    event_size: U32,
    metadata_id: U32,
    sequence: U32,
    thread: U64,
    capture_thread: U64,
    processor: U32,
    stack: U32,
    timestamp: U64,
}

/// Uncompressed blob header of versions 4 and 5 ([FORMAT.md
/// 6.2](crate::format_guide#6.2)), 80 bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FixedV4 {
    front: Front,
    activity: [u8; 16],
    related_activity: [u8; 16],
    payload_size: U32,
}

/// Uncompressed row header of version 6 ([FORMAT.md 7.4](crate::format_guide#7.4)), 52
/// bytes.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct FixedV6 {
    front: Front,
    label_list: U32,
    payload_size: U32,
}

/// The part of a fixed header that differs between versions, after `Front`.
trait Fixed: Pod {
    fn front(&self) -> &Front;
    /// Copies the fields that only this version has.
    fn read_own(&self, header: &mut BlobHeader);
    fn payload_size(&self) -> U32;
}

impl Fixed for FixedV4 {
    #[inline(always)]
    fn front(&self) -> &Front {
        &self.front
    }

    #[inline(always)]
    fn read_own(&self, header: &mut BlobHeader) {
        header.activity = Guid::from_bytes(self.activity);
        header.related_activity = Guid::from_bytes(self.related_activity);
    }

    #[inline(always)]
    fn payload_size(&self) -> U32 {
        self.payload_size
    }
}

impl Fixed for FixedV6 {
    #[inline(always)]
    fn front(&self) -> &Front {
        &self.front
    }

    #[inline(always)]
    fn read_own(&self, header: &mut BlobHeader) {
        header.label_list = u32::from_le_bytes(self.label_list);
    }

    #[inline(always)]
    fn payload_size(&self) -> U32 {
        self.payload_size
    }
}

/// High bit of an uncompressed metadata id: set if the event is *not* sorted.
///
/// Quirk: the documents call it "the IsSorted flag", but the runtime sets it when the
/// event is not sorted, and the reference reader agrees ([FORMAT.md
/// Q2](crate::format_guide#Q2)).
const NOT_SORTED: u32 = 0x8000_0000;

/// Where the next blob begins, from `size`: the bytes of this blob after its first field.
/// `None` if the blob would leave `input`.
fn blob_end(input: &[u8], size: u32) -> Option<usize> {
    let end = usize::try_from(size).ok()?.checked_add(4)?;
    (end <= input.len()).then_some(end)
}

/// An event blob of version 3.
pub(crate) fn fixed_v3<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    const SIZE: usize = size_of::<FixedV3>();
    let Some(bytes) = input.first_chunk::<SIZE>() else {
        return FaultAt::error(input, Fault::Truncated);
    };
    let fixed: &FixedV3 = bytemuck::cast_ref(bytes);
    let size = u32::from_le_bytes(fixed.event_size);
    let payload_size = u32::from_le_bytes(fixed.payload_size);
    let Some(next_at) = blob_end(input, size) else {
        return FaultAt::error(input, Fault::RowSize(u64::from(size)));
    };
    // EventSize covers header, payload, stack size, stack and padding.
    let stack_size_at = usize::try_from(payload_size).ok().and_then(|size| size.checked_add(SIZE));
    let blob = input.get(..next_at).unwrap_or_default();
    let Some((stack_size, behind)) =
        stack_size_at.and_then(|at| blob.get(at..)).and_then(|rest| rest.split_first_chunk())
    else {
        return FaultAt::error(input, Fault::PayloadSize(payload_size));
    };
    let stack_size = u32::from_le_bytes(*stack_size);
    if usize::try_from(stack_size).map_or(true, |size| size > behind.len()) {
        return FaultAt::error(input, Fault::StackSize(stack_size));
    }
    *header = BlobHeader {
        metadata_id: u32::from_le_bytes(fixed.metadata_id),
        sequence: 0,
        thread: u64::from(u32::from_le_bytes(fixed.thread)),
        capture_thread: u64::from(u32::from_le_bytes(fixed.thread)),
        processor: u32::MAX,
        stack: 0,
        stack_size,
        timestamp: u64::from_le_bytes(fixed.timestamp),
        activity: Guid::from_bytes(fixed.activity),
        related_activity: Guid::from_bytes(fixed.related_activity),
        label_list: 0,
        payload_size,
        header_size: size_of_header(SIZE),
        // File order is time order in version 3 (FORMAT.md 11, O1).
        is_sorted: true,
        has_reserved_flag: false,
    };
    Ok((input.get(next_at..).unwrap_or_default(), Extent { payload_at: SIZE, next_at }))
}

/// An uncompressed blob of versions 4 and 5 at the beginning of `input`, which must
/// contain all of it. If `None`, `header` is unusable and [`fixed_v4`] reports the
/// reason.
#[inline(always)]
pub(crate) fn quick_v4(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    quick::<FixedV4>(header, input)
}

/// An uncompressed row of version 6; otherwise like [`quick_v4`].
#[inline(always)]
pub(crate) fn quick_v6(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    quick::<FixedV6>(header, input)
}

/// An uncompressed event blob of versions 4 and 5.
#[inline]
pub(crate) fn fixed_v4<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    fixed::<FixedV4>(header, input)
}

/// An uncompressed event row of version 6.
#[inline]
pub(crate) fn fixed_v6<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    fixed::<FixedV6>(header, input)
}

#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "64 bits hold sums of 32 bits")]
fn quick<F: Fixed>(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    let fixed: &F = bytemuck::try_from_bytes(input.get(..size_of::<F>())?).ok()?;
    let front = fixed.front();
    let metadata_id = u32::from_le_bytes(front.metadata_id);
    header.metadata_id = metadata_id & !NOT_SORTED;
    header.is_sorted = metadata_id & NOT_SORTED == 0;
    header.sequence = u32::from_le_bytes(front.sequence);
    header.thread = u64::from_le_bytes(front.thread);
    header.capture_thread = u64::from_le_bytes(front.capture_thread);
    header.processor = u32::from_le_bytes(front.processor);
    header.stack = u32::from_le_bytes(front.stack);
    header.timestamp = u64::from_le_bytes(front.timestamp);
    fixed.read_own(header);
    header.payload_size = u32::from_le_bytes(fixed.payload_size());
    header.header_size = size_of_header(size_of::<F>());
    let next_at = u64::from(u32::from_le_bytes(front.event_size)) + 4;
    let payload_end = u64::from(header.payload_size) + size_of::<F>() as u64;
    let is_right = payload_end <= next_at && next_at <= input.len() as u64;
    let next_at = usize::try_from(next_at).ok()?;
    is_right.then_some(Extent { payload_at: size_of::<F>(), next_at })
}

#[inline(always)]
fn fixed<'a, F: Fixed>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    match quick::<F>(header, input) {
        Some(extent) => Ok((input.get(extent.next_at..).unwrap_or_default(), extent)),
        None => FaultAt::error(input, refused(header, input, size_of::<F>())),
    }
}

/// Why a blob that was read into `header` is wrong.
#[cold]
fn refused(header: &BlobHeader, input: &[u8], header_size: usize) -> Fault {
    match input.first_chunk() {
        Some(size) if input.len() >= header_size => {
            let size = u32::from_le_bytes(*size);
            match blob_end(input, size) {
                Some(_) => Fault::PayloadSize(header.payload_size),
                None => Fault::RowSize(u64::from(size)),
            }
        }
        _ => Fault::Truncated,
    }
}
