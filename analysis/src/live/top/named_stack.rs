//! Stacks with names.

use crate::model::{
    Frame, FrameKind, Leaf, Mode, NamesSoFar, Role, ThreadState, WaitChain, WaitFor,
    is_for_recording, state_of,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Returns the frame that stands for code that runs only for diagnostic sessions.
pub(super) fn ours() -> Frame {
    let text = "(ours: samples, counters and manifests of sessions)".to_owned();
    Frame::group(text, FrameKind::Unknown)
}

/// Stack with the names of its frames.
pub(super) struct NamedStack {
    pub(super) frames: Vec<Arc<Frame>>,
    /// Whether the code runs only for diagnostic sessions.
    pub(super) is_ours: bool,
    chain: WaitChain,
}

impl NamedStack {
    pub(super) fn state(&self, mode: Mode) -> ThreadState {
        // Names of methods come late here, so code without one may be managed.
        let is_managed = !self.frames.is_empty();
        state_of(mode, Leaf { wait: self.chain.wait, is_managed, ..Leaf::UNKNOWN })
    }

    /// Returns the method that waits, by name.
    pub(super) fn waiting_place(&self) -> &str {
        // No code of the program asked an idle thread of the pool to wait.
        let is_idle = self.chain.wait_for == Some(WaitFor::Work);
        let place = self.chain.length.saturating_sub(usize::from(is_idle));
        let frame = self.frames.get(place).or(self.frames.last());
        frame.map_or("(no managed frames)", |frame| &frame.text)
    }

    pub(super) fn wait_for(&self, mode: Mode) -> WaitFor {
        match mode {
            Mode::Blocked => WaitFor::Lock,
            _ => self.chain.wait_for.unwrap_or(WaitFor::Other),
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
        Namer { names, process, known: HashMap::new(), frames: HashSet::new(), ours }
    }

    pub(super) fn stack(&mut self, addresses: &[u64]) -> NamedStack {
        let (mut frames, mut chain) = (Vec::with_capacity(addresses.len()), WaitChain::NEW);
        for (index, address) in addresses.iter().enumerate() {
            let key = (*address, index == 0);
            if !self.known.contains_key(&key) {
                let (mut frame, role) = self.names.frame(self.process, key.0, key.1);
                // With the offset of a guess, each address would be a row.
                if frame.is_guessed {
                    frame = Arc::new(Frame::clone(&frame).without_offset());
                }
                let shared = match self.frames.get(&frame) {
                    Some(known) => Arc::clone(known),
                    None => {
                        self.frames.insert(Arc::clone(&frame));
                        frame
                    }
                };
                self.known.insert(key, (shared, role));
            }
            if let Some((frame, role)) = self.known.get(&key) {
                frames.push(Arc::clone(frame));
                chain.push(*role);
            }
        }
        // All work of the recording shares one row.
        let recording = frames.iter().rposition(|frame| is_for_recording(frame));
        if let Some(at) = recording {
            frames.splice(..=at, [Arc::clone(&self.ours)]);
        }
        NamedStack { frames, is_ours: recording.is_some(), chain }
    }
}
