#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod by_type;
mod bytes;
pub mod convert;
pub mod diff;
mod document;
mod driver;
pub mod fact;
pub mod findings;
mod flat_json;
#[cfg(feature = "gzip")]
mod gzip;
mod hash;
pub mod heap;
#[cfg(feature = "page")]
mod html;
mod identifier;
pub mod info;
#[cfg(feature = "input")]
pub mod input;
pub mod live;
mod metadata;
pub mod model;
mod number_field;
mod numbering;
mod over_time;
#[cfg(feature = "page")]
pub mod page;
mod recording;
pub mod report;
mod sorted;
mod text_field;
pub mod unstable;
mod words;

pub use driver::{Analysis, AnalysisError, AnalysisOptions, Finished, read_index};
pub use model::cut_stacks::CutStacks;
pub use model::filter::Filter;
pub use model::folding::{Folding, FrameGroup};
pub use model::frame_names::FrameNames;
pub use model::names::{Frame, FrameCall, FrameKind, NameOptions, NameOrigin, NameStyle};
pub use model::names_so_far::NamesSoFar;
pub use model::pattern::Pattern;
pub use model::pdb_file::{PdbError, PdbFile, WantedPdb};
pub use model::perf_map::perf_map;
pub use model::profile::Profile;
pub use model::resolved::Resolved;
pub use model::sample::{CountedStates, Kind, Mode, Sample, SampleClock, ThreadState};
pub use model::source_line::SourceLine;
#[cfg(feature = "symbols")]
pub use model::symbol_file::{SymbolFile, SymbolFileError, UnreadableSymbols};
pub use model::thread_times::ThreadTimes;
pub use model::weights::EventSelector;
