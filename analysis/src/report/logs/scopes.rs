//! Scopes of log messages, and the scopes that a message is in.
//!
//! No event says which scopes a message is in. A scope is shown only if there is proof: activity
//! ids are paths through the scopes if tasks were recorded; the method that began the scope may
//! still be on the stack; or an earlier message of the request has the message's span.

use super::message::{pairs, parted};
use crate::flat_json;
use crate::hash::HashMap;
use crate::model::activity_id::ActivityId;
use crate::model::activity_path::PathForm;
use crate::model::{Model, StackHandle, ThreadHandle, is_inside, shorten};
use nettrace_parser::{Event, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of open scopes; beyond it, ends were lost.
const MAX_OPEN: usize = 65_536;
/// Maximum depth of nested scopes, and maximum number of scopes that are kept for a thread.
const DEEPEST: usize = 64;
/// Maximum number of spans whose request is kept.
const MAX_SPANS: usize = 65_536;
/// Maximum number of frames of the logger between the code that begins a scope and the event.
const MAX_OWN_FRAMES: usize = 12;

/// Id of a scope and of its logger, by which the end refers to the scope.
type Id = (Option<i64>, Option<i64>);

#[derive(Debug)]
struct Scope {
    id: Id,
    paths: Vec<ActivityId>,
    thread: ThreadHandle,
    stack: StackHandle,
    /// Number of the scope around this one.
    parent: Option<u64>,
    /// Text, which all messages in the scope share.
    text: Arc<str>,
    /// Id of the request, if this is the scope of a request.
    request: Option<Arc<str>>,
    /// Trace id of the request's messages.
    trace: Option<String>,
    spans: Vec<String>,
}

/// Scopes and request around a message.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// Texts of the scopes that are proved, outermost first.
    pub(crate) scopes: Vec<Arc<str>>,
    /// Id of the request.
    pub(crate) request: Option<Arc<str>>,
}

/// Open scopes of all threads.
#[derive(Debug, Default)]
pub(crate) struct LogScopes {
    /// Scopes by number, in the order of starts.
    open: BTreeMap<u64, Scope>,
    started: u64,
    by_id: HashMap<Id, Vec<u64>>,
    by_path: HashMap<ActivityId, Vec<u64>>,
    /// Scopes that began on a thread, in calls that are not known to have returned.
    on_thread: HashMap<ThreadHandle, Vec<u64>>,
    /// Scopes of requests by the span of a message.
    by_span: HashMap<String, u64>,
}

