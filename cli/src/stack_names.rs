//! Names the frames of stacks that `events` and `watch` show.
//!
//! Most methods are reported at the end of a trace, by the rundown. So a file is read twice, first
//! for its names. Input that can be read only once shows the names that came before each event.

use crate::analysed::Analysed;
use crate::args::InputArgs;
use crate::context::Context;
use crate::failure::Failure;
use nettrace_analysis::model::Model;
use nettrace_analysis::{Analysis, AnalysisOptions, FrameNames, Kind, NameOptions, NamesSoFar};
use nettrace_parser::Event;
use std::borrow::Cow;

/// The source of the names of frames.
#[derive(Debug, Default)]
pub(crate) enum StackNames<'m> {
    /// No names: addresses are shown.
    #[default]
    None,
    /// Names from the whole trace.
    Known(Box<FrameNames<'m>>),
    /// Names from the events that were read so far.
    SoFar(Box<NamesSoFar>),
}

impl<'m> StackNames<'m> {
    /// Creates the source of names: the model of the whole trace if there is one, else the events
    /// that will be read.
    pub(crate) fn new(is_wanted: bool, model: Option<&'m Model>) -> StackNames<'m> {
        match model {
            _ if !is_wanted => StackNames::None,
            Some(model) => {
                StackNames::Known(Box::new(FrameNames::new(model, NameOptions::default())))
            }
            None => StackNames::SoFar(Box::new(NamesSoFar::new(NameOptions::default()))),
        }
    }

    /// Learns names from an event. Call it for every event, including those that are not shown.
    #[inline]
    pub(crate) fn learn(&mut self, event: &Event<'_>) {
        if let StackNames::SoFar(names) = self {
            names.learn(event);
        }
    }

    /// Returns the names that are learnt while events are read; `None` if they are known already,
    /// or not wanted.
    pub(crate) fn so_far(&mut self) -> Option<&mut NamesSoFar> {
        match self {
            StackNames::SoFar(names) => Some(names),
            _ => None,
        }
    }

    /// Returns the frames of an event, innermost first: names, or addresses where names are not
    /// wanted.
    pub(crate) fn frames(&mut self, event: &Event<'_>) -> Vec<Cow<'_, str>> {
        match self {
            StackNames::None => {
                event.stack().addresses().map(|address| format!("{address:#018x}").into()).collect()
            }
            StackNames::Known(names) => names.stack_names(event),
            StackNames::SoFar(names) => names.stack_names(event),
        }
    }
}

/// Reads a file for the names of its methods. Returns `None` for pipes, with a note on stderr.
/// Damage is not reported here, but when the events are read.
pub(crate) fn model_of(
    input: &InputArgs,
    context: &mut Context<'_>,
) -> Result<Option<Model>, Failure> {
    if input.is_stdin() || !std::fs::metadata(&input.file).is_ok_and(|metadata| metadata.is_file())
    {
        let text = "frames are named only if their method was loaded before: standard input is read once, and most names are at its end";
        context.messages.note(text);
        return Ok(None);
    }
    let mut options = AnalysisOptions::default();
    // An analysis needs a kind of samples. Starts of threads are few, so keeping them costs little.
    options.kinds = vec![Kind::ThreadStarts];
    let mut analysis = Analysis::new(options);
    let trace = context.open(input)?;
    let mut analysed = Analysed::new(trace)?;
    let _ = analysed.read(|events| analysis.read(events));
    Ok(analysis.finish().ok().map(|finished| finished.model))
}
