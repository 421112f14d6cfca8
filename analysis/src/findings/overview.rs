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

/// The reports, each as detailed as its user needs it.
pub(crate) type OverviewReports = (
    Gc,
    Alloc,
    Exceptions,
    Contention,
    Waits,
    Jit,
    ThreadPool,
    Activities,
    Logs,
    Counters,
    Tasks,
    Sql,
);

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

/// The finished reports.
#[derive(Debug)]
pub(crate) struct Overviewed {
    pub(crate) gc: GcReport,
    pub(crate) alloc: AllocReport,
    pub(crate) exceptions: ExceptionsReport,
    pub(crate) contention: ContentionReport,
    pub(crate) waits: WaitsReport,
    pub(crate) jit: JitReport,
    pub(crate) pool: ThreadPoolReport,
    pub(crate) activities: ActivitiesReport,
    pub(crate) logs: LogsReport,
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows it"))]
    pub(crate) counters: CountersReport,
    pub(crate) tasks: TasksReport,
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows it"))]
    pub(crate) sql: SqlReport,
    pub(super) subjects: Subjects,
    pub(super) own: Vec<OwnEvents>,
    pub(super) askers: Askers,
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
        (
            Gc::default(),
            Alloc::default(),
            Exceptions::default().top(MOST_THROW_SITES),
            Contention::default().without_owner_stacks(),
            Waits::default(),
            Jit::default(),
            ThreadPool::default(),
            Activities::without_parts().with_http(),
            Logs::default().without_messages(),
            Counters::default().without_points(),
            Tasks::default().without_activities(),
            Sql::default(),
        )
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
        self.reports.7.take_ended()
    }

    pub(crate) fn finish(self, resolved: &Resolved<'_>) -> Overviewed {
        let (
            gc,
            alloc,
            exceptions,
            contention,
            waits,
            jit,
            pool,
            activities,
            logs,
            counters,
            tasks,
            sql,
        ) = self.reports;
        let (alloc, activities) = (alloc.finish(resolved), activities.finish(resolved));
        let (logs, counters) = (logs.finish(resolved), counters.finish(resolved));
        let sql = sql.finish(resolved);
        let mut subjects = self.subjects;
        // The most accurate way of measuring.
        let allocations = alloc.sources.first().map_or(0, |source| source.events);
        let counts = [
            (Subject::Allocations, allocations),
            (Subject::Activities, activities.used),
            (Subject::Sql, sql.used),
            (Subject::Logs, logs.used),
            (Subject::Counters, counters.used),
        ];
        subjects.extend(counts.into_iter().filter(|(_, count)| *count > 0));
        Overviewed {
            gc: gc.finish(resolved),
            alloc,
            exceptions: exceptions.finish(resolved),
            contention: contention.finish(resolved),
            waits: waits.finish(resolved),
            jit: jit.finish(resolved),
            pool: pool.finish(resolved),
            activities,
            logs,
            counters,
            tasks: tasks.finish(resolved),
            sql,
            subjects,
            own: self.own.finish(),
            askers: self.askers,
        }
    }
}
