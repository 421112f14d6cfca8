//! Names by what was read so far, for those who show the events of a stream that cannot be read twice.
//!
//! A session that is watched may last for days, and its process may make and drop code all the time. So what is kept
//! here is what is there: code goes when the stream says that it went, or when other code lies where it lay.

use super::frame_names::addresses;
use super::methods::GUESS_REACH;
use super::modules::short_name;
use super::names::{Frame, FrameKind, MethodName, NameOptions, shorten};
use nettrace_parser::view::{self, KnownProvider, MethodChange, ModuleChange};
use nettrace_parser::{Event, Utf16};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The most bytes that names take unless it is said, and what each costs beside its text: a row, its place in the tree, and the
/// allocator's share.
const LIMIT: usize = 256 << 20;
const COST: usize = 160;

/// A process's id, and an address in it or the id of a module.
type CodeKey = (Option<u64>, u64);

/// Names by what was read so far, for streams that cannot be read twice: managed methods, as soon as the stream
/// reports them. What is kept is bounded by the methods that the process has at a time, and by 256 MiB: further
/// ones have no names ([`NamesSoFar::left_out`]).
///
/// ```
/// use nettrace_analysis::{NameOptions, NamesSoFar};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut names = NamesSoFar::new(NameOptions::default());
/// let mut reader = Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     names.learn(&event);
///     assert_eq!(names.of(&event).len(), event.stack().len());
/// }
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug)]
pub struct NamesSoFar {
    options: NameOptions,
    limit: usize,
    /// By their first addresses. Codes with a size do not overlap.
    codes: BTreeMap<CodeKey, Code>,
    /// Short names of modules.
    modules: HashMap<CodeKey, Box<str>>,
    held_bytes: usize,
    left_out: u64,
}

/// A method's code.
#[derive(Debug)]
struct Code {
    /// Last address, which is inside; `None`: precompiled code of which only the entry point is known.
    last: Option<u64>,
    method_id: u64,
    module_id: u64,
    name: Name,
}

#[derive(Debug)]
enum Name {
    /// Namespace with type, name, signature, as stored. They become a name when one is asked for: most never are.
    Stored([Box<str>; 3]),
    Shown(Box<str>),
}

impl Code {
    fn cost(&self) -> usize {
        let text = match &self.name {
            Name::Stored(parts) => parts.iter().map(|part| part.len()).fold(0, usize::saturating_add),
            Name::Shown(text) => text.len(),
        };
        COST.saturating_add(text)
    }

    fn is_nameless(&self) -> bool {
        matches!(&self.name, Name::Stored([_, name, _]) if name.is_empty())
    }
}

impl Default for NamesSoFar {
    fn default() -> NamesSoFar {
        NamesSoFar::new(NameOptions::default())
    }
}

impl NamesSoFar {
    /// Knows nothing yet.
    pub fn new(options: NameOptions) -> NamesSoFar {
        NamesSoFar {
            options,
            limit: LIMIT,
            codes: BTreeMap::new(),
            modules: HashMap::new(),
            held_bytes: 0,
            left_out: 0,
        }
    }

