//! Tests of the whole crate, in one program, because each program costs seconds to build and to
//! link. A file that is not named here is a program of its own in `Cargo.toml`, because documents
//! name it or it is large.
#![allow(clippy::restriction, clippy::pedantic)]

mod allocation;
mod bounds;
mod catalog;
mod check;
mod chunking;
mod corpus;
mod debug_text;
mod end_mark;
mod feed;
mod fields_golden;
mod following;
mod found;
mod growth;
mod hygiene;
mod index;
mod invariants;
mod layers;
mod many_threads;
mod memory;
mod owned_events;
mod packages;
mod parallel;
mod payload_hostile;
mod payload_memory;
mod payload_round_trip;
mod progress;
mod round_trip;
mod snapshot;
mod splitmix;
mod stack_words;
mod threads;
mod truncation;
mod typed;
mod views;
mod visitor;
mod visits;
