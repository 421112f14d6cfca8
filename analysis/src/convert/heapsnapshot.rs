//! V8's heap snapshot: one JSON document.
//!
//! | | |
//! |---|---|
//! | opened by | Chrome and Edge DevTools (Memory), Visual Studio Code, memlab |
//! | nodes | node 0 is the synthetic root, and node 1 `(GC roots)`, with one synthetic node per kind of root below it; the objects follow, with their types as constructor names |
//! | edges | elements, in the order in which objects hold them, because no event names fields; static variables are properties of their kind's node, with their names |
//! | `self_size` | the object's own size in bytes |
//! | ids | odd, in the order of nodes |
//! | dump | the dump that [`ConvertOptions::dump`] chooses |

use super::encode::Json;
use super::heap_dump::of_heap_dump;
use super::{Convert, ConvertOptions, Output};
use crate::heap::{HeapDump, Root, RootKind};
use crate::numbering::Numbering;
use std::io::{self, Write};

/// Names of the fields of a node.
const NODE_FIELDS: &[&str] = &["type", "name", "id", "self_size", "edge_count", "detachedness"];
const NODE_TYPES: &[&str] = &[
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
    "symbol",
    "bigint",
    "object shape",
];
const EDGE_FIELDS: &[&str] = &["type", "name_or_index", "to_node"];
const EDGE_TYPES: &[&str] =
    &["context", "element", "property", "internal", "hidden", "shortcut", "weak"];

/// Indices of the node types in use in [`NODE_TYPES`].
const OBJECT: u64 = 3;
const SYNTHETIC: u64 = 9;
/// Indices of the edge types in use in [`EDGE_TYPES`].
const ELEMENT: u64 = 1;
const PROPERTY: u64 = 2;

pub(super) fn converter<'o>(
    out: Box<dyn Write + Send + 'o>,
    options: &ConvertOptions,
) -> Box<dyn Convert + 'o> {
    let out = Output::new(out, options.is_gzip);
    of_heap_dump(options, move |dump, _| {
        let mut out = Snapshot::new(&dump).write(out)?;
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    })
}

/// A heap dump that is prepared for writing.
struct Snapshot<'d> {
    dump: &'d HeapDump,
    /// Kinds of roots that occur, each with its roots: all static variables, or one root for each
    /// object that other roots hold.
    kinds: Vec<(RootKind, Vec<&'d Root>)>,
    strings: Numbering<&'d str>,
}

