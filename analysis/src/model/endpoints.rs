//! Finds the endpoint of a web application that a handler serves.
//!
//! A lambda as a handler has no useful name, and no frame if it was inlined into the method around
//! it. But the event that starts a request names the endpoint, and all work of the thread in the
//! call that wrote this event belongs to the request. The handler is the method that
//! `EndpointMiddleware` of ASP.NET Core calls there. A method that was only seen below one endpoint
//! is named after the endpoint. A method that several requests share keeps its own name.

use super::folding::is_framework;
use super::handle::{StackHandle, TextHandle, ThreadHandle};
use super::inside::is_inside;
use super::names::Frame;
use super::stacks::Stacks;
use super::texts::Texts;
use crate::hash::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// Maximum number of different endpoints that are kept.
const MAX_ENDPOINTS: usize = 1_000;
/// Maximum number of innermost frames that belong to the writing of a start event. Loggers have
/// many.
const MAX_WRITING_FRAMES: usize = 32;
/// Type of the middleware that calls handlers.
const MIDDLEWARE: &str = "EndpointMiddleware";
/// Beginnings of the namespaces whose methods lie between the middleware and a handler.
const BETWEEN: [&str; 2] = ["Microsoft.AspNetCore", "System.Runtime.CompilerServices"];
/// Types, and beginnings of method names, below which the application handles a failed request once
/// more.
const RUN_AGAIN: [(&str, &str); 2] =
    [("ExceptionHandlerMiddlewareImpl", "HandleException"), ("StatusCodePagesExtensions", "")];

/// Role of a frame in the call of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandlerRole {
    /// The middleware that calls handlers.
    Middleware,
    /// Code between the middleware and the handler.
    Between,
    /// A method that was compiled while the program ran, such as around a handler.
    Compiled,
    Other,
}

impl HandlerRole {
    pub(super) fn from_frame(frame: &Frame) -> HandlerRole {
        match frame {
            _ if frame.type_name == MIDDLEWARE => HandlerRole::Middleware,
            _ if frame.is_compiled() => HandlerRole::Compiled,
            _ if BETWEEN.iter().any(|begin| frame.namespace.starts_with(begin)) => {
                HandlerRole::Between
            }
            _ => HandlerRole::Other,
        }
    }
}

/// Returns the index of the method that ASP.NET Core compiled around a handler, and called. `roles`
/// are those of a stack's frames, innermost first.
pub(super) fn called_handler(
    roles: impl DoubleEndedIterator<Item = HandlerRole> + ExactSizeIterator,
) -> Option<usize> {
    let mut is_calling = false;
    for (at, role) in roles.enumerate().rev() {
        match role {
            HandlerRole::Middleware => is_calling = true,
            HandlerRole::Compiled if is_calling => return Some(at),
            HandlerRole::Between => {}
            HandlerRole::Compiled | HandlerRole::Other => is_calling = false,
        }
    }
    None
}

/// Marks the compiled handler of an endpoint among the frames of a stack, innermost first.
pub(crate) fn mark_handler(frames: &mut [Arc<Frame>]) {
    let at = called_handler(frames.iter().map(|frame| HandlerRole::from_frame(frame)));
    if let Some(handler) = at.and_then(|at| frames.get_mut(at)) {
        Arc::make_mut(handler).is_handler = true;
    }
}

/// Finds the endpoints of the requests to which stacks belong. Memory is bounded by the number of
/// threads and stacks.
#[derive(Debug, Clone, Default)]
pub(super) struct Endpoints {
    names: Texts,
    /// Latest request that started on each thread.
    newest: HashMap<ThreadHandle, BegunEndpoint>,
    /// Endpoint of the requests in which each stack occurred; `None` if there are several
    /// endpoints.
    seen: HashMap<StackHandle, Option<TextHandle>>,
}

#[derive(Debug, Clone, Copy)]
struct BegunEndpoint {
    endpoint: TextHandle,
    start: StackHandle,
    /// Stack that was examined last, because most samples have the same stack as the one before.
    last: StackHandle,
}

impl Endpoints {
    /// Records that a thread works for a request to an endpoint from now on. `start` is the stack
    /// of the event that starts the request.
    pub(super) fn started(&mut self, thread: ThreadHandle, endpoint: &str, start: StackHandle) {
        let Some(endpoint) = self.names.intern_up_to(endpoint, MAX_ENDPOINTS) else {
            self.newest.remove(&thread);
            return;
        };
        self.newest.insert(thread, BegunEndpoint { endpoint, start, last: start });
    }

