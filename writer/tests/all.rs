//! Tests of the whole crate, in one program, because each program costs seconds to build and to
//! link. `memory` is separate, because it replaces the allocator.
#![allow(clippy::restriction, clippy::pedantic)]

mod arbitrary;
mod public;
mod sessions;
mod streaming;
mod worked_examples;
