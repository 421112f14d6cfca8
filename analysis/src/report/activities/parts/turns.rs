//! What the async profiler of .NET 11 says of the threads of activities.
//!
//! A dispatcher is a chain of async calls. It belongs to the activity that its thread works for when
//! it is made, and whenever the thread goes on with something else, as an activity may start or stop
//! meanwhile. If that activity stops, the one around it has the dispatcher. The thread that resumes it
//! works for the activity, until it goes on with something else. No event needs an activity id for this.

use super::At;
use super::accounts::AccountNumber;
use super::carrier::Carrier;
use super::tracker::{PartTracker, add_with_above, carrier};
use crate::hash::{HashMap, HashSet};
use crate::model::{AsyncRuns, AsyncTurn, Model, Resolved, StackHandle, ThreadHandle, TurnStep};
use crate::report::contract::Moment;
use crate::report::stack_rows::is_of_runtime_async;
use nettrace_parser::{Clock, Event, Guid};
use std::sync::Arc;

/// Maximum number of dispatchers whose activity is remembered; beyond it, all are forgotten.
const MAX_DISPATCHERS: usize = 65_536;

/// Maximum number of awaits of the requested activity that are kept.
const MAX_AWAITS: usize = 10_000;

/// Time in which async code of the requested activity was suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProfiledAwait {
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// Thread that went on.
    pub(crate) thread: ThreadHandle,
    /// What went on: the method that awaited, and its callers.
    pub(crate) stack: StackHandle,
    /// Whether it is a state machine, whose tasks write events of their awaits, too.
    pub(crate) is_of_task: bool,
}

/// Turns of threads that have been followed so far.
#[derive(Debug)]
pub(super) struct FollowedTurns {
    runs: Arc<AsyncRuns>,
    clock: Clock,
    /// Number of the next turn.
    next: usize,
    /// Activities of each dispatcher that is not complete, by process and id.
    activities: HashMap<(Option<u64>, u64), InnermostActivities>,
    /// What each thread runs, unless it runs no async code.
    running: HashMap<ThreadHandle, RunningChain>,
    /// Dispatchers of activities that have made others since they were resumed. When they are suspended,
    /// they await those.
    have_made: HashSet<(Option<u64>, u64)>,
    /// Threads that have made a dispatcher since the last start of an activity on them, in the same turn.
    /// What started before may be suspended now, and the thread's caller goes on.
    makers: HashSet<ThreadHandle>,
    /// Times at which dispatchers of the requested activity were suspended, by process and id.
    suspended: HashMap<(Option<u64>, u64), i64>,
    awaits: Vec<ProfiledAwait>,
}

/// Activities of a dispatcher, innermost first. Those further outside are not kept.
type InnermostActivities = [Option<AccountNumber>; 4];

const NO_ACTIVITIES: InnermostActivities = [None; 4];

/// Dispatcher that a thread runs.
#[derive(Debug, Clone, Copy)]
struct RunningChain {
    /// Its id; 0 if it is complete.
    dispatcher: u64,
    /// Its activities when it was resumed.
    activities: InnermostActivities,
}

impl FollowedTurns {
    fn new(runs: Arc<AsyncRuns>, clock: Clock) -> FollowedTurns {
        FollowedTurns {
            runs,
            clock,
            next: 0,
            activities: HashMap::default(),
            running: HashMap::default(),
            have_made: HashSet::default(),
            makers: HashSet::default(),
            suspended: HashMap::default(),
            awaits: Vec::new(),
        }
    }

    /// Returns whether a thread runs a dispatcher.
    pub(super) fn is_running(&self, thread: ThreadHandle) -> bool {
        self.running.contains_key(&thread)
    }

    /// Notes that an activity starts on a thread.
    pub(super) fn starts(&mut self, thread: ThreadHandle) {
        self.makers.remove(&thread);
    }

    /// Returns whether what the thread of an event does from then on is known.
    pub(super) fn tells_of(&self, event: &Event<'_>) -> bool {
        event.thread_id().is_some_and(|thread| {
            self.runs.has_turns_after(event.process_id(), thread, event.timestamp_ticks())
        })
    }

