//! Tracking of the threads of all open activities.

use super::account::{LinePart, MAX_STRETCHES, PartTotals, RECENT_SPANS, SpanOfThread};
use super::accounts::{AccountNumber, Accounts};
use super::carrier::{Busy, Carrier, emptied};
use super::part_role::{BusyEdge, METHOD, PartRole, TASK, TaskEdge};
use super::pauses::PausesOfAll;
use super::turns::{FollowedTurns, ProfiledAwait};
use super::{At, ThreadWork, WorkPiece};
use crate::by_type::ByType;
use crate::hash::HashMap;
use crate::model::activity_id::ActivityId;
use crate::model::intervals::reported_nanos;
use crate::model::{Model, ThreadHandle};
use crate::report::contract::Moment;
use crate::sorted::SortFew;
use nettrace_parser::view::{self, SampleState, View};
use nettrace_parser::{Event, Guid};
use std::collections::hash_map::Entry;

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

/// Computes the parts of each activity's time when it stops.
#[derive(Debug)]
pub(crate) struct PartTracker {
    roles: ByType<PartRole>,
    pub(super) threads: Vec<Carrier>,
    pub(super) accounts: Accounts,
    /// Numbers of the open activities with an id, oldest first.
    by_id: HashMap<ActivityId, OpenNumbers>,
    /// Activity id of each task and the number of its innermost activity, by process and task.
    tasks: HashMap<(Option<u64>, u64), (Guid, Option<AccountNumber>)>,
    pub(super) pauses: PausesOfAll,
    pub(super) is_sampled: bool,
    has_async_profiler: bool,
    /// Whether events of tasks tell what goes on from them.
    pub(super) has_task_turns: bool,
    /// Number of the requested activity while it is open.
    wanted: Option<AccountNumber>,
    pub(super) wanted_pauses: Vec<(i64, i64)>,
    pub(super) line: Vec<LinePart>,
    /// Maximum number of spans of threads that are kept for every activity.
    max_threads: usize,
    /// Times of the threads of the activity that stopped last.
    threads_of_last: Vec<SpanOfThread>,
    pub(super) buffers: Buffers,
    /// What the async profiler says of the threads; `None` if it says nothing.
    pub(super) turns: Option<Box<FollowedTurns>>,
    /// Time of the next of its turns; of any event before the first one.
    pub(super) turns_due: i64,
}

/// Numbers of the open activities with one id, oldest first. Most are alone.
#[derive(Debug)]
enum OpenNumbers {
    One(AccountNumber),
    Many(Vec<AccountNumber>),
}

impl OpenNumbers {
    fn as_slice(&self) -> &[AccountNumber] {
        match self {
            OpenNumbers::One(only) => std::slice::from_ref(only),
            OpenNumbers::Many(all) => all,
        }
    }

    fn push(&mut self, number: AccountNumber) {
        match self {
            OpenNumbers::One(first) => *self = OpenNumbers::Many(vec![*first, number]),
            OpenNumbers::Many(all) => all.push(number),
        }
    }

    /// Removes a number. Returns whether none is left.
    fn remove(&mut self, number: AccountNumber) -> bool {
        match self {
            OpenNumbers::One(only) => *only == number,
            OpenNumbers::Many(all) => {
                all.retain(|other| *other != number);
                all.is_empty()
            }
        }
    }
}

/// Memory for one event, which the next one uses again.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Open activities that a thread works for now, or worked for before, innermost first.
    pub(super) chain: Vec<AccountNumber>,
    /// Pieces of the thread's time: as they are, and as they count for activities that it left.
    held: Vec<WorkPiece>,
    left: Vec<WorkPiece>,
}

