//! One pass of all reports from which findings are computed.

use super::askers::Askers;
use super::faulty::{FaultySources, SourceFault};
use super::missing_ids::IdsOfStarts;
use super::own_events::{EventCounts, OwnEvents, is_own};
use crate::fact::{Subjects, TraceSubject};
use crate::model::{Model, Moment, Resolved};
use crate::report::CollectionFigures;
use crate::report::{
    Activities, ActivitiesReport, Alloc, AllocReport, BenchmarkFinder, Contention,
    ContentionReport, Counters, CountersReport, Exceptions, ExceptionsReport, Gc, GcReport, Jit,
    JitReport, Logs, LogsReport, Occurrence, Report, Sql, SqlReport, Tasks, TasksReport,
    ThreadPool, ThreadPoolReport, Waits, WaitsReport,
};
#[cfg(feature = "page")]
use crate::report::{Compilation, LogRow};
use nettrace_parser::Event;

/// Lists the reports; each becomes a field of the generated types. The last one asks for the open
/// requests, which the report of activities follows.
macro_rules! reports {
    (
        each { $($name:ident: $report:ident => $result:ident,)+ }
        $among:ident: $commands:ident => $becomes:ident
    ) => {
        /// The reports, with details as the summary or the page needs them.
        #[derive(Debug)]
        pub(crate) struct OverviewReports {
            $(pub(crate) $name: $report,)+
            pub(crate) $among: $commands,
        }

        /// Whether each part of the overview wants the events of a type.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct OverviewInterest {
            $($name: bool,)+
            $among: bool,
            /// Subject of the events, if they count for one.
            subject: Option<TraceSubject>,
            own: bool,
            askers: bool,
            faults: bool,
            ids: bool,
            benchmark: bool,
        }

        impl Overview {
            /// Returns which parts want events of this type; `None` if no part does.
            pub(crate) fn interest(&self, event: &Event<'_>) -> Option<OverviewInterest> {
                let interest = OverviewInterest {
                    $($name: self.reports.$name.wants(event),)+
                    $among: self.reports.$among.wants(event),
                    subject: TraceSubject::for_event(event),
                    own: is_own(event),
                    askers: Askers::wants(event),
                    faults: SourceFault::may_be(event),
                    ids: IdsOfStarts::wants(event),
                    benchmark: BenchmarkFinder::wants(event),
                };
                // The end of an exception changes nothing that a finding tells.
                let interest = OverviewInterest {
                    exceptions: interest.exceptions && !Exceptions::is_end(event),
                    ..interest
                };
                let OverviewInterest {
                    $($name,)+ $among, subject, own, askers, faults, ids, benchmark,
                } = interest;
                let is_counted = subject.is_some() || own || askers || faults || ids || benchmark;
                ($($name ||)+ $among || is_counted)
                    .then_some(interest)
            }
        }

        impl OverviewReports {
            fn observe(
                &mut self,
                event: &Event<'_>,
                moment: &Moment,
                model: &mut Model,
                interest: &OverviewInterest,
            ) {
                $(if interest.$name {
                    self.$name.event(event, moment, model);
                })+
                if interest.$among {
                    self.$among.event_among(event, moment, model, &mut self.activities);
                }
            }
        }

        /// The documents of all reports, and counts of events.
        #[derive(Debug)]
        #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "some only the page shows"))]
        pub(crate) struct Overviewed {
            $(pub(crate) $name: $result,)+
            pub(crate) $among: $becomes,
            pub(super) subjects: Subjects,
            pub(super) own: Vec<OwnEvents>,
            pub(super) askers: Askers,
            pub(super) faults: FaultySources,
            pub(super) ids: IdsOfStarts,
            pub(crate) benchmark: BenchmarkFinder,
        }

        impl Overview {
            pub(crate) fn finish(self, resolved: &Resolved<'_>) -> Overviewed {
                let mut finished = Overviewed {
                    $($name: self.reports.$name.finish(resolved),)+
                    $among: self.reports.$among.finish(resolved),
                    subjects: self.subjects.finish(),
                    own: self.own.finish(),
                    askers: self.askers,
                    faults: self.faults,
                    ids: self.ids,
                    benchmark: self.benchmark,
                };
                finished.benchmark.add_rest(&finished.gc);
                finished.count_subjects();
                finished
            }
        }
    };
}

reports! {
    each {
    gc: Gc => GcReport,
    alloc: Alloc => AllocReport,
    exceptions: Exceptions => ExceptionsReport,
    contention: Contention => ContentionReport,
    waits: Waits => WaitsReport,
    jit: Jit => JitReport,
    pool: ThreadPool => ThreadPoolReport,
    activities: Activities => ActivitiesReport,
    logs: Logs => LogsReport,
    counters: Counters => CountersReport,
    tasks: Tasks => TasksReport,
    }
    sql: Sql => SqlReport
}

/// Maximum number of stacks of each type of exception that the report keeps for findings.
const MAX_THROW_SITES: usize = 256;

