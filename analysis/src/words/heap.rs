//! Sentences about what holds a heap.

use crate::heap::{
    GcDumpAbout, HeapDiff, HeapDump, HeapHolder, HeapHolderGrowth, HeapOwnType, HeapReport,
};
use nettrace_export::units::{bytes, count, counted};

impl HeapReport {
    /// Returns the most important sentences: what holds most of the heap, and which of the
    /// program's own types keep most alive.
    pub fn sentences(&self) -> Vec<String> {
        let own = self.own_types();
        let own = (!own.is_empty()).then(|| own_types(&own));
        let held = self.holders.iter().map(|holder| held(holder, self.reachable_bytes));
        held.chain(own).collect()
    }
}

impl GcDumpAbout {
    /// Returns what is wrong with the file itself.
    pub fn warnings(&self, dump: &HeapDump) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.lacks_end {
            warnings.push("its end is missing, behind all that is needed".to_owned());
        }
        let there = dump.bytes();
        if i128::from(self.stored_bytes) != i128::from(there) {
            let text = "of objects, but its objects have";
            warnings.push(format!(
                "it says {} {text} {}",
                bytes(u64::try_from(self.stored_bytes).unwrap_or(0)),
                bytes(there)
            ));
        }
        warnings
    }

    /// Returns sentences about what the file is, and what it does not tell.
    pub fn sentences(&self) -> Vec<String> {
        let tool = self.tool.as_deref().filter(|tool| !tool.is_empty());
        let mut sentences = vec![match tool {
            Some(OWN_TOOL) => {
                "a .gcdump by nettrace: of when, pause and losses it tells nothing".to_owned()
            }
            Some(tool) => format!(
                "a .gcdump by {tool}: it tells neither outer types nor keys of dependent handles, whose values are roots"
            ),
            None => "a .gcdump, of whose making it tells nothing".to_owned(),
        }];
        if self.undumped_objects > 0 {
            let objects = counted(self.undumped_objects, "object");
            sentences.push(format!("{objects} were left out when it was made"));
        }
        if let Some(whole) = self.sampled_from {
            sentences.push(format!(
                "a sample: the whole heap has about {} in {}",
                counted(whole.count, "object"),
                bytes(whole.bytes)
            ));
        }
        sentences
    }
}

/// Tool whose files have references from keys to values of dependent handles.
const OWN_TOOL: &str = "nettrace";

impl HeapDiff {
    /// Returns the most important sentences: what holds more than before, and which of the
    /// program's own types have more objects.
    pub fn sentences(&self) -> Vec<String> {
        let types = self.grown_own_types().into_iter().map(|row| {
            format!(
                "{} more {}, which keep {} alive",
                count(row.count_growth.unsigned_abs()),
                short(&row.name),
                bytes(row.retained_bytes_growth.unsigned_abs())
            )
        });
        self.holders.iter().map(held_more).chain(types).collect()
    }
}

/// Writes `15.7 MiB of 22.1 MiB (71 %) are held by static ByKey: a Dictionary<string, Order> of
/// 20,000 entries`.
pub(super) fn held(holder: &HeapHolder, reachable_bytes: u64) -> String {
    format!(
        "{} of {} ({:.0} %) are held by {}{}",
        bytes(holder.retained_bytes),
        bytes(reachable_bytes),
        holder.percent,
        holder.held_by,
        after_colon(holder)
    )
}

/// Writes `2.1 MiB more are held by static All: a List<LeakedSession> of 3,000 entries, 1,000
/// before`.
fn held_more(growth: &HeapHolderGrowth) -> String {
    let before = growth.elements_before.filter(|before| *before != growth.holder.elements);
    format!(
        "{} more are held by {}{}{}",
        bytes(growth.retained_bytes_growth),
        growth.holder.held_by,
        after_colon(&growth.holder),
        before.map_or_else(String::new, |before| format!(", {} before", count(before)))
    )
}

/// Writes `: a Dictionary<string, Order> of 20,000 entries`; nothing if the type has no name.
fn after_colon(holder: &HeapHolder) -> String {
    let through = holder.through.as_ref();
    let through = through.map_or_else(String::new, |own| format!("{}, in it ", short(own)));
    let type_name = short(&holder.type_name);
    let what = match holder.elements {
        0 if type_name.is_empty() => return String::new(),
        0 => with_article(&type_name),
        elements if holder.is_event => {
            let all = if holder.element_type_count == elements { "all" } else { "most" };
            format!(
                "an event with {}, {all} {} ({})",
                counted(elements, "subscriber"),
                short(&holder.element_type),
                bytes(holder.element_bytes)
            )
        }
        elements if holder.type_name == holder.element_type => {
            format!("{} {type_name}", count(elements))
        }
        1 => format!("{} of 1 entry", with_article(&type_name)),
        elements => format!("{} of {} entries", with_article(&type_name), count(elements)),
    };
    format!(": {through}{what}")
}

/// Writes `of your types 20,000 Order keep 13.9 MiB alive, 3,000 View 5.9 MiB`.
pub(super) fn own_types(types: &[HeapOwnType]) -> String {
    let texts = types.iter().enumerate().map(|(at, row)| {
        let (count, name) = (count(row.count), short(&row.name));
        let size = bytes(row.retained_bytes);
        match (at, row.count) {
            (0, 1) => format!("{count} {name} keeps {size} alive"),
            (0, _) => format!("{count} {name} keep {size} alive"),
            _ => format!(", {count} {name} {size}"),
        }
    });
    format!("of your types {}", texts.collect::<String>())
}

/// Writes a type's name with its article: `an Order`.
fn with_article(name: &str) -> String {
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Writes a type's name without namespaces, its arguments' included: `Dictionary<string, Order>`.
fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut word = String::new();
    for letter in name.chars() {
        match letter {
            '<' | '>' | ',' | '[' | ']' => {
                out.push_str(word.rsplit('.').next().unwrap_or(&word));
                word.clear();
                out.push(letter);
                if letter == ',' {
                    out.push(' ');
                }
            }
            _ => word.push(letter),
        }
    }
    out.push_str(word.rsplit('.').next().unwrap_or(&word));
    out
}