impl Default for PartTracker {
    fn default() -> PartTracker {
        PartTracker {
            roles: ByType::new(PartRole::Nothing),
            threads: Vec::new(),
            accounts: Accounts::default(),
            by_id: HashMap::default(),
            tasks: HashMap::default(),
            pauses: PausesOfAll::default(),
            is_sampled: false,
            has_async_profiler: false,
            has_task_turns: false,
            wanted: None,
            wanted_pauses: Vec::new(),
            line: Vec::new(),
            max_threads: 0,
            threads_of_last: Vec::new(),
            buffers: Buffers::default(),
            turns: None,
            turns_due: i64::MIN,
        }
    }
}

impl PartTracker {
    /// Returns whether there were samples, without which running and waiting look alike.
    pub(crate) fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Returns whether what the async profiler says is used; `None` if it says nothing.
    pub(crate) fn async_profiler(&self) -> Option<bool> {
        self.has_async_profiler.then_some(self.turns.is_some())
    }

    /// Keeps at least `max` spans of threads for every activity, if it has as many.
    pub(crate) fn with_threads(self, max: usize) -> PartTracker {
        PartTracker { max_threads: self.max_threads.max(max), ..self }
    }

    /// Returns the spans in which threads worked for the activity that stopped last, if they are
    /// kept: thread, start, end. Also returns whether later ones were left out.
    pub(crate) fn take_threads(&mut self) -> (Vec<(ThreadHandle, i64, i64)>, bool) {
        let mut all = std::mem::take(&mut self.threads_of_last);
        let mut is_cut = all.len() >= MAX_STRETCHES;
        all.sort_few_by_key(|span| (span.from, span.to));
        let mut spans: Vec<(ThreadHandle, i64, i64)> = Vec::new();
        for SpanOfThread { thread, from, to, may_have_left } in all {
            // The thread's last event for the activity belongs to it.
            let end = to.saturating_add(i64::from(!may_have_left));
            let mut recent = spans.iter_mut().rev().take(RECENT_SPANS);
            if let Some(before) = recent.find(|before| before.0 == thread && before.2 >= from) {
                before.2 = end.max(before.2);
            } else if spans.len() < self.max_threads {
                spans.push((thread, from, end));
            } else {
                is_cut = true;
                break;
            }
        }
        (spans, is_cut)
    }

    /// Processes the next event. Call it before [`PartTracker::start`] or [`PartTracker::stop`] for
    /// the event.
    #[inline(always)]
    pub(crate) fn event(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        if moment.nanos >= self.turns_due {
            self.follow_turns(event, moment, model);
        }
        let role = *self.roles.look_up(event, PartRole::of_type);
        match role {
            PartRole::Nothing => return,
            PartRole::AsyncBuffer => return self.has_async_profiler = true,
            PartRole::Sample => return self.sample(event, moment, model),
            PartRole::Runtime(_) => self.pause(event, moment),
            PartRole::Task(_) | PartRole::Other => {}
        }
        let id = event.activity_id().filter(|id| !id.is_zero());
        if id.is_none() && self.is_outside(event, role, moment.thread) {
            return;
        }
        self.follow(event, role, id, moment, model);
    }

    /// Returns whether an event without an activity id changes nothing but what is known of its task:
    /// its thread worked for no activity before, and neither does it now.
    #[inline(always)]
    fn is_outside(&mut self, event: &Event<'_>, role: PartRole, thread: ThreadHandle) -> bool {
        if !self.threads.get(thread.index()).is_none_or(Carrier::is_outside) {
            return false;
        }
        match role {
            PartRole::Task(TaskEdge::WorkBegin(task, _)) => {
                self.has_task_turns = true;
                let task = task.read(event, TASK);
                task.is_none_or(|task| !self.tasks.contains_key(&(event.process_id(), task)))
            }
            PartRole::Task(TaskEdge::OperationBegin(task) | TaskEdge::OperationEnd(task)) => {
                self.learn_task((event.process_id(), task.read(event, TASK)), None, thread);
                true
            }
            _ => true,
        }
    }

