//! The page of a trace, a comparison or a conversion, made in a browser: of files that JavaScript
//! reads, by the code of the `nettrace` command.
//!
//! `dropped` is a file as it comes; `task` is what can be made of files; `browser` has the functions that
//! `page/worker.js` calls, and those that it has.

#![deny(unsafe_code)]
#![allow(clippy::restriction, clippy::pedantic)]

#[cfg(target_family = "wasm")]
mod browser;
mod dropped;
mod task;

pub use dropped::{Dropped, SeekRead};
pub use task::{Done, Task};