    /// Adds a stack of a thread to the endpoint of the thread's request.
    #[inline]
    pub(super) fn saw(&mut self, thread: ThreadHandle, stack: StackHandle, stacks: &Stacks) {
        if !self.newest.is_empty() {
            self.look_at(thread, stack, stacks);
        }
    }

    #[inline(never)]
    fn look_at(&mut self, thread: ThreadHandle, stack: StackHandle, stacks: &Stacks) {
        let Some(begun) = self.newest.get_mut(&thread).filter(|begun| begun.last != stack) else {
            return;
        };
        begun.last = stack;
        let (start, now) = (stacks.addresses(begun.start), stacks.addresses(stack));
        if is_inside(start, now, MAX_WRITING_FRAMES) {
            let endpoint = begun.endpoint;
            let seen = self.seen.entry(stack).or_insert(Some(endpoint));
            *seen = seen.filter(|seen| *seen == endpoint);
        }
    }

    /// Returns the stacks of requests, each with its endpoint; `None` if there are several
    /// endpoints.
    pub(super) fn seen(&self) -> impl Iterator<Item = (StackHandle, Option<TextHandle>)> {
        self.seen.iter().map(|(stack, endpoint)| (*stack, *endpoint))
    }

    pub(super) fn name(&self, endpoint: TextHandle) -> &str {
        self.names.get(endpoint)
    }
}

/// Returns the handlers of requests among a stack's frames, which are innermost first.
pub(super) fn handlers<'f>(frames: &[&'f Frame]) -> Vec<&'f Frame> {
    let mut found = Vec::new();
    let at = frames.iter().position(|frame| frame.type_name == MIDDLEWARE);
    let Some((inner, outer)) = at.and_then(|at| frames.split_at_checked(at)) else { return found };
    // The answer to a failed request is the work of another endpoint.
    let runs_again =
        |frame: &&Frame| RUN_AGAIN.iter().any(|(name, method)| frame.is_method_of(name, method));
    if outer.iter().any(runs_again) {
        return found;
    }
    for frame in inner.iter().rev() {
        let is_compiled = frame.is_compiled();
        if !is_compiled && frame.is_lambda() && !is_framework(frame) {
            found.push(*frame);
            break;
        } else if is_compiled && found.is_empty() {
            found.push(*frame);
        } else if is_compiled || !BETWEEN.iter().any(|begin| frame.namespace.starts_with(begin)) {
            break;
        }
    }
    found
}

/// Returns a key that all frames of one method share.
pub(super) fn method_key(frame: &Frame) -> String {
    let method = frame.caller_method();
    format!("{}!{}.{}.{method}", frame.module, frame.namespace, frame.type_name)
}

/// An endpoint of a web application, and the method that serves it. As a text and in JSON, it is
/// the endpoint alone: `GET /cart`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedEndpoint {
    endpoint: String,
    shown: String,
}

impl ServedEndpoint {
    /// Returns the endpoint that a frame's method serves; `None` if it serves none, or several.
    pub(crate) fn from_frame(handler: &Frame) -> Option<ServedEndpoint> {
        let endpoint = handler.endpoint.as_deref()?.to_owned();
        Some(ServedEndpoint { endpoint, shown: handler.handler_name()? })
    }

    /// Returns the endpoint with the name of the method: `GET /cart
    /// (shop!Shop.Program.Main.lambda_0_8)`.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl Deref for ServedEndpoint {
    type Target = str;

