//! `nettrace heap diff`: shows what grew between two dumps.

use super::overview::{first_sentences, module};
use super::trace::HeapTrace;
use crate::args::{DumpArgs, HeapDiffArgs, HeapSort};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::table::{left, list, right};
use crate::units;
use nettrace_analysis::heap::{HeapDiff, HeapDump, HeapReport, HeapTypeChange, Retained};
use nettrace_analysis::report::OutcomeReport;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Write};

pub(super) fn run(args: &HeapDiffArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let dump = DumpArgs { dump: None, modules: args.modules.clone(), read: args.read };
    let is_same = args.old == args.new;
    let old = HeapTrace::read_quietly(&args.old, &dump, context)?;
    let new =
        if is_same { None } else { Some(HeapTrace::read_quietly(&args.new, &dump, context)?) };
    let (old_dump, new_dump) = match &new {
        Some(new) => (old.dump(), new.dump()),
        None => (old.dump(), old.last()),
    };
    let (Some(old_dump), Some(new_dump)) = (old_dump, new_dump) else {
        if is_same && old_dump.is_some() {
            let there = match old.dumps.len() {
                1 => "it has one heap dump",
                _ => "it has no later heap dump of the same kind",
            };
            let message = format!("{there}; give another trace, or FILE#N");
            return Err(Failure::input(old.file, message));
        }
        // `conclude` reports which trace has no dump.
        let exit = old.conclude(context)?;
        return Ok(match &new {
            Some(new) => worse(exit, new.conclude(context)?),
            None => exit,
        });
    };
    let report = |dump: &HeapDump| HeapReport::new(&[], dump, &Retained::from_dump(dump));
    let mut diff = HeapDiff::new(&report(old_dump), &report(new_dump));
    if let Some(wanted) = &args.type_name {
        diff.types.retain(|row| wanted.is_match(&row.name));
    }
    match args.sort {
        HeapSort::Bytes => {}
        HeapSort::Count => diff.types.sort_by_key(|row| Reverse(row.count_growth)),
        HeapSort::Retained => diff.types.sort_by_key(|row| Reverse(row.retained_bytes_growth)),
    }
    context.progress.end();
    if args.form.json {
        let of = |trace: &HeapTrace| trace.ended().outcome();
        let outcomes = Outcomes { old: of(&old), new: of(new.as_ref().unwrap_or(&old)) };
        context.write_json(&HeapDiffDocument { diff: &diff, outcomes })?;
    } else {
        text(args, &diff, context)?;
    }
    let exit = old.conclude(context)?;
    Ok(match &new {
        Some(new) => worse(exit, new.conclude(context)?),
        None => exit,
    })
}

/// Document of `--json`: the differences, and how reading each trace ended.
#[derive(Serialize)]
struct HeapDiffDocument<'d> {
    #[serde(flatten)]
    diff: &'d HeapDiff,
    outcomes: Outcomes,
}

#[derive(Serialize)]
struct Outcomes {
    old: OutcomeReport,
    new: OutcomeReport,
}

fn worse(one: Exit, other: Exit) -> Exit {
    if matches!(one, Exit::Fine) { other } else { one }
}

fn text(args: &HeapDiffArgs, diff: &HeapDiff, context: &mut Context<'_>) -> io::Result<()> {
    first_sentences(diff.sentences().into_iter(), context)?;
    let strong = context.style.strong();
    let line = format!(
        "{} → {}, {} → {}",
        units::count(diff.old.objects),
        units::counted(diff.new.objects, "object"),
        units::bytes(diff.old.bytes),
        units::bytes(diff.new.bytes),
    );
    writeln!(context.out.buffer(), "{}", strong.over(line))?;
    let of = |change| diff.types.iter().filter(|row| row.change == change).count() as u64;
    writeln!(
        context.out.buffer(),
        "{} new, {} gone, {} unchanged\n",
        units::counted(of(HeapTypeChange::New), "type"),
        units::count(of(HeapTypeChange::Gone)),
        units::count(diff.unchanged_types),
    )?;
    list(context, &diff.types, args.number).columns([
        right("BYTES", 11, 0).fill(&|row| signed(row.bytes_growth, units::bytes).into()),
        right("COUNT", 10, 0).fill(&|row| signed(row.count_growth, units::count).into()),
        right("RETAINED", 11, 1)
            .fill(&|row| signed(row.retained_bytes_growth, units::bytes).into()),
        right("NOW", 10, 3).fill(&|row| units::bytes(row.bytes).into()),
        left("", 4, 2).fill(&|row| match row.change {
            HeapTypeChange::New => "new".into(),
            HeapTypeChange::Gone => "gone".into(),
            _ => "".into(),
        }),
        left("MODULE", 6, 4).fill(&|row| module(&row.module).into()),
        left("TYPE", 4, 0).fill(&|row| (&*row.name).into()),
    ])
}

/// Returns a number with its sign: `+1.5 KiB`, `-3`.
fn signed(number: i64, shown: fn(u64) -> String) -> String {
    let sign = match number {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", shown(number.unsigned_abs()))
}