    /// Processes an event of a thread that works for an activity, or may do so from now on.
    #[inline(never)]
    fn follow(
        &mut self,
        event: &Event<'_>,
        role: PartRole,
        id: Option<Guid>,
        moment: &Moment,
        model: &mut Model,
    ) {
        let (thread, process) = (moment.thread, event.process_id());
        let is_runtime = matches!(role, PartRole::Runtime(_));
        let paused = self.pauses.known_mut(process).map_or(0, |pauses| {
            if !is_runtime {
                pauses.is_running(moment.nanos);
            }
            pauses.until(moment.nanos)
        });
        let now = At { nanos: moment.nanos, paused };
        let (mut id, mut has_left, mut of_task, mut is_guess) = (id, false, None, false);
        if let PartRole::Task(edge) = &role {
            has_left = edge.has_left(event);
            self.has_task_turns |= matches!(edge, TaskEdge::WorkBegin(..));
            if id.is_none()
                && let Some((of_work, number)) = self.id_of_work(event, edge, thread)
            {
                (id, of_task) = (Some(of_work), number);
                // The thread's next event shows whether it is so.
                is_guess = edge.is_of_awaiter(event);
                has_left |= is_guess;
            }
        }
        if !is_runtime && let Some(carrier) = self.threads.get_mut(thread.index()) {
            carrier.runs_on(thread, now);
        }
        if !self.is_sampled && !self.turns_tell(thread, id) {
            self.compare_calls(event, thread, now, model);
        }
        if id.is_none() && self.is_between_turns(thread) {
            self.buffers.chain.clear();
            self.switch(thread, now, has_left);
        } else {
            self.arrive(thread, (id, of_task), process, now, has_left);
        }
        if matches!(role, PartRole::Task(_))
            && let Some(carrier) = self.threads.get_mut(thread.index())
        {
            carrier.is_guess = is_guess;
        }
        match role {
            PartRole::Task(TaskEdge::OperationBegin(task)) => {
                self.learn_task((process, task.read(event, TASK)), id, thread);
            }
            PartRole::Task(TaskEdge::OperationEnd(task)) => {
                self.learn_task((process, task.read(event, TASK)), None, thread);
            }
            PartRole::Runtime(Some(edge)) => self.learn_wait(event, &edge, moment, now),
            _ => {}
        }
    }

