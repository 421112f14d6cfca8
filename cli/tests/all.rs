//! Joins most tests of the crate in one program, because each program costs seconds to build and
//! link. Files of `tests` that are not named here have rows in `Cargo.toml`, because they need
//! their own allocator, limits or name.
#![allow(clippy::restriction, clippy::pedantic)]

mod advice;
mod agreement;
mod async_callers;
mod bounded;
mod check;
mod common;
mod contradictions;
mod convert;
mod convert_invariants;
mod counters_python;
mod cut_stacks;
mod diff;
mod during;
mod end_mark;
mod errors;
mod events;
#[cfg(feature = "parquet")]
mod export;
mod gcdump;
mod heap_dumps;
mod hidden_names;
mod input;
mod invariants;
mod layers;
mod left_out;
mod lines;
mod logs;
mod new_files;
mod outcome;
mod page;
mod page_ranges;
mod reference;
mod report;
mod same_answers;
mod shrinking;
mod site;
mod spreadsheets;
mod stack_names;
mod symbols;
mod terminal;
mod thread_times;
mod threads;
