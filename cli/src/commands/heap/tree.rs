//! `nettrace heap tree`: shows the dominator tree, by type.

use super::trace::HeapTrace;
use crate::args::HeapTreeArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::table::{Table, left, right};
use crate::units;
use nettrace_analysis::heap::{HeapTreeKind, HeapTreeNode, Retained};
use serde::Serialize;
use std::io::{self, Write};

/// Document of `--json`.
#[derive(Serialize)]
struct TreeReport {
    schema: u32,
    dump: usize,
    tree: HeapTreeNode,
}

pub(super) fn run(args: &HeapTreeArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let trace = HeapTrace::read(&args.file, &args.dump, context)?;
    let Some(dump) = trace.dump_for(args.form) else { return trace.conclude(context) };
    let min = if args.folded { 0.0 } else { args.min };
    let tree = HeapTreeNode::from_dump(dump, &Retained::from_dump(dump), min);
    context.progress.end();
    if args.folded {
        folded(&tree, context)?;
    } else if args.form.json {
        let report = TreeReport { schema: 1, dump: dump.index, tree };
        context.write_report(&report, trace.ended())?;
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
            let word = if node.kind == HeapTreeKind::Static { "static " } else { "" };
            table.add_row([
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

/// Writes a line for each node of the tree: the names from the root to the node, separated by `;`,
/// and the bytes that the node retains without its children.
fn folded(tree: &HeapTreeNode, context: &mut Context<'_>) -> io::Result<()> {
    let mut open = vec![(tree, String::new())];
    while let Some((node, above)) = open.pop() {
        let word = if node.kind == HeapTreeKind::Static { "static " } else { "" };
        // Semicolons separate names in this format.
        let name = printable(&node.name).replace(';', ":");
        let way = if above.is_empty() {
            format!("{word}{name}")
        } else {
            format!("{above};{word}{name}")
        };
        let below =
            node.children.iter().fold(0u64, |sum, child| sum.saturating_add(child.retained_bytes));
        let own = node.retained_bytes.saturating_sub(below);
        if own > 0 {
            writeln!(context.out.buffer(), "{way} {own}")?;
        }
        open.extend(node.children.iter().rev().map(|child| (child, way.clone())));
        context.out.hand_on()?;
    }
    Ok(())
}
