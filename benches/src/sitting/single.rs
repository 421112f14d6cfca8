//! Memory of long passes, and how soon reading begins.

use std::io;
use std::path::Path;
use std::time::Instant;

use nettrace_parser::Reader;

use super::table::Table;
use super::{SittingPlan, Trace, in_turns};
use crate::cases::Case;
use crate::gate::child::Child;
use crate::gate::{MIB, extent, median};
use crate::pass::{self, Input, Mode};

/// Openings of which the median counts.
const OPENINGS: usize = 51;

pub(super) fn memory_and_starts(
    plan: SittingPlan,
    table: &mut Table,
    say: impl Fn(&str),
) -> io::Result<()> {
    say("memory of 1 GB, first event, index");
    let trace = Trace::of(Case::Net10, 1_000_000_000, plan)?;
    let file = trace.path();
    let (largest_block, largest_region) = extent(file)?;
    let child = |mode: Mode, input| Child::plain(file, mode.name(), input);
    let read = child(Mode::Raw, Input::Read)?;
    let limit = 8.0 + 2.0 * largest_block as f64 / MIB;
    table
        .add("peak memory, read, net10-all", "MiB")
        .at_most(limit, "4")
        .ours(read.peak as f64 / MIB);
    let mapped = child(Mode::Raw, Input::Mapped)?;
    table
        .add("peak memory, mapped, net10-all", "MiB")
        .at_most(24.0, "12")
        .ours(mapped.peak as f64 / MIB);
    let anonymous = mapped.anonymous as f64 / MIB;
    table.add("anonymous memory, mapped, net10-all", "MiB").at_most(4.0, "1").ours(anonymous);
    let ordered = child(Mode::Ordered, Input::Read)?;
    let limit = (16.0 + 80.0 * largest_region as f64 / MIB).min(256.0);
    table
        .add("peak memory, ordered, net10-all", "MiB")
        .at_most(limit, "")
        .ours(ordered.peak as f64 / MIB);
    let first = median((0..OPENINGS).map(|_| first_event(file)).collect::<io::Result<Vec<f64>>>()?);
    table.add("first event after open", "ms").at_most(1.0, "0.2").ours(first);
    let mut blocks = 0;
    let index = || {
        blocks = pass::file(file, Mode::Index, Input::Mapped, 1)?.checksum.events;
        Ok(1)
    };
    let times = in_turns(plan.rounds, &mut [Box::new(index)])?;
    let index = times.first().map_or(f64::NAN, |times| median(times.clone()) / 1e6);
    table
        .add(&format!("index of {} bytes", file.metadata()?.len()), "ms")
        .at_most(30.0, "10")
        .ours(index);
    Ok(())
}

/// Milliseconds.
fn first_event(file: &Path) -> io::Result<f64> {
    let begin = Instant::now();
    let mut reader = Reader::new(pass::mapped(file)?);
    let is_there = reader.next_event().map_err(io::Error::other)?.is_some();
    let milliseconds = begin.elapsed().as_secs_f64() * 1e3;
    if is_there { Ok(milliseconds) } else { Err(io::Error::other("a trace without events")) }
}
