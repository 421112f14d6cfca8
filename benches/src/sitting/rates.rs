//! Events a second.

use std::io;

use super::table::{Table, number};
use super::{SittingPlan, Trace, Work, in_turns, ratio};
use crate::against::Faster;
use crate::cases::Case;
use crate::floor::{Rows, idiom, touch, window};
use crate::gate::median;
use crate::pass::{self, Input, Mode};

const GB: u64 = 1_000_000_000;

/// About ten million events, or a gigabyte.
fn size(case: Case) -> u64 {
    match case {
        Case::Uniform | Case::Mixed => 200_000_000,
        Case::V6 => 640_000_000,
        Case::V6Compressed => 240_000_000,
        Case::Net10 | Case::Net31 | Case::Fat | Case::Metrics | Case::Samples | Case::Clr => GB,
    }
}

fn millions(nanoseconds: f64) -> f64 {
    1e3 / nanoseconds
}

/// Raw iteration, the floors, nom's idiom, and two threads.
pub(super) fn raw(plan: SittingPlan, table: &mut Table, say: impl Fn(&str)) -> io::Result<()> {
    for case in Case::ALL {
        say(&format!("raw, {}", case.name()));
        let trace = Trace::of(case, size(case), plan)?;
        let stream = std::fs::read(trace.path())?;
        let rows = Rows::of(&stream);
        let events = pass::file(trace.path(), Mode::Raw, Input::Mapped, 1)?.checksum.events;
        let of_file = |threads| {
            move |path: &std::path::Path| {
                pass::file(path, Mode::Raw, Input::Mapped, threads).map(|seen| seen.checksum.events)
            }
        };
        let (one, two, path) = (of_file(1), of_file(2), trace.path());
        let mut work: [Work<'_>; 6] = [
            Box::new(|| one(path)),
            Box::new(|| two(path)),
            Box::new(|| pass::memory(&stream, Mode::Raw).map(|seen| seen.checksum.events)),
            Box::new(|| Ok(window::decode(&stream, &rows).events)),
            Box::new(|| Ok(idiom::decode(&stream, &rows).events)),
            Box::new(|| {
                std::hint::black_box(touch::sum(&stream));
                Ok(events)
            }),
        ];
        let times = in_turns(plan.rounds, &mut work)?;
        drop(work);
        let [file, threads, ours, window, idiom, touch] = times.as_slice() else { continue };
        let (bytes, name) = (stream.len() as f64 / events as f64, case.name());
        let gigabytes = |times: &[f64]| bytes / median(times.to_vec());
        if matches!(case, Case::Fat | Case::Metrics) {
            table
                .add(&format!("raw, {name}, {bytes:.0} bytes an event"), "GB/s")
                .at_least(5.0, "8")
                .floor(format!(
                    "{} touch, {} window",
                    number(gigabytes(touch)),
                    number(gigabytes(window))
                ))
                .ours(gigabytes(file));
            continue;
        }
        let rate = |times: &[f64]| millions(median(times.to_vec()));
        let floor = format!(
            "{} window, {} nom's idiom, {} touch",
            number(rate(window)),
            number(rate(idiom)),
            number(rate(touch))
        );
        let row = table.add(&format!("raw, {name}"), "M events/s").floor(floor).ours(rate(file));
        match case {
            Case::Uniform => row.at_least(160.0, "200"),
            Case::Mixed => row.at_least(48.0, "56"),
            Case::V6 => row.at_least(60.0, "85"),
            Case::V6Compressed => row,
            _ => row.at_least(55.0, "66"),
        };
        let over_idiom = match case {
            Case::Mixed => Some((2.5, "3.3")),
            Case::Net10 | Case::Net31 => Some((3.0, "4.4")),
            _ => None,
        };
        if let Some((must, aim)) = over_idiom {
            let work = format!("raw over nom's idiom, both in memory, {name}");
            table.add(&work, "times faster").at_least(must, aim).ours(ratio(idiom, ours));
        }
        if matches!(case, Case::Mixed | Case::Net10 | Case::Net31) {
            let work = format!("two threads, raw, {name}");
            table.add(&work, "times faster").at_least(1.65, "1.9").ours(ratio(file, threads));
        }
    }
    Ok(())
}

