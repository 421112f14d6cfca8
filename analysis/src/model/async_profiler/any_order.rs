//! Properties of what is read from buffers of any content, in any order.

use super::pauses::AsyncPauses;
use super::reading::{AsyncReading, KeepAsync};
use super::runs::KeptRuns;
use super::step::{AsyncStep, HiddenFrames, StackMoment};
use super::turns::{AsyncTurn, TurnStep};
use crate::hash::HashMap;
use nettrace_parser::view::AsyncBuffer;
use nettrace_testdata::cases;
use proptest::prelude::*;

/// Thread, ticks since its last step, and step.
type Act = (u64, u64, AsyncStep);

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let dispatcher = 0..5u64;
    let stack = (dispatcher.clone(), 0..4u8, any::<bool>(), prop::collection::vec(1..4u64, 0..3));
    let step = prop_oneof![
        (dispatcher.clone(), dispatcher.clone())
            .prop_map(|(parent, dispatcher)| AsyncStep::Created { parent, dispatcher }),
        dispatcher.prop_map(AsyncStep::Resumed),
        any::<bool>().prop_map(|is_over| AsyncStep::Left { is_over }),
        (0..3u64).prop_map(AsyncStep::MethodsEnd),
        stack.prop_map(|(dispatcher, of, is_of_task, addresses)| AsyncStep::Stack {
            dispatcher,
            of: match of {
                0 => StackMoment::Created,
                1 => StackMoment::Resumed,
                2 => StackMoment::Suspended,
                _ => StackMoment::Appended,
            },
            is_of_task,
            addresses,
            hidden: HiddenFrames::default(),
        }),
        Just(AsyncStep::Reset),
    ];
    prop::collection::vec((0..3u64, 0..3u64, step), 0..60)
}

/// Gives the steps to a reading, with the time of each.
fn read<K: KeepAsync + Default>(acts: &[Act]) -> AsyncReading<K> {
    let (mut reading, mut clocks) = (AsyncReading::default(), [0; 3]);
    for (thread, later, step) in acts {
        let clock: &mut u64 = &mut clocks[usize::try_from(*thread).unwrap()];
        *clock += later;
        let thread = reading.thread(None, *thread).unwrap();
        reading.step(thread, *clock, step.clone());
    }
    reading
}

fn turns(acts: &[Act]) -> Vec<AsyncTurn> {
    let turns = read::<KeptRuns>(acts).kept.turns.finish();
    (0..).map_while(|number| turns.get(number)).collect()
}

/// Returns begin and end of pauses, and the threads.
fn pauses(acts: &[Act]) -> Vec<(u64, u64, (u64, u64))> {
    let found = AsyncPauses { reading: read(acts) }.finish();
    found.pauses.iter().map(|pause| (pause.from, pause.to, pause.os_threads)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(256)))]

    #[test]
    fn turns_do_not_depend_on_the_order_of_the_buffers_of_different_threads(acts in acts()) {
        let mut apart = acts.clone();
        apart.sort_by_key(|act| std::cmp::Reverse(act.0));
        prop_assert_eq!(turns(&acts), turns(&apart));
    }

    #[test]
    fn pauses_do_not_depend_on_it_if_each_stack_is_told_as_a_whole(mut acts in acts()) {
        for (_, _, step) in &mut acts {
            if let AsyncStep::Stack { of, addresses, .. } = step {
                addresses.push(9);
                if *of == StackMoment::Appended {
                    *of = StackMoment::Resumed;
                }
            }
        }
        let mut apart = acts.clone();
        apart.sort_by_key(|act| std::cmp::Reverse(act.0));
        prop_assert_eq!(pauses(&acts), pauses(&apart));
    }

    #[test]
    fn each_thread_runs_one_dispatcher_after_another_and_none_at_the_end(acts in acts()) {
        let mut running = HashMap::<(Option<u64>, u64), u64>::default();
        let mut before = 0;
        for turn in turns(&acts) {
            prop_assert!(turn.ticks >= before);
            before = turn.ticks;
            if matches!(turn.step, TurnStep::Runs { .. }) {
                let last = running.insert((turn.process, turn.os_thread), turn.dispatcher);
                prop_assert_ne!(last.unwrap_or(0), turn.dispatcher);
            }
        }
        prop_assert!(running.values().all(|dispatcher| *dispatcher == 0), "{:?}", running);
    }

    #[test]
    fn pauses_of_one_dispatcher_do_not_overlap(acts in acts()) {
        let found = AsyncPauses { reading: read(&acts) }.finish();
        let sum: u64 = found.pauses.iter().map(|pause| pause.to.checked_sub(pause.from).unwrap()).sum();
        // At most all 5 dispatchers are suspended all the time.
        prop_assert!(sum <= 5 * acts.iter().map(|act| act.1).sum::<u64>());
    }

    #[test]
    fn no_bytes_of_buffers_end_the_process(
        buffers in prop::collection::vec((0..3u64, prop::collection::vec(prop_oneof![0..25u8, any::<u8>()], 0..80)), 0..8),
    ) {
        let (mut runs, mut pauses) = (AsyncReading::<KeptRuns>::default(), AsyncPauses::default());
        let mut bytes_of_all = 0;
        for (thread, events) in &buffers {
            bytes_of_all += events.len();
            let head = [&[1, 255, 0, 0, 0, 0, 0, 0, 0][..], &thread.to_le_bytes(), &[9; 20]].concat();
            let bytes = [&head[..], events].concat();
            let buffer = AsyncBuffer::from_bytes(&bytes).unwrap();
            runs.buffer(Some(*thread), &buffer);
            pauses.reading.buffer(Some(*thread), &buffer);
        }
        let turns = runs.kept.turns.finish();
        prop_assert!((0..).map_while(|number| turns.get(number)).count() <= 2 * bytes_of_all);
        prop_assert!(pauses.finish().pauses.len() <= bytes_of_all);
    }
}
