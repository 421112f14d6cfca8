//! Open scopes of log messages, and which of them a message is in.
//!
//! No event says which scopes a message is in. They are shown where it is proved: by the
//! activity ids, which are paths through the scopes if tasks were recorded; by the stack, if
//! the method that began a scope is still on it; by the span, which is that of the request of
//! an earlier message.

use super::message::{pairs, parted};
use crate::model::activity_edge::id_text;
use crate::model::activity_path::parent_path;
use crate::model::{Model, StackHandle, ThreadHandle, is_inside, shorten};
use crate::report::flat_json;
use nettrace_parser::{Event, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Maximum number of open scopes: if there are more, ends were lost.
const MAX_OPEN: usize = 65_536;
/// Maximum number of scopes inside each other, and of those of a thread.
const DEEPEST: usize = 64;
/// Maximum number of spans whose request is known.
const MAX_SPANS: usize = 65_536;
/// Maximum number of frames between the code that begins a scope and the event.
const MAX_OWN_FRAMES: usize = 12;

/// The id by which the end of a scope refers to it.
type Id = (Option<i64>, Option<i64>);

/// An open scope.
#[derive(Debug)]
struct Scope {
    id: Id,
    paths: Vec<String>,
    thread: ThreadHandle,
    stack: StackHandle,
    /// The scope around it.
    parent: Option<u64>,
    /// Shared by all messages in the scope.
    text: Arc<str>,
    /// The id of a request, if it is the scope of one.
    request: Option<Arc<str>>,
    /// The trace of the request's messages, and their spans.
    trace: Option<String>,
    spans: Vec<String>,
}

/// What a message is in.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// Texts of the scopes, outermost first.
    pub(crate) scopes: Vec<Arc<str>>,
    /// The id of the request.
    pub(crate) request: Option<Arc<str>>,
}

/// The open scopes of all threads.
#[derive(Debug, Default)]
pub(crate) struct LogScopes {
    /// By the number of their start.
    open: BTreeMap<u64, Scope>,
    started: u64,
    by_id: HashMap<Id, Vec<u64>>,
    by_path: HashMap<String, u64>,
    /// Those that began on a thread, in calls that have not returned as far as is known.
    on_thread: HashMap<ThreadHandle, Vec<u64>>,
    /// The scopes of requests by the span of their messages.
    by_span: HashMap<String, u64>,
}

impl LogScopes {
    /// Takes an event of a logger. Returns whether it is the start or end of a scope.
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

    /// Returns the scopes that a message of a thread is in. `trace`, `span`: the ids of its
    /// activity.
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
        let proved = match path_of(event) {
            Some(path) => self.by_path(&path),
            None => {
                let stack = model.stack_of(event, thread);
                self.by_stack(thread, stack, model)
            }
        };
        let mut chain = self.chain(proved);
        let mut request = self.request_of(&chain);
        // A stack may look like that of another request's call; traces differ then.
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

    /// Returns the innermost scope of a request.
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

    /// Returns a scope and those around it, outermost first.
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

    /// Returns the innermost scope on a path.
    fn by_path(&self, path: &str) -> Option<u64> {
        let mut path = path;
        for _ in 0..DEEPEST {
            if let Some(number) = self.by_path.get(path) {
                return Some(*number);
            }
            let parent = parent_path(path).filter(|_| path.starts_with('/'))?;
            // If a path ends in 0, .NET writes the number of the child into the byte of
            // that 0: the third child of `//1/0` reads `//1/48`.
            if let Some(number) = self.by_path.get(format!("{parent}/0").as_str()) {
                return Some(*number);
            }
            path = parent;
        }
        None
    }

    /// Returns the innermost scope of a thread whose beginning method is still on the stack. Those
    /// of others have returned, and are not looked at again.
    fn by_stack(&mut self, thread: ThreadHandle, stack: StackHandle, model: &Model) -> Option<u64> {
        let threads = self.on_thread.len();
        let scopes = self.on_thread.get_mut(&thread)?;
        let stacks = model.stored_stacks();
        let now = stacks.addresses(stack);
        if now.is_empty() {
            // Without stacks, only if there are no others.
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
        let path = path_of(event);
        // The second form of a scope that has begun.
        let again = self.by_id.get(&id).and_then(|open| open.last()).copied();
        if let Some(number) = again
            && let Some(scope) = self.open.get_mut(&number)
            && scope.thread == thread
            && event.name() == "ActivityJsonStart"
        {
            if let Some(path) = path {
                self.by_path.insert(path.clone(), number);
                scope.paths.push(path);
            }
            return;
        }
        let is_request = |(name, _): &&(String, String)| name == "RequestId";
        let request: Option<Arc<str>> =
            arguments.iter().find(is_request).map(|(_, id)| id.as_str().into());
        if request.is_some() && path.is_none() {
            // The calls for other requests have returned.
            self.requests_returned(thread);
        }
        let mut parent = match &path {
            Some(path) => {
                let related = event.related_activity_id().filter(|id| !id.is_zero());
                let related = related.map(|id| id_text(id, event.process_id()));
                let known = related.and_then(|related| self.by_path.get(&related).copied());
                known.or_else(|| self.by_path(parent_path(path)?))
            }
            None => self.by_stack(thread, stack, model),
        };
        // No request is inside another one.
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
            self.by_path.insert(path.clone(), number);
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

    /// Scopes of requests, and those inside them, are not open in calls of the thread any more.
    fn requests_returned(&mut self, thread: ThreadHandle) {
        let Some(scopes) = self.on_thread.get_mut(&thread) else { return };
        let is_request =
            |number: &u64| self.open.get(number).is_none_or(|scope| scope.request.is_some());
        if let Some(first) = scopes.iter().position(is_request) {
            scopes.truncate(first);
        }
    }

    /// Ends a scope, on whatever thread.
    fn end(&mut self, id: Id) {
        let Some(number) = self.by_id.get(&id).and_then(|open| open.last()).copied() else {
            return;
        };
        if let Some(scope) = self.open.remove(&number) {
            self.forget(number, &scope);
        }
    }

    /// Removes what leads to a scope.
    fn forget(&mut self, number: u64, scope: &Scope) {
        if let Some(open) = self.by_id.get_mut(&scope.id) {
            open.retain(|other| *other != number);
            if open.is_empty() {
                self.by_id.remove(&scope.id);
            }
        }
        for path in &scope.paths {
            if self.by_path.get(path) == Some(&number) {
                self.by_path.remove(path);
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

/// Returns the id of a scope and its logger, and its arguments.
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

/// Returns `RequestId=1 Path=/x`; the template only if there is nothing else.
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
    // It is part of each message in the scope.
    shorten(&mut text);
    text.into()
}

/// Returns the path that an event's activity id is.
fn path_of(event: &Event<'_>) -> Option<String> {
    let id = event.activity_id().filter(|id| !id.is_zero())?;
    Some(id_text(id, event.process_id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(scopes: &mut LogScopes, thread: u32, id: i64) {
        let number = scopes.started;
        let scope = Scope {
            id: (Some(id), None),
            paths: vec![format!("//1/{number}")],
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
        scopes.by_path.insert(scope.paths[0].clone(), number);
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
