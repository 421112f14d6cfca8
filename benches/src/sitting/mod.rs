//! All goals from one sitting: one table, with the floors of the same process beside each
//! figure.
//!
//! Everything that is compared takes its turn in each round, so that a machine that
//! becomes slower does not favour any of it; figures are medians over rounds.

mod rates;
mod single;
pub mod table;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::against::{self, Faster, Turns};
use crate::cases::Case;
use crate::gate::{folder, median};
use crate::peers::TraceEvent;
use table::Table;

/// How long a sitting is.
#[derive(Debug, Clone, Copy)]
pub struct SittingPlan {
    /// Rounds in turns.
    pub rounds: usize,
    /// Traces are so many times smaller than the goals have them: to try the program.
    pub divisor: u64,
}

/// Measures everything and prints it.
///
/// # Errors
/// When something cannot be measured.
pub fn run(plan: SittingPlan) -> io::Result<()> {
    let begin = Instant::now();
    let say = |what: &str| eprintln!("{:4} s  {what}", begin.elapsed().as_secs());
    let theirs = traceevent(plan, say)?;
    let mut table = Table::default();
    rates::raw(plan, &mut table, say)?;
    rates::ordered_and_fields(plan, theirs.first(), &mut table, say)?;
    rates::ndjson(plan, &mut table, say)?;
    against_rows(&theirs, &mut table);
    single::memory_and_starts(plan, &mut table, say)?;
    table.print(plan);
    say("done");
    Ok(())
}

/// The table against TraceEvent; the trace whose copies the real mix is comes first.
fn traceevent(plan: SittingPlan, say: impl Fn(&str)) -> io::Result<Vec<[Faster; 3]>> {
    let traceevent = match TraceEvent::find() {
        Ok(traceevent) => traceevent,
        Err(why) => {
            println!("NOT RUN: there is no TraceEvent to compare with: {why}\n");
            return Ok(Vec::new());
        }
    };
    say("against TraceEvent");
    let mut traces = against::all_large()?;
    traces.sort_by_key(|(name, _)| name != "net10-linux-x64/all.nettrace");
    let rows = against::compare(Turns { rounds: plan.rounds, passes: 12 }, &traceevent, &traces)?;
    for (_, file) in traces {
        std::fs::remove_file(file)?;
    }
    Ok(rows)
}

fn against_rows(theirs: &[[Faster; 3]], table: &mut Table) {
    let goals = [
        (
            "TraceEvent `timeraw`, 1 thread: least",
            "TraceEvent `timeraw`, 1 thread: median",
            [5.0, 8.0],
            "10",
        ),
        (
            "TraceEvent `timeraw`, 2 threads: least",
            "TraceEvent `timeraw`, 2 threads: median",
            [8.0, 12.0],
            "20",
        ),
        (
            "TraceEvent `timefields`, 1 thread: least",
            "TraceEvent `timefields`, 1 thread: median",
            [6.0, 10.0],
            "15",
        ),
    ];
    for (at, (least_name, median_name, [least_must, median_must], aim)) in
        goals.into_iter().enumerate()
    {
        if theirs.is_empty() {
            continue;
        }
        let (least, median) = against::least_and_median(theirs, at);
        table.add(least_name, "times faster").at_least(least_must, aim).ours(least);
        table.add(median_name, "times faster").at_least(median_must, aim).ours(median);
    }
}

/// A trace that is removed when it is no longer used.
#[derive(Debug)]
struct Trace(PathBuf);

impl Trace {
    fn of(case: Case, bytes: u64, plan: SittingPlan) -> io::Result<Trace> {
        Ok(Trace(case.file(&folder()?, bytes / plan.divisor)?))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // What is left behind costs room on a disk and nothing else.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A piece of work that gives the number of events it saw.
type Work<'w> = Box<dyn FnMut() -> io::Result<u64> + 'w>;

/// Nanoseconds an event of each piece of work, by rounds in turns; one more before them
/// warms up.
fn in_turns(rounds: usize, work: &mut [Work<'_>]) -> io::Result<Vec<Vec<f64>>> {
    let mut times = vec![Vec::new(); work.len()];
    for round in 0..=rounds {
        for (work, times) in work.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            let events = work()?;
            if round > 0 {
                times.push(begin.elapsed().as_secs_f64() * 1e9 / events.max(1) as f64);
            }
        }
    }
    Ok(times)
}

/// The median over rounds of how many times longer the one took than the other.
fn ratio(slow: &[f64], fast: &[f64]) -> f64 {
    median(slow.iter().zip(fast).map(|(slow, fast)| slow / fast).collect())
}
