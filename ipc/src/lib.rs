//! The .NET diagnostics protocol: commands to a running .NET process, and the bytes of a live
//! event session as an [`std::io::Read`].
//!
//! The crate knows nothing of the nettrace format: it supplies bytes, `nettrace-parser` reads
//! them.
#![forbid(unsafe_code)]