    /// Sets the activities of a dispatcher.
    fn set(&mut self, dispatcher: (Option<u64>, u64), activities: InnermostActivities) {
        if activities == NO_ACTIVITIES {
            return self.forget(dispatcher);
        }
        if self.activities.len() >= MAX_DISPATCHERS {
            self.activities.clear();
            self.have_made.clear();
            self.suspended.clear();
        }
        self.activities.insert(dispatcher, activities);
    }

    fn forget(&mut self, dispatcher: (Option<u64>, u64)) {
        self.activities.remove(&dispatcher);
        self.have_made.remove(&dispatcher);
        self.suspended.remove(&dispatcher);
    }

    /// Takes the awaits of the requested activity that have ended.
    pub(super) fn take_awaits(&mut self) -> Vec<ProfiledAwait> {
        std::mem::take(&mut self.awaits)
    }

    /// Returns the time at which what is resumed was suspended for the requested activity.
    fn goes_on_from(&mut self, turn: AsyncTurn) -> Option<i64> {
        let is_resumed =
            matches!(turn.step, TurnStep::Runs { .. }) && self.awaits.len() < MAX_AWAITS;
        self.suspended.remove(&(turn.process, turn.dispatcher)).filter(|_| is_resumed)
    }

    /// Takes the next turn if it is not after a time. Returns the time of the one after it, too.
    fn take(&mut self, until: i64) -> Result<(AsyncTurn, i64), i64> {
        loop {
            let Some(turn) = self.runs.turn(self.next) else { return Err(i64::MAX) };
            let nanos = self.clock.nanos_since_start(turn.ticks);
            match nanos {
                Some(nanos) if nanos > until => return Err(nanos),
                _ => self.next = self.next.saturating_add(1),
            }
            if let Some(nanos) = nanos {
                return Ok((turn, nanos));
            }
        }
    }
}

impl PartTracker {
    /// Follows the turns of all threads up to an event.
    #[inline(never)]
    pub(super) fn follow_turns(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let clock = event.session().clock();
        let mut turns = match self.turns.take() {
            Some(turns) => turns,
            None => match model.async_runs() {
                Some(runs) => Box::new(FollowedTurns::new(runs, clock)),
                None => {
                    self.turns_due = i64::MAX;
                    return;
                }
            },
        };
        self.turns_due = loop {
            let (turn, nanos) = match turns.take(moment.nanos) {
                Ok(turn) => turn,
                Err(due) => break due,
            };
            let thread = model.thread_of(turn.process, turn.os_thread);
            let now = self.pauses.at(turn.process, nanos);
            if let Some(from) = turns.goes_on_from(turn)
                && let Some((addresses, is_of_task)) =
                    turns.runs.resumed_at(turn.process, turn.os_thread, turn.ticks)
            {
                let stack = model.stack_of_addresses(event, thread, addresses);
                let found = ProfiledAwait { from, to: nanos, thread, stack, is_of_task };
                turns.awaits.push(found);
            }
            self.turn(&mut turns, turn, thread, now);
        };
        self.turns = Some(turns);
    }

    /// Returns whether async methods ran that the runtime itself suspends, and nothing tells when they go
    /// on.
    pub(crate) fn lacks_turns(&self, resolved: &Resolved<'_>) -> bool {
        let is_told = self.turns.is_some() || self.has_task_turns;
        !is_told && resolved.all_frames().iter().any(|frame| is_of_runtime_async(frame))
    }

    /// Returns whether the async profiler alone tells what a thread works for at an event: the thread runs
    /// async code, or the event has no activity id.
    #[inline]
    pub(super) fn turns_tell(&self, thread: ThreadHandle, id: Option<Guid>) -> bool {
        self.turns.as_ref().is_some_and(|turns| id.is_none() || turns.is_running(thread))
    }

    /// Returns whether a thread has made async code outside of async code, and has left it, so that an
    /// event without an activity id tells nothing of what it works for.
    #[inline]
    pub(super) fn is_between_turns(&self, thread: ThreadHandle) -> bool {
        let Some(turns) = &self.turns else { return false };
        let carrier = self.threads.get(thread.index());
        let has_left = carrier.is_some_and(|carrier| carrier.has_left && carrier.id.is_none());
        has_left && !turns.is_running(thread)
    }

