//! The reports that findings are made of.

use super::askers::Askers;
use super::own_events::{EventCounts, OwnEvents, is_own};
use super::subject::{Subject, Subjects};
use crate::model::{Model, Moment, Resolved};
use crate::report::{
    Activities, ActivitiesReport, Alloc, AllocReport, Contention, ContentionReport, Counters,
    CountersReport, Exceptions, ExceptionsReport, Gc, GcReport, Jit, JitReport, Logs, LogsReport,
    Occurrence, Report, Reports, Sql, SqlReport, Tasks, TasksReport, ThreadPool, ThreadPoolReport,
    Waits, WaitsReport,
};
use nettrace_parser::Event;

/// The reports with their places among the bits of [`OverviewReports::wanting`].
macro_rules! reports {
    ($($place:literal $name:ident: $report:ident => $result:ident,)+) => {
        /// The reports, each as detailed as its user needs it.
        #[derive(Debug)]
        pub(crate) struct OverviewReports {
            $(pub(crate) $name: $report,)+
        }

        impl OverviewReports {
            fn wanting(&self, event: &Event<'_>) -> u32 {
                $((self.$name.wanting(event) << $place))|+
            }

            fn observe(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model, wanting: u32) {
                $(if wanting & (1 << $place) != 0 {
                    self.$name.event(event, moment, model);
                })+
            }
        }

        /// The finished reports.
        #[derive(Debug)]
        #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "some only the page shows"))]
        pub(crate) struct Overviewed {
            $(pub(crate) $name: $result,)+
            pub(super) subjects: Subjects,
            pub(super) own: Vec<OwnEvents>,
            pub(super) askers: Askers,
        }

        impl Overview {
            pub(crate) fn finish(self, resolved: &Resolved<'_>) -> Overviewed {
                let mut finished = Overviewed {
                    $($name: self.reports.$name.finish(resolved),)+
                    subjects: self.subjects,
                    own: self.own.finish(),
                    askers: self.askers,
                };
                finished.count_subjects();
                finished
            }
        }
    };
}

reports! {
    0 gc: Gc => GcReport,
    1 alloc: Alloc => AllocReport,
    2 exceptions: Exceptions => ExceptionsReport,
    3 contention: Contention => ContentionReport,
    4 waits: Waits => WaitsReport,
    5 jit: Jit => JitReport,
    6 pool: ThreadPool => ThreadPoolReport,
    7 activities: Activities => ActivitiesReport,
    8 logs: Logs => LogsReport,
    9 counters: Counters => CountersReport,
    10 tasks: Tasks => TasksReport,
    11 sql: Sql => SqlReport,
}

/// The bit for counting subjects: above those of the reports, however many there are, and
/// below the two that the page has for itself.
const SUBJECTS: u32 = 1 << 29;
/// The bit for counting the events of the program's own sources.
const OWN: u32 = 1 << 28;

/// Stacks of each type of exception that a finding looks at.
const MOST_THROW_SITES: usize = 256;
/// The bit for who asks for collections and threads.
const ASKERS: u32 = 1 << 27;

/// Computes the reports, and counts what events are about.
#[derive(Debug)]
pub(crate) struct Overview {
    reports: OverviewReports,
    subjects: Subjects,
    own: EventCounts,
    askers: Askers,
}

impl Overview {
    pub(crate) fn new(reports: OverviewReports) -> Overview {
        Overview {
            reports,
            subjects: Subjects::new(),
            own: EventCounts::default(),
            askers: Askers::default(),
        }
    }

    /// Reports that are as detailed as findings need them.
    pub(crate) fn reports_for_findings() -> OverviewReports {
        OverviewReports {
            gc: Gc::default(),
            alloc: Alloc::default(),
            exceptions: Exceptions::default().top(MOST_THROW_SITES),
            contention: Contention::default().without_owner_stacks(),
            waits: Waits::default(),
            jit: Jit::default(),
            pool: ThreadPool::default(),
            activities: Activities::without_parts().with_http(),
            logs: Logs::default().without_messages(),
            counters: Counters::default().without_points(),
            tasks: Tasks::default().without_activities(),
            sql: Sql::default(),
        }
    }

    /// Which of its parts want events of this type, one bit for each.
    pub(crate) fn wanting(&self, event: &Event<'_>) -> u32 {
        let counts = Subject::of(event).map_or(0, |_| SUBJECTS);
        let own = if is_own(event) { OWN } else { 0 };
        let askers = if Askers::wants(event) { ASKERS } else { 0 };
        self.reports.wanting(event) | counts | own | askers
    }

    /// Passes an event to the parts that want it.
    pub(crate) fn observe(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        wanting: u32,
    ) {
        self.reports.observe(event, moment, model, wanting);
        if moment.is_selected
            && wanting & SUBJECTS != 0
            && let Some(subject) = Subject::of(event)
        {
            let count = self.subjects.entry(subject).or_default();
            *count = count.saturating_add(1);
        }
        if moment.is_selected && wanting & OWN != 0 {
            self.own.add(event);
        }
        if moment.is_selected && wanting & ASKERS != 0 {
            self.askers.add(event, moment, model);
        }
    }

    /// The activities and requests that have ended since the last call.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take_ended(&mut self) -> [Vec<Occurrence>; 2] {
        self.reports.activities.take_ended()
    }

    /// The tasks, and waits for these, that are over since the last call.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn take_tasks(&mut self) -> [Vec<Occurrence>; 4] {
        self.reports.tasks.take_ended()
    }
}

impl Overviewed {
    /// Adds what the reports have counted to what was counted by event.
    fn count_subjects(&mut self) {
        // The most accurate way of measuring.
        let allocations = self.alloc.sources.first().map_or(0, |source| source.events);
        let counts = [
            (Subject::Allocations, allocations),
            (Subject::Activities, self.activities.used),
            (Subject::Sql, self.sql.used),
            (Subject::Logs, self.logs.used),
            (Subject::Counters, self.counters.used),
        ];
        self.subjects.extend(counts.into_iter().filter(|(_, count)| *count > 0));
    }
}
