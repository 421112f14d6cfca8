//! Joins the frames of stacks with those of their async callers, once names are known.

use super::logical::{Cut, Segment, Then, method_of, segment};
use super::{ChainId, Link};
use crate::model::handle::{FrameHandle, ProcessHandle, StackHandle, TextHandle};
use crate::model::names::{Frame, FrameKind};
use crate::model::resolver::Resolver;
use crate::model::role::Role;
use crate::model::stacks::MAX_FRAMES;

impl Resolver<'_, '_> {
    /// Replaces the frames below the innermost resumed method by its callers. Returns whether the
    /// trace lacks them; `None` if nothing on the stack was resumed, or stacks are shown as they are.
    pub(in crate::model) fn join_async_callers(
        &mut self,
        stack: StackHandle,
        frames: &mut Vec<FrameHandle>,
    ) -> Option<bool> {
        self.logical.as_ref()?;
        let cut = Cut::find(frames.iter().map(|frame| self.async_role(*frame)))?;
        let model = self.model();
        let async_stacks = model.async_stacks.as_deref()?;
        frames.truncate(cut.at.saturating_add(1));
        let runs = async_stacks.runs_of(stack);
        if let Some(Link::Profiled { stack }) = runs.map(|runs| async_stacks.link(runs)) {
            return Some(self.add_profiled_callers(stack, cut, frames));
        }
        let runs = runs.filter(|runs| cut.fits(async_stacks.link(*runs), model.texts()));
        let mut chain = runs.map_or(ChainId::UNKNOWN, |runs| async_stacks.above(runs));
        let then = loop {
            let own = frames.last().copied();
            let from = frames.len();
            self.find_segment(chain);
            let Some(segment) = self.logical.as_ref().and_then(|it| it.known(chain)) else {
                break Then::Unknown;
            };
            frames.extend(&segment.frames);
            let then = segment.then;
            if let Some(name) = async_stacks.joins(chain) {
                let task = self.named_task(name);
                frames.insert(self.end_of_start(frames, from, own), task);
            }
            let is_long = frames.len() >= MAX_FRAMES;
            match then {
                _ if is_long => break Then::Unknown,
                Then::Above => chain = async_stacks.above(chain),
                Then::Instead(instead) => chain = instead,
                then => break then,
            }
        };
        if then == Then::Unknown {
            frames.push(self.intern(Frame::async_callers_missing(), Role::WORK));
        }
        Some(then == Then::Unknown)
    }

    /// Adds the callers of the resumed frame in a stack of the async profiler. Returns whether the
    /// frame is not on the stack, so that the callers are not known.
    fn add_profiled_callers(
        &mut self,
        stack: StackHandle,
        cut: Cut,
        frames: &mut Vec<FrameHandle>,
    ) -> bool {
        let known = self.frames_with_roles(stack);
        let resumed = frames.get(cut.at).copied();
        let is_resumed = |frame: FrameHandle| resumed.is_some_and(|it| self.is_same(it, frame));
        let own = known.iter().position(|(frame, _)| is_resumed(*frame));
        let callers = own.and_then(|own| known.get(own.saturating_add(1)..));
        match callers {
            Some(callers) => frames.extend(callers.iter().map(|(frame, _)| *frame)),
            None => frames.push(self.intern(Frame::async_callers_missing(), Role::WORK)),
        }
        callers.is_none()
    }

    /// Finds the frames of a link, unless they are known.
    fn find_segment(&mut self, chain: ChainId) {
        if self.logical.as_ref().is_none_or(|logical| logical.known(chain).is_some()) {
            return;
        }
        let model = self.model();
        let link = model.async_stacks.as_ref().map_or(Link::Unknown, |it| it.link(chain));
        let (stack, name) = match link {
            Link::Made { stack, name, .. } | Link::Awaits { stack, name, .. } => {
                (Some(stack), name)
            }
            _ => (None, None),
        };
        let frames = stack.map_or_else(Vec::new, |stack| self.frames_with_roles(stack));
        let texts = model.texts();
        let method = name.and_then(|name| method_of(name, texts));
        let mut found = segment(link, &frames, method);
        // A task without a method, such as that of `Task.WhenAll`, is shown by its name.
        if let (Then::Instead(_), Some(name), None) = (found.then, name, method) {
            found = Segment { frames: vec![self.named_task(name)], then: Then::Above };
        }
        if let Some(logical) = &mut self.logical {
            logical.keep(chain, found);
        }
    }

    /// Returns where the frames end that only start the method `own`, of those from `from` on.
    fn end_of_start(&self, frames: &[FrameHandle], from: usize, own: Option<FrameHandle>) -> usize {
        let starts = |frame: &&FrameHandle| {
            let is_library = self.async_role(**frame) == super::AsyncRole::Library;
            is_library || own.is_some_and(|own| self.is_same(own, **frame))
        };
        let count = frames.iter().skip(from).take_while(starts).count();
        from.saturating_add(count).min(frames.len())
    }

    /// Returns the frame of a task without a method, such as that of `Task.WhenAll`.
    fn named_task(&mut self, name: TextHandle) -> FrameHandle {
        let text = format!("[{}]", self.model().texts().get(name));
        self.intern(Frame::group(text, FrameKind::Managed), Role::WORK)
    }

    fn frames_with_roles(&mut self, stack: StackHandle) -> Vec<(FrameHandle, super::AsyncRole)> {
        let stacks = self.model().stored_stacks();
        let process = stacks.process(stack).unwrap_or(ProcessHandle(0));
        let ticks = stacks.since_ticks(stack);
        let addresses = stacks.addresses(stack).iter().enumerate();
        let frames = addresses.map(|(index, at)| {
            let frame = self.resolve_address(process, *at, ticks, index == 0);
            (frame, self.async_role(frame))
        });
        frames.collect()
    }
}
