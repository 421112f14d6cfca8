//! The page of a trace, a comparison or a conversion, made in a browser: of files that JavaScript
//! reads, by the code of the `nettrace` command.
//!
//! `input` opens a dropped file as the command opens one of a disk, with the same modules for packed
//! files, second streams and faults; `task` is what can be made of files; `browser` has the functions that
//! `page/worker.js` calls, and those that it has.

#![deny(unsafe_code)]
#![allow(clippy::restriction, clippy::pedantic)]

#[cfg(target_family = "wasm")]
mod browser;
#[path = "../../cli/src/causes.rs"]
mod causes;
mod input;
#[path = "../../cli/src/recorded_ending.rs"]
mod recorded_ending;
mod task;
#[path = "../../cli/src/unreadable.rs"]
mod unreadable;

pub use input::{Dropped, SeekRead};
pub use task::{Done, Task};
