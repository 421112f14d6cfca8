//! Traces as people have them: the bytes of a file that may be packed or have a second stream behind its
//! end mark, how reading it ended, and why it could not be read.
//!
//! [`TraceBytes`] is the source of a [`Reader`](nettrace_parser::Reader) and recognises a packed file by its
//! first bytes, whatever the name.
//!
//! ```no_run
//! use nettrace_analysis::input::{MAX_UNPACKED_BYTES, TraceBytes};
//! use nettrace_parser::Reader;
//! let file = std::fs::File::open("trace.nettrace.gz")?;
//! let mut reader = Reader::new(TraceBytes::open(file, MAX_UNPACKED_BYTES)?).time_ordered();
//! reader.for_each(|event| println!("{}", event.display_name()))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod causes;
mod ending;
mod frames;
mod members;
mod packed_file;
mod packing;
mod recorded_ending;
pub mod second;
mod trace_bytes;
mod unpacked;
mod unreadable;

pub use causes::with_causes;
pub use ending::{Ended, UnreadTimes};
pub use packing::{Packing, UnpackFault, UnpackFaultKind};
pub use recorded_ending::{AskedSource, RecordedEnding};
pub use trace_bytes::{MAX_UNPACKED_BYTES, TraceBytes};
pub use unreadable::{PACKED, plain, reason, without_number};
