//! Tests of the whole crate in one program, because each further program takes seconds to build and
//! to link. Files of `tests` that are not named here are programs with an allocator, limits or a
//! name of their own, and have a row in `Cargo.toml`.
#![allow(clippy::restriction, clippy::pedantic)]

mod activity;
mod activity_pairs;
mod activity_synth;
mod common;
mod consumers_heaps;
mod consumers_stacks;
mod consumers_timelines;
mod counters_apart;
mod diff;
mod diff_limits;
mod event_filter;
mod example;
mod findings;
mod formats;
mod golden;
mod heap_golden;
mod heap_synth;
mod heapsnapshot;
mod intervals;
mod known;
mod known_counts;
mod layers;
mod live;
mod live_top;
mod live_watch;
mod lock_waits;
mod names_so_far;
mod other_programs;
mod outcome;
mod report_pass;
mod request_parts;
mod requests;
mod runtime_corpus;
mod runtime_golden;
mod spans;
mod symbols;
mod synthetic;
mod thread_stacks;
mod threads;
mod unloads;
mod web;
mod web_profile;
mod web_truth;
