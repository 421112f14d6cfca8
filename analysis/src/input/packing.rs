//! How a file is packed, and what can be wrong with the packed bytes.

use std::fmt;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// The format of `gzip`, RFC 1952.
    Gzip,
    /// The format of `zstd`, RFC 8878.
    Zstd,
}

impl Packing {
    /// Number of bytes by which a packed file is recognised.
    pub const HEAD_BYTES: usize = 4;

    /// Recognises a packed file by its first bytes, whatever its name; `None` for any other file.
    #[must_use]
    pub fn from_head(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            // A frame with data, or one for other programs, which may come first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Packing::Zstd)
            }
            _ => None,
        }
    }

    /// Returns the name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }
}

/// A fault of a packed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnpackFault {
    /// Offset in the packed file, in bytes; where the file is corrupt, shortly after the fault.
    pub offset: u64,
    /// How the file is packed.
    pub packing: Packing,
    /// What is wrong.
    pub kind: UnpackFaultKind,
}

/// Kind of a fault of a packed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnpackFaultKind {
    /// The file ends inside the packed data.
    Truncated,
    /// The packed data, or its checksum, makes no sense.
    Corrupt,
    /// Something other than packed data follows; nothing is lost.
    Trailing,
    /// The packed data refers back further than unpacking keeps it.
    LargeWindow,
    /// The packed data refers to a dictionary that is not in the file.
    Dictionary,
}

impl UnpackFault {
    /// Returns whether a part of the trace may be missing because of the fault.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.kind != UnpackFaultKind::Trailing
    }

    /// Returns what to do if nothing could be unpacked.
    pub(super) fn remedy(&self) -> &'static str {
        match self.kind {
            UnpackFaultKind::LargeWindow => "unpack it with zstd -d --long=31",
            UnpackFaultKind::Dictionary => "unpack it with zstd -d -D DICTIONARY",
            _ => "look for another copy",
        }
    }

    /// Returns the fault as text, without its place.
    #[must_use]
    pub fn what(&self) -> &'static str {
        use Packing::{Gzip, Zstd};
        match (self.kind, self.packing) {
            (UnpackFaultKind::Truncated, Gzip) => "the gzip data ends too early",
            (UnpackFaultKind::Truncated, Zstd) => "the zstd data ends too early",
            (UnpackFaultKind::Corrupt, Gzip) => "the gzip data is corrupt",
            (UnpackFaultKind::Corrupt, Zstd) => "the zstd data is corrupt",
            (UnpackFaultKind::Trailing, Gzip) => "data that is not gzip follows; it was ignored",
            (UnpackFaultKind::Trailing, Zstd) => "data that is not zstd follows; it was ignored",
            (UnpackFaultKind::LargeWindow, _) => {
                "the zstd data needs a window of more than 128 MiB, the limit"
            }
            (UnpackFaultKind::Dictionary, _) => "the zstd data needs a dictionary",
        }
    }
}

impl fmt::Display for UnpackFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (offset {:#x} of the compressed file)", self.what(), self.offset)
    }
}
