//! `nettrace heap objects`: shows the largest objects.

use super::trace::{HeapTrace, types_like};
use crate::args::{HeapObjectsArgs, ObjectSort};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::table::{left, left_out, list, right};
use crate::units;
use nettrace_analysis::heap::{HeapDump, HeapGeneration, HeapNode, Retained};
use serde::Serialize;
use std::cmp::Reverse;
use std::io;

/// Document of `--json`.
#[derive(Serialize)]
struct ObjectsReport {
    schema: u32,
    dump: usize,
    /// Number of objects that match.
    count: usize,
    /// Largest objects that match, largest first.
    objects: Vec<ObjectRow>,
}

#[derive(Serialize)]
struct ObjectRow {
    address: String,
    type_name: String,
    module: String,
    generation: HeapGeneration,
    bytes: u64,
    retained_bytes: u64,
}

pub(super) fn run(args: &HeapObjectsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = HeapTrace::read(&args.file, &args.dump, context)?;
    let Some(dump) = trace.dump_for(args.form) else { return trace.conclude(context) };
    let retained = Retained::from_dump(dump);
    let report = report(args, dump, &retained);
    context.progress.end();
    if args.form.json {
        context.write_report(&report, trace.ended())?;
    } else {
        text(args, &report, context)?;
    }
    trace.conclude(context)
}

fn report(args: &HeapObjectsArgs, dump: &HeapDump, retained: &Retained) -> ObjectsReport {
    let is_wanted = types_like(dump, args.type_name.as_ref());
    let mut objects: Vec<u32> = (0..dump.objects()).filter(|object| is_wanted(*object)).collect();
    let count = objects.len();
    let kept = |object: &u32| retained.bytes(HeapNode::Object(*object));
    let key = |object: &u32| match args.sort {
        ObjectSort::Bytes => Reverse((dump.bytes_of(*object), kept(object))),
        ObjectSort::Retained => Reverse((kept(object), dump.bytes_of(*object))),
    };
    let key = |object: &u32| (key(object), *object);
    if args.number < objects.len() {
        objects.select_nth_unstable_by_key(args.number, key);
        objects.truncate(args.number);
    }
    objects.sort_unstable_by_key(key);
    let row = |object: &u32| ObjectRow {
        address: format!("{:#x}", dump.address(*object)),
        type_name: dump.type_name(*object).to_owned(),
        module: dump
            .types()
            .get(dump.type_of(*object) as usize)
            .map_or_else(String::new, |row| row.module.to_string()),
        generation: dump.generation(*object),
        bytes: dump.bytes_of(*object),
        retained_bytes: kept(object),
    };
    ObjectsReport { schema: 1, dump: dump.index, count, objects: objects.iter().map(row).collect() }
}

fn text(
    args: &HeapObjectsArgs,
    report: &ObjectsReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    if report.objects.is_empty() {
        let text =
            "no object passes the filters; nettrace heap lists the types, whose case matters";
        context.messages.note(text);
        return Ok(());
    }
    list(context, &report.objects, usize::MAX).columns([
        right("ADDRESS", 16, 0).fill(&|row| row.address.as_str().into()),
        right("BYTES", 10, 0).fill(&|row| units::bytes(row.bytes).into()),
        right("RETAINED", 10, 0).fill(&|row| units::bytes(row.retained_bytes).into()),
        left("GENERATION", 10, 1).fill(&|row| row.generation.to_string().into()),
        left("TYPE", 4, 0).fill(&|row| row.type_name.as_str().into()),
    ])?;
    left_out(context, report.count, args.number)
}
