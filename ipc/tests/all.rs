//! Tests of the whole crate in one program, because each program takes seconds to build and to
//! link. A file of `tests` that is not named here is a program of its own, with a row in
//! `Cargo.toml`: it counts what its process holds, or needs real runtimes.
#![allow(clippy::restriction, clippy::pedantic)]

mod discovery;
mod fake_runtime;
mod layers;
mod ports;
mod threads;
mod transcripts;

use nettrace_ipc::Deadlines;
use std::time::Duration;

/// Maximum time of any wait. It is long, because other programs may keep the machine busy.
const MAX_WAIT: Duration = Duration::from_secs(60);

fn patient() -> Deadlines {
    Deadlines::default()
        .connect(MAX_WAIT)
        .reply(MAX_WAIT)
        .start(MAX_WAIT)
        .stop(MAX_WAIT)
        .drain(MAX_WAIT)
}
