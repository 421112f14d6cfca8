//! Open scopes of log messages.

use crate::model::{ThreadHandle, shorten};
use nettrace_parser::{Event, Guid, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Maximum number of open scopes per thread. If there are more, the oldest is dropped,
/// because its end was lost.
const DEEPEST: usize = 64;

/// The id by which the end of a scope refers to it.
type Id = (Option<i64>, Option<i64>);

/// An open scope.
#[derive(Debug)]
struct Scope {
    id: Id,
    activity: Option<Guid>,
    /// Shared by all messages in the scope.
    text: Arc<str>,
}

/// The open scopes of all threads.
#[derive(Debug, Default)]
pub(super) struct LogScopes {
    threads: HashMap<ThreadHandle, Vec<Scope>>,
    /// For each scope id, the threads on which such scopes are open, and how many: so
    /// that ending a scope on another thread does not have to search all threads.
    holders: HashMap<Id, BTreeMap<ThreadHandle, usize>>,
}

impl LogScopes {
    /// The scopes of a message on a thread, outermost first.
    pub(super) fn of(&self, event: &Event<'_>, thread: ThreadHandle) -> Vec<Arc<str>> {
        let activity = activity_of(event);
        let scopes = self.threads.get(&thread).map(Vec::as_slice).unwrap_or_default();
        let fits = |scope: &&Scope| {
            scope.activity.is_none() || activity.is_none() || scope.activity == activity
        };
        let says_something = |scope: &&Scope| !scope.text.is_empty();
        let shown = scopes.iter().filter(fits).filter(says_something);
        shown.map(|scope| Arc::clone(&scope.text)).collect()
    }

    pub(super) fn begin(&mut self, event: &Event<'_>, thread: ThreadHandle) {
        let (mut id, mut factory, mut text) = (None, None, String::new());
        let mut fields = event.fields();
        while let Some(field) = fields.next() {
            let Ok(value) = field.value else { break };
            if value.is_absent() && fields.rest().is_empty() {
                // The payload has ended, so the remaining fields are absent too.
                break;
            }
            match field.name() {
                "ID" => id = value.as_i64(),
                "FactoryID" => factory = value.as_i64(),
                "Arguments" | "ArgumentsJson" => text = scope_text(&value),
                _ => {}
            }
        }
        // It is part of each message in the scope.
        shorten(&mut text);
        self.push(
            thread,
            Scope { id: (id, factory), activity: activity_of(event), text: text.into() },
        );
    }

    pub(super) fn end(&mut self, event: &Event<'_>, thread: ThreadHandle) {
        let number = |name| event.field(name).and_then(|value| value.as_i64());
        self.remove(thread, (number("ID"), number("FactoryID")));
    }

    fn push(&mut self, thread: ThreadHandle, scope: Scope) {
        let scopes = self.threads.entry(thread).or_default();
        let dropped = (scopes.len() >= DEEPEST).then(|| scopes.remove(0));
        let held = self.holders.entry(scope.id).or_default().entry(thread).or_default();
        *held = held.saturating_add(1);
        scopes.push(scope);
        if let Some(dropped) = dropped {
            self.let_go(thread, dropped.id);
        }
    }

    fn remove(&mut self, thread: ThreadHandle, id: Id) {
        if let Some(scopes) = self.threads.get_mut(&thread)
            && let Some(at) = scopes.iter().rposition(|scope| scope.id == id)
        {
            scopes.remove(at);
            if scopes.is_empty() {
                self.threads.remove(&thread);
            }
            self.let_go(thread, id);
            return;
        }
        // Asynchronous code ends scopes on other threads.
        for thread in self.holders.remove(&id).unwrap_or_default().into_keys() {
            if let Some(scopes) = self.threads.get_mut(&thread) {
                scopes.retain(|scope| scope.id != id);
                if scopes.is_empty() {
                    self.threads.remove(&thread);
                }
            }
        }
    }

    fn let_go(&mut self, thread: ThreadHandle, id: Id) {
        let Some(held) = self.holders.get_mut(&id) else { return };
        if let Some(count) = held.get_mut(&thread) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                held.remove(&thread);
            }
        }
        if held.is_empty() {
            self.holders.remove(&id);
        }
    }
}

fn activity_of(event: &Event<'_>) -> Option<Guid> {
    event.activity_id().filter(|id| !id.is_zero())
}

/// `RequestId=1 Path=/x` for pairs, else the text unchanged.
fn scope_text(value: &Value<'_>) -> String {
    let Some(array) = value.as_array() else { return value.to_text().unwrap_or_default() };
    let mut text = String::new();
    for pair in array.iter().filter_map(|pair| pair.as_object()) {
        let field = |name| pair.field(name).and_then(|value| value.to_text()).unwrap_or_default();
        let key = field("Key");
        if key == "{OriginalFormat}" {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&key);
        text.push('=');
        text.push_str(&field("Value"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(scopes: &mut LogScopes, thread: u32, id: i64) {
        let scope = Scope { id: (Some(id), None), activity: None, text: "".into() };
        scopes.push(ThreadHandle(thread), scope);
    }

    fn open(scopes: &LogScopes) -> usize {
        let held: usize = scopes.holders.values().flat_map(BTreeMap::values).sum();
        assert_eq!(held, scopes.threads.values().map(Vec::len).sum::<usize>());
        held
    }

    #[test]
    fn a_scope_ends_on_its_thread_or_on_all_others() {
        let mut scopes = LogScopes::default();
        for (thread, id) in [(1, 7), (1, 7), (2, 7), (2, 8), (3, 8)] {
            begin(&mut scopes, thread, id);
        }
        scopes.remove(ThreadHandle(1), (Some(7), None));
        assert_eq!(open(&scopes), 4, "the newest of the thread");
        scopes.remove(ThreadHandle(9), (Some(8), None));
        assert_eq!(open(&scopes), 2, "those of all other threads");
        (0..200).for_each(|_| begin(&mut scopes, 1, 7));
        assert_eq!(open(&scopes), DEEPEST + 1);
        scopes.remove(ThreadHandle(9), (Some(7), None));
        assert!(open(&scopes) == 0 && scopes.holders.is_empty());
    }

    /// Would take 10^10 steps if each end searched all threads.
    #[test]
    fn ends_of_scopes_that_are_not_open_are_ignored() {
        let mut scopes = LogScopes::default();
        (0..100_000).for_each(|thread| begin(&mut scopes, thread, 1));
        for end in 0..100_000 {
            scopes.remove(ThreadHandle(end), (Some(2), None));
        }
        assert_eq!(open(&scopes), 100_000);
    }
}