impl<'d> Snapshot<'d> {
    fn new(dump: &'d HeapDump) -> Snapshot<'d> {
        let of_kind = |kind: RootKind| {
            let mut roots: Vec<&Root> =
                dump.roots.iter().filter(|root| root.kind == kind).collect();
            roots.sort_by_key(|root| (root.object, dump.root_name(root)));
            roots.dedup_by_key(|root| (root.object, dump.root_name(root)));
            (kind, roots)
        };
        let kinds =
            RootKind::ALL.into_iter().map(of_kind).filter(|(_, roots)| !roots.is_empty()).collect();
        Snapshot { dump, kinds, strings: Numbering::default() }
    }

    /// Returns the number of an object's node.
    fn node(&self, object: u32) -> u64 {
        // The nodes of the root, of `(GC roots)` and of the kinds of roots come first.
        u64::from(object).saturating_add(2).saturating_add(self.kinds.len() as u64)
    }

    /// Returns the index of a node's first field in the list of all fields.
    fn place(node: u64) -> u64 {
        node.saturating_mul(NODE_FIELDS.len() as u64)
    }

    fn write<W: Write>(mut self, out: W) -> io::Result<W> {
        let dump = self.dump;
        let of_roots =
            self.kinds.iter().map(|(_, roots)| roots.len() as u64).fold(0, u64::saturating_add);
        let kinds = self.kinds.len() as u64;
        let edges = u64::from(dump.references()).saturating_add(of_roots).saturating_add(kinds);
        let mut json = Json::new(out);
        json.open('{')?.key("snapshot")?.open('{')?;
        meta(&mut json)?;
        json.key("node_count")?.number(self.node(dump.objects()))?;
        // One more edge leads from the root to `(GC roots)`.
        json.key("edge_count")?.number(edges.saturating_add(1))?;
        json.key("trace_function_count")?.number(0)?.close('}')?;
        json.key("nodes")?.open('[')?;
        self.nodes(&mut json)?;
        json.close(']')?.key("edges")?.open('[')?;
        self.edges(&mut json)?;
        json.close(']')?;
        for key in ["trace_function_infos", "trace_tree", "samples", "locations"] {
            json.key(key)?.open('[')?.close(']')?;
        }
        // Texts come last, because each node and edge may add one.
        json.key("strings")?.open('[')?;
        for text in self.strings.into_values() {
            json.text(text)?;
        }
        json.close(']')?.close('}')?;
        Ok(json.into_inner())
    }

    fn nodes<W: Write>(&mut self, json: &mut Json<W>) -> io::Result<()> {
        let dump = self.dump;
        let mut id = 1u64;
        let mut node = |json: &mut Json<W>, numbers: [u64; 4]| -> io::Result<()> {
            let [kind, name, bytes, edges] = numbers;
            for number in [kind, name, id, bytes, edges, 0] {
                json.number(number)?;
            }
            // V8 gives odd ids to objects of its own heap, and even ids to objects of the embedder.
            id = id.saturating_add(2);
            Ok(())
        };
        node(json, [SYNTHETIC, self.strings.number("").into(), 0, 1])?;
        node(
            json,
            [SYNTHETIC, self.strings.number("(GC roots)").into(), 0, self.kinds.len() as u64],
        )?;
        for (kind, roots) in &self.kinds {
            node(
                json,
                [SYNTHETIC, self.strings.number(name(*kind)).into(), 0, roots.len() as u64],
            )?;
        }
        let types: Vec<u64> =
            dump.types().iter().map(|row| self.strings.number(&row.name).into()).collect();
        for object in 0..dump.objects() {
            let name = types.get(dump.type_of(object) as usize).copied().unwrap_or(0);
            let edges = dump.references_of(object).len() as u64;
            node(json, [OBJECT, name, dump.bytes_of(object), edges])?;
        }
        Ok(())
    }

    fn edges<W: Write>(&mut self, json: &mut Json<W>) -> io::Result<()> {
        let dump = self.dump;
        let edge = |json: &mut Json<W>, kind: u64, name: u64, node: u64| -> io::Result<()> {
            json.number(kind)?.number(name)?.number(Snapshot::place(node))?;
            Ok(())
        };
        // An edge does not name its first node. Each node has the next `edge_count` edges, so edges
        // come in the order of the nodes.
        edge(json, ELEMENT, 0, 1)?;
        for (at, node) in (0u64..).zip(2u64..).take(self.kinds.len()) {
            edge(json, ELEMENT, at, node)?;
        }
        for (_, roots) in &self.kinds {
            for (at, root) in (0u64..).zip(roots) {
                let node = self.node(root.object);
                match dump.root_name(root) {
                    Some(name) => edge(json, PROPERTY, self.strings.number(name).into(), node)?,
                    None => edge(json, ELEMENT, at, node)?,
                }
            }
        }
        for object in 0..dump.objects() {
            for (at, target) in (0u64..).zip(dump.references_of(object)) {
                edge(json, ELEMENT, at, self.node(*target))?;
            }
        }
        Ok(())
    }
}

/// Returns the name that DevTools uses for a group of roots.
fn name(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Static => "(Static variables)",
        RootKind::ThreadStatic => "(Thread static variables)",
        RootKind::Stack => "(Local variables)",
        RootKind::FinalizerQueue => "(Finalizer queue)",
        RootKind::PinnedHandle => "(Pinned handles)",
        RootKind::StrongHandle => "(Strong handles)",
        RootKind::SizedHandle => "(Sized handles)",
        RootKind::DependentHandle => "(Dependent handles)",
        RootKind::Com => "(COM callers)",
        RootKind::OlderGeneration => "(Older generations)",
        RootKind::Other => "(Other roots)",
    }
}

fn meta<W: Write>(json: &mut Json<W>) -> io::Result<()> {
    fn texts<W: Write>(json: &mut Json<W>, texts: &[&str]) -> io::Result<()> {
        json.open('[')?;
        for text in texts {
            json.text(text)?;
        }
        json.close(']')?;
        Ok(())
    }
    json.key("meta")?.open('{')?;
    json.key("node_fields")?;
    texts(json, NODE_FIELDS)?;
    json.key("node_types")?.open('[')?;
    texts(json, NODE_TYPES)?;
    for kind in ["string", "number", "number", "number", "number"] {
        json.text(kind)?;
    }
    json.close(']')?.key("edge_fields")?;
    texts(json, EDGE_FIELDS)?;
    json.key("edge_types")?.open('[')?;
    texts(json, EDGE_TYPES)?;
    json.text("string_or_number")?.text("node")?.close(']')?;
    json.key("trace_function_info_fields")?;
    texts(json, &["function_id", "name", "script_name", "script_id", "line", "column"])?;
    json.key("trace_node_fields")?;
    texts(json, &["id", "function_info_index", "count", "size", "children"])?;
    json.key("sample_fields")?;
    texts(json, &["timestamp_us", "last_assigned_id"])?;
    json.key("location_fields")?;
    texts(json, &["object_index", "script_id", "line", "column"])?;
    json.close('}')?;
    Ok(())
}