impl LogScopes {
    /// Processes an event of a logger. Returns whether it is the start or end of a scope.
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        model: &mut Model,
    ) -> bool {
        match event.name() {
            "ActivityStart" | "ActivityJsonStart" => {
                let stack = model.stack_of(event, thread);
                self.begin(event, thread, stack, model);
            }
            "ActivityStop" | "ActivityJsonStop" => {
                let number = |name| event.field(name).and_then(|value| value.as_i64());
                self.end((number("ID"), number("FactoryID")));
            }
            _ => return false,
        }
        true
    }

    /// Returns the scopes around a message. `trace`, `span`: ids of its activity.
    pub(crate) fn around(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        trace: Option<&str>,
        span: Option<&str>,
        model: &mut Model,
    ) -> Around {
        if self.open.is_empty() {
            return Around::default();
        }
        let proved = match ActivityId::of_event(event) {
            Some(path) => self.by_path(&path, thread, model.path_form(thread)),
            None => {
                let stack = model.stack_of(event, thread);
                self.by_stack(thread, stack, model)
            }
        };
        let mut chain = self.chain(proved);
        let mut request = self.request_of(&chain);
        // Calls of two requests may have similar stacks; their traces differ.
        if let Some(known) = request.and_then(|number| self.open.get(&number))
            && known.trace.as_deref().is_some_and(|known| trace != Some(known))
        {
            chain.clear();
            request = None;
        }
        if let Some(of_span) = span.and_then(|span| self.by_span.get(span)).copied()
            && request != Some(of_span)
        {
            let mut own = self.chain(Some(of_span));
            if request.is_none() {
                own.extend(chain.iter().filter(|number| **number > of_span));
            }
            chain = own;
            request = Some(of_span);
        }
        if let (Some(request), Some(trace), Some(span)) = (request, trace, span) {
            self.learn(trace, span, request);
        }
        let scope = |number: &u64| self.open.get(number);
        let texts = chain.iter().filter_map(scope).map(|scope| Arc::clone(&scope.text));
        Around {
            scopes: texts.filter(|text| !text.is_empty()).collect(),
            request: request.as_ref().and_then(scope).and_then(|scope| scope.request.clone()),
        }
    }

    /// Returns the innermost scope of the chain that is a request's.
    fn request_of(&self, chain: &[u64]) -> Option<u64> {
        let is_request =
            |number: &&u64| self.open.get(number).is_some_and(|scope| scope.request.is_some());
        chain.iter().rev().find(is_request).copied()
    }

    fn learn(&mut self, trace: &str, span: &str, request: u64) {
        if self.by_span.contains_key(span) {
            return;
        }
        if self.by_span.len() >= MAX_SPANS {
            self.by_span.clear();
        }
        if let Some(scope) = self.open.get_mut(&request) {
            scope.trace.get_or_insert_with(|| trace.to_owned());
            self.by_span.insert(span.to_owned(), request);
            scope.spans.push(span.to_owned());
        }
    }

    /// Returns a scope and the scopes around it, outermost first.
    fn chain(&self, scope: Option<u64>) -> Vec<u64> {
        let mut chain = Vec::new();
        let mut next = scope;
        while let Some(number) = next.filter(|_| chain.len() < DEEPEST) {
            let Some(scope) = self.open.get(&number) else { break };
            chain.push(number);
            next = scope.parent;
        }
        chain.reverse();
        chain
    }

    /// Returns the innermost open scope of an id: its own, or the nearest on the path around it. Of
    /// several scopes with an id that repeats, this is the one that began on the thread.
    fn by_path(&self, id: &ActivityId, thread: ThreadHandle, form: PathForm) -> Option<u64> {
        let on_thread =
            |number: &&u64| self.open.get(number).is_some_and(|scope| scope.thread == thread);
        id.and_around().take(DEEPEST).find_map(|id| {
            let open = self.by_path.get(&id)?;
            let is_clear = open.len() == 1 || !id.may_repeat(form);
            let newest = || open.iter().rev().find(on_thread).copied();
            if is_clear { open.last().copied() } else { newest() }
        })
    }

    /// Returns the innermost scope of a thread whose beginning method is still on the stack. Scopes
    /// whose method has returned are dropped from the thread's list.
    fn by_stack(&mut self, thread: ThreadHandle, stack: StackHandle, model: &Model) -> Option<u64> {
        let threads = self.on_thread.len();
        let scopes = self.on_thread.get_mut(&thread)?;
        let stacks = model.stored_stacks();
        let now = stacks.addresses(stack);
        if now.is_empty() {
            // Without stacks, the scope is certain only if no other thread has one.
            return scopes.last().filter(|_| threads == 1).copied();
        }
        while let Some(number) = scopes.last() {
            let scope = self.open.get(number);
            let start = scope.map(|scope| stacks.addresses(scope.stack));
            if start.is_some_and(|start| is_inside(start, now, MAX_OWN_FRAMES)) {
                return Some(*number);
            }
            scopes.pop();
        }
        self.on_thread.remove(&thread);
        None
    }

    fn begin(
        &mut self,
        event: &Event<'_>,
        thread: ThreadHandle,
        stack: StackHandle,
        model: &Model,
    ) {
        let (id, arguments) = described(event);
        let path = ActivityId::of_event(event);
        // The event may be the second form of a scope that has begun.
        let again = self.by_id.get(&id).and_then(|open| open.last()).copied();
        if let Some(number) = again
            && let Some(scope) = self.open.get_mut(&number)
            && scope.thread == thread
            && event.name() == "ActivityJsonStart"
        {
            if let Some(path) = path {
                self.by_path.entry(path.clone()).or_default().push(number);
                scope.paths.push(path);
            }
            return;
        }
        let is_request = |(name, _): &&(String, String)| name == "RequestId";
        let request: Option<Arc<str>> =
            arguments.iter().find(is_request).map(|(_, id)| id.as_str().into());
        if request.is_some() && path.is_none() {
            // Calls for earlier requests of the thread have returned.
            self.requests_returned(thread);
        }
        let mut parent = match &path {
            Some(path) => {
                let form = model.path_form(thread);
                let related = ActivityId::related(event);
                let known = related.filter(|related| self.by_path.contains_key(related));
                let around = known.or_else(|| path.around().next());
                around.and_then(|around| self.by_path(&around, thread, form))
            }
            None => self.by_stack(thread, stack, model),
        };
        // A scope of a request is not inside another request.
        if request.is_some()
            && let Some(around) = self.request_of(&self.chain(parent))
        {
            parent = self.open.get(&around).and_then(|scope| scope.parent);
        }
        let number = self.started;
        self.started = self.started.saturating_add(1);
        if self.open.len() >= MAX_OPEN
            && let Some((oldest, scope)) = self.open.pop_first()
        {
            self.forget(oldest, &scope);
        }
        self.by_id.entry(id).or_default().push(number);
        if let Some(path) = &path {
            self.by_path.entry(path.clone()).or_default().push(number);
        }
        let on_thread = self.on_thread.entry(thread).or_default();
        if on_thread.len() >= DEEPEST {
            on_thread.remove(0);
        }
        on_thread.push(number);
        let scope = Scope {
            id,
            paths: path.into_iter().collect(),
            thread,
            stack,
            parent,
            text: scope_text(arguments),
            request,
            trace: None,
            spans: Vec::new(),
        };
        self.open.insert(number, scope);
    }

    /// Drops the scopes of requests, and the scopes inside them, from the list of a thread.
    fn requests_returned(&mut self, thread: ThreadHandle) {
        let Some(scopes) = self.on_thread.get_mut(&thread) else { return };
        let is_request =
            |number: &u64| self.open.get(number).is_none_or(|scope| scope.request.is_some());
        if let Some(first) = scopes.iter().position(is_request) {
            scopes.truncate(first);
        }
    }

    /// Ends a scope, which may have begun on another thread.
    fn end(&mut self, id: Id) {
        let Some(number) = self.by_id.get(&id).and_then(|open| open.last()).copied() else {
            return;
        };
        if let Some(scope) = self.open.remove(&number) {
            self.forget(number, &scope);
        }
    }

    /// Removes a scope from all indices.
    fn forget(&mut self, number: u64, scope: &Scope) {
        if let Some(open) = self.by_id.get_mut(&scope.id) {
            open.retain(|other| *other != number);
            if open.is_empty() {
                self.by_id.remove(&scope.id);
            }
        }
        for path in &scope.paths {
            if let Some(open) = self.by_path.get_mut(path) {
                open.retain(|other| *other != number);
                if open.is_empty() {
                    self.by_path.remove(path);
                }
            }
        }
        for span in &scope.spans {
            if self.by_span.get(span) == Some(&number) {
                self.by_span.remove(span);
            }
        }
        if let Some(on_thread) = self.on_thread.get_mut(&scope.thread) {
            on_thread.retain(|other| *other != number);
            if on_thread.is_empty() {
                self.on_thread.remove(&scope.thread);
            }
        }
    }
}

