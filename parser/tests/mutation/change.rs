//! Random damage to the content of a block.

use crate::excerpt::Block;
use crate::random::Random;
use nettrace_testdata::synth::Damage;

/// Values that overwrite a number: zero, one, the maximum of signed and unsigned types, and values
/// near the maximum.
pub(crate) const EXTREMES: [u32; 7] =
    [0, 1, u32::MAX, u32::MAX - 1, 0x7fff_ffff, 0x7fff_fffe, 0x8000_0000];

/// Number of ways to damage content.
pub(crate) const WAYS: usize = 12;

/// Damages a block in the way with the number `way`.
pub(crate) fn change(block: &Block, way: usize, random: &mut Random) -> Vec<u8> {
    let content = &block.content;
    let end = content.len();
    let row = |random: &mut Random| match block.rows.as_slice() {
        [] => random.stretch(end, 64),
        rows => random.one(rows).clone(),
    };
    let damage = match way {
        0 => Damage::Flip { at: random.below(end), mask: 1 << random.below(8) },
        1 => Damage::Delete { range: random.stretch(end, 9) },
        2 => {
            let count = 1 + random.below(9);
            Damage::Insert { at: random.below(end), bytes: random.bytes(count) }
        }
        3 => Damage::Duplicate { range: random.stretch(end, 40) },
        4 => Damage::Swap { first: random.stretch(end, 20), second: random.stretch(end, 20) },
        5 => Damage::Delete { range: row(random) },
        6 => Damage::Duplicate { range: row(random) },
        7 => Damage::Swap { first: row(random), second: row(random) },
        // The start of a row has its size, or flags and ids; the start of a block has its counts.
        8 => Damage::u32(row(random).start, *random.one(&EXTREMES)),
        9 => Damage::u32(4 * random.below(6), *random.one(&EXTREMES)),
        10 => Damage::Overwrite { at: 0, bytes: random.bytes(end) },
        _ => Damage::Cut { at: random.below(end) },
    };
    damage.applied(content)
}
