//! Checks that public types are `Send` and `Sync`.

use nettrace_tables::*;

#[test]
fn all_public_types_may_go_to_another_thread_and_be_read_by_several() {
    nettrace_testdata::assert_threads! {
        Send: [TablePass],
        Sync: [
            Column,
            ColumnKind,
            ContentHash,
            InputRow,
            Table,
            TableOptions,
            TableRows,
            WrittenInput,
        ],
    }
}