/// Returns the id and the arguments of a scope.
fn described(event: &Event<'_>) -> (Id, Vec<(String, String)>) {
    let (mut id, mut factory, mut arguments) = (None, None, Vec::new());
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
            "Arguments" | "ArgumentsJson" => arguments = arguments_of(&value),
            _ => {}
        }
    }
    ((id, factory), arguments)
}

fn arguments_of(value: &Value<'_>) -> Vec<(String, String)> {
    match value.to_text() {
        Some(text) if value.as_array().is_none() => match flat_json::members(&text) {
            members if members.is_empty() && text.trim() != "{}" => vec![(String::new(), text)],
            members => members,
        },
        _ => pairs(value),
    }
}

/// Returns the arguments of a scope, such as `RequestId=1 Path=/x`; the template if there are none.
fn scope_text(arguments: Vec<(String, String)>) -> Arc<str> {
    let (template, arguments) = parted(arguments);
    let words = arguments.iter().map(|(name, value)| match name.as_str() {
        "" => value.clone(),
        name => format!("{name}={value}"),
    });
    let mut text = words.collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        text = template.unwrap_or_default();
    }
    // Shortened, because each message in the scope shows it.
    shorten(&mut text);
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(scopes: &mut LogScopes, thread: u32, id: i64) {
        let number = scopes.started;
        let scope = Scope {
            id: (Some(id), None),
            paths: vec![ActivityId::from_text(&format!("|1.{number}")).unwrap()],
            thread: ThreadHandle(thread),
            stack: StackHandle(0),
            parent: None,
            text: "".into(),
            request: None,
            trace: None,
            spans: vec![number.to_string()],
        };
        scopes.started += 1;
        scopes.by_id.entry(scope.id).or_default().push(number);
        scopes.by_path.insert(scope.paths[0].clone(), vec![number]);
        scopes.by_span.insert(number.to_string(), number);
        scopes.on_thread.entry(ThreadHandle(thread)).or_default().push(number);
        scopes.open.insert(number, scope);
    }

    #[test]
    fn a_scope_ends_on_any_thread_and_leaves_nothing() {
        let mut scopes = LogScopes::default();
        for (thread, id) in [(1, 7), (1, 7), (2, 7), (2, 8), (3, 8)] {
            begin(&mut scopes, thread, id);
        }
        for (id, left) in [(7, 4), (9, 4), (7, 3), (7, 2), (7, 2), (8, 1), (8, 0)] {
            scopes.end((Some(id), None));
            assert_eq!(scopes.open.len(), left, "{id}");
        }
        assert!(scopes.by_id.is_empty() && scopes.by_path.is_empty());
        assert!(scopes.by_span.is_empty() && scopes.on_thread.is_empty());
    }

    #[test]
    fn ends_of_scopes_that_are_not_open_are_ignored() {
        let mut scopes = LogScopes::default();
        (0..100_000).for_each(|id| begin(&mut scopes, 1, id));
        (0..100_000).for_each(|id| scopes.end((Some(id), Some(1))));
        assert_eq!(scopes.open.len(), 100_000);
    }

    #[test]
    fn a_scope_without_arguments_is_its_template() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect()
        };
        let original = ("{OriginalFormat}", "Invoice {Id}");
        assert_eq!(&*scope_text(pairs(&[("Id", "7"), original])), "Id=7");
        assert_eq!(&*scope_text(pairs(&[original])), "Invoice {Id}");
        assert_eq!(&*scope_text(Vec::new()), "");
    }
}
