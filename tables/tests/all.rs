//! All tests of the crate as one program, because each program takes seconds to build and to link.
#![allow(clippy::restriction, clippy::pedantic)]

mod agreement;
mod documented;
mod ids;
mod large;
mod layers;
mod memory_files;
mod thread_times;
mod threads;
