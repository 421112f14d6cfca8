//! Computes the frame pointer of a function that has called another function, from its stack
//! pointer.
//!
//! Compilers that keep frame pointers begin a function with this code (x86-64):
//!
//! ```text
//! push rbp            the frame pointer of the caller is saved
//! mov  rbp, rsp       this is the frame pointer
//! push r15 …          registers that the caller wants back
//! sub  rsp, 0x48      room for variables
//! ```
//!
//! So the code tells the distance from the stack pointer to the frame pointer. In a function that
//! moves the stack pointer later on, the distance is another one. There is no return address above
//! the computed frame pointer then, so no frame is reported.

use super::process::Process;

/// Maximum length of a function's beginning, in bytes: a mark for indirect jumps, the instructions
/// for the frame pointer, six registers, and room for variables.
#[cfg(target_arch = "x86_64")]
const MAX_BEGINNING_BYTES: usize = 32;

/// Computes the frame pointer of a function that has called another function. `start` is the
/// address of the function.
#[cfg(target_arch = "x86_64")]
pub(super) fn frame_pointer(
    start: u64,
    stack_pointer: u64,
    process: &mut dyn Process,
) -> Option<u64> {
    let frame = stack_pointer.checked_add(distance(&process.bytes(start, MAX_BEGINNING_BYTES))?)?;
    let return_address = process.word(frame.checked_add(8)?)?;
    // The longest call has seven bytes.
    let before = process.bytes(return_address.checked_sub(7)?, 7);
    (before.len() == 7 && ends_with_call(&before)).then_some(frame)
}

/// Returns `None`. On AArch64, functions that call others save the frame pointer together with the
/// return address, so it is known after the first frame.
#[cfg(target_arch = "aarch64")]
pub(super) fn frame_pointer(_: u64, _: u64, _: &mut dyn Process) -> Option<u64> {
    None
}

/// Returns the distance from the stack pointer to the frame pointer after the first instructions of
/// a function.
#[cfg(target_arch = "x86_64")]
fn distance(code: &[u8]) -> Option<u64> {
    // Functions may begin with `endbr64`, a mark for indirect jumps.
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    let code = code.strip_prefix(&[0x55])?;
    // There are two encodings of `mov rbp, rsp`.
    let mut code = code
        .strip_prefix(&[0x48, 0x89, 0xe5])
        .or_else(|| code.strip_prefix(&[0x48, 0x8b, 0xec]))?;
    let mut bytes = 0_u64;
    loop {
        code = match code {
            [0x50..=0x57, rest @ ..] | [0x41, 0x50..=0x57, rest @ ..] => rest,
            _ => break,
        };
        bytes = bytes.checked_add(8)?;
    }
    match *code {
        [0x48, 0x83, 0xec, room, ..] if room < 0x80 => bytes.checked_add(u64::from(room)),
        [0x48, 0x81, 0xec, a, b, c, d, ..] if d < 0x80 => {
            bytes.checked_add(u64::from(crate::bytes::u32([a, b, c, d])))
        }
        _ => Some(bytes),
    }
}

/// Returns whether the last instruction in these bytes is a call.
#[cfg(target_arch = "x86_64")]
fn ends_with_call(code: &[u8]) -> bool {
    // `call` with `FF /2` goes by a register, or by memory with a displacement of 0, 1 or 4 bytes.
    let is_register = |modrm: u8| (0xd0..=0xd7).contains(&modrm);
    let is_plain =
        |modrm: u8| (0x10..=0x17).contains(&modrm) && modrm & 7 < 4 || modrm & !1 == 0x16;
    match *code {
        [.., 0xe8, _, _, _, _] => true,
        [.., 0xff, modrm] if is_register(modrm) || is_plain(modrm) => true,
        [.., 0xff, 0x50..=0x57, _] | [.., 0xff, 0x14, _] => true,
        [.., 0xff, 0x54, _, _] => true,
        [.., 0xff, 0x15 | 0x90..=0x97, _, _, _, _] => true,
        [.., 0xff, 0x94, _, _, _, _, _] => true,
        _ => false,
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::process::Code;
    use super::*;

    #[test]
    fn the_beginning_of_a_function_says_how_far_the_frame_pointer_is() {
        // push rbp; mov rbp, rsp; push r15; push r14; push rbx; sub rsp, 0x28
        let small =
            [0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x41, 0x56, 0x53, 0x48, 0x83, 0xec, 0x28, 0x90];
        assert_eq!(distance(&small), Some(3 * 8 + 0x28));
        // endbr64; push rbp; mov rbp, rsp; sub rsp, 0x1230
        let large =
            [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xec, 0x30, 0x12, 0, 0];
        assert_eq!(distance(&large), Some(0x1230));
        assert_eq!(distance(&[0x55, 0x48, 0x89, 0xe5, 0x90]), Some(0));
        // These have no frame pointer, are cut off, or have negative room.
        assert_eq!(distance(&[0x41, 0x57, 0x48, 0x83, 0xec, 0x28]), None);
        assert_eq!(distance(&[0x55, 0x48]), None);
        assert_eq!(distance(&[]), None);
        assert_eq!(distance(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0xf8]), Some(0));
    }

    #[test]
    fn a_return_address_follows_a_call() {
        for call in [
            &[0xe8, 1, 2, 3, 4][..],
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd3],
            &[0xff, 0x10],
            &[0xff, 0x50, 8],
            &[0xff, 0x54, 0x24, 8],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x90, 1, 2, 3, 4],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
        ] {
            let code = [&vec![0x90; 7 - call.len()][..], call].concat();
            assert!(ends_with_call(&code), "{call:x?}");
        }
        for other in [[0x90; 7], [0, 0, 0, 0, 0, 0xff, 0xe0], [0, 0, 0, 0, 0, 0xff, 0x35]] {
            assert!(!ends_with_call(&other), "{other:x?}");
        }
    }

    /// A process for tests, which has this code at address 5000, and a stack.
    struct MadeCode(Vec<u8>, u64);

    impl Process for MadeCode {
        fn word(&mut self, address: u64) -> Option<u64> {
            (address == 1000 + 16 + 8).then_some(self.1)
        }

        fn code(&mut self, _: u64) -> Code {
            Code::None
        }

        fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
            let from = address.saturating_sub(5000) as usize;
            self.0.iter().skip(from).take(count).copied().collect()
        }
    }

    #[test]
    fn without_a_return_address_in_its_place_there_is_no_frame_pointer() {
        // push rbp; mov rbp, rsp; sub rsp, 16; nop; call …
        let mut code = vec![0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 16, 0x90, 0x90];
        code.extend([0xe8, 0, 0, 0, 0, 0xc3]);
        let pointer =
            |returns_to| frame_pointer(5000, 1000, &mut MadeCode(code.clone(), returns_to));
        assert_eq!(pointer(5015), Some(1016));
        assert_eq!(pointer(5014), None);
        assert_eq!(pointer(3), None);
        assert_eq!(pointer(u64::MAX), None);
        assert_eq!(frame_pointer(5000, u64::MAX - 4, &mut MadeCode(code.clone(), 5015)), None);
        assert_eq!(frame_pointer(5001, 1000, &mut MadeCode(code.clone(), 5015)), None);
    }
}