    #[inline(never)]
    fn sample(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let Some(sample) = view::Sample::from_event(event) else { return };
        self.is_sampled = true;
        let thread = moment.thread;
        let Some(carrier) = self.threads.get_mut(thread.index()) else { return };
        if carrier.chain.is_empty() {
            return;
        }
        let what = match sample.state {
            SampleState::Managed => ThreadWork::Running,
            SampleState::External => ThreadWork::Native(model.stack_of(event, thread)),
            _ => return,
        };
        carrier.sampled(thread, self.pauses.at(event.process_id(), moment.nanos), what);
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
    #[inline(never)]
    fn pause(&mut self, event: &Event<'_>, moment: &Moment) {
        let Some(suspension) = view::Suspension::from_event(event) else { return };
        let process = event.process_id();
        self.pauses.add(process);
        let Some(pauses) = self.pauses.known_mut(process) else { return };
        let ended = pauses.event(suspension, moment.edge(event));
        if self.wanted.is_some() && self.wanted_pauses.len() < MAX_PAUSES {
            self.wanted_pauses.extend(ended);
        }
    }

    /// Returns the activity id for the begin or end of a task's turn, or of what awaited the task,
    /// whose events come before the id is set and after it is removed, and the number of the task's
    /// activity. Methods that the runtime itself suspends write no other event when they go on.
    fn id_of_work(
        &self,
        event: &Event<'_>,
        edge: &TaskEdge,
        thread: ThreadHandle,
    ) -> Option<(Guid, Option<AccountNumber>)> {
        match edge {
            TaskEdge::WorkBegin(task, _) => {
                self.tasks.get(&(event.process_id(), task.read(event, TASK)?)).copied()
            }
            TaskEdge::WorkEnd => {
                let carrier = self.threads.get(thread.index())?;
                let id = carrier.id.filter(|_| !carrier.has_left || carrier.is_guess)?;
                Some((id, carrier.innermost()))
            }
            _ => None,
        }
    }

    /// Notes the activity of a task that is started, after [`PartTracker::arrive`], or forgets that
    /// of a task that ends. `task`: process and task.
    fn learn_task(
        &mut self,
        task: (Option<u64>, Option<u64>),
        id: Option<Guid>,
        thread: ThreadHandle,
    ) {
        let (process, Some(task)) = task else { return };
        let Some(id) = id else {
            self.tasks.remove(&(process, task));
            return;
        };
        if self.tasks.len() >= MAX_TASKS {
            self.tasks.clear();
        }
        let carrier = self.threads.get(thread.index());
        let activity = carrier.and_then(Carrier::innermost);
        self.tasks.insert((process, task), (id, activity));
    }

    /// Processes events of waits and compilations.
    fn learn_wait(&mut self, event: &Event<'_>, edge: &BusyEdge, moment: &Moment, now: At) {
        let thread = moment.thread;
        let Some(carrier) =
            self.threads.get_mut(thread.index()).filter(|row| !row.chain.is_empty())
        else {
            return;
        };
        let BusyEdge { busy, begins, method } = *edge;
        let method = match busy {
            Busy::Jit => method.read(event, METHOD),
            Busy::Lock | Busy::Wait => Some(0),
        };
        let Some(method) = method else { return };
        // The time before was recorded with the event, or the thread runs as before.
        carrier.cut(thread, now);
        let at = moment.edge(event);
        let certain = &mut self.buffers.held;
        emptied(certain);
        if begins {
            if !carrier.is_busy() {
                carrier.take_held(certain);
            }
            carrier.enter(busy, method, at);
        } else {
            carrier.leave(busy, method, at, reported_nanos(event), certain);
        }
        carrier.begin(now, false);
        self.commit(thread);
    }

    /// Notes an event of a thread, whose id shows the activity that the thread works for. The
    /// number is that of the activity if the event's task tells it.
    fn arrive(
        &mut self,
        thread: ThreadHandle,
        (id, of_task): (Option<Guid>, Option<AccountNumber>),
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
                emptied(&mut self.buffers.held);
                if !carrier.is_busy() {
                    carrier.take_held(&mut self.buffers.held);
                }
                carrier.begin(now, has_left);
                self.commit(thread);
            }
            return;
        }
        carrier.id = id;
        carrier.has_stopped = false;
        self.buffers.chain.clear();
        if let Some(id) = id {
            let number = {
                let carrier = self.threads.get(thread.index());
                let known = carrier.map_or(&[][..], |carrier| &carrier.chain);
                let known = of_task.as_ref().map_or(known, std::slice::from_ref);
                self.nearest(ActivityId::from_guid(id, process).and_around(), known)
            };
            add_with_above(&self.accounts, number, &mut self.buffers.chain);
        }
        self.switch(thread, now, has_left);
    }

    /// Returns the open activity with the first of the ids that open ones have. `known`: activities
    /// that the thread or task has worked for, which tell the one that is meant if several open ones
    /// have the id.
    fn nearest(
        &self,
        ids: impl Iterator<Item = ActivityId>,
        known: &[AccountNumber],
    ) -> Option<AccountNumber> {
        if self.by_id.is_empty() {
            return None;
        }
        ids.take(DEEPEST).find_map(|id| {
            let open = self.by_id.get(&id)?.as_slice();
            let may_repeat =
                |number: &AccountNumber| self.accounts.get(*number).is_some_and(|it| it.may_repeat);
            match open {
                [.., newest] if open.len() == 1 || !may_repeat(newest) => Some(*newest),
                _ => known.iter().find(|number| open.contains(number)).copied(),
            }
        })
    }

    /// Notes that a thread works for the activities in the buffer from now on.
    pub(super) fn switch(&mut self, thread: ThreadHandle, now: At, has_left: bool) {
        let PartTracker { threads, accounts, buffers: Buffers { chain, held, left }, .. } = self;
        let Some(carrier) = threads.get_mut(thread.index()) else { return };
        if carrier.chain.is_empty() && chain.is_empty() {
            carrier.last = now;
            carrier.has_left = has_left;
            return;
        }
        std::mem::swap(&mut carrier.chain, chain);
        let before = chain;
        emptied(held);
        emptied(left);
        let stays = |number: &AccountNumber, carrier: &Carrier| carrier.chain.contains(number);
        if !before.is_empty() {
            carrier.cut(thread, now);
            carrier.take_held(held);
            if !before.iter().all(|number| stays(number, carrier)) {
                carrier.until_last(held, left, thread, now);
            }
        }
        if !before.iter().any(|number| stays(number, carrier)) {
            carrier.forget_waits();
        }
        carrier.begin(now, has_left);
        for number in &carrier.chain {
            if let Some(account) = accounts.get_mut(*number)
                && !before.contains(number)
                && account.carriers.len() < MAX_CARRIERS
            {
                account.carriers.push(thread);
            }
        }
        for number in before.iter() {
            let stays = threads.get(thread.index()).is_some_and(|carrier| stays(number, carrier));
            add(accounts, threads, *number, if stays { held } else { left });
            if let Some(account) = accounts.get_mut(*number).filter(|_| !stays) {
                account.carriers.retain(|other| *other != thread);
            }
        }
    }

    /// Adds the held pieces of a thread's time in the buffer to the activities that it works for.
    fn commit(&mut self, thread: ThreadHandle) {
        let Some(carrier) = self.threads.get(thread.index()) else { return };
        for number in &carrier.chain {
            add(&mut self.accounts, &self.threads, *number, &self.buffers.held);
        }
    }

    /// Returns whether a thread works for the requested activity or for one inside it.
    pub(crate) fn carries_wanted(&self, thread: ThreadHandle) -> bool {
        let carrier = self.threads.get(thread.index());
        carrier.zip(self.wanted).is_some_and(|(carrier, wanted)| carrier.chain.contains(&wanted))
    }

    /// Takes the awaits of the requested activity that the async profiler tells.
    #[inline]
    pub(crate) fn take_awaits(&mut self) -> Vec<ProfiledAwait> {
        self.turns.as_mut().map(|turns| turns.take_awaits()).unwrap_or_default()
    }

    /// Opens the account of an activity that starts. Returns the number for [`PartTracker::stop`].
    /// `id`: activity id of the event; `parent`: number of the activity around it; `may_repeat`:
    /// whether other open activities may have the id; `is_wanted`: whether to keep a time line.
    pub(crate) fn start(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        id: Option<ActivityId>,
        parent: Option<AccountNumber>,
        may_repeat: bool,
        is_wanted: bool,
    ) -> AccountNumber {
        let now = self.pauses.at(event.process_id(), moment.nanos);
        // Programs set other ids, and may lose them at an await.
        let has_path = id.as_ref().is_some_and(ActivityId::is_path);
        let is_followed = has_path || self.turns.is_some();
        let around = match (parent, &id) {
            (Some(parent), _) => Some(parent),
            (None, Some(id)) => {
                let carrier = self.threads.get(moment.thread.index());
                let known = carrier.map_or(&[][..], |carrier| &carrier.chain);
                self.nearest(id.around(), known)
            }
            (None, None) => self.around_by_turns(moment.thread),
        };
        let above = &mut self.buffers.chain;
        above.clear();
        add_with_above(&self.accounts, around, above);
        let (number, account) = self.accounts.open();
        if let Some(account) = account {
            account.reopen(id.clone(), above, now, is_followed);
            account.may_repeat = may_repeat;
            account.is_by_turns = is_followed && !has_path;
            if is_wanted && self.wanted.is_none() && self.line.is_empty() {
                self.wanted = Some(number);
                account.line = Some(Vec::new());
            }
            if self.max_threads > 0 {
                account.spans.get_or_insert_default();
            }
        }
        let has_id = id.is_some();
        if let Some(id) = id {
            match self.by_id.entry(id) {
                Entry::Vacant(vacant) => {
                    vacant.insert(OpenNumbers::One(number));
                }
                Entry::Occupied(mut others) => others.get_mut().push(number),
            }
        }
        if let Some(turns) = &mut self.turns {
            turns.starts(moment.thread);
        }
        if has_id || self.turns.as_ref().is_some_and(|turns| turns.tells_of(event)) {
            carrier(&mut self.threads, moment.thread);
            let chain = &mut self.buffers.chain;
            chain.clear();
            add_with_above(&self.accounts, Some(number), chain);
            self.switch(moment.thread, now, false);
        }
        number
    }

    /// Closes the account of an activity that stops. Returns the sums of its time.
    pub(crate) fn stop(
        &mut self,
        number: AccountNumber,
        event: &Event<'_>,
        moment: &Moment,
    ) -> PartTotals {
        let now = self.pauses.at(event.process_id(), moment.nanos);
        let Some(account) = self.accounts.close(number) else { return PartTotals::default() };
        let mut carriers = std::mem::take(&mut account.carriers);
        // The turns that led to the stop are not all known.
        let is_lost = account.is_by_turns && !carriers.contains(&moment.thread);
        for thread in carriers.drain(..) {
            let Some(carrier) = self.threads.get_mut(thread.index()) else { continue };
            carrier.cut(thread, now);
            let left = &mut self.buffers.left;
            emptied(left);
            carrier.until_last(carrier.held(), left, thread, now);
            carrier.has_stopped |= account.may_repeat;
            carrier.chain.retain(|other| *other != number);
            if carrier.chain.is_empty() {
                carrier.drop_held();
            }
            for piece in left.iter() {
                account.add(*piece);
            }
        }
        account.carriers = carriers;
        if let Some(id) = account.id.take()
            && let Entry::Occupied(mut open) = self.by_id.entry(id)
            && open.get_mut().remove(number)
        {
            open.remove();
        }
        account.sum_up(now);
        let line = account.line.take().unwrap_or_default();
        self.threads_of_last = account.spans.take().unwrap_or_default();
        if self.wanted == Some(number) {
            self.wanted = None;
            self.line = line;
        }
        let totals = account.close();
        if is_lost { totals.without_awaits() } else { totals }
    }
}

