//! Who gets what an analysis finds: the profile, and the converters that take part.

use crate::convert::{Convert, ConvertError};
use crate::model::{Filter, Kind, Model, Profile, Sample, Spans, Weighed};

/// Everybody who takes samples.
pub(super) struct Outputs<'c> {
    pub(super) filter: Filter,
    /// The filter lets all threads, processes and times pass.
    pub(super) admits_all: bool,
    pub(super) profile: Profile,
    pub(super) has_cpu: bool,
    /// Converters that take samples one by one, by their places.
    pub(super) takes_samples: Vec<usize>,
    /// Whether a converter looks at every event.
    pub(super) wants_events: bool,
    pub(super) converters: Vec<Box<dyn Convert + 'c>>,
}

impl Outputs<'_> {
    #[inline]
    pub(super) fn sample(&mut self, sample: Sample, model: &Model) -> Result<(), ConvertError> {
        if !self.filter.admits(&sample, model) {
            return Ok(());
        }
        self.has_cpu |= sample.kind == Kind::Cpu;
        self.profile.add(&sample);
        if self.takes_samples.is_empty() { Ok(()) } else { self.give(&sample, model) }
    }

    /// One CPU sample, or several that are like each other.
    #[inline(always)]
    pub(super) fn cpu_sample(&mut self, weighed: &Weighed, model: &Model) -> Result<(), ConvertError> {
        if !self.admits_all && !self.filter.admits_moment(weighed.thread, weighed.first_nanos, model) {
            return Ok(());
        }
        self.has_cpu = true;
        if let Some(when) = self.profile.when_mut() {
            when.add(weighed.stack, weighed.mode, weighed.first_nanos, weighed.weight);
        }
        self.profile.add_totals(weighed.key(), &weighed.totals());
        if self.takes_samples.is_empty() { Ok(()) } else { self.give(&weighed.sample(), model) }
    }

    /// Whether samples that are like each other may come as one: nobody looks at each of them.
    pub(super) fn takes_runs(&self) -> bool {
        let mut converters = self.converters.iter();
        self.filter.admits_all_times()
            && self.profile.when().is_none()
            && converters.all(|converter| !converter.wants_samples() || converter.takes_runs())
    }

    #[inline(never)]
    fn give(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        for place in &self.takes_samples {
            if let Some(converter) = self.converters.get_mut(*place) {
                converter.sample(sample, model)?;
            }
        }
        Ok(())
    }

    pub(super) fn marks(&mut self, spans: &mut Spans, model: &Model) -> Result<(), ConvertError> {
        for mark in spans.ready() {
            if self.filter.admits_mark(&mark, model) {
                let wanting = self.converters.iter_mut().filter(|converter| converter.wants_marks());
                wanting.into_iter().try_for_each(|converter| converter.mark(&mark, model))?;
            }
        }
        Ok(())
    }
}
