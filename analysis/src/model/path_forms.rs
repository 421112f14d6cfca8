//! How each process writes the paths in activity ids (docs/activity-ids.md).

use super::activity_id::ActivityId;
use super::activity_path::{ActivityPath, PathForm};
use super::sampler::RuntimeVersion;
use super::{Model, Process, ProcessHandle, ThreadHandle};
use nettrace_parser::Event;

/// First major version of .NET that loses numbers of paths.
const LOSES_NUMBERS_SINCE: u32 = 10;

impl Process {
    /// Returns how the runtime writes the paths in activity ids, as far as it is known.
    fn path_form(&self) -> PathForm {
        let is_new = |runtime: RuntimeVersion| runtime.version[0] >= LOSES_NUMBERS_SINCE;
        match self.loses_numbers || self.runtime.is_some_and(is_new) {
            true => PathForm::LosesNumbers,
            false => PathForm::Complete,
        }
    }
}

impl Model {
    /// Returns whether the runtime of a process is known to lose numbers of paths.
    #[inline]
    pub(super) fn loses_numbers(&self, process: ProcessHandle) -> bool {
        let row = self.processes.get(process.index());
        row.is_some_and(|row| row.path_form() == PathForm::LosesNumbers)
    }

    /// Notes whether the activity id of an event shows that the runtime loses numbers of paths, if
    /// that is not known.
    pub(super) fn learn_path_form(&mut self, process: ProcessHandle, event: &Event<'_>) {
        let Some(row) = self.processes.get_mut(process.index()) else { return };
        let path = ActivityId::of_event(event).and_then(|id| id.path());
        row.loses_numbers = path.is_some_and(ActivityPath::shows_lost_number);
    }

    /// Returns how the process of a thread writes the paths in activity ids, as far as it is known.
    pub(crate) fn path_form(&self, thread: ThreadHandle) -> PathForm {
        let process = self.thread(thread).map(|row| row.process);
        let process = process.and_then(|process| self.processes.get(process.index()));
        process.map_or(PathForm::Complete, Process::path_form)
    }

    /// Returns the text of an activity's id.
    pub(crate) fn id_text(&self, id: &ActivityId) -> String {
        let owner = id.path().map(ActivityPath::owner);
        let process = owner.and_then(|owner| self.handle_of(Some(owner.into())));
        let process = process.and_then(|process| self.processes.get(process.index()));
        id.text(process.map_or(PathForm::Complete, Process::path_form))
    }
}
