use nettrace_parser::*;
use std::io::Read;
fn main() {
    for path in std::env::args().skip(1) {
        let mut bytes = Vec::new();
        flate2::read::MultiGzDecoder::new(std::fs::File::open(&path).unwrap())
            .read_to_end(&mut bytes)
            .unwrap();
        let mut reader = Reader::from_slice(&bytes);
        while let Some(_e) = reader.next_event().unwrap() {}
        let mut o = Reader::from_slice(&bytes).time_ordered();
        let (mut n, mut last, mut bad) = (0, 0, 0);
        while let Some(e) = o.next_event().unwrap() {
            n += 1;
            bad += u32::from(e.timestamp_ticks() < last);
            last = e.timestamp_ticks();
        }
        println!(
            "{path} v{:?} {} bytes, events {} ordered {n} bad {bad} ooo {} lost {} restarts {} threads {} complete {} end {:?} notes {} dmg {:?}",
            reader.version().unwrap(),
            bytes.len(),
            reader.statistics().events,
            o.out_of_order(),
            reader.losses().total(),
            reader.losses().restarts(),
            reader.losses().thread_count(),
            reader.is_complete(),
            reader.end_offset(),
            reader.damage().note_count(),
            reader.damage().findings().first()
        );
    }
}
