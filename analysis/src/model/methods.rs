//! The code of methods, found by address and time.
//!
//! | reported by | meaning |
//! |---|---|
//! | runtime 141, 143 | code was compiled or loaded: its life starts |
//! | runtime 142, 144 | code is unloaded: its life ends; if this is the first report of it, it existed since the beginning of the trace |
//! | rundown 141 to 144 | code that existed when the session started or ended |
//! | runtime 159 | the entry point of precompiled code was requested: an address without a size |
//!
//! Code is reported several times, with the same start address and method id. A method may have
//! several pieces of code: tiers, ReJIT versions, a cold section.

use super::handle::{MethodHandle, TextHandle};
use super::ranges::{Ranges, ReportedRange};
use super::texts::Texts;
use crate::hash::HashMap;
use nettrace_parser::view::{self, KnownProvider, MethodChange, Tier};
use nettrace_parser::{Event, Utf16};

/// A piece of a method's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MethodCode {
    pub(crate) method_id: u64,
    pub(crate) module_id: u64,
    pub(crate) start: u64,
    /// Size of the code in bytes; 0 if only its entry point is known.
    pub(crate) size: u32,
    /// Metadata token of the method; 0 if unknown.
    pub(crate) token: u32,
    /// Whether the code was compiled in this process rather than precompiled.
    pub(crate) is_jitted: bool,
    /// Tier of the compiler. It has a meaning only if the code was compiled in this process.
    pub(crate) tier: Tier,
    /// Whether the code is the cold section of the method, which the runtime reports separately.
    pub(crate) is_cold: bool,
    /// Version of the method's IL; the original has the version 0.
    pub(crate) rejit_id: u64,
    /// Namespace and name of the type, in the runtime's notation.
    pub(crate) namespace: TextHandle,
    pub(crate) name: TextHandle,
    pub(crate) signature: TextHandle,
}

/// Distance from an entry point, in bytes, up to which a frame is guessed to belong to that code.
/// This is for precompiled code, whose size is not reported. In traces whose rundown has the sizes,
/// the guess is wrong for 0.5 % of the frames within 256 bytes, 6 % within 1 KiB and 11 % within 4
/// KiB.
pub(super) const MAX_GUESS_BYTES: u64 = 256;

/// The methods of one process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Methods {
    codes: Vec<MethodCode>,
    ranges: Ranges<MethodHandle>,
    /// Method of each entry point of precompiled code.
    entry_points: HashMap<u64, MethodHandle>,
    sorted_entry_points: Vec<(u64, MethodHandle)>,
    has_rundown: bool,
    /// Row in `ranges` that the next event of a list of methods probably reports again.
    next_row: usize,
}

/// Start and size of memory that has a new meaning, because other code is there.
pub(crate) type Reused = (u64, u64);

impl Methods {
    /// Adds what a method event reports. Returns the memory whose meaning the event changes, if
    /// any.
    pub(crate) fn learn(
        &mut self,
        method: &view::Method<'_>,
        ticks: u64,
        texts: &mut Texts,
    ) -> Option<Reused> {
        self.has_rundown |= matches!(method.change, MethodChange::AtEnd | MethodChange::AtStart);
        let (start, size) = (method.start, u64::from(method.size));
        if let Some(known) = self.known(method, texts) {
            // A repeated report may have the names that the first one lacked.
            if !method.name.is_empty()
                && self.codes.get(known.index()).is_some_and(|code| texts.get(code.name).is_empty())
            {
                let named = code_of(method, texts);
                if let Some(code) = self.codes.get_mut(known.index()) {
                    *code = named;
                }
            }
            if method.change == MethodChange::Unload {
                self.ranges.end(start, ticks, |value| *value == known);
            }
            return None;
        }
        let handle = MethodHandle::next(self.codes.len());
        self.codes.push(code_of(method, texts));
        let replaces = match method.change {
            MethodChange::Unload => {
                self.ranges.add_ended(start, size, ticks, handle);
                false
            }
            MethodChange::Load => {
                self.ranges.add(ReportedRange::Begins, start, size, ticks, handle)
            }
            _ => self.ranges.add(ReportedRange::Exists, start, size, ticks, handle),
        };
        replaces.then_some((start, size))
    }

    /// Returns whether an event reports nothing new: it is no unload event, and code and name are
    /// known. Then the names need not be decoded, which the end of a session repeats.
    #[inline]
    pub(crate) fn knows(&mut self, event: &Event<'_>, texts: &Texts) -> bool {
        let is_rundown = event.known_provider() == KnownProvider::Rundown;
        if !is_rundown && matches!(event.id(), 142 | 144) {
            return false;
        }
        let Some(method) = view::MethodRange::from_payload(event.payload()) else { return false };
        // Each list has the methods in the same order.
        let Some((row, range)) = self.ranges.row_at_start(method.start, self.next_row) else {
            return false;
        };
        self.next_row = row.saturating_add(1);
        if range.to != u64::MAX {
            return false;
        }
        let is_known = self.codes.get(range.value.index()).is_some_and(|code| {
            code.method_id == method.method_id
                && code.module_id == method.module_id
                && code.size == method.size
                && !texts.get(code.name).is_empty()
        });
        self.has_rundown |= is_known && is_rundown;
        is_known
    }