    fn deref(&self) -> &str {
        &self.endpoint
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ServedEndpoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::handle::ProcessHandle;
    use super::super::method_name::MethodName;
    use super::super::names::{FrameCall, NameOptions};
    use super::*;
    use nettrace_parser::Stack;

    /// Returns the handlers in a stack of methods `MODULE!TYPE::METHOD`, innermost first.
    fn handlers_of(stack: &[&str]) -> Vec<String> {
        let frame = |text: &&str| {
            let (module, name) = text.split_once('!').unwrap();
            let (type_name, method) = name.split_once("::").unwrap();
            let name = MethodName { module, type_name, method, signature: "void ()" };
            Frame::managed(&name, NameOptions::default())
        };
        let frames: Vec<Frame> = stack.iter().map(frame).collect();
        let found = handlers(&frames.iter().collect::<Vec<_>>());
        found.into_iter().map(|frame| shown(frame, "GET /a")).collect()
    }

    fn shown(handler: &Frame, endpoint: &str) -> String {
        let handler = Frame { endpoint: Some(endpoint.into()), ..handler.clone() };
        ServedEndpoint::from_frame(&handler).unwrap().shown
    }

    const MIDDLEWARE: &str = "Routing!Microsoft.AspNetCore.Routing.EndpointMiddleware::Invoke";
    const BUILDER: &str = "Lib!System.Runtime.CompilerServices.AsyncMethodBuilderCore::Start";
    const COMPILED: &str = "Anonymous!dynamicClass::lambda_method7";
    const LAMBDA: &str = "shop!Shop.Program+<>c::<Main>b__0_8";

    #[test]
    fn handlers_are_what_the_middleware_of_endpoints_calls() {
        let compiled = "GET /a (dynamicClass.lambda_method7)";
        let lambda = "GET /a (shop!Shop.Program.Main.lambda_0_8)";
        assert_eq!(handlers_of(&[LAMBDA, COMPILED, MIDDLEWARE]), [compiled, lambda]);
        assert_eq!(handlers_of(&[LAMBDA, MIDDLEWARE]), [lambda]);
        let machine = "shop!Shop.Program+<>c+<<Main>b__0_8>d::MoveNext";
        let started = [machine, BUILDER, LAMBDA, COMPILED, MIDDLEWARE];
        assert_eq!(handlers_of(&started), [compiled, lambda]);
        // The handler is inlined, and calls a method with a name.
        let named = "shop!Shop.Stock::Reserve";
        assert_eq!(handlers_of(&[named, COMPILED, MIDDLEWARE]), [compiled]);
    }

    #[test]
    fn lambdas_elsewhere_are_no_handlers() {
        // Lambdas of the program's own middleware, of the framework, and below a handler.
        assert!(handlers_of(&[LAMBDA, COMPILED]).is_empty());
        let inner = "Microsoft.AspNetCore.Http!Microsoft.AspNetCore.Http.RequestDelegateFactory+<>c::<Create>b__0";
        assert!(handlers_of(&[inner, MIDDLEWARE]).is_empty());
        let linq = "Linq!System.Linq.Enumerable::Sum";
        let called = handlers_of(&[LAMBDA, linq, COMPILED, MIDDLEWARE]);
        assert_eq!(called, ["GET /a (dynamicClass.lambda_method7)"]);
        let again =
            "D!Microsoft.AspNetCore.Diagnostics.ExceptionHandlerMiddlewareImpl::HandleException";
        assert!(handlers_of(&[LAMBDA, MIDDLEWARE, again]).is_empty());
    }

    #[test]
    fn other_compiled_code_is_no_handler() {
        use HandlerRole::{Between, Compiled, Middleware, Other};
        let handler = |roles: &[HandlerRole]| called_handler(roles.iter().copied());
        assert_eq!(handler(&[Other, Compiled, Between, Middleware, Between]), Some(1));
        // A query that was compiled below a handler.
        assert_eq!(handler(&[Compiled, Other, Compiled, Middleware]), Some(2));
        assert_eq!(handler(&[Compiled, Other, Middleware]), None);
        assert_eq!(handler(&[Compiled, Between]), None);
    }

    #[test]
    fn an_endpoint_stands_before_the_method_that_serves_it() {
        let lambda = Frame::from_names("shop", "P+<>c", "<Main>b__0_8", "void (int32)");
        assert_eq!(lambda.text, "shop!P.Main.lambda_0_8(int)");
        let called = shown(&lambda.calling(FrameCall::Native), "GET /a");
        assert_eq!(called, "GET /a (shop!P.Main.lambda_0_8) → native call");
    }

    #[test]
    fn a_stack_of_several_endpoints_shows_none() {
        let mut stacks = Stacks::default();
        for addresses in [&[1_u64, 0x10, 0x20][..], &[7, 8, 0x18, 0x20], &[9, 0x20]] {
            let bytes: Vec<u8> = addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
            stacks.intern(ProcessHandle(0), 0, Stack::new(&bytes, 8), 0);
        }
        let mut endpoints = Endpoints::default();
        let [one, other] = [ThreadHandle(0), ThreadHandle(1)];
        let [start, inside, outside] = [0, 1, 2].map(StackHandle);
        endpoints.saw(one, inside, &stacks);
        assert_eq!(endpoints.seen().count(), 0);
        endpoints.started(one, "GET /a", start);
        endpoints.saw(one, inside, &stacks);
        endpoints.saw(other, inside, &stacks);
        assert_eq!(endpoints.seen().collect::<Vec<_>>(), [(inside, Some(TextHandle(0)))]);
        endpoints.started(other, "GET /b", start);
        endpoints.saw(other, inside, &stacks);
        assert_eq!(endpoints.seen().collect::<Vec<_>>(), [(inside, None)]);
        assert!(endpoints.seen().all(|(stack, _)| stack != outside));
    }
}
