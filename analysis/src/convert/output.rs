//! The output of a converter. It is buffered, compressed if requested, and flushed at the end.

#[cfg(feature = "gzip")]
use crate::gzip;
#[cfg(feature = "gzip")]
use flate2::write::GzEncoder;
use std::fmt;
use std::io::{self, BufWriter, Write};

/// Output of a converter. The converter must call `finish`, because errors that occur when it is
/// dropped are ignored.
pub(crate) struct Output<'o>(Inner<'o>);

enum Inner<'o> {
    Plain(BufWriter<Box<dyn Write + Send + 'o>>),
    /// Compressed output, which collects small pieces before it compresses them.
    #[cfg(feature = "gzip")]
    Gzip(Box<BufWriter<GzEncoder<Box<dyn Write + Send + 'o>>>>),
    /// Compression was requested, but the crate was built without it.
    #[cfg(not(feature = "gzip"))]
    CannotCompress,
}

#[cfg(not(feature = "gzip"))]
fn cannot_compress() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "nettrace-analysis was built without its feature `gzip`",
    )
}

/// Size of the buffer, in bytes. It is small enough for the cache, and for a pipe to accept at
/// once.
const BUFFER_BYTES: usize = 32 * 1024;

impl<'o> Output<'o> {
    /// Writes to `out`, compressed with gzip if `is_gzip`. Without the feature `gzip`, the
    /// first write to a compressed output fails.
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, is_gzip: bool) -> Output<'o> {
        #[cfg(feature = "gzip")]
        if is_gzip {
            let out = gzip::encoder(out, gzip::USUAL);
            return Output(Inner::Gzip(Box::new(BufWriter::with_capacity(BUFFER_BYTES, out))));
        }
        #[cfg(not(feature = "gzip"))]
        if is_gzip {
            return Output(Inner::CannotCompress);
        }
        Output(Inner::Plain(BufWriter::with_capacity(BUFFER_BYTES, out)))
    }

    /// Writes the buffered bytes, and the end of the gzip data.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.0 {
            Inner::Plain(mut out) => out.flush(),
            #[cfg(feature = "gzip")]
            Inner::Gzip(out) => {
                let encoder = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                encoder.finish()?.flush()
            }
            #[cfg(not(feature = "gzip"))]
            Inner::CannotCompress => Err(cannot_compress()),
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::Plain(out) => out.write(bytes),
            #[cfg(feature = "gzip")]
            Inner::Gzip(out) => out.write(bytes),
            #[cfg(not(feature = "gzip"))]
            Inner::CannotCompress => Err(cannot_compress()),
        }
    }

    /// Writes bytes to the buffer. Formats write small pieces, so this must not cost more than
    /// copying them.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Inner::Plain(out) => out.write_all(bytes),
            #[cfg(feature = "gzip")]
            Inner::Gzip(out) => out.write_all(bytes),
            #[cfg(not(feature = "gzip"))]
            Inner::CannotCompress => Err(cannot_compress()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Inner::Plain(out) => out.flush(),
            #[cfg(feature = "gzip")]
            Inner::Gzip(out) => out.flush(),
            #[cfg(not(feature = "gzip"))]
            Inner::CannotCompress => Err(cannot_compress()),
        }
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Inner::Plain(_) => "Output(plain)",
            #[cfg(feature = "gzip")]
            Inner::Gzip(_) => "Output(gzip)",
            #[cfg(not(feature = "gzip"))]
            Inner::CannotCompress => "Output(gzip, which is not built in)",
        })
    }
}
