//! V8's sampling heap profile: one JSON document.
//!
//! | | |
//! |---|---|
//! | opened by | Chrome and Edge DevTools (Memory), Visual Studio Code |
//! | tree | below `head`, which is `(root)`, the merged calls of all threads, and the types of objects as if they had been called, because the format has no other place for them |
//! | `selfSize` | bytes that the node's call allocated according to the samples; it is not known which were freed |
//! | `samples` | one per stack and type: its size in bytes, its node, its rank in the order of first use |
//! | `url` | the module; line and column are unknown (-1) |
//! | kinds | .NET 10's random allocation samples, scaled up to all allocations; if there are none, the runtime's allocation ticks |

use super::cpuprofile::call_frame;
use super::encode::Json;
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{CallNodes, Kind, Profile, Resolved};
use std::io::{self, Write};

/// Kinds of samples that the format can show. It shows the first one that the trace has.
pub(super) const KINDS: &[Kind] = &[Kind::AllocationSamples, Kind::AllocationTicks];

#[derive(Debug)]
pub(crate) struct HeapProfile<'o> {
    out: Output<'o>,
}

impl<'o> HeapProfile<'o> {
    pub(crate) fn new(
        out: Box<dyn Write + Send + 'o>,
        options: &ConvertOptions,
    ) -> HeapProfile<'o> {
        HeapProfile { out: Output::new(out, options.is_gzip) }
    }
}

impl Convert for HeapProfile<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let HeapProfile { out } = *self;
        let kind = super::first_kind(KINDS, profile)?;
        let rows = profile.rows();
        let mut calls = CallNodes::for_paths(|| {
            let of_kind = rows.iter().filter(|(key, _)| key.kind == kind);
            of_kind.filter_map(|(key, _)| {
                Some(super::labelled(key, resolved.selected(key.stack, key.mode)?))
            })
        });
        let mut samples = Vec::new();
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == kind) {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            let node = calls.add(super::labelled(key, frames), totals);
            samples.push((node, totals.weight));
        }
        let mut json = Json::new(out);
        json.open('{')?.key("head")?;
        tree(&mut json, &calls, resolved)?;
        json.key("samples")?.open('[')?;
        for (ordinal, (node, bytes)) in (1u64..).zip(samples) {
            json.open('{')?.key("size")?.number(bytes)?;
            json.key("nodeId")?
                .number(number(node))?
                .key("ordinal")?
                .number(ordinal)?
                .close('}')?;
        }
        json.close(']')?.close('}')?;
        let mut out = json.into_inner();
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    }
}

fn number(node: usize) -> u64 {
    (node as u64).saturating_add(1)
}

/// Writes the nested objects of the call tree. There is no recursion, because they are nested as
/// deeply as stacks.
fn tree<W: Write>(
    json: &mut Json<W>,
    calls: &CallNodes,
    resolved: &Resolved<'_>,
) -> io::Result<()> {
    let below = calls.below(|a, b| a.call.cmp(&b.call));
    begin(json, calls, resolved, 0)?;
    // Nodes whose children are being written, with the next child of each.
    let mut open = vec![(0usize, 0usize)];
    while let Some((node, next)) = open.last_mut() {
        let child = below.get(*node).and_then(|children| children.get(*next)).copied();
        *next = next.saturating_add(1);
        match child {
            Some(child) => {
                begin(json, calls, resolved, child)?;
                open.push((child, 0));
            }
            None => {
                json.close(']')?.close('}')?;
                open.pop();
            }
        }
    }
    Ok(())
}

fn begin<W: Write>(
    json: &mut Json<W>,
    calls: &CallNodes,
    resolved: &Resolved<'_>,
    at: usize,
) -> io::Result<()> {
    let node = calls.node(at);
    json.open('{')?;
    call_frame(json, &node, resolved)?;
    json.key("selfSize")?.number(node.self_weight)?.key("id")?.number(number(at))?;
    json.key("children")?.open('[')?;
    Ok(())
}
