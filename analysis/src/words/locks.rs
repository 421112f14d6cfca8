//! Sentences about locks for which threads wait.

use super::findings::{count, counted, duration};
use super::frames::{after, name};
use crate::fact::{Fact, HolderState, LockHolder, LockOwner, Number, Place};

/// Writes the sentence of a fact about waits for one lock.
pub(super) fn lock(fact: &Fact) -> String {
    match fact {
        Fact::SampledLockWaits {
            waited,
            threads,
            spun,
            running,
            place,
            is_holder_asleep,
            holder,
        } => {
            let holding = match holder {
                None if *is_holder_asleep => ", in which the holder sleeps".to_owned(),
                _ => held(holder.as_ref(), Some(place)),
            };
            format!(
                "{} waited {}{} for a lock in {}{holding}{}",
                counted(threads, "thread"),
                duration(waited),
                spun.as_ref()
                    .map_or_else(String::new, |spun| { format!(" and spun {}", duration(spun)) }),
                name(place),
                ran(running.as_ref())
            )
        }
        Fact::LockContention { waited, waits, held: held_for, spun, running, place, holder } => {
            let held_for = held_for.as_ref().map_or_else(String::new, |held| {
                format!(", held for {} at a time", duration(held))
            });
            format!(
                "{} for locks, {} together{}{held_for}{}{}{}",
                counted(waits, "wait"),
                duration(waited),
                spun.as_ref().map_or_else(String::new, |spun| {
                    format!(" and {} of spinning", duration(spun))
                }),
                after(", most in ", place.as_ref()),
                held(holder.as_ref(), place.as_ref()),
                ran(running.as_ref())
            )
        }
        Fact::EndlessLockWait {
            waited,
            threads,
            earlier_waits,
            earlier_waited,
            owner,
            place,
            holder,
            ..
        } => format!(
            "{}, for at least {}, for a lock{}{}{}{}",
            match threads.whole() {
                1 => "1 thread still waits at the end".to_owned(),
                _ => format!("{} threads still wait at the end", count(threads)),
            },
            duration(waited),
            match owner {
                Some(LockOwner::Thread(id)) => format!(" held by thread {id}"),
                Some(LockOwner::ManagedThread(id)) => format!(" held by managed thread {id}"),
                None => String::new(),
            },
            after(", one in ", place.as_ref()),
            held(holder.as_ref(), place.as_ref()),
            earlier_waits.as_ref().zip(earlier_waited.as_ref()).map_or_else(
                String::new,
                |(waits, waited)| {
                    format!("; {} before took {}", counted(waits, "wait"), duration(waited))
                }
            )
        ),
        Fact::StuckInLock { waited, threads, is_from_start, place, holder, .. } => format!(
            "only stacks show that {} for a lock, for at least {}{}{}{}",
            match threads.whole() {
                1 => "1 thread waits".to_owned(),
                _ => format!("{} threads wait", count(threads)),
            },
            duration(waited),
            if *is_from_start { ", since before the session began" } else { "" },
            after(", one in ", place.as_ref()),
            held(holder.as_ref(), place.as_ref())
        ),
        _ => String::new(),
    }
}

/// Writes the share of the running time of those that hold the lock.
fn ran(running: Option<&Number>) -> String {
    let share = running.map(|share| format!(": {:.2} % of the running time", share.value));
    share.unwrap_or_default()
}

/// Writes what the thread does that holds the lock, after the method in which others wait.
fn held(holder: Option<&LockHolder>, waiting: Option<&Place>) -> String {
    let Some(LockHolder { place, state, call, .. }) = holder else { return String::new() };
    let does = match (state, call) {
        (HolderState::Sleeps, _) => "sleeps".to_owned(),
        (HolderState::Runs, None) => "runs".to_owned(),
        (HolderState::Runs, Some(call)) => format!("runs {call}"),
        (HolderState::NativeCall, None) => "is in a native call".to_owned(),
        (HolderState::NativeCall, Some(call)) => format!("is in a native call of {call}"),
        (HolderState::Waits, None) => "waits".to_owned(),
        (HolderState::Waits, Some(call)) => format!("waits in {call}"),
    };
    match waiting.is_some_and(|waiting| waiting.frame == place.frame) {
        true => format!(", in which the holder {does}"),
        false => format!("; {} holds it, and {does}", name(place)),
    }
}
