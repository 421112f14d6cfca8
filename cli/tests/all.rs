//! The tests of the whole crate, in one program: each program of its own costs seconds to build and
//! to link. A file of `tests` that is not named here has its own row in `Cargo.toml`, because it
//! needs its own allocator, limits or name.
#![allow(clippy::restriction, clippy::pedantic)]

mod advice;
mod agreement;
mod bounded;
mod check;
mod common;
mod contradictions;
mod convert;
mod convert_invariants;
mod counters_python;
mod cut_stacks;
mod diff;
mod end_mark;
mod events;
#[cfg(feature = "parquet")]
mod export;
mod heap_dumps;
mod hidden_names;
mod input;
mod invariants;
mod layers;
mod left_out;
mod logs;
mod new_files;
mod outcome;
mod page;
mod page_ranges;
mod reference;
mod report;
mod shrinking;
mod spreadsheets;
mod stack_names;
mod symbols;
mod terminal;
mod threads;
