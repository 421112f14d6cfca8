//! Damage to what stands around blocks, and bytes that are missing or too many.

use crate::calm;
use crate::change::EXTREMES;
use crate::delivered::{Damaged, said};
use crate::excerpt::excerpts;
use crate::random::Random;
use nettrace_testdata::synth::{Damage, Part, Version};

/// Damage to one part; it stays within it.
fn damages(part: &Part, random: &mut Random) -> Vec<Damage> {
    let inside = |random: &mut Random, most: usize| {
        let range = random.stretch(part.end - part.content.start, most);
        part.content.start + range.start..part.content.start + range.end
    };
    let count = 1 + random.below(40);
    let mut damages = vec![
        // Fewer bytes than an object's type has in front of its end tag, which would pass for the block's.
        Damage::Delete { range: inside(random, 20) },
        Damage::Insert { at: inside(random, 1).start, bytes: random.bytes(count) },
        Damage::Duplicate { range: inside(random, 40) },
        Damage::Swap { first: inside(random, 20), second: inside(random, 20) },
        Damage::Flip { at: part.start + random.below(7), mask: 1 << random.below(8) },
        Damage::Delete { range: part.start..part.content.start },
        Damage::Flip { at: part.end - 1, mask: 1 << random.below(8) },
    ];
    damages.extend(part.name_length_field.map(|at| Damage::u32(at, *random.one(&EXTREMES))));
    damages
}

#[test]
fn damaged_framing_of_objects_costs_no_event_of_other_objects() {
    let mut random = Random(3);
    for excerpt in excerpts().iter().filter(|excerpt| excerpt.version.has_objects()) {
        let whole = excerpt.stream();
        let due = said(&whole.bytes);
        // A last object has nothing behind it to find the way back by.
        for part in &whole.parts[1..whole.parts.len() - 2] {
            let mut damages = damages(part, &mut random);
            damages.extend(
                part.size_field.into_iter().flat_map(|at| EXTREMES.map(|value| Damage::u32(at, value))),
            );
            for damage in damages {
                let bytes = damage.applied(&whole.bytes);
                // Rows of version 3 do not tell for sure which padding in front of them fits.
                let is_shifted = bytes.len().abs_diff(whole.bytes.len()) % 4 != 0;
                if excerpt.version == Version::V3 && is_shifted {
                    continue;
                }
                let block = Damaged {
                    kind: part.kind,
                    version: excerpt.version,
                    before: part.start..part.end,
                    // What the block claims of the next object's framing, it may take for rows.
                    after: part.start..part.end.max(part.end + bytes.len() - whole.bytes.len()),
                };
                let what = format!("{}, {damage:?}", excerpt.name);
                block.assert_rest_is_delivered(&due, &bytes, &what);
            }
        }
    }
}

#[test]
fn damaged_framing_is_read_calmly_in_all_ways() {
    let mut random = Random(4);
    for excerpt in excerpts() {
        let whole = excerpt.stream();
        for _ in 0..8 {
            let part = random.one(&whole.parts[1..whole.parts.len() - 1]).clone();
            let mut damages = damages(&part, &mut random);
            damages.extend(part.size_field.map(|at| Damage::u32(at, *random.one(&EXTREMES))));
            calm::assert_calm(&random.one(&damages).applied(&whole.bytes));
        }
    }
}