/// Ordered with schema and stack; fields. `theirs` is TraceEvent on the trace that the
/// real mix repeats.
pub(super) fn ordered_and_fields(
    plan: SittingPlan,
    theirs: Option<&[Faster; 3]>,
    table: &mut Table,
    say: impl Fn(&str),
) -> io::Result<()> {
    let work = [
        (Case::Net10, Mode::Ordered, "ordered, schema, stack, net10-all", Some((28.0, "33"))),
        (Case::Net31, Mode::Ordered, "ordered, schema, stack, net3.1-all", Some((28.0, "33"))),
        (Case::Mixed, Mode::Ordered, "ordered, schema, stack, mixed", Some((20.0, "25"))),
        (Case::Mixed, Mode::Fields, "fields, mixed: 2 an event", Some((24.0, "28"))),
        (Case::Fat, Mode::Fields, "fields, fat: 9 an event, 3 texts", Some((11.0, "13"))),
        (Case::Net10, Mode::Fields, "fields, net10-all", None),
        (Case::Net10, Mode::OrderedFields, "ordered, fields, net10-all", None),
    ];
    for (case, mode, name, goal) in work {
        say(name);
        let trace = Trace::of(case, size(case), plan)?;
        let pass = |mode| {
            let path = trace.path();
            move || pass::file(path, mode, Input::Mapped, 1).map(|seen| seen.checksum.events)
        };
        let times = in_turns(plan.rounds, &mut [Box::new(pass(mode)), Box::new(pass(Mode::Raw))])?;
        let [ours, raw] = times.as_slice() else { continue };
        let rate = |times: &[f64]| millions(median(times.to_vec()));
        let row = table.add(name, "M events/s");
        row.floor(format!("{} our raw", number(rate(raw)))).ours(rate(ours));
        if let Some((must, aim)) = goal {
            row.at_least(must, aim);
        }
        let column = match (case, mode) {
            (Case::Net10, Mode::Ordered) => 0,
            (Case::Net10, Mode::OrderedFields) => 2,
            _ => continue,
        };
        if let Some(theirs) = theirs.and_then(|theirs| theirs.get(column)) {
            row.theirs(number(millions(theirs.theirs)));
        }
    }
    Ok(())
}

/// NDJSON in file order, thrown away.
pub(super) fn ndjson(plan: SittingPlan, table: &mut Table, say: impl Fn(&str)) -> io::Result<()> {
    let work = [
        (Case::Mixed, 100_000_000, Some((10.0, "14"))),
        (Case::Net10, 200_000_000, None),
        (Case::Net31, 200_000_000, None),
        (Case::Fat, 400_000_000, Some((3.5, "6"))),
    ];
    for (case, bytes, goal) in work {
        let name = format!("NDJSON, {}", case.name());
        say(&name);
        let trace = Trace::of(case, bytes, plan)?;
        let pass = |mode, threads| {
            let path = trace.path();
            move || pass::file(path, mode, Input::Mapped, threads).map(|seen| seen.checksum.events)
        };
        let times = in_turns(
            plan.rounds,
            &mut [
                Box::new(pass(Mode::Ndjson, 1)),
                Box::new(pass(Mode::Ndjson, 2)),
                Box::new(pass(Mode::Raw, 1)),
            ],
        )?;
        let [one, two, raw] = times.as_slice() else { continue };
        let rate = |times: &[f64]| millions(median(times.to_vec()));
        let row = table.add(&name, "M events/s");
        row.floor(format!("{} our raw", number(rate(raw)))).ours(rate(one));
        if let Some((must, aim)) = goal {
            row.at_least(must, aim);
        }
        let work = format!("two threads, {name}");
        table.add(&work, "times faster").at_least(1.65, "1.9").ours(ratio(one, two));
    }
    Ok(())
}
