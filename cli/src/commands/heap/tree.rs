//! `nettrace heap tree`: the dominator tree, by type.

use super::super::{Context, write_report};
use super::trace::HeapTrace;
use crate::args::HeapTreeArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::table::{Table, left, right};
use crate::units;
use nettrace_analysis::heap::{HeapTreeNode, Retained};
use serde::Serialize;

/// `--json`, whole.
#[derive(Serialize)]
struct Report {
    schema: u32,
    dump: usize,
    tree: HeapTreeNode,
}

pub(super) fn run(args: &HeapTreeArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = HeapTrace::read(&args.file, &args.dump, context)?;
    let Some(dump) = trace.dump() else { return trace.conclude(context) };
    let tree = HeapTreeNode::of(dump, &Retained::of(dump), args.min);
    context.progress.end();
    if args.json {
        let report = Report { schema: 1, dump: dump.index(), tree };
        write_report(context, &report, trace.ended())?;
    } else {
        let mut table = Table::new([
            right("%", 6, 0),
            right("RETAINED", 10, 0),
            right("OWN BYTES", 10, 1),
            right("COUNT", 9, 2),
            left("KEEPS ALIVE", 4, 0),
        ]);
        let mut open = vec![(&tree, 0)];
        while let Some((node, depth)) = open.pop() {
            let word = if node.kind == "static" { "static " } else { "" };
            table.row([
                format!("{:.2}", node.percent).into(),
                units::bytes(node.retained_bytes).into(),
                units::bytes(node.bytes).into(),
                units::count(node.count).into(),
                format!("{}{word}{}", "  ".repeat(depth), printable(&node.name)).into(),
            ]);
            open.extend(node.children.iter().rev().map(|child| (child, depth + 1)));
        }
        table.write(context)?;
    }
    trace.conclude(context)
}
