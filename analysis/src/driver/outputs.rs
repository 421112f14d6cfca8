//! Passes samples, marks and events to their recipients: the profile and the converters.

use crate::convert::{Convert, ConvertError};
use crate::model::{
    Category, Filter, GatheredSamples, Kind, Mode, Model, Moment, Profile, RowPlace, Sample, Spans,
    ThreadHandle, TimelineMark, Weighed,
};
use nettrace_parser::Event;

pub(super) struct Outputs<'c> {
    pub(super) filter: Filter,
    /// Whether the filter accepts all threads, processes and times.
    pub(super) admits_all: bool,
    pub(super) profile: Profile,
    /// Times of CPU samples between the readings of their threads, if there are readings.
    pub(super) gathered: Option<GatheredSamples>,
    pub(super) skips_profile: bool,
    pub(super) has_sampler_pauses: bool,
    pub(super) has_cpu: bool,
    /// Indices of the converters that receive samples.
    pub(super) takes_samples: Vec<usize>,
    /// Whether a converter receives events.
    pub(super) wants_events: bool,
    pub(super) converters: Vec<Box<dyn Convert + 'c>>,
}

impl Outputs<'_> {
    /// Returns whether the filter accepts a thread, its process and a time. `is_of_process`: whether
    /// spans accept it by its time alone.
    #[inline]
    pub(super) fn admits_moment(
        &self,
        thread: ThreadHandle,
        nanos: i64,
        is_of_process: bool,
        model: &Model,
    ) -> bool {
        self.admits_all || self.filter.admits_moment(thread, nanos, is_of_process, model)
    }

    /// Passes an event to the converters that receive events.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &Model,
    ) -> Result<(), ConvertError> {
        let wanting = self.converters.iter_mut().filter(|converter| {
            converter.wants_events() && (moment.is_selected || !converter.takes_filtered_events())
        });
        wanting.into_iter().try_for_each(|converter| converter.event(event, moment.thread, model))
    }

    /// Notes the OS id of the thread that took a sample.
    #[inline]
    pub(super) fn add_sampler(&mut self, id: impl FnOnce() -> Option<u64>) {
        if let Some(gathered) = &mut self.gathered
            && let Some(id) = id()
        {
            gathered.add_sampler(id);
        }
    }

    #[inline]
    pub(super) fn sample(&mut self, sample: Sample, model: &Model) -> Result<(), ConvertError> {
        if !self.filter.admits(&sample, model) {
            return Ok(());
        }
        self.has_cpu |= sample.kind == Kind::Cpu;
        let request = self.profile.request_at(sample.thread, sample.nanos, model);
        let sample = Sample { request, ..sample };
        if !self.skips_profile {
            self.profile.add(&sample);
        }
        if self.takes_samples.is_empty() { Ok(()) } else { self.give(&sample, model) }
    }

    /// Passes on one CPU sample, or several with equal stack and mode.
    #[inline(always)]
    pub(super) fn cpu_sample(
        &mut self,
        weighed: &Weighed,
        model: &Model,
    ) -> Result<(), ConvertError> {
        // Samples are merged only if the filter accepts all times, so the first time is enough.
        if !self.admits_moment(weighed.thread, weighed.first_nanos, false, model) {
            self.profile.refuse(weighed.totals().samples);
            if let Some(gathered) = &mut self.gathered {
                let row = gathered.refused.add_totals(weighed.key(), &weighed.totals());
                gather(gathered, weighed, RowPlace { row, is_selected: false }, model);
            }
            return Ok(());
        }
        self.has_cpu = true;
        if let Some(when) = self.profile.when_mut() {
            when.add(weighed.stack, weighed.mode, weighed.first_nanos, weighed.weight);
        }
        let request = self.profile.request_at(weighed.thread, weighed.first_nanos, model);
        if !self.skips_profile {
            let row = self.profile.add_run(weighed.key(), &weighed.totals(), request);
            if let Some(gathered) = &mut self.gathered {
                gather(gathered, weighed, RowPlace { row, is_selected: true }, model);
            }
        }
        if self.takes_samples.is_empty() {
            return Ok(());
        }
        self.give(&Sample { request, ..weighed.sample() }, model)
    }

    /// Returns whether consecutive samples with equal stack and mode may be merged, because no
    /// recipient needs each of them.
    pub(super) fn takes_runs(&self) -> bool {
        let mut converters = self.converters.iter();
        self.filter.admits_all_times()
            && self.profile.when().is_none()
            && !self.profile.tells_endpoints()
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
        if !spans.is_any_ready() {
            return Ok(());
        }
        for mark in spans.ready() {
            let is_sampler = matches!(&mark, TimelineMark::Span(span) if span.category == Category::SamplerPause);
            if !is_sampler || self.has_sampler_pauses {
                self.mark(&mark, model)?;
            }
        }
        Ok(())
    }

    /// Passes a mark to the converters that receive marks.
    pub(super) fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        if !self.filter.admits_mark(mark, model) {
            return Ok(());
        }
        let wanting = self.converters.iter_mut().filter(|converter| converter.wants_marks());
        wanting.into_iter().try_for_each(|converter| converter.mark(mark, model))
    }
}

/// Adds the time of CPU samples that a runtime took. A sample of a processor is processor time.
#[inline(never)]
fn gather(gathered: &mut GatheredSamples, weighed: &Weighed, row: RowPlace, model: &Model) {
    let Weighed { thread, mode, first_nanos, weight, .. } = *weighed;
    if mode != Mode::OnCpu {
        let id = model.thread(thread).and_then(|thread| thread.os_thread_id);
        gathered.add(thread, id, row, first_nanos, weight);
    }
}
