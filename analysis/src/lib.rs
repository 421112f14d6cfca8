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
pub mod unstable;
mod words;

pub use driver::{Analysis, AnalysisError, AnalysisOptions, Finished, build_index};
pub use model::{
    CountedStates, CutStacks, EventSelector, Filter, Folding, Frame, FrameCall, FrameGroup,
    FrameKind, FrameNames, Kind, Mode, Model, NameOptions, NameOrigin, NameStyle, NamesSoFar,
    Pattern, PdbError, PdbFile, Profile, Resolved, Sample, SampleClock, SourceLine, ThreadState,
    ThreadTimes, WantedPdb, perf_map,
};
#[cfg(feature = "symbols")]
pub use model::{SymbolFile, SymbolFileError};
pub use report::{TopN, TopNOptions};
