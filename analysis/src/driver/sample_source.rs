//! Recognises the events that samples are made of.

use crate::model::Kind;
use crate::model::intervals::LockWaits;
use nettrace_parser::Event;
use nettrace_parser::view::KnownProvider;

/// Role of an event for samples of the wanted kinds. The event filter selects events by their role,
/// and the analysis makes samples of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleSource {
    /// A sample of the runtime's sampler.
    Sampler,
    /// A sample of a processor, by the recorder of an operating system.
    Processor,
    /// The end of a time in which a thread was switched out.
    SwitchedOut,
    /// An event of the runtime: a sample of this kind, or a part of one. `None` for the start or
    /// stop of a wait for a lock that is only needed for the mode of CPU samples.
    Runtime(Option<Kind>),
}

impl SampleSource {
    pub(super) fn for_event(event: &Event<'_>, kinds: &[Kind]) -> Option<SampleSource> {
        let wants = |kind| kinds.contains(&kind);
        match event.known_provider() {
            KnownProvider::SampleProfiler if event.id() == 0 && wants(Kind::Cpu) => {
                Some(SampleSource::Sampler)
            }
            KnownProvider::Runtime => {
                let kind = Kind::of_runtime(event.id()).filter(|kind| wants(*kind));
                let is_edge = LockWaits::is_edge(event.id()) && wants(Kind::Cpu);
                (kind.is_some() || is_edge).then_some(SampleSource::Runtime(kind))
            }
            KnownProvider::UniversalEvents => match event.name() {
                "cpu" if wants(Kind::Cpu) => Some(SampleSource::Processor),
                "cswitch" if wants(Kind::OffCpu) => Some(SampleSource::SwitchedOut),
                _ => None,
            },
            _ => None,
        }
    }
}
