//! Tests of stack blocks (FORMAT.md 6.8, 7.5).

use crate::snapshot::{Outcome, ordered, read};
use crate::streams::{
    START, V4_AND_V6, at, begun, event, events, introduce, on, point, sorted, undefined_in,
};
use nettrace_parser::{BlockKind, Class, Fault};
use nettrace_testdata::synth::*;

fn with_stack(number: u32, stack_id: u32) -> Blob {
    Blob { stack_id, ..event(number, u64::from(number)) }
}

fn stacks_of(outcome: &Outcome) -> Vec<&[u64]> {
    outcome.events.iter().map(|event| &event.stack[..]).collect()
}

fn last_part(stream: &Stream) -> &Part {
    stream.parts.last().unwrap()
}

#[test]
fn t095_ids_count_from_firstid_over_the_rows() {
    for version in V4_AND_V6 {
        for first in [1, 2, 1000, u32::MAX - 1] {
            let mut stream = begun(version);
            let id = |nth: u32| first.wrapping_add(nth);
            stream.stack_block(&StackBlock::new(first, 8, &[vec![0xa], vec![0xb, 0xbb]]));
            // The next block goes on, or somewhere else.
            stream.stack_block(&StackBlock::new(500, 8, &[[0xc]]));
            events(&mut stream, [with_stack(1, id(1)), with_stack(2, id(0)), with_stack(3, 500)]);
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!(stacks_of(&outcome), [&[0xb, 0xbb][..], &[0xa], &[0xc]]);
            assert!(outcome.is_flawless());
        }
    }
}

#[test]
fn t096_an_empty_stack_is_a_stack_without_frames_and_id_0_is_none() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        stream.stack_block(&StackBlock::new(1, 8, &[vec![], vec![7]]));
        events(&mut stream, [with_stack(1, 1), with_stack(2, 0), with_stack(3, 2)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(stacks_of(&outcome), [&[][..], &[], &[7]]);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t097_a_sequence_point_forgets_stacks_and_ids_start_again_at_1() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        stream.stack_block(&StackBlock::new(1, 8, &[[0xa], [0xb]]));
        events(&mut stream, [with_stack(1, 1), with_stack(2, 2)]);
        point(&mut stream, 2, &[(11, 2)]);
        stream.stack_block(&StackBlock::new(1, 8, &[[0xc]]));
        events(&mut stream, [with_stack(3, 1), with_stack(4, 2)]);
        stream.end();
        for outcome in [read(&stream.bytes), ordered(&stream.bytes)] {
            assert_eq!(stacks_of(&outcome), [&[0xa][..], &[0xb], &[0xc], &[]]);
            let undefined = outcome.events[3].offset;
            assert_eq!(
                outcome.damage(),
                [(undefined_in(version), undefined, Fault::UndefinedStack(2))]
            );
        }
    }
}

#[test]
fn t098_an_event_keeps_its_stack_when_it_is_delivered_after_the_sequence_point() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        let mut later = 0;
        for round in 0..3_u32 {
            stream.stack_block(&StackBlock::new(
                1,
                8,
                &[[u64::from(round) + 100], [u64::from(round) + 200]],
            ));
            // Nothing is marked sorted, and the runs of two threads overlap in time.
            let run = |thread, stack_id, from: u64| {
                (0..4).map(move |nth| Blob {
                    stack_id,
                    ..on(thread, round * 4 + nth + 1, from + u64::from(nth) * 2)
                })
            };
            events(&mut stream, run(11, 1, later + 1).chain(run(12, 2, later)));
            later += 10;
            point(&mut stream, later, &[]);
        }
        stream.end();
        let outcome = ordered(&stream.bytes);
        let expected = (0..3).flat_map(|round| {
            (0..8).map(move |nth| if nth % 2 == 0 { 200 + round } else { 100 + round })
        });
        let frames: Vec<u64> = outcome.events.iter().map(|event| event.stack[0]).collect();
        assert_eq!(frames, expected.collect::<Vec<_>>());
        assert_eq!(outcome.out_of_order, 0);
        assert!(outcome.is_flawless());
    }
    // Also when the same id is defined again while the event waits.
    let mut stream = begun(Version::V4);
    stream.stack_block(&StackBlock::new(1, 8, &[[0xa]]));
    events(&mut stream, [with_stack(5, 1)]);
    stream.stack_block(&StackBlock::new(1, 8, &[[0xb]]));
    let again = last_part(&stream).rows[0].start as u64;
    events(&mut stream, [Blob { stack_id: 1, ..on(12, 1, 1) }]);
    stream.end();
    let outcome = ordered(&stream.bytes);
    assert_eq!(
        (outcome.ticks(), stacks_of(&outcome)),
        (at([1, 5]).to_vec(), vec![&[0xb][..], &[0xa]])
    );
    assert_eq!(outcome.damage(), [(Class::Note, again, Fault::Redefined(1))]);
}

