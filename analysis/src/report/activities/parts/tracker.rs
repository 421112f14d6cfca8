//! Tracking of the threads of all open activities.

use super::account::{Account, LinePart, MAX_STRETCHES, PartTotals};
use super::carrier::{Busy, Carrier};
use super::pauses::Pauses;
use super::{At, Doing, Stretch, ThreadWork, WorkPiece};
use crate::hash::HashMap;
use crate::model::activity_id::ActivityId;
use crate::model::intervals::{nanos_between, reported_nanos};
use crate::model::{Model, Resolved, ThreadHandle};
use crate::report::contract::Moment;
use nettrace_parser::view::{self, KnownProvider, SampleState, View};
use nettrace_parser::{Event, Guid};

/// Maximum number of levels of a path that are searched for an open activity, and of activities
/// inside each other.
const DEEPEST: usize = 32;
/// Maximum number of tasks whose activity is remembered; beyond it, all are forgotten.
const MAX_TASKS: usize = 65_536;
/// Maximum number of threads that work for an activity at a time.
const MAX_CARRIERS: usize = 256;
/// Maximum number of pauses that are kept for the time line of the requested activity.
const MAX_PAUSES: usize = 10_000;

/// Minimum time between two events of a thread for which their stacks are compared, in nanoseconds.
const MIN_AWAY_NANOS: i64 = 1_000_000;

const WORK_BEGIN: u32 = 17;
const WORK_END: u32 = 18;

/// Computes the parts of each activity's time when it stops.
#[derive(Debug, Default)]
pub(crate) struct PartTracker {
    threads: Vec<Carrier>,
    accounts: HashMap<u64, Account>,
    /// Numbers of the open activities with an id, oldest first.
    by_id: HashMap<ActivityId, Vec<u64>>,
    started: u64,
    /// Activity id of each task and the number of its innermost activity, by process and task.
    tasks: HashMap<(Option<u64>, u64), (Guid, Option<u64>)>,
    pauses: HashMap<Option<u64>, Pauses>,
    is_sampled: bool,
    /// Number of the requested activity while it is open.
    wanted: Option<u64>,
    wanted_pauses: Vec<(i64, i64)>,
    line: Vec<LinePart>,
    /// Maximum number of spans of threads that are kept for every activity.
    max_threads: usize,
    /// Time line of the activity that stopped last.
    threads_of_last: Vec<LinePart>,
}

impl PartTracker {
    /// Returns whether there were samples, without which running and waiting look alike.
    pub(crate) fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Keeps at least `max` spans of threads for every activity, if it has as many.
    pub(crate) fn with_threads(self, max: usize) -> PartTracker {
        PartTracker { max_threads: self.max_threads.max(max), ..self }
    }

    /// Returns the spans in which threads worked for the activity that stopped last, if they are
    /// kept: thread, start, end. Also returns whether later ones were left out.
    pub(crate) fn take_threads(&mut self) -> (Vec<(ThreadHandle, i64, i64)>, bool) {
        let mut spans: Vec<(ThreadHandle, i64, i64)> = Vec::new();
        let line = std::mem::take(&mut self.threads_of_last);
        let mut is_cut = line.len() >= MAX_STRETCHES;
        for part in line {
            let Some(thread) = part.thread else { continue };
            let joined =
                spans.last_mut().filter(|(last, _, to)| *last == thread && *to == part.from.nanos);
            if let Some((_, _, to)) = joined {
                *to = part.to.nanos;
            } else if spans.len() < self.max_threads {
                spans.push((thread, part.from.nanos, part.to.nanos));
            } else {
                is_cut = true;
                break;
            }
        }
        (spans, is_cut)
    }