/// Adds pieces of the time of a thread to an activity.
fn add(accounts: &mut Accounts, threads: &[Carrier], number: AccountNumber, pieces: &[WorkPiece]) {
    let Some(last) = pieces.last() else { return };
    let Some(account) = accounts.get_mut(number) else { return };
    let mut is_due = false;
    for piece in pieces {
        is_due |= account.add(*piece);
    }
    if is_due {
        let carriers = account.carriers.iter().filter_map(|other| threads.get(other.index()));
        let open = carriers.map(Carrier::open_since).chain([last.to]);
        let until = open.min_by_key(|at| at.nanos).unwrap_or(last.to);
        account.sum_up_early(until);
    }
}

/// Adds an open activity and those around it to a list, innermost first.
pub(super) fn add_with_above(
    accounts: &Accounts,
    number: Option<AccountNumber>,
    list: &mut Vec<AccountNumber>,
) {
    let Some(number) = number else { return };
    let above = accounts.get(number).map_or(&[][..], |account| &account.above);
    let open = above.iter().copied().filter(|above| accounts.get(*above).is_some());
    list.extend(std::iter::once(number).chain(open).take(DEEPEST));
}

/// Returns the state of a thread. Handles count from 0 in the order in which threads appear.
#[inline(always)]
pub(super) fn carrier(threads: &mut Vec<Carrier>, thread: ThreadHandle) -> Option<&mut Carrier> {
    if thread.index() >= threads.len() {
        threads.resize_with(thread.index().saturating_add(1), Carrier::default);
    }
    threads.get_mut(thread.index())
}