#[test]
fn t099_an_undefined_stack_id_is_noted_and_means_none() {
    for version in V4_AND_V6 {
        let mut stream = begun(version);
        stream.stack_block(&StackBlock::new(5, 8, &[[0xa]]));
        // Three in one block are a contradiction.
        events(&mut stream, [with_stack(1, 4), with_stack(2, 5), with_stack(3, 6)]);
        events(&mut stream, [with_stack(4, u32::MAX)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(stacks_of(&outcome), [&[][..], &[0xa], &[], &[]]);
        let note =
            |nth: usize, class, id| (class, outcome.events[nth].offset, Fault::UndefinedStack(id));
        let first = undefined_in(version);
        let noted = [note(0, first, 4), note(2, Class::Note, 6), note(3, first, u32::MAX)];
        assert_eq!(outcome.damage(), noted);
    }
}

#[test]
fn t100_a_count_that_disagrees_with_the_rows_is_noted_and_all_rows_are_read() {
    for version in V4_AND_V6 {
        for count in [0, 1, 3, u32::MAX] {
            let mut stream = begun(version);
            let block = StackBlock::new(1, 8, &[[0xa], [0xb]]);
            stream.stack_block(&StackBlock { count: Some(count), ..block });
            let content = last_part(&stream).content.start as u64;
            events(&mut stream, [with_stack(1, 1), with_stack(2, 2)]);
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!(stacks_of(&outcome), [&[0xa][..], &[0xb]]);
            let fault = Fault::Count { stated: u64::from(count), found: 2 };
            // Noted as a header that contradicts its rows, which no sound writer makes.
            assert_eq!(outcome.damage(), [(Class::Contradiction, content + 4, fault)]);
        }
    }
}

#[test]
fn t101_a_stack_size_beyond_the_block_keeps_the_stacks_before_it() {
    for version in V4_AND_V6 {
        for size in [17, 1000, i32::MAX as u32, u32::MAX] {
            let mut stream = begun(version);
            let mut block = StackBlock::new(1, 8, &[[0xa], [0xb], [0xc]]);
            block.stacks[1].size = Some(size.max(21));
            stream.stack_block(&block);
            let part = last_part(&stream).clone();
            stream.stack_block(&StackBlock::new(4, 8, &[[0xd]]));
            events(&mut stream, [1, 2, 3, 4].map(|id| with_stack(id, id)));
            stream.end();
            let outcome = read(&stream.bytes);
            assert_eq!(stacks_of(&outcome), [&[0xa][..], &[], &[], &[0xd]]);
            let row = part.rows[1].start as u64;
            let lost = outcome.findings[0];
            assert_eq!((lost.class, lost.offset), (Class::RestOfBlockLost, row));
            assert_eq!(lost.fault, Fault::StackSize(size.max(21)));
            assert_eq!(lost.lost_bytes, part.content.end as u64 - row);
            assert_eq!(
                (lost.block, lost.block_offset),
                (Some(BlockKind::Stack), part.start as u64)
            );
            assert_eq!(
                outcome.damage()[1..],
                [2, 3].map(|id: u32| {
                    (Class::Note, outcome.events[id as usize - 1].offset, Fault::UndefinedStack(id))
                })
            );
            assert!(outcome.is_complete);
        }
        // Bytes too few for a size, and for the block's own header.
        let mut stream = begun(version);
        let block = StackBlock { trailing: vec![9, 9, 9], ..StackBlock::new(1, 8, &[[0xa]]) };
        stream.stack_block(&block);
        let end = last_part(&stream).content.end as u64;
        stream.part(PartKind::Stack, Content::raw([1, 0, 0, 0, 0, 0]));
        let short = last_part(&stream).content.start as u64;
        events(&mut stream, [with_stack(1, 1)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(stacks_of(&outcome), [&[0xa][..]]);
        assert_eq!(
            outcome.damage(),
            [
                (Class::RestOfBlockLost, end - 3, Fault::Truncated),
                (Class::BlockLost, short, Fault::Truncated),
            ]
        );
    }
}

#[test]
fn t102_a_size_that_is_no_multiple_of_the_pointer_size_keeps_whole_addresses() {
    for version in V4_AND_V6 {
        for (pointer_size, sizes) in [(8, [15, 9, 7]), (4, [11, 9, 3])] {
            let mut stream = Stream::new(version);
            stream.trace(&Trace { pointer_size, ..Trace::default() });
            introduce(&mut stream);
            let stacks = sizes.map(|size| Stack { bytes: (1..=size).collect(), size: None });
            stream.stack_block(&StackBlock {
                first_id: 1,
                stacks: stacks.to_vec(),
                ..StackBlock::default()
            });
            let rows: Vec<u64> =
                last_part(&stream).rows.iter().map(|row| row.start as u64).collect();
            events(&mut stream, [1, 2, 3].map(|id| sorted(with_stack(id, id))));
            stream.end();
            let outcome = read(&stream.bytes);
            let expected: [&[u64]; 3] = match pointer_size {
                8 => [&[0x0807_0605_0403_0201], &[0x0807_0605_0403_0201], &[]],
                _ => [&[0x0403_0201, 0x0807_0605], &[0x0403_0201, 0x0807_0605], &[]],
            };
            assert_eq!(stacks_of(&outcome), expected);
            let notes: Vec<_> = (0..3)
                .map(|nth| (Class::Note, rows[nth], Fault::PartialAddress(u32::from(sizes[nth]))))
                .collect();
            assert_eq!(outcome.damage(), notes);
            assert_eq!(outcome.events[0].ticks, START + 1);
        }
    }
}
