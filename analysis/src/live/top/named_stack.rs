//! Stacks with names.

use crate::hash::{HashMap, HashSet};
use crate::model::thread_times::SampleClass;
use crate::model::{
    Frame, FrameCall, FrameKind, Innermost, InnermostCall, Leaf, Mode, NamesSoFar, Role,
    ThreadState, WaitChain, WaitFor, is_calling, is_for_recording, mark_handler, running_of,
    state_of,
};
use std::sync::Arc;

/// Returns the frame that stands for code that runs only for diagnostic sessions.
pub(super) fn ours() -> Frame {
    let text = "(ours: samples, counters and manifests of sessions)".to_owned();
    Frame::group(text, FrameKind::Unknown)
}

/// Stack with the names of its frames.
pub(super) struct NamedStack {
    /// Frames, innermost first.
    frames: Vec<Arc<Frame>>,
    /// Whether the first frame stands for a call that only samples of running threads show.
    has_call: bool,
    /// Whether the code runs only for diagnostic sessions.
    pub(super) is_ours: bool,
    pub(super) leaf: Leaf,
    wait_for: Option<WaitFor>,
    /// Number of innermost frames that belong to the wait.
    wait_length: usize,
}

impl NamedStack {
    /// Returns the frames of a sample, innermost first. If the thread was in a native call or
    /// taking a lock, the first frame says that.
    pub(super) fn frames(&self, mode: Mode) -> &[Arc<Frame>] {
        match is_calling(mode, self.leaf) {
            true => &self.frames,
            false => self.frames_of_event(),
        }
    }

    /// Returns the frames, innermost first, for an event that says nothing about the thread.
    pub(super) fn frames_of_event(&self) -> &[Arc<Frame>] {
        self.frames.get(usize::from(self.has_call)..).unwrap_or_default()
    }

    /// Returns the frames of a thread that ran in a method that waits, innermost first. If the wait
    /// is known, the first frame says that the thread went to sleep or woke.
    pub(super) fn waking_frames(&self) -> Vec<Arc<Frame>> {
        let frames = self.frames_of_event();
        let waking = frames.first().filter(|_| self.leaf.is_known_wait());
        let waking = waking.map(|frame| Arc::new(frame.calling(FrameCall::Waking)));
        waking.into_iter().chain(frames.iter().cloned()).collect()
    }

    /// Returns what a sample shows of its thread.
    pub(super) fn class(&self, mode: Mode) -> SampleClass {
        SampleClass::new(running_of(mode, self.leaf), self.leaf.is_untold)
    }

    pub(super) fn state(&self, mode: Mode) -> ThreadState {
        state_of(mode, self.leaf)
    }

    /// Returns the method that waits, by name.
    pub(super) fn waiting_place(&self) -> &str {
        // No code of the program asked an idle thread of the pool to wait.
        let is_idle = self.wait_for == Some(WaitFor::Work);
        let place = self.wait_length.saturating_sub(usize::from(is_idle));
        let frames = self.frames_of_event();
        let frame = frames.get(place).or(frames.last());
        frame.map_or("(no managed frames)", |frame| &frame.text)
    }

    pub(super) fn wait_for(&self, mode: Mode) -> WaitFor {
        match mode {
            Mode::Blocked => WaitFor::Lock,
            _ => self.wait_for.unwrap_or(WaitFor::Other),
        }
    }
}

/// Names of addresses, each looked up once.
pub(super) struct Namer<'n> {
    names: &'n mut NamesSoFar,
    process: Option<u64>,
    known: HashMap<(u64, bool), (Arc<Frame>, Role)>,
    frames: HashSet<Arc<Frame>>,
    ours: Arc<Frame>,
}

impl<'n> Namer<'n> {
    pub(super) fn new(names: &'n mut NamesSoFar, process: Option<u64>) -> Namer<'n> {
        let ours = Arc::new(ours());
        Namer { names, process, known: HashMap::default(), frames: HashSet::default(), ours }
    }

    pub(super) fn stack(&mut self, addresses: &[u64]) -> NamedStack {
        let mut rows = Vec::with_capacity(addresses.len());
        let mut chain = WaitChain::NEW;
        for (index, address) in addresses.iter().enumerate() {
            let key = (*address, index == 0);
            if !self.known.contains_key(&key) {
                let (mut frame, role) = self.names.frame(self.process, key.0, key.1);
                // With the offset of a guess, each address would be a row.
                if frame.is_guessed {
                    frame = Arc::new(Frame::clone(&frame).without_offset());
                }
                let shared = self.share(frame);
                self.known.insert(key, (shared, role));
            }
            if let Some((frame, role)) = self.known.get(&key) {
                rows.push((Arc::clone(frame), role.passage));
                chain.push(*role);
            }
        }
        let has_rundown = self.names.runtime(self.process).has_rundown;
        let is_managed = rows.first().is_some_and(|(leaf, _)| {
            // Before the rundown, code without a name may be managed.
            leaf.kind == FrameKind::Managed || !has_rundown
        });
        let leaf = Leaf {
            wait: chain.wait,
            is_managed,
            is_returning: chain.is_returning() && has_rundown,
            is_native_call: chain.is_in_native,
            is_at_poll: chain.is_at_poll,
            ..Leaf::UNKNOWN
        };
        let of_stack = rows.iter().map(|(frame, passage)| (&**frame, *passage));
        let Innermost { left_out, call, .. } = Innermost::new(of_stack, chain, leaf.is_returning);
        let call = call.and_then(|call| Some((rows.get(call.caller)?.0.calling(call.what), call)));
        let mut frames: Vec<_> = rows.into_iter().map(|(frame, _)| frame).skip(left_out).collect();
        let mut wait_length = chain.length.saturating_sub(left_out);
        let mut has_call = false;
        if let Some((frame, InnermostCall { unnamed, is_of_running, .. })) = call {
            let frame = self.share(Arc::new(frame));
            frames.splice(..unnamed.min(frames.len()), [frame]);
            has_call = is_of_running;
            wait_length = wait_length.saturating_sub(unnamed.saturating_sub(1));
        }
        mark_handler(&mut frames);
        // All work of the recording shares one row.
        let recording = frames.iter().rposition(|frame| is_for_recording(frame));
        if let Some(at) = recording {
            frames.splice(..=at, [Arc::clone(&self.ours)]);
            has_call = false;
        }
        let wait_for = chain.wait_for;
        NamedStack { frames, has_call, is_ours: recording.is_some(), leaf, wait_for, wait_length }
    }

    /// Returns the frame that is kept for this text.
    fn share(&mut self, frame: Arc<Frame>) -> Arc<Frame> {
        if let Some(known) = self.frames.get(&frame) {
            return Arc::clone(known);
        }
        self.frames.insert(Arc::clone(&frame));
        frame
    }
}
