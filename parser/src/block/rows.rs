//! Walks the rows of a block, and records the rows that cannot be read.

use crate::bytes::{Parsed, before};
use crate::damage::BlockDamage;
use crate::error::{Fault, located};

/// Reads the bytes before the rows. If they cannot be read, the whole block is lost.
pub(super) fn read_header<'a, T>(
    content: &'a [u8],
    context: &'static str,
    damage: &mut BlockDamage<'_>,
    read: impl FnOnce(&'a [u8]) -> Parsed<'a, T>,
) -> Option<(&'a [u8], T)> {
    let lost =
        |error| damage.add_lost_block(0, content.len(), context, located(content, error).fault);
    read(content).map_err(lost).ok()
}

/// Reads the rows from `rest` to the end of `content`, and passes each to `take` with its
/// offset. If a row cannot be read, the next row cannot be found, so the rest of the block is
/// lost. Returns the number of rows, if all could be read.
pub(super) fn read_each<'a, T>(
    content: &'a [u8],
    mut rest: &'a [u8],
    context: &'static str,
    damage: &mut BlockDamage<'_>,
    read: impl Fn(&'a [u8]) -> Parsed<'a, T>,
    mut take: impl FnMut(usize, T, &mut BlockDamage<'_>),
) -> Option<u64> {
    let mut found = 0u64;
    while !rest.is_empty() {
        let at = before(content, rest);
        match read(rest) {
            Ok((after, row)) => {
                take(at, row, damage);
                found = found.saturating_add(1);
                rest = after;
            }
            Err(error) => {
                damage.add_lost_rest(at, rest.len(), context, located(rest, error).fault);
                return None;
            }
        }
    }
    Some(found)
}

/// Reports a stated number of rows that differs from the number found, unless the input ends
/// inside the block.
pub(super) fn check_count(
    stated: u32,
    found: u64,
    context: &'static str,
    damage: &mut BlockDamage<'_>,
) {
    let stated = u64::from(stated);
    if found != stated && !damage.is_cut() {
        damage.add_contradiction(4, context, Fault::Count { stated, found });
    }
}

/// Reads the entries of a row, which lies at `row_at`, and passes each to `take` with its offset.
/// Entries after an entry of unknown kind are skipped, because its size is unknown. Entries after a
/// broken entry are lost.
pub(super) fn read_entries<'a, T>(
    row: &'a [u8],
    row_at: usize,
    context: &'static str,
    damage: &mut BlockDamage<'_>,
    read: impl Fn(&'a [u8]) -> Parsed<'a, T>,
    mut take: impl FnMut(usize, T, &mut BlockDamage<'_>),
) {
    let mut rest = row;
    while !rest.is_empty() {
        let at = row_at.saturating_add(before(row, rest));
        match read(rest) {
            Ok((after, entry)) => {
                take(at, entry, damage);
                rest = after;
            }
            Err(error) => {
                return match located(rest, error).fault {
                    fault @ Fault::UnknownEntry(_) => damage.note(at, context, fault),
                    fault => damage.add_lost_row(at, rest.len(), context, fault),
                };
            }
        }
    }
}
