//! How a file is packed, and what can be wrong with the packed bytes.

use std::fmt;

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
}

impl Packing {
    /// Number of bytes by which a packed file is recognised.
    pub(super) const HEAD_BYTES: usize = 2;

    /// Recognises a packed file by its first bytes, whatever its name; `None` for any other file.
    pub(super) fn of(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            _ => None,
        }
    }

    /// Returns the name of the format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
        }
    }
}

/// A fault of a packed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnpackFault {
    /// Offset in the packed file, in bytes; where the file is corrupt, shortly after the fault.
    pub(crate) offset: u64,
    pub(crate) packing: Packing,
    pub(crate) kind: UnpackFaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnpackFaultKind {
    /// The file ends inside the packed data.
    Truncated,
    /// The packed data, or its checksum, makes no sense.
    Corrupt,
    /// Something other than packed data follows; nothing is lost.
    Trailing,
}

impl UnpackFault {
    /// Returns whether a part of the trace may be missing because of the fault.
    pub(crate) fn is_loss(&self) -> bool {
        self.kind != UnpackFaultKind::Trailing
    }

    /// Returns what to do if nothing could be unpacked.
    pub(super) fn remedy(&self) -> &'static str {
        "look for another copy"
    }

    /// Returns the fault as text, without its place.
    pub(crate) fn what(&self) -> &'static str {
        match (self.kind, self.packing) {
            (UnpackFaultKind::Truncated, Packing::Gzip) => "the gzip data ends too early",
            (UnpackFaultKind::Corrupt, Packing::Gzip) => "the gzip data is corrupt",
            (UnpackFaultKind::Trailing, Packing::Gzip) => {
                "data that is not gzip follows; it was ignored"
            }
        }
    }
}

impl fmt::Display for UnpackFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (offset {:#x} of the compressed file)", self.what(), self.offset)
    }
}
