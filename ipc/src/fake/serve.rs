//! The server thread of the fake runtime, which serves one connection after the other.

use super::fault::FaultKind;
use super::stream::{FakeSession, MAX_WRITE_TIME};
use super::{SharedFake, harm, reply};
use crate::advertise::Advertise;
use crate::bytes;
use crate::command_id::CommandId;
use crate::deadlines::Deadline;
use crate::endpoint::{Endpoint, Listener, Wire};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval at which waiting threads check whether the fake has ended.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(20);
const BAD_ENCODING: u32 = 0x8013_1384;
const UNKNOWN_COMMAND: u32 = 0x8013_1385;
const UNKNOWN_MAGIC: u32 = 0x8013_1386;
const FAIL: u32 = 0x8000_4005;
const VARIABLE_NOT_FOUND: u32 = 0x8007_00CB;

pub(super) fn listen(shared: &Arc<SharedFake>, listener: &Listener) {
    while !shared.is_over() {
        if let Ok(Some(wire)) = listener.accept(END_CHECK_INTERVAL) {
            serve(shared, wire);
        }
    }
}

/// Connects to a port, identifies the runtime, and serves one command, again and again.
pub(super) fn connect(shared: &Arc<SharedFake>, port: &Endpoint) {
    let advertise = Advertise { cookie: shared.config.cookie, pid: shared.config.pid }.to_bytes();
    let mut pause = Duration::from_millis(10);
    while !shared.is_over() {
        match port.connect(Duration::from_millis(500)) {
            Ok(mut wire) => {
                pause = Duration::from_millis(10);
                if wire.write_all(&advertise, Deadline::after(MAX_WRITE_TIME)).is_ok() {
                    serve(shared, wire);
                }
            }
            Err(_) => {
                std::thread::sleep(pause);
                pause = pause
                    .saturating_mul(5)
                    .checked_div(4)
                    .unwrap_or(pause)
                    .min(Duration::from_millis(500));
            }
        }
    }
}

/// Reads exactly `count` bytes, without a deadline. Returns `None` if the client or the fake ends.
fn read(shared: &SharedFake, wire: &mut Wire, count: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < count {
        while !wire.wait_readable(END_CHECK_INTERVAL).ok()? {
            if shared.is_over() {
                return None;
            }
        }
        let mut buffer = vec![0; count.saturating_sub(bytes.len())];
        let read = wire
            .read(&mut buffer, Deadline::after(MAX_WRITE_TIME))
            .ok()
            .filter(|read| *read > 0)?;
        bytes.extend_from_slice(buffer.get(..read)?);
    }
    Some(bytes)
}

/// Serves one connection and closes it, unless it belongs to a session or a fault leaves it open.
fn serve(shared: &Arc<SharedFake>, wire: Wire) {
    shared.watch(&wire);
    let closing = wire.try_clone();
    let kept = handle(shared, wire);
    if let (false, Ok(wire)) = (kept, closing) {
        wire.close();
    }
}

/// Serves one request. Returns whether the connection stays open.
fn handle(shared: &Arc<SharedFake>, mut wire: Wire) -> bool {
    let unread =
        shared.lock().fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::CloseUnread);
    if unread {
        // The client has surely sent something by now.
        drop(wire.wait_readable(MAX_WRITE_TIME));
        return false;
    }
    let Some(header) = read(shared, &mut wire, 20) else { return false };
    let (magic, rest) = header.split_at_checked(14).unwrap_or_default();
    let &[low, high, set, id, ..] = rest else { return false };
    let size = usize::from(bytes::u16([low, high]));
    let Some(payload_bytes) = size.checked_sub(20) else {
        send(&mut wire, &reply::refusal(BAD_ENCODING));
        return false;
    };
    let Some(payload) = read(shared, &mut wire, payload_bytes) else { return false };
    shared.lock().requests.push([header.as_slice(), &payload].concat());
    if magic != b"DOTNET_IPC_V1\0" {
        send(&mut wire, &reply::refusal(UNKNOWN_MAGIC));
        return false;
    }
    let command = CommandId { set, id };
    let suspended = !shared.resumed.load(Ordering::SeqCst);
    if let Some(death) = harm::reason(set, id, &payload, suspended, shared.config.major) {
        shared.lock().death = Some(death);
        shared.end();
        return false;
    }
    let fault =
        shared.lock().fault.clone().filter(|fault| fault.applies(command)).map(|fault| fault.kind);
    if fault == Some(FaultKind::EarlyClose) {
        return false;
    }
    if fault == Some(FaultKind::Silence) {
        wait_for_close(shared, &mut wire);
        return false;
    }
    let code = match fault {
        Some(FaultKind::Refuse(code) | FaultKind::RefuseLeftOpen(code)) => Some(code.0),
        _ if !knows(shared, command) => Some(UNKNOWN_COMMAND),
        _ => None,
    };
    if let Some(code) = code {
        send(&mut wire, &reply::refusal(code));
        if matches!(fault, Some(FaultKind::RefuseLeftOpen(_))) {
            // The connection stays open, and others are served.
            shared.lock().open.push(wire);
            return true;
        }
        return false;
    }
    match command.set {
        2 if id != 1 => collect(shared, wire, &payload, fault),
        2 => {
            stop(shared, wire, &payload, fault);
            false
        }
        _ => {
            let mut answer = answer(shared, command, &payload);
            let continuation = answer.split_off(answer_bytes(&answer));
            spoil(shared, &mut wire, answer, fault);
            send(&mut wire, &continuation);
            false
        }
    }
}