    /// Returns the innermost of these activities that is open.
    fn first_open(&self, activities: InnermostActivities) -> Option<AccountNumber> {
        activities.into_iter().flatten().find(|number| self.accounts.get(*number).is_some())
    }

    /// Returns the activity around one that starts on a thread in async code. What the thread has
    /// started before in its turn may be suspended: then it is that of the turn.
    pub(super) fn around_by_turns(&self, thread: ThreadHandle) -> Option<AccountNumber> {
        let turns = self.turns.as_ref()?;
        let running = turns.running.get(&thread)?;
        match turns.makers.contains(&thread) {
            true => self.first_open(running.activities),
            false => self.threads.get(thread.index()).and_then(Carrier::innermost),
        }
    }

    /// Returns the activities that a thread works for.
    fn activities_of(&self, thread: ThreadHandle) -> InnermostActivities {
        let chain = self.threads.get(thread.index()).map_or(&[][..], |row| &row.chain);
        let mut innermost = chain.iter().copied();
        NO_ACTIVITIES.map(|_| innermost.next())
    }

    fn turn(&mut self, turns: &mut FollowedTurns, turn: AsyncTurn, thread: ThreadHandle, now: At) {
        let key = (turn.process, turn.dispatcher);
        match turn.step {
            TurnStep::Creates => {
                turns.set(key, self.activities_of(thread));
                if self.carries_wanted(thread) {
                    turns.suspended.insert(key, now.nanos);
                }
                turns.makers.insert(thread);
                if let Some(running) = turns.running.get(&thread) {
                    let running = (turn.process, running.dispatcher);
                    if turns.activities.contains_key(&running) {
                        turns.have_made.insert(running);
                    }
                }
                if let Some(carrier) = self.threads.get_mut(thread.index()) {
                    carrier.works_until(thread, now);
                }
            }
            TurnStep::Completes => {
                turns.forget(key);
                if let Some(running) = turns.running.get_mut(&thread)
                    && running.dispatcher == turn.dispatcher
                {
                    running.dispatcher = 0;
                }
            }
            TurnStep::Runs { suspends } => self.runs(turns, turn, suspends, thread, now),
        }
    }

    /// Notes that a thread goes on with a dispatcher. `suspends`: whether the one before is suspended.
    fn runs(
        &mut self,
        turns: &mut FollowedTurns,
        turn: AsyncTurn,
        suspends: bool,
        thread: ThreadHandle,
        now: At,
    ) {
        let key = (turn.process, turn.dispatcher);
        let next = turns.activities.get(&key).copied();
        let before = match turn.dispatcher {
            0 => turns.running.remove(&thread),
            dispatcher => {
                let activities = next.unwrap_or(NO_ACTIVITIES);
                turns.running.insert(thread, RunningChain { dispatcher, activities })
            }
        };
        if let Some(before) = before.filter(|before| before.dispatcher != 0) {
            let left = (turn.process, before.dispatcher);
            turns.set(left, self.activities_of(thread));
            let has_made = suspends && turns.have_made.remove(&left);
            if suspends && !has_made && self.carries_wanted(thread) {
                turns.suspended.insert(left, now.nanos);
            }
        }
        turns.makers.remove(&thread);
        let has_id = self.threads.get(thread.index()).is_none_or(|row| row.id.is_some());
        if next.is_none() && before.is_none() && has_id {
            // Who made it is not known: ids of events may tell what the thread works for.
            return;
        }
        let open = next.and_then(|activities| self.first_open(activities));
        self.buffers.chain.clear();
        add_with_above(&self.accounts, open, &mut self.buffers.chain);
        let Some(carrier) = carrier(&mut self.threads, thread) else { return };
        carrier.id = None;
        carrier.has_stopped = false;
        carrier.call.forget();
        if before.is_some() {
            carrier.works_until(thread, now);
        }
        if carrier.has_left {
            // What it goes on with may be for the same activity, and was suspended meanwhile.
            let next = std::mem::take(&mut self.buffers.chain);
            self.switch(thread, now, false);
            self.buffers.chain = next;
        }
        self.switch(thread, now, false);
    }
}