    /// Processes the next event. Call it before [`PartTracker::start`] or [`PartTracker::stop`] for
    /// the event.
    pub(crate) fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let provider = event.known_provider();
        let (thread, process) = (moment.thread, event.process_id());
        match provider {
            KnownProvider::SampleProfiler => {
                let Some(sample) = view::Sample::from_event(event) else { return };
                self.is_sampled = true;
                let Some(carrier) = self.threads.get_mut(thread.index()) else { return };
                if carrier.chain.is_empty() {
                    return;
                }
                let what = match sample.state {
                    SampleState::Managed => ThreadWork::Running,
                    SampleState::External => ThreadWork::Native(model.stack_of(event, thread)),
                    _ => return,
                };
                let at = at(&self.pauses, process, moment.nanos);
                carrier.sampled(thread, at, what);
                return;
            }
            KnownProvider::EventPipe
            | KnownProvider::Rundown
            | KnownProvider::UniversalSystem
            | KnownProvider::UniversalEvents => return,
            KnownProvider::Runtime => self.pause(event, moment),
            _ => {}
        }
        let pauses = self.pauses.get_mut(&process);
        let paused = pauses.map_or(0, |pauses| {
            if provider != KnownProvider::Runtime {
                pauses.is_running(moment.nanos);
            }
            pauses.until(moment.nanos)
        });
        let now = At { nanos: moment.nanos, paused };
        let mut id = event.activity_id().filter(|id| !id.is_zero());
        let (mut has_left, mut of_task) = (false, None);
        if provider == KnownProvider::Tasks {
            has_left = match event.id() {
                10 => number(event, "Behavior") == Some(2),
                9 | 12 | 13 | 15 | WORK_END => true,
                _ => false,
            };
            if id.is_none()
                && let Some((of_work, number)) = self.id_of_work(event, thread)
            {
                (id, of_task) = (Some(of_work), number);
            }
        }
        if provider != KnownProvider::Runtime
            && let Some(carrier) = self.threads.get_mut(thread.index())
        {
            carrier.runs_on(thread, now);
        }
        if !self.is_sampled {
            self.compare_calls(event, thread, now, model);
        }
        self.arrive(thread, (id, of_task), process, now, has_left);
        if provider == KnownProvider::Tasks {
            self.learn_task(event, id, thread);
        }
        if provider == KnownProvider::Runtime {
            self.learn_wait(event, moment, now);
        }
    }

    /// Notes that a thread has returned from its call since its last event, if the stacks show it.
    /// This is needed only without samples.
    fn compare_calls(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        now: At,
        model: &mut Model,
    ) {
        let Some(carrier) = self.threads.get_mut(thread.index()) else { return };
        if carrier.chain.is_empty() {
            carrier.call.forget();
            return;
        }
        let is_long = now.nanos.saturating_sub(carrier.last.nanos) >= MIN_AWAY_NANOS;
        if is_long
            && !carrier.has_left
            && let Some(to) = carrier.call.returned_to(event)
        {
            let to = model.stack_of_addresses(event, thread, to);
            carrier.returned(thread, to, now);
        }
        carrier.call.keep(event);
    }

    /// Tracks GC pauses.
    fn pause(&mut self, event: &Event<'_>, moment: &Moment) {
        let Some(suspension) = view::Suspension::from_event(event) else { return };
        let pauses = self.pauses.entry(event.process_id()).or_default();
        let ended = pauses.event(suspension, moment.edge(event));
        if self.wanted.is_some() && self.wanted_pauses.len() < MAX_PAUSES {
            self.wanted_pauses.extend(ended);
        }
    }

    /// Returns the activity id for the begin or end of a task's turn, whose events come before the
    /// id is set and after it is removed, and the number of the task's activity.
    fn id_of_work(&self, event: &Event<'_>, thread: ThreadHandle) -> Option<(Guid, Option<u64>)> {
        match event.id() {
            // 2: the task's own work, not its continuations.
            WORK_BEGIN if number(event, "Work") == Some(2) => {
                self.tasks.get(&(event.process_id(), number(event, "TaskID")?)).copied()
            }
            WORK_END => {
                let carrier = self.threads.get(thread.index())?;
                let id = carrier.id.filter(|_| !carrier.has_left)?;
                Some((id, carrier.chain.first().copied()))
            }
            _ => None,
        }
    }

    /// Notes the activity of a task that is started, after [`PartTracker::arrive`].
    fn learn_task(&mut self, event: &Event<'_>, id: Option<Guid>, thread: ThreadHandle) {
        if !matches!(event.id(), 14 | 15) {
            return;
        }
        let Some(task) = number(event, "TaskID") else { return };
        let key = (event.process_id(), task);
        match id {
            Some(id) if event.id() == 14 => {
                if self.tasks.len() >= MAX_TASKS {
                    self.tasks.clear();
                }
                let carrier = self.threads.get(thread.index());
                let activity = carrier.and_then(|carrier| carrier.chain.first().copied());
                self.tasks.insert(key, (id, activity));
            }
            _ => {
                self.tasks.remove(&key);
            }
        }
    }

    /// Processes events of waits and compilations.
    fn learn_wait(&mut self, event: &Event<'_>, moment: &Moment, now: At) {
        let thread = moment.thread;
        let Some(carrier) =
            self.threads.get_mut(thread.index()).filter(|row| !row.chain.is_empty())
        else {
            return;
        };
        let (busy, begins) = match event.id() {
            id @ (81 | 91) => (Busy::Lock, id == 81),
            id @ (301 | 302) => (Busy::Wait, id == 301),
            id @ (141 | 143 | 145) => (Busy::Jit, id == 145),
            _ => return,
        };
        let method = match busy {
            Busy::Jit => number(event, "MethodID"),
            Busy::Lock | Busy::Wait => Some(0),
        };
        let Some(method) = method else { return };
        // The time before was recorded with the event, or the thread runs as before.
        carrier.cut(thread, now);
        let at = moment.edge(event);
        let certain = if begins {
            let before = if carrier.is_busy() { Vec::new() } else { carrier.take_held() };
            carrier.enter(busy, method, at);
            before
        } else {
            carrier.leave(busy, method, at, reported_nanos(event))
        };
        carrier.begin(now, false);
        self.commit(thread, &certain);
    }

    /// Notes an event of a thread, whose id shows the activity that the thread works for. The
    /// number is that of the activity if the event's task tells it.
    fn arrive(
        &mut self,
        thread: ThreadHandle,
        (id, of_task): (Option<Guid>, Option<u64>),
        process: Option<u64>,
        now: At,
        has_left: bool,
    ) {
        let Some(carrier) = carrier(&mut self.threads, thread) else { return };
        if carrier.id == id && !std::mem::take(&mut carrier.has_stopped) {
            if carrier.chain.is_empty() {
                carrier.last = now;
                carrier.has_left = has_left;
            } else if carrier.goes_on(now, has_left) {
                carrier.cut(thread, now);
                let held = if carrier.is_busy() { Vec::new() } else { carrier.take_held() };
                carrier.begin(now, has_left);
                self.commit(thread, &held);
            }
            return;
        }
        carrier.id = id;
        carrier.has_stopped = false;
        let mut known = std::mem::take(&mut carrier.chain);
        let chain = id.map(|id| {
            let id = ActivityId::from_guid(id, process);
            let known: &[u64] = of_task.as_ref().map_or(&known, std::slice::from_ref);
            self.chain_of(id.and_around(), known)
        });
        if let Some(carrier) = self.threads.get_mut(thread.index()) {
            carrier.chain = std::mem::take(&mut known);
        }
        self.switch(thread, chain.unwrap_or_default(), now, has_left);
    }

    /// Returns the open activities of the first of the ids that open ones have, innermost first.
    /// `known`: activities that the thread or task has worked for, which tell the one that is meant
    /// if several open ones have the id.
    fn chain_of(&self, ids: impl Iterator<Item = ActivityId>, known: &[u64]) -> Vec<u64> {
        for id in ids.take(DEEPEST) {
            let Some(open) = self.by_id.get(&id) else { continue };
            let may_repeat =
                |number: &u64| self.accounts.get(number).is_some_and(|it| it.may_repeat);
            let number = match open.as_slice() {
                [.., newest] if open.len() == 1 || !may_repeat(newest) => Some(newest),
                _ => known.iter().find(|number| open.contains(number)),
            };
            if let Some(number) = number {
                return self.with_above(*number);
            }
        }
        Vec::new()
    }

    fn with_above(&self, number: u64) -> Vec<u64> {
        let above = self.accounts.get(&number).map_or(&[][..], |account| &account.above);
        let open = above.iter().copied().filter(|above| self.accounts.contains_key(above));
        std::iter::once(number).chain(open).take(DEEPEST).collect()
    }

    /// Notes that a thread works for other activities from now on.
    fn switch(&mut self, thread: ThreadHandle, chain: Vec<u64>, now: At, has_left: bool) {
        let Some(carrier) = self.threads.get_mut(thread.index()) else { return };
        if carrier.chain.is_empty() && chain.is_empty() {
            carrier.last = now;
            carrier.has_left = has_left;
            return;
        }
        let before = std::mem::take(&mut carrier.chain);
        let mut held = Vec::new();
        let mut left = Vec::new();
        if !before.is_empty() {
            carrier.cut(thread, now);
            held = carrier.take_held();
            if before.iter().any(|number| !chain.contains(number)) {
                left = carrier.until_last(&held, thread, now);
            }
        }
        let goes_on = before.iter().any(|number| chain.contains(number));
        if !goes_on {
            carrier.forget_waits();
        }
        carrier.begin(now, has_left);
        carrier.chain.clone_from(&chain);
        for number in &chain {
            if let Some(account) = self.accounts.get_mut(number)
                && !before.contains(number)
                && account.carriers.len() < MAX_CARRIERS
            {
                account.carriers.push(thread);
            }
        }
        for number in before {
            let stays = chain.contains(&number);
            self.add(number, if stays { &held } else { &left });
            if let Some(account) = self.accounts.get_mut(&number).filter(|_| !stays) {
                account.carriers.retain(|other| *other != thread);
            }
        }
    }

    /// Adds pieces of a thread's time to the activities that it worked for.
    fn commit(&mut self, thread: ThreadHandle, pieces: &[WorkPiece]) {
        let chain = self
            .threads
            .get(thread.index())
            .map(|carrier| carrier.chain.clone())
            .unwrap_or_default();
        for number in chain {
            self.add(number, pieces);
        }
    }

    fn add(&mut self, number: u64, pieces: &[WorkPiece]) {
        let Some(account) = self.accounts.get_mut(&number) else { return };
        let Some(last) = pieces.last() else { return };
        let mut is_due = false;
        for piece in pieces {
            is_due |= account.add(*piece);
        }
        if is_due {
            let carriers =
                account.carriers.iter().filter_map(|other| self.threads.get(other.index()));
            let open = carriers.map(super::carrier::Carrier::open_since).chain([last.to]);
            let until = open.min_by_key(|at| at.nanos).unwrap_or(last.to);
            account.sum_up_early(until);
        }
    }

    /// Returns whether a thread works for the requested activity or for one inside it.
    pub(crate) fn carries_wanted(&self, thread: ThreadHandle) -> bool {
        let carrier = self.threads.get(thread.index());
        carrier.zip(self.wanted).is_some_and(|(carrier, wanted)| carrier.chain.contains(&wanted))
    }

    /// Opens the account of an activity that starts. Returns the number for [`PartTracker::stop`].
    /// `parent`: number of the activity around it; `may_repeat`: whether other open activities may
    /// have the event's activity id; `is_wanted`: whether to keep a time line.
    pub(crate) fn start(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        parent: Option<u64>,
        may_repeat: bool,
        is_wanted: bool,
    ) -> u64 {
        let process = event.process_id();
        let now = at(&self.pauses, process, moment.nanos);
        let number = self.started;
        self.started = self.started.saturating_add(1);
        let id = ActivityId::of_event(event);
        // Programs set other ids, and may lose them at an await.
        let is_followed = id.as_ref().is_some_and(ActivityId::is_path);
        let above = match (parent, &id) {
            (Some(parent), _) => self.with_above(parent),
            (None, Some(id)) => {
                let carrier = self.threads.get(moment.thread.index());
                let known = carrier.map_or(&[][..], |carrier| &carrier.chain);
                self.chain_of(id.around(), known)
            }
            (None, None) => Vec::new(),
        };
        let mut account = Account::new(id.clone(), above, now, is_followed);
        account.may_repeat = may_repeat;
        if is_wanted && self.wanted.is_none() && self.line.is_empty() {
            self.wanted = Some(number);
            account.line = Some(Vec::new());
        }
        if self.max_threads > 0 {
            account.line.get_or_insert_default();
        }
        self.accounts.insert(number, account);
        if let Some(id) = id {
            self.by_id.entry(id).or_default().push(number);
            let chain = self.with_above(number);
            self.switch(moment.thread, chain, now, false);
        }
        number
    }

    /// Closes the account of an activity that stops. Returns the sums of its time.
    pub(crate) fn stop(&mut self, number: u64, event: &Event<'_>, moment: &Moment) -> PartTotals {
        let now = at(&self.pauses, event.process_id(), moment.nanos);
        let Some(mut account) = self.accounts.remove(&number) else { return PartTotals::default() };
        for thread in std::mem::take(&mut account.carriers) {
            let Some(carrier) = self.threads.get_mut(thread.index()) else { continue };
            carrier.cut(thread, now);
            let pieces = carrier.until_last(carrier.held(), thread, now);
            carrier.has_stopped |= account.may_repeat;
            carrier.chain.retain(|other| *other != number);
            if carrier.chain.is_empty() {
                carrier.take_held();
            }
            for piece in pieces {
                account.add(piece);
            }
        }
        if let Some(id) = account.id.take()
            && let Some(open) = self.by_id.get_mut(&id)
        {
            open.retain(|other| *other != number);
            if open.is_empty() {
                self.by_id.remove(&id);
            }
        }
        account.sum_up(now);
        let line = account.line.take().unwrap_or_default();
        if self.wanted == Some(number) {
            self.wanted = None;
            self.line = line;
        } else {
            self.threads_of_last = line;
        }
        account.totals
    }

    /// Returns the time line of the requested activity, if it has stopped, as stretches without
    /// gaps.
    pub(crate) fn line(&self, resolved: &Resolved<'_>) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut add = |start_ns: i64, end: i64, doing: Doing, thread: Option<ThreadHandle>| {
            let thread = thread.and_then(|thread| resolved.model().thread(thread));
            let thread_id = thread.and_then(|row| row.os_thread_id);
            let duration_ns = nanos_between(start_ns, end);
            match stretches.last_mut() {
                Some(last) if last.doing == doing && last.thread_id == thread_id => {
                    last.duration_ns = last.duration_ns.saturating_add(duration_ns);
                }
                _ if duration_ns > 0 => {
                    stretches.push(Stretch { start_ns, duration_ns, doing, thread_id })
                }
                _ => {}
            }
        };
        for part in &self.line {
            let doing = part.doing(resolved, self.is_sampled);
            let mut from = part.from.nanos;
            let first = self.wanted_pauses.partition_point(|(_, ended)| *ended <= from);
            for (begun, ended) in self.wanted_pauses.get(first..).unwrap_or_default() {
                let (begun, ended) = ((*begun).max(from), (*ended).min(part.to.nanos));
                if begun >= part.to.nanos {
                    break;
                }
                add(from, begun, doing, part.thread);
                add(begun, ended, Doing::Gc, None);
                from = ended;
            }
            add(from, part.to.nanos, doing, part.thread);
        }
        stretches
    }
}

fn at(pauses: &HashMap<Option<u64>, Pauses>, process: Option<u64>, nanos: i64) -> At {
    At { nanos, paused: pauses.get(&process).map_or(0, |pauses| pauses.until(nanos)) }
}

/// Returns the state of a thread. Handles count from 0 in the order in which threads appear.
fn carrier(threads: &mut Vec<Carrier>, thread: ThreadHandle) -> Option<&mut Carrier> {
    if thread.index() >= threads.len() {
        threads.resize_with(thread.index().saturating_add(1), Carrier::default);
    }
    threads.get_mut(thread.index())
}

fn number(event: &Event<'_>, field: &str) -> Option<u64> {
    let value = event.field(field)?;
    value.as_u64().or_else(|| u64::try_from(value.as_i64()?).ok())
}
