//! Compresses files with gzip.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Level of compression, for files that are written once and sent to others. The highest level takes
/// twice as long for 0.1 to 5 % less.
pub(crate) const USUAL: u32 = 6;

/// Level of compression of recordings, which takes the least time beside the recorded program.
#[cfg(feature = "input")]
pub(crate) const FASTEST: u32 = 1;

/// Returns an encoder that writes to `out`. Its header contains no date and no name, so equal content
/// gives equal bytes.
pub(crate) fn encoder<W: Write>(out: W, level: u32) -> GzEncoder<W> {
    GzEncoder::new(out, Compression::new(level))
}
