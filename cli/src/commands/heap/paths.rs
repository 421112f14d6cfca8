//! `nettrace heap paths`: shows what keeps objects alive.

use super::trace::{HeapTrace, types_like};
use crate::args::HeapPathsArgs;
use crate::context::Context;
use crate::cut::{self, Text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::table::{left, list, right};
use crate::units;
use nettrace_analysis::heap::{
    HeapDump, HeapNode, HeapPathGroup, HeapPathGroups, HeapPaths, HeapStep, Retained, RootKind,
};
use serde::Serialize;
use std::io::{self, Write};

/// Maximum number of steps of a path that a row shows.
const MAX_SHOWN_STEPS: usize = 12;

/// Document of `--type TYPE --json`.
#[derive(Serialize)]
struct PathsReport {
    schema: u32,
    dump: usize,
    objects: u64,
    bytes: u64,
    unreachable_objects: u64,
    unreachable_bytes: u64,
    paths: Vec<HeapPathGroup>,
    /// Number of paths that are not listed, because they hold fewer bytes.
    #[serde(skip_serializing_if = "is_zero")]
    paths_left_out: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Document of `--object ADDRESS --json`.
#[derive(Serialize)]
struct ObjectReport {
    schema: u32,
    dump: usize,
    root: Option<Root>,
    /// Path from the root to the object, which is its last step.
    path: Vec<PathStep>,
}

#[derive(Serialize)]
struct Root {
    kind: RootKind,
    name: Option<String>,
}

#[derive(Serialize)]
struct PathStep {
    address: String,
    type_name: String,
    bytes: u64,
    retained_bytes: u64,
}

pub(super) fn run(args: &HeapPathsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = HeapTrace::read(&args.file, &args.dump, context)?;
    let Some(dump) = trace.dump_for(args.form) else { return trace.conclude(context) };
    match (args.object, &args.type_name) {
        (Some(address), _) => {
            let Some(object) = dump.find(address) else {
                let message = format!("dump {} has no object at {address:#x}", dump.index);
                return Err(Failure::input(trace.file, message));
            };
            one(args, &trace, dump, object, context)?;
        }
        (None, wanted) => {
            let is_wanted = types_like(dump, wanted.as_ref());
            let retained = Retained::from_dump(dump);
            let paths = HeapPaths::from_dump(dump);
            let HeapPathGroups { groups, left_out, .. } = paths.groups(dump, &retained, &is_wanted);
            let mut report = PathsReport {
                schema: 1,
                dump: dump.index,
                objects: 0,
                bytes: 0,
                unreachable_objects: 0,
                unreachable_bytes: 0,
                paths: groups,
                paths_left_out: left_out,
            };
            for object in (0..dump.objects()).filter(|object| is_wanted(*object)) {
                let bytes = dump.bytes_of(object);
                report.objects += 1;
                report.bytes = report.bytes.saturating_add(bytes);
                if retained.dominator(HeapNode::Object(object)).is_none() {
                    report.unreachable_objects += 1;
                    report.unreachable_bytes = report.unreachable_bytes.saturating_add(bytes);
                }
            }
            context.progress.end();
            if args.form.json {
                context.write_report(&report, trace.ended())?;
            } else {
                text(args, &report, context)?;
            }
        }
    }
    trace.conclude(context)
}

fn one(
    args: &HeapPathsArgs,
    trace: &HeapTrace,
    dump: &HeapDump,
    object: u32,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let retained = Retained::from_dump(dump);
    let path = HeapPaths::from_dump(dump).path(object);
    let root = path.as_ref().and_then(|path| dump.roots.get(path.root as usize));
    let objects = path.as_ref().map_or(vec![object], |path| path.objects.clone());
    let step = |object: &u32| PathStep {
        address: format!("{:#x}", dump.address(*object)),
        type_name: dump.type_name(*object).to_owned(),
        bytes: dump.bytes_of(*object),
        retained_bytes: retained.bytes(HeapNode::Object(*object)),
    };
    let report = ObjectReport {
        schema: 1,
        dump: dump.index,
        root: root
            .map(|root| Root { kind: root.kind, name: dump.root_name(root).map(str::to_owned) }),
        path: objects.iter().map(step).collect(),
    };
    context.progress.end();
    if args.form.json {
        return context.write_report(&report, trace.ended());
    }
    let strong = context.style.strong();
    let from = report.root.as_ref().map_or_else(
        || "no root reaches it".to_owned(),
        |root| root_text(root.kind, root.name.as_deref()),
    );
    writeln!(context.out.buffer(), "{}", strong.over(printable(&from)))?;
    Ok(list(context, &report.path, usize::MAX).columns([
        right("ADDRESS", 16, 0).fill(&|step| step.address.as_str().into()),
        right("BYTES", 10, 1).fill(&|step| units::bytes(step.bytes).into()),
        right("RETAINED", 10, 0).fill(&|step| units::bytes(step.retained_bytes).into()),
        left("TYPE", 4, 0).fill(&|step| step.type_name.as_str().into()),
    ])?)
}

fn text(args: &HeapPathsArgs, report: &PathsReport, context: &mut Context<'_>) -> io::Result<()> {
    if report.objects == 0 {
        let text = "no object is of such a type; nettrace heap lists the types, whose case matters";
        context.messages.note(text);
        return Ok(());
    }
    let strong = context.style.strong();
    let reachable = report.objects - report.unreachable_objects;
    if reachable > 0 {
        let line = format!(
            "{}, {}, kept alive in {}",
            units::counted(reachable, "object"),
            units::bytes(report.bytes.saturating_sub(report.unreachable_bytes)),
            units::counted(report.paths.len() as u64 + report.paths_left_out, "way"),
        );
        writeln!(context.out.buffer(), "{}", strong.over(line))?;
    }
    if report.unreachable_objects > 0 {
        let (objects, bytes) = (report.unreachable_objects, report.unreachable_bytes);
        let line = format!(
            "not reachable from a root: {}, {}",
            units::counted(objects, "object"),
            units::bytes(bytes)
        );
        writeln!(context.out.buffer(), "{line}")?;
    }
    if report.paths.is_empty() {
        return Ok(());
    }
    writeln!(context.out.buffer())?;
    list(context, &report.paths, args.number).and_further(report.paths_left_out).columns([
        right("COUNT", 8, 0).fill(&|group| units::count(group.count).into()),
        right("BYTES", 10, 0).fill(&|group| units::bytes(group.bytes).into()),
        right("RETAINED", 10, 1).fill(&|group| units::bytes(group.retained_bytes).into()),
        left("HELD BY", 4, 0).fill(&|group| way(group).into()),
    ])
}

/// Returns the text for a root: `static s_items`, `pinned handle`.
fn root_text(kind: RootKind, name: Option<&str>) -> String {
    match (name, kind) {
        (Some(name), RootKind::ThreadStatic) => format!("thread static {name}"),
        (Some(name), _) => format!("static {name}"),
        (None, kind) => kind.to_string(),
    }
}

/// Returns the path of a group: `static s_items → System.Object[] → Session`.
fn way(group: &HeapPathGroup) -> Text {
    let root = root_text(group.root_kind, group.root_name.as_deref());
    let step =
        |step: &HeapStep| format!("{}{}", step.type_name, if step.is_repeated { " …" } else { "" });
    let steps: Vec<String> = group.steps.iter().map(step).collect();
    let left_out = steps.len().saturating_sub(MAX_SHOWN_STEPS);
    let parts = match left_out {
        0 => steps,
        _ => {
            let (front, back) = (MAX_SHOWN_STEPS / 2, steps.len() - MAX_SHOWN_STEPS / 2);
            let more = format!("({} more)", units::count(left_out as u64 + group.steps_left_out));
            [&steps[..front], &[more], &steps[back..]].concat()
        }
    };
    cut::way(&root, &parts)
}
