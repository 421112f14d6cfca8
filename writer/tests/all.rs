//! All tests of the crate as one program, because each program takes seconds to build and to link.
//! `memory` is separate, because it replaces the allocator.
#![allow(clippy::restriction, clippy::pedantic)]

mod arbitrary;
mod public;
mod sessions;
mod streaming;
mod worked_examples;
