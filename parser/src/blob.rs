//! Headers of event blobs (spec V6: event rows), in every form they take on (format.md 5, 6.2,
//! 6.3, 7.4).

mod careful;
mod compressed;
mod fixed;

use crate::guid::Guid;
pub(crate) use careful::{careful_compressed_v4, careful_compressed_v6};
pub(crate) use compressed::{WINDOW, Watch, Wrong, at_end, compressed_v4, compressed_v6, says_number};
pub(crate) use fixed::{fixed_v3, fixed_v4, fixed_v6, quick_v4, quick_v6};

/// The header of one event blob, with everything the stream says about the event itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BlobHeader {
    pub(crate) metadata_id: u32,
    pub(crate) sequence: u32,
    /// Thread id, or thread index in version 6.
    pub(crate) thread: u64,
    /// Capture thread id, or index.
    pub(crate) capture_thread: u64,
    pub(crate) processor: u32,
    /// Stack id; 0 in version 3.
    pub(crate) stack: u32,
    pub(crate) timestamp: u64,
    pub(crate) activity: Guid,
    pub(crate) related_activity: Guid,
    /// Version 3 only: bytes of the stack behind the payload.
    pub(crate) stack_size: u32,
    /// Version 6 only.
    pub(crate) label_list: u32,
    pub(crate) payload_size: u32,
    /// Bytes from the blob's first byte to its payload.
    pub(crate) header_size: u32,
    pub(crate) is_sorted: bool,
    /// Version 6, compressed: the flag that means nothing there was set.
    pub(crate) has_reserved_flag: bool,
}

/// Where the parts of a blob with a fixed header lie, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes of the header: the payload begins here.
    pub(crate) payload_at: usize,
    /// The next blob begins here.
    pub(crate) next_at: usize,
}

/// Flag bits of a compressed header.
mod flag {
    pub(in crate::blob) const METADATA_ID: u8 = 0x01;
    pub(in crate::blob) const CAPTURE: u8 = 0x02;
    pub(in crate::blob) const THREAD: u8 = 0x04;
    pub(in crate::blob) const STACK: u8 = 0x08;
    /// Versions 4 and 5.
    pub(in crate::blob) const ACTIVITY: u8 = 0x10;
    /// Version 6.
    pub(in crate::blob) const LABEL_LIST: u8 = 0x10;
    pub(in crate::blob) const RELATED_ACTIVITY: u8 = 0x20;
    pub(in crate::blob) const SORTED: u8 = 0x40;
    pub(in crate::blob) const PAYLOAD_SIZE: u8 = 0x80;
}
