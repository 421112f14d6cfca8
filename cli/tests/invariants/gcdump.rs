//! Fuzz target `gcdump`: gives any bytes to the reader of `.gcdump` files.

use nettrace_analysis::heap::{HeapDump, HeapReport, Retained};

/// Checks that a heap which can be read is written so that it can be read again, with as many objects.
pub(crate) fn gcdump(bytes: &[u8]) {
    let Ok(dump) = HeapDump::from_gcdump(bytes) else { return };
    let report = |dump| HeapReport::new(&[], dump, &Retained::from_dump(dump));
    let mut written = Vec::new();
    dump.write_gcdump(&mut written).expect("memory takes all bytes");
    let again = HeapDump::from_gcdump(&written).expect("what is written can be read");
    assert!(again.losses.is_complete(), "{:?}", again.losses);
    assert_eq!(report(&again).objects, report(&dump).objects);
}
