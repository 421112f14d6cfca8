//! Replies of the fake runtime, encoded byte by byte. Nothing here is shared with the code under
//! test.

use super::{FakeConfig, FakeState};

pub(super) fn frame(ok: bool, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(payload.len().saturating_add(20)).unwrap_or(u16::MAX);
    let mut bytes = b"DOTNET_IPC_V1\0".to_vec();
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&[0xFF, if ok { 0 } else { 0xFF }, 0, 0]);
    bytes.extend_from_slice(payload);
    bytes
}

pub(super) fn refusal(code: u32) -> Vec<u8> {
    frame(false, &code.to_le_bytes())
}

pub(super) fn done() -> Vec<u8> {
    frame(true, &[0; 4])
}

pub(super) fn string(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
    let count = u32::try_from(units.len()).unwrap_or(u32::MAX);
    count.to_le_bytes().into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
}

/// Encodes the reply's payload for one of the three versions of ProcessInfo.
pub(super) fn process_info(config: &FakeConfig, version: u32, suspended: bool) -> Vec<u8> {
    let mut payload = Vec::new();
    if version == 3 {
        payload.extend_from_slice(&1_u32.to_le_bytes());
    }
    payload.extend_from_slice(&config.pid.to_le_bytes());
    payload.extend_from_slice(&config.cookie.to_bytes());
    let line = config.command_line.as_str();
    // A suspended runtime knows only the host's path.
    let line = if suspended { line.split(' ').next().unwrap_or(line) } else { line };
    for text in [line, "Linux", "x64"] {
        payload.extend(string(text));
    }
    if version >= 2 {
        payload.extend(string(&config.entry_assembly));
        payload.extend(string(&config.product_version));
    }
    if version == 3 {
        payload.extend(string("linux-x64"));
    }
    payload
}

/// Encodes the bytes with the variables that follow the reply to ProcessEnvironment.
pub(super) fn environment(state: &FakeState) -> Vec<u8> {
    let count = u32::try_from(state.environment.len()).unwrap_or(u32::MAX);
    let entries = state.environment.iter().flat_map(|entry| string(entry));
    count.to_le_bytes().into_iter().chain(entries).collect()
}
