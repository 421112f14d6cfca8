//! Tests of the whole crate, in one program: each program of its own costs seconds to
//! build and to link. `memory` has an allocator of its own.
#![allow(clippy::restriction, clippy::pedantic)]

mod arbitrary;
mod public;
mod sessions;
mod streaming;
mod worked_examples;