/// Returns the size of the first frame of an answer, in bytes.
fn answer_bytes(answer: &[u8]) -> usize {
    match answer.get(14..16) {
        Some(&[low, high]) => usize::from(bytes::u16([low, high])).min(answer.len()),
        _ => answer.len(),
    }
}

fn knows(shared: &SharedFake, command: CommandId) -> bool {
    command.since().is_some_and(|since| since <= shared.config.major)
}

fn send(wire: &mut Wire, bytes: &[u8]) {
    // The client may be gone.
    drop(wire.write_all(bytes, Deadline::after(MAX_WRITE_TIME)));
}

fn wait_for_close(shared: &SharedFake, wire: &mut Wire) {
    while !shared.is_over() && !wire.is_closed() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a reply, which a fault may change or suppress.
pub(super) fn spoil(
    shared: &SharedFake,
    wire: &mut Wire,
    mut bytes: Vec<u8>,
    fault: Option<FaultKind>,
) {
    let half = bytes.len().checked_div(2).unwrap_or_default();
    let set = |bytes: &mut Vec<u8>, at: usize, value: u8| {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    };
    match fault {
        Some(FaultKind::HalfReply) => {
            send(wire, bytes.get(..half).unwrap_or_default());
            wait_for_close(shared, wire);
        }
        Some(FaultKind::HalfReplyThenClose) => {
            send(wire, bytes.get(..half).unwrap_or_default());
            wire.close();
        }
        Some(FaultKind::Uninitialised) => {
            send(wire, &[0xA8; 28]);
            wire.close();
        }
        Some(FaultKind::WrongMagic) => {
            set(&mut bytes, 12, b'2');
            send(wire, &bytes);
        }
        Some(FaultKind::WrongSet) => {
            set(&mut bytes, 16, 4);
            send(wire, &bytes);
        }
        Some(FaultKind::SizeTooSmall) => {
            set(&mut bytes, 14, 10);
            set(&mut bytes, 15, 0);
            send(wire, &bytes);
        }
        Some(FaultKind::SizeTooLarge) => {
            let low = bytes.get(14).copied().unwrap_or_default();
            set(&mut bytes, 14, low.saturating_add(5));
            send(wire, &bytes);
            wire.close();
        }
        Some(FaultKind::HugeCounts) => {
            bytes.iter_mut().skip(20).for_each(|byte| *byte = 0xFF);
            send(wire, &bytes);
        }
        Some(FaultKind::SlowDrip(pause)) => {
            for byte in bytes {
                if wire.write_all(&[byte], Deadline::after(MAX_WRITE_TIME)).is_err()
                    || shared.is_over()
                {
                    return;
                }
                std::thread::sleep(pause);
            }
        }
        _ => send(wire, &bytes),
    }
}

/// Returns the answer to a command that is known and harmless. Bytes after its first frame follow
/// the reply.
fn answer(shared: &SharedFake, command: CommandId, payload: &[u8]) -> Vec<u8> {
    let suspended = !shared.resumed.load(Ordering::SeqCst);
    let info =
        |version| reply::frame(true, &reply::process_info(&shared.config, version, suspended));
    match command {
        CommandId::PROCESS_INFO => info(1),
        CommandId::PROCESS_INFO_2 => info(2),
        CommandId::PROCESS_INFO_3 => info(3),
        CommandId::RESUME_RUNTIME => {
            shared.resumed.store(true, Ordering::SeqCst);
            let mut state = shared.lock();
            state.resumes = state.resumes.saturating_add(1);
            reply::done()
        }
        CommandId::PROCESS_ENVIRONMENT => {
            let continuation = reply::environment(&shared.lock());
            let length = u32::try_from(continuation.len()).unwrap_or(u32::MAX).to_le_bytes();
            let mut bytes = reply::frame(true, &[&length[..], &[0, 0]].concat());
            bytes.extend(continuation);
            bytes
        }
        CommandId::SET_ENVIRONMENT_VARIABLE => set_variable(shared, payload),
        _ => reply::done(),
    }
}

fn set_variable(shared: &SharedFake, payload: &[u8]) -> Vec<u8> {
    let text = |bytes: &[u8]| -> Option<(String, usize)> {
        let units = usize::try_from(bytes::u32(*bytes.first_chunk()?)).ok()?;
        let end = units.checked_mul(2)?.checked_add(4)?;
        let units = bytes::utf16(bytes.get(4..end)?);
        Some((String::from_utf16_lossy(&units).trim_end_matches('\0').to_owned(), end))
    };
    let Some((name, end)) = text(payload) else { return reply::refusal(BAD_ENCODING) };
    let rest = payload.get(end..).unwrap_or_default();
    let value = if rest == [0; 4] { None } else { text(rest).map(|(value, _)| value) };
    let mut state = shared.lock();
    let prefix = format!("{name}=");
    let known = state.environment.iter().any(|entry| entry.starts_with(&prefix));
    state.environment.retain(|entry| !entry.starts_with(&prefix));
    match value {
        Some(value) => state.environment.push(format!("{prefix}{value}")),
        None if !known => return reply::refusal(VARIABLE_NOT_FOUND),
        None => {}
    }
    reply::done()
}

fn collect(
    shared: &Arc<SharedFake>,
    mut wire: Wire,
    payload: &[u8],
    fault: Option<FaultKind>,
) -> bool {
    let id = {
        let mut state = shared.lock();
        if state.sessions.len() >= shared.config.max_sessions {
            drop(state);
            send(&mut wire, &reply::refusal(FAIL));
            return false;
        }
        // Ids are addresses: the next session often gets the one that was just freed.
        while state.sessions.contains_key(&state.next_session) {
            state.next_session = state.next_session.wrapping_add(0x10);
        }
        let id = state.next_session;
        if state.sessions.is_empty() {
            state.next_session = id;
        }
        id
    };
    let last = shared.lock().requests.last().and_then(|request| request.get(17).copied());
    if last.is_some_and(|id| id >= 6)
        && payload.starts_with(&[1, 0, 0, 0])
        && !receive_descriptor(shared, &mut wire)
    {
        send(&mut wire, &reply::refusal(BAD_ENCODING));
        return false;
    }
    FakeSession::begin(shared, id, wire, fault).is_ok()
}

fn stop(shared: &Arc<SharedFake>, mut wire: Wire, payload: &[u8], fault: Option<FaultKind>) {
    let id = payload.try_into().map(bytes::u64).unwrap_or_default();
    shared.lock().stops.push(id);
    if fault == Some(FaultKind::StopIgnored) {
        wait_for_close(shared, &mut wire);
        return;
    }
    let session = shared.lock().sessions.remove(&id);
    if let Some(session) = session {
        session.finish(&shared.config);
    }
    match fault {
        Some(FaultKind::StopNeverAnswers) => wait_for_close(shared, &mut wire),
        Some(FaultKind::StopOtherSession) => {
            send(&mut wire, &reply::frame(true, &id.wrapping_add(1).to_le_bytes()));
        }
        fault => spoil(shared, &mut wire, reply::frame(true, &id.to_le_bytes()), fault),
    }
}

/// Waits for the dummy byte that comes with a file descriptor. There is no deadline, as in real
/// runtimes.
#[cfg(unix)]
fn receive_descriptor(shared: &SharedFake, wire: &mut Wire) -> bool {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    while !wire.wait_readable(END_CHECK_INTERVAL).unwrap_or(true) {
        if shared.is_over() {
            return false;
        }
    }
    let Wire::Unix(stream) = wire else { return false };
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let received = recvmsg(
        &*stream,
        &mut [std::io::IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::empty(),
    );
    let descriptors: usize = ancillary
        .drain()
        .map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.count(),
            _ => 0,
        })
        .sum();
    let mut state = shared.lock();
    state.descriptors = state.descriptors.saturating_add(descriptors);
    received.is_ok_and(|received| received.bytes == 1) && descriptors == 1
}

#[cfg(not(unix))]
fn receive_descriptor(_shared: &SharedFake, _wire: &mut Wire) -> bool {
    false
}
