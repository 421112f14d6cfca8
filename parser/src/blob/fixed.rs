//! Headers of fixed size, which are read at once from an array.
//!
//! The next blob is found by the blob's size field, never by adding header and payload:
//! the runtime pads blobs, the reference reader's test writer does not (FORMAT.md 6.2).

use super::{BlobHeader, Extent, size_of_header};
use crate::error::{Fault, FaultAt};
use crate::primitive::Parsed;
use nettrace_guid::Guid;

/// Size in bytes of the fixed blob header of version 3 ([FORMAT.md
/// 5](crate::format_guide#5)); payload, stack size and stack follow.
const V3_BYTES: usize = 56;
/// Size in bytes of the uncompressed blob header of versions 4 and 5 ([FORMAT.md
/// 6.2](crate::format_guide#6.2)).
const V4_BYTES: usize = 80;
/// Size in bytes of the uncompressed row header of version 6 ([FORMAT.md
/// 7.4](crate::format_guide#7.4)).
const V6_BYTES: usize = 52;

/// The fields of a header, taken in order from an array of its size, so that the compiler
/// sees that all are there.
struct HeaderFields<'a>(&'a [u8]);

impl HeaderFields<'_> {
    #[inline(always)]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.0.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        *field
    }

    #[inline(always)]
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    #[inline(always)]
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    #[inline(always)]
    fn guid(&mut self) -> Guid {
        Guid::from_bytes(self.take())
    }
}

/// High bit of an uncompressed metadata id: set if the event is *not* sorted.
///
/// Quirk: the documents call it "the IsSorted flag", but the runtime sets it when the
/// event is not sorted, and the reference reader agrees ([FORMAT.md
/// Q2](crate::format_guide#Q2)).
const NOT_SORTED: u32 = 0x8000_0000;

/// Returns where the next blob begins, given the number of bytes of this blob after its
/// first field. `None` if the blob would leave `input`.
fn blob_end(input: &[u8], size: u32) -> Option<usize> {
    let end = usize::try_from(size).ok()?.checked_add(4)?;
    (end <= input.len()).then_some(end)
}

/// Reads an event blob of version 3.
pub(crate) fn fixed_v3<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    let Some(bytes) = input.first_chunk::<V3_BYTES>() else {
        return FaultAt::error(input, Fault::Truncated);
    };
    let mut fields = HeaderFields(bytes);
    let size = fields.u32();
    let metadata_id = fields.u32();
    let thread = u64::from(fields.u32());
    let timestamp = fields.u64();
    let (activity, related_activity) = (fields.guid(), fields.guid());
    let payload_size = fields.u32();
    let Some(next_at) = blob_end(input, size) else {
        return FaultAt::error(input, Fault::RowSize(u64::from(size)));
    };
    // EventSize covers header, payload, stack size, stack and padding.
    let stack_size_at =
        usize::try_from(payload_size).ok().and_then(|size| size.checked_add(V3_BYTES));
    let blob = input.get(..next_at).unwrap_or_default();
    let Some((stack_size, after)) =
        stack_size_at.and_then(|at| blob.get(at..)).and_then(|rest| rest.split_first_chunk())
    else {
        return FaultAt::error(input, Fault::PayloadSize(payload_size));
    };
    let stack_size = u32::from_le_bytes(*stack_size);
    if usize::try_from(stack_size).map_or(true, |size| size > after.len()) {
        return FaultAt::error(input, Fault::StackSize(stack_size));
    }
    *header = BlobHeader {
        metadata_id,
        sequence: 0,
        thread,
        capture_thread: thread,
        processor: u32::MAX,
        stack: 0,
        stack_size,
        timestamp,
        activity,
        related_activity,
        label_list: 0,
        payload_size,
        header_size: size_of_header(V3_BYTES),
        // File order is time order in version 3 (FORMAT.md 11, O1).
        is_sorted: true,
        has_reserved_flag: false,
    };
    Ok((input.get(next_at..).unwrap_or_default(), Extent { payload_at: V3_BYTES, next_at }))
}

/// Reads an uncompressed blob of versions 4 and 5 at the beginning of `input`, which must
/// contain all of it. Returns `None` if the blob is wrong: `header` is then unusable, and
/// [`fixed_v4`] reports the reason.
#[inline(always)]
pub(crate) fn quick_v4(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    quick::<V4_BYTES>(header, input)
}

/// Reads an uncompressed row of version 6 at the beginning of `input`, as [`quick_v4`]
/// does a blob.
#[inline(always)]
pub(crate) fn quick_v6(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    quick::<V6_BYTES>(header, input)
}

/// Reads an uncompressed event blob of versions 4 and 5.
#[inline]
pub(crate) fn fixed_v4<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    fixed::<V4_BYTES>(header, input)
}

/// Reads an uncompressed event row of version 6.
#[inline]
pub(crate) fn fixed_v6<'a>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    fixed::<V6_BYTES>(header, input)
}

/// Reads a header of `SIZE` bytes: the common fields of versions 4 to 6, then activities
/// or, in version 6, labels.
#[inline(always)]
#[expect(clippy::arithmetic_side_effects, reason = "64 bits hold sums of 32 bits")]
fn quick<const SIZE: usize>(header: &mut BlobHeader, input: &[u8]) -> Option<Extent> {
    let mut fields = HeaderFields(input.first_chunk::<SIZE>()?);
    let event_size = fields.u32();
    let metadata_id = fields.u32();
    header.metadata_id = metadata_id & !NOT_SORTED;
    header.is_sorted = metadata_id & NOT_SORTED == 0;
    header.sequence = fields.u32();
    header.thread = fields.u64();
    header.capture_thread = fields.u64();
    header.processor = fields.u32();
    header.stack = fields.u32();
    header.timestamp = fields.u64();
    if SIZE == V6_BYTES {
        header.label_list = fields.u32();
    } else {
        header.activity = fields.guid();
        header.related_activity = fields.guid();
    }
    header.payload_size = fields.u32();
    header.header_size = size_of_header(SIZE);
    let next_at = u64::from(event_size) + 4;
    let payload_end = u64::from(header.payload_size) + SIZE as u64;
    // In 64 bits, sums of 32-bit sizes cannot wrap: this takes one comparison each
    // instead of checked arithmetic.
    let is_right = payload_end <= next_at && next_at <= input.len() as u64;
    let next_at = usize::try_from(next_at).ok()?;
    is_right.then_some(Extent { payload_at: SIZE, next_at })
}

#[inline(always)]
fn fixed<'a, const SIZE: usize>(header: &mut BlobHeader, input: &'a [u8]) -> Parsed<'a, Extent> {
    match quick::<SIZE>(header, input) {
        Some(extent) => Ok((input.get(extent.next_at..).unwrap_or_default(), extent)),
        None => FaultAt::error(input, fault_of(header, input, SIZE)),
    }
}

/// Returns why a blob that was read into `header` is wrong.
#[cold]
fn fault_of(header: &BlobHeader, input: &[u8], header_size: usize) -> Fault {
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