    fn known(&self, method: &view::Method<'_>, texts: &mut Texts) -> Option<MethodHandle> {
        let range = self.ranges.at_start(method.start)?;
        let code = self.codes.get(range.value.index())?;
        let is_same = code.method_id == method.method_id && code.size == method.size;
        let is_known = match method.change {
            _ if !is_same => false,
            _ if range.to == u64::MAX => true,
            // An unload may be reported more than once.
            MethodChange::Unload => true,
            // A process that exits unloads its methods, and the rundown lists them afterwards. Or
            // the id belongs to a new method whose load event was lost.
            MethodChange::AtStart | MethodChange::AtEnd => {
                let is_named = !texts.get(code.name).is_empty() && !method.name.is_empty();
                code.module_id == method.module_id
                    && (!is_named
                        || texts.intern_stored(method.name) == code.name
                            && texts.intern_repeated(method.namespace) == code.namespace)
            }
            // The code was loaded again.
            _ => false,
        };
        is_known.then_some(range.value)
    }

    /// Adds an entry point of precompiled code.
    pub(crate) fn learn_entry_point(&mut self, code: MethodCode) {
        let handle = MethodHandle::next(self.codes.len());
        if let std::collections::hash_map::Entry::Vacant(vacant) =
            self.entry_points.entry(code.start)
        {
            vacant.insert(handle);
            self.codes.push(code);
        }
    }

    /// Sorts the code by address. Call it after the last event, before [`Methods::find`].
    pub(crate) fn sort(&mut self) {
        self.ranges.sort();
        self.sorted_entry_points =
            self.entry_points.iter().map(|(at, method)| (*at, *method)).collect();
        self.sorted_entry_points.sort_unstable();
    }

    /// Returns the code that was at an address at a time, and whether the answer is the same for
    /// all times.
    pub(crate) fn find(&self, address: u64, ticks: u64) -> Option<(MethodHandle, bool)> {
        self.ranges.find(address, ticks).map(|(range, is_always)| (range.value, is_always))
    }

    /// Returns the method with the nearest entry point at or below an address, and the distance;
    /// `None` if other code lies in between. A distance above 0 makes it a guess, because stubs
    /// between methods are not reported. A trace with a rundown needs no guess: the rundown lists
    /// all methods in use.
    pub(crate) fn guess(&self, address: u64) -> Option<(MethodHandle, u64)> {
        if self.has_rundown {
            return None;
        }
        let end = self.sorted_entry_points.partition_point(|(start, _)| *start <= address);
        let (start, method) = *self.sorted_entry_points.get(end.checked_sub(1)?)?;
        let is_interrupted = self.ranges.next_start(start).is_some_and(|next| next <= address);
        let offset = address.saturating_sub(start);
        (offset < MAX_GUESS_BYTES && !is_interrupted).then_some((method, offset))
    }

    /// Returns the first and last address of each piece of code that [`Methods::find`] and
    /// [`Methods::guess`] can find.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let entry_points = if self.has_rundown { &[] } else { self.sorted_entry_points.as_slice() };
        let reaches = entry_points.iter().enumerate().map(|(at, (start, _))| {
            let next = entry_points.get(at.saturating_add(1)).map(|(next, _)| *next);
            let end = [next, self.ranges.next_start(*start)].into_iter().flatten().min();
            let reach = start.saturating_add(MAX_GUESS_BYTES.saturating_sub(1));
            (*start, end.map_or(reach, |end| reach.min(end.saturating_sub(1))))
        });
        self.ranges.extents().chain(reaches)
    }

    /// Returns the code that a handle refers to.
    pub(crate) fn code(&self, method: MethodHandle) -> Option<&MethodCode> {
        self.codes.get(method.index())
    }

    /// Returns all code, in the order in which it was first reported.
    pub(crate) fn codes(&self) -> &[MethodCode] {
        &self.codes
    }

    /// Returns whether a rundown reported methods.
    pub(crate) fn has_rundown(&self) -> bool {
        self.has_rundown
    }
}

/// Reads the event R2RGetEntryPoint: the id of the method; its namespace with type, its name and
/// its signature; and the address of the entry point.
pub(super) fn entry_point<'e>(event: &Event<'e>) -> Option<(u64, [Utf16<'e>; 3], u64)> {
    let fields = &mut event.fields();
    let method_id = fields.find("MethodID")?.value.ok()?.as_u64()?;
    let mut text = |name| Some(fields.find(name)?.value.ok()?.as_utf16().unwrap_or_default());
    let names = [text("MethodNamespace")?, text("MethodName")?, text("MethodSignature")?];
    Some((method_id, names, fields.find("EntryPoint")?.value.ok()?.as_u64()?))
}

fn code_of(method: &view::Method<'_>, texts: &mut Texts) -> MethodCode {
    MethodCode {
        method_id: method.method_id,
        module_id: method.module_id,
        start: method.start,
        size: method.size,
        token: method.token,
        is_jitted: method.is_jitted(),
        tier: method.tier(),
        is_cold: method.extent() == 1,
        rejit_id: method.rejit_id.unwrap_or(0),
        namespace: texts.intern_repeated(method.namespace),
        name: texts.intern_stored(method.name),
        signature: texts.intern_stored(method.signature),
    }
}