/// Computes the reports, and counts events by subject and type.
#[derive(Debug)]
pub(crate) struct Overview {
    reports: OverviewReports,
    subjects: SubjectCounts,
    own: EventCounts,
    askers: Askers,
    faults: FaultySources,
    ids: IdsOfStarts,
    benchmark: BenchmarkFinder,
}

/// Numbers of events by subject, each at the place of the subject among all: nearly every event has
/// one.
#[derive(Debug, Default)]
struct SubjectCounts(Vec<Option<(TraceSubject, u64)>>);

impl SubjectCounts {
    fn add(&mut self, subject: TraceSubject) {
        let place = subject as usize;
        if self.0.len() <= place {
            self.0.resize(place.saturating_add(1), None);
        }
        if let Some(row) = self.0.get_mut(place) {
            let (_, count) = row.get_or_insert((subject, 0));
            *count = count.saturating_add(1);
        }
    }

    fn finish(self) -> Subjects {
        self.0.into_iter().flatten().collect()
    }
}

impl Overview {
    pub(crate) fn new(reports: OverviewReports) -> Overview {
        let activities = reports.activities.with_ended_requests();
        Overview {
            reports: OverviewReports { activities, ..reports },
            subjects: SubjectCounts::default(),
            own: EventCounts::default(),
            askers: Askers::default(),
            faults: FaultySources::default(),
            ids: IdsOfStarts::default(),
            benchmark: BenchmarkFinder::default(),
        }
    }

    /// Returns reports that compute only what findings need.
    pub(crate) fn reports_for_findings() -> OverviewReports {
        OverviewReports {
            gc: Gc::default().at_most(0),
            alloc: Alloc::default(),
            exceptions: Exceptions::default().top(MAX_THROW_SITES).without_names(),
            contention: Contention::default().without_owner_stacks(),
            waits: Waits::default(),
            jit: Jit::default().without_methods(),
            pool: ThreadPool::default(),
            activities: Activities::without_parts().with_http().without_fields(),
            logs: Logs::default().without_messages(),
            counters: Counters::default().without_points(),
            tasks: Tasks::default().without_activities().only_open_waits(),
            sql: Sql::default(),
        }
    }

    /// Passes an event to the parts that want it.
    pub(crate) fn observe(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        interest: &OverviewInterest,
    ) {
        self.reports.observe(event, moment, model, interest);
        if !moment.is_selected {
            return;
        }
        if let Some(subject) = interest.subject {
            self.subjects.add(subject);
        }
        if interest.own {
            self.own.add(event);
        }
        if interest.askers {
            self.askers.add(event, moment, model);
        }
        if interest.faults {
            self.faults.add(event);
        }
        if interest.ids {
            self.ids.add(event, moment);
        }
        if interest.benchmark {
            self.benchmark.event(event, moment);
            self.reports.gc.keep_each();
        }
    }

    /// Takes the activities and the requests that have ended since the last call.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take_ended(&mut self) -> [Vec<Occurrence>; 2] {
        self.reports.activities.take_ended()
    }

    /// Counts the collections of a benchmark, after an event, if nobody takes them.
    pub(crate) fn count_collections(&mut self, interest: &OverviewInterest) {
        if interest.gc || interest.benchmark {
            self.take_collections();
        }
    }

    /// Takes the collections about which no more events will come, if they are kept.
    pub(crate) fn take_collections(&mut self) -> Vec<CollectionFigures> {
        let ended = self.reports.gc.take_ended();
        self.benchmark.add_collections(&ended);
        ended
    }

    /// Takes the compilations that have ended since the last call.
    #[cfg(feature = "page")]
    pub(crate) fn take_compilations(&mut self) -> Vec<Compilation> {
        self.reports.jit.take_ended()
    }

    /// Takes the log messages of which no further form can come.
    #[cfg(feature = "page")]
    pub(crate) fn take_messages(&mut self) -> Vec<LogRow> {
        self.reports.logs.take_old()
    }

    /// Takes the tasks, and the waits for tasks, that have ended since the last call.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take_tasks(&mut self) -> [Vec<Occurrence>; 4] {
        self.reports.tasks.take_ended()
    }
}

impl Overviewed {
    /// Adds counts of subjects of which the reports decide which events belong to them.
    fn count_subjects(&mut self) {
        // The first source is the most accurate one.
        let allocations = self.alloc.sources.first().map_or(0, |source| source.events);
        let counts = [
            (TraceSubject::Allocations, allocations),
            (TraceSubject::Activities, self.activities.used),
            (TraceSubject::Sql, self.sql.used),
            (TraceSubject::Logs, self.logs.used),
            (TraceSubject::Counters, self.counters.used),
        ];
        self.subjects.extend(counts.into_iter().filter(|(_, count)| *count > 0));
        // The report of the start has more than its first event: what was compiled and loaded.
        let of = |subject| self.subjects.get(&subject).copied().unwrap_or(0);
        let started = of(TraceSubject::Jit).saturating_add(of(TraceSubject::Loader));
        if self.subjects.remove(&TraceSubject::Startup).is_some() && started > 0 {
            self.subjects.insert(TraceSubject::Startup, started);
        }
    }
}
