//! Tests of `Stack::as_words`, which returns the stored addresses as one slice.

use nettrace_parser::{Reader, Stack};
use nettrace_testdata::corpus;

fn address([low, high]: [u32; 2]) -> u64 {
    u64::from(u32::from_le(high)) << 32 | u64::from(u32::from_le(low))
}

/// Returns the number of events of a trace that have a stack, and the number of those for which
/// `as_words` returns a slice. Compares each slice with the addresses. The trace begins in memory
/// `offset` bytes after a multiple of eight.
fn stacks_and_words(trace: &[u8], offset: usize) -> (usize, usize) {
    let mut memory = vec![0; trace.len() + 16];
    let start = memory.as_ptr().align_offset(8) + offset;
    let trace_again = &mut memory[start..][..trace.len()];
    trace_again.copy_from_slice(trace);
    let mut reader = Reader::from_slice(trace_again);
    let (mut stacks, mut with_words) = (0, 0);
    while let Some(event) = reader.next_event().unwrap() {
        let stack = event.stack();
        if stack.is_empty() {
            continue;
        }
        stacks += 1;
        if let Some(words) = stack.as_words() {
            with_words += 1;
            assert!(words.iter().map(|words| address(*words)).eq(stack.addresses()));
        }
    }
    (stacks, with_words)
}

#[test]
fn all_stacks_of_versions_4_and_6_are_words_wherever_the_trace_lies() {
    let names = ["net10-linux-x64/samples-only.nettrace", "one-collect-v6/cpu.nettrace"];
    for name in names {
        let trace = corpus::trace(name).bytes();
        for offset in 0..5 {
            let (stacks, with_words) = stacks_and_words(&trace, offset);
            assert!(stacks > 1000);
            assert_eq!(with_words, stacks, "{name} at {offset}");
        }
    }
}

#[test]
fn a_stack_of_version_3_is_words_if_it_lies_at_a_multiple_of_four() {
    let trace = corpus::trace("net3.1-linux-x64/all.netperf");
    let found = [0, 1, 2, 3, 4].map(|offset| stacks_and_words(&trace.bytes(), offset));
    let stacks = found[0].0;
    assert!(found.iter().all(|(all, _)| *all == stacks));
    assert_eq!(found[0], found[4]);
    assert_eq!(found[..4].iter().map(|(_, with_words)| with_words).sum::<usize>(), stacks);
}

#[test]
fn addresses_of_4_bytes_are_no_words_and_an_incomplete_address_is_left_out() {
    let memory = [0x1111_2222_u32, 0x3333_4444, 0x5555_6666, 0x7777_8888].map(u32::to_le_bytes);
    let bytes = memory.as_flattened();
    let start = bytes.as_ptr().align_offset(4);
    let aligned = &bytes[start..];
    let words = |bytes, pointer_size| Stack::new(bytes, pointer_size).as_words().map(<[_]>::len);
    assert_eq!(words(aligned, 4), None);
    assert_eq!(words(&aligned[..8], 8), Some(1));
    assert_eq!(words(&aligned[..11], 8), Some(1));
    assert_eq!(words(&aligned[..7], 8), Some(0));
    assert_eq!(words(&aligned[1..9], 8), None);
}
