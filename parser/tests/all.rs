//! Tests of the whole crate, in one program: each program of its own costs seconds to
//! build and to link. A file of `tests` that is not named here has its own row in
//! `Cargo.toml`: its allocator, limits or name are its own.
#![allow(clippy::restriction, clippy::pedantic)]

mod chunking;
mod corpus;
mod end_mark;
mod feed;
mod fields_golden;
mod found;
mod growth;
mod hygiene;
mod invariants;
mod layers;
mod many_threads;
mod packages;
mod parallel;
mod payload_round_trip;
mod round_trip;
mod snapshot;
mod threads;
mod truncation;
mod typed;
