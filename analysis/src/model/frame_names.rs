//! Names for the frames of single events, for those who show events one by one.

use super::handle::{MethodHandle, ProcessHandle};
use super::names::{Frame, MethodName, NameOptions};
use super::resolved::Resolver;
use super::{Filter, Folding, Model};
use nettrace_parser::Event;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// One name an address.
static NO_FOLDING: LazyLock<Folding> = LazyLock::new(Folding::default);
static NO_FILTER: LazyLock<Filter> = LazyLock::new(Filter::new);

/// Names by a [`Model`] of the whole trace: the same that reports have. A name is made once for each address; what
/// is kept is bounded by the distinct addresses of the stacks that were asked for.
///
/// ```
/// use nettrace_analysis::{Analysis, AnalysisOptions, FrameNames, NameOptions};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut analysis = Analysis::new(AnalysisOptions::new());
/// let outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// assert!(outcome.is_complete(), "names that come at the end are missing: {outcome}");
/// let finished = analysis.finish()?;
/// let mut names = FrameNames::new(&finished.model, NameOptions::default());
/// let mut reader = Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     assert_eq!(names.of(&event).len(), event.stack().len());
/// }
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
pub struct FrameNames<'m> {
    resolver: Resolver<'m, 'static>,
}

impl<'m> FrameNames<'m> {
    /// Names by what `model` learned from the whole trace.
    pub fn new(model: &'m Model, options: NameOptions) -> FrameNames<'m> {
        FrameNames { resolver: Resolver::new(model, options, &NO_FOLDING, &NO_FILTER) }
    }

    /// The names of an event's stack, innermost first, one for each address; the address where nothing is
    /// known of it.
    pub fn of(&mut self, event: &Event<'_>) -> Vec<Cow<'_, str>> {
        let process = self.resolver.model().handle_of(event.process_id()).unwrap_or(ProcessHandle(0));
        let ticks = event.timestamp_ticks();
        let frames: Vec<_> = addresses(event)
            .map(|(index, at)| self.resolver.address(process, at, ticks, index == 0))
            .collect();
        frames.into_iter().map(|frame| Cow::Borrowed(self.resolver.text(frame))).collect()
    }
}

impl fmt::Debug for FrameNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameNames").finish_non_exhaustive()
    }
}

/// Names by what was read so far, for streams that cannot be read twice: managed methods, as soon as the stream
/// tells of them. What is kept is bounded by the methods that it tells of.
#[derive(Debug, Default)]
pub struct NamesSoFar {
    model: Model,
    options: NameOptions,
    by_method: HashMap<(ProcessHandle, MethodHandle), String>,
}

impl NamesSoFar {
    /// Knows nothing yet.
    pub fn new(options: NameOptions) -> NamesSoFar {
        NamesSoFar { options, ..NamesSoFar::default() }
    }

    /// Learns from the next event; in time order. To be called before its names are asked for.
    pub fn learn(&mut self, event: &Event<'_>) {
        self.model.learn(event);
    }

    /// As [`FrameNames::of`].
    pub fn of(&mut self, event: &Event<'_>) -> Vec<Cow<'_, str>> {
        let process = self.model.handle_of(event.process_id());
        let ticks = event.timestamp_ticks();
        let found: Vec<_> = addresses(event)
            .zip(event.stack().addresses())
            .map(|((_, at), shown)| (process.and_then(|process| self.learn_name(process, at, ticks)), shown))
            .collect();
        let text = |(key, address): (Option<_>, u64)| match key.and_then(|key| self.by_method.get(&key)) {
            Some(name) => Cow::Borrowed(name.as_str()),
            None => Cow::Owned(Frame::address(address, super::FrameKind::Unknown).text),
        };
        found.into_iter().map(text).collect()
    }

    /// Makes the name of the method that lies at an address now, if there is one.
    fn learn_name(
        &mut self,
        process: ProcessHandle,
        address: u64,
        ticks: u64,
    ) -> Option<(ProcessHandle, MethodHandle)> {
        let row = self.model.process(process)?;
        let method = row.methods.newest_over(address)?;
        let key = (process, method);
        if self.by_method.contains_key(&key) {
            return Some(key);
        }
        let code = row.methods.code(method)?;
        let texts = self.model.texts();
        let name = MethodName {
            module: row.modules.find(code.module_id, ticks).map_or("", |module| &*module.name),
            type_name: texts.get(code.namespace),
            method: texts.get(code.name),
            signature: texts.get(code.signature),
        };
        let mut text = Frame::managed(&name, self.options).text;
        super::shorten(&mut text);
        self.by_method.insert(key, text);
        Some(key)
    }
}

/// Where each frame was: a return address may be the first behind its method, as the call was its last
/// instruction.
fn addresses<'e>(event: &Event<'e>) -> impl Iterator<Item = (usize, u64)> + use<'e> {
    let at = |(index, address): (usize, u64)| {
        (index, if index == 0 { address } else { address.saturating_sub(1) })
    };
    event.stack().addresses().enumerate().map(at)
}