    /// With room for that many bytes instead of 256 MiB: names, and about 160 bytes for each.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> NamesSoFar {
        self.limit = bytes;
        self
    }

    /// Learns from the next event; in time order. To be called before its names are asked for.
    pub fn learn(&mut self, event: &Event<'_>) {
        match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime | KnownProvider::Rundown, 141..=144) => {
                if let Some(method) = view::Method::of(event) {
                    self.learn_method(event.process_id(), &method);
                }
            }
            (KnownProvider::Runtime, 152 | 153) | (KnownProvider::Rundown, 153 | 154) => {
                if let Some(module) = view::Module::of(event) {
                    self.learn_module((event.process_id(), module.module_id), &module);
                }
            }
            (KnownProvider::Runtime, 159) => {
                let _ = self.learn_entry_point(event);
            }
            _ => {}
        }
    }

    /// How many methods are known now.
    pub fn method_count(&self) -> usize {
        self.codes.len()
    }

    /// How many methods and modules were reported that have no names because there are too many.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn learn_method(&mut self, process: Option<u64>, method: &view::Method<'_>) {
        let place = (process, method.start);
        if method.change == MethodChange::Unload {
            if self.codes.get(&place).is_some_and(|code| code.method_id == method.method_id) {
                self.forget(place);
            }
            return;
        }
        let size = u64::from(method.size);
        let Some(last) = size.checked_sub(1).and_then(|size| method.start.checked_add(size)) else { return };
        let code = Code {
            last: Some(last),
            method_id: method.method_id,
            module_id: method.module_id,
            name: stored([method.namespace, method.name, method.signature]),
        };
        let known = self.codes.get(&place);
        if code.is_nameless()
            && known.is_some_and(|known| known.method_id == code.method_id && known.last == code.last)
        {
            // The same code again, this time without its name.
            return;
        }
        let within = self.codes.range(place..=(process, last)).map(|(place, _)| *place);
        let before = self.codes.range((process, 0)..place).next_back();
        let reaching = before.filter(|(_, code)| code.last.is_some_and(|last| last >= method.start));
        let replaced: Vec<CodeKey> = reaching.map(|(place, _)| *place).into_iter().chain(within).collect();
        for place in replaced {
            self.forget(place);
        }
        self.keep(place, code);
    }

    /// R2RGetEntryPoint: precompiled code is used for the first time. How long it is nobody says.
    fn learn_entry_point(&mut self, event: &Event<'_>) -> Option<()> {
        let fields = &mut event.fields();
        let method_id = fields.find("MethodID")?.value.ok()?.as_u64()?;
        let mut text = |name| Some(fields.find(name)?.value.ok()?.as_utf16().unwrap_or_default());
        let parts = [text("MethodNamespace")?, text("MethodName")?, text("MethodSignature")?];
        let start = fields.find("EntryPoint")?.value.ok()?.as_u64()?;
        let place = (event.process_id(), start);
        if self.over(place).is_none_or(|(_, code)| code.last.is_none()) {
            self.forget(place);
            self.keep(place, Code { last: None, method_id, module_id: 0, name: stored(parts) });
        }
        Some(())
    }

    fn learn_module(&mut self, place: CodeKey, module: &view::Module<'_>) {
        let cost = |name: &str| name.len().saturating_add(COST);
        if let Some(name) = self.modules.remove(&place) {
            self.held_bytes = self.held_bytes.saturating_sub(cost(&name));
        }
        if module.change == ModuleChange::Unload {
            return;
        }
        let mut path = module.il_path.to_string();
        if path.is_empty() {
            path = module.native_path.to_string();
        }
        shorten(&mut path);
        let name = short_name(&path);
        if self.affords(cost(name)) {
            self.modules.insert(place, name.into());
        }
    }

    /// Takes `cost` bytes, if there are as many left.
    fn affords(&mut self, cost: usize) -> bool {
        let held = self.held_bytes.saturating_add(cost);
        if held > self.limit {
            self.left_out = self.left_out.saturating_add(1);
            return false;
        }
        self.held_bytes = held;
        true
    }

    fn keep(&mut self, place: CodeKey, code: Code) {
        if self.affords(code.cost()) {
            self.codes.insert(place, code);
        }
    }

    fn forget(&mut self, place: CodeKey) {
        if let Some(code) = self.codes.remove(&place) {
            self.held_bytes = self.held_bytes.saturating_sub(code.cost());
        }
    }

    /// The code that lies at an address.
    fn over(&self, (process, address): CodeKey) -> Option<(CodeKey, &Code)> {
        let (place, code) = self.codes.range((process, 0)..=(process, address)).next_back()?;
        let last = code.last.unwrap_or(place.1.saturating_add(GUESS_REACH.saturating_sub(1)));
        (address <= last).then_some((*place, code))
    }

    /// The names of an event's stack, innermost first, one for each address; the address where nothing is known
    /// of it. A name that is a guess begins with `~`: see [`Frame::is_guessed`](crate::Frame::is_guessed).
    pub fn of(&mut self, event: &Event<'_>) -> Vec<Cow<'_, str>> {
        let process = event.process_id();
        let found: Vec<FrameName> = addresses(event)
            .zip(event.stack().addresses())
            .map(|((_, at), shown)| self.name((process, at), shown))
            .collect();
        let text = |found| match found {
            FrameName::Method(place) => match self.codes.get(&place).map(|code| &code.name) {
                Some(Name::Shown(text)) => Cow::Borrowed(&**text),
                _ => Cow::Borrowed("?"),
            },
            FrameName::Text(text) => Cow::Owned(text),
        };
        found.into_iter().map(text).collect()
    }

    /// Makes the name of the method that lies at an address now, if there is one.
    fn name(&mut self, at: CodeKey, shown: u64) -> FrameName {
        let unknown = || FrameName::Text(Frame::address(shown, FrameKind::Unknown).text);
        let Some((place, code)) = self.over(at) else { return unknown() };
        let Name::Stored([type_name, method, signature]) = &code.name else {
            return FrameName::Method(place);
        };
        let module = self.modules.get(&(place.0, code.module_id));
        let name = MethodName { module: module.map_or("", |module| module), type_name, method, signature };
        let mut frame = Frame::managed(&name, self.options);
        let offset = at.1.saturating_sub(place.1);
        if code.last.is_none() && offset > 0 {
            frame = frame.guessed(offset);
        }
        shorten(&mut frame.text);
        // A module may be reported behind its methods.
        if module.is_none() {
            return FrameName::Text(frame.text);
        }
        let cost = code.cost();
        if let Some(code) = self.codes.get_mut(&place) {
            code.name = Name::Shown(frame.text.into());
            self.held_bytes = self.held_bytes.saturating_sub(cost).saturating_add(code.cost());
        }
        FrameName::Method(place)
    }
}

enum FrameName {
    /// A method whose name is made.
    Method(CodeKey),
    Text(String),
}

fn stored(parts: [Utf16<'_>; 3]) -> Name {
    Name::Stored(parts.map(|part| {
        let mut text = part.to_string();
        shorten(&mut text);
        text.into()
    }))
}
