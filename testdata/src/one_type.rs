//! A stream that defines one event type.

use crate::synth::{
    Blob, Definition, EventBlock, MetadataBlock, MetadataRow, Stream, ThreadBlock, ThreadRow,
    Trace, Version,
};

/// Returns a stream that defines type 1 (event 7 of provider `Demo`, without fields) and in version
/// 6 thread 1. The caller adds events and the end mark.
pub fn one_type(version: Version) -> Stream {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    if version == Version::V6 {
        let row = MetadataRow {
            metadata_id: 1,
            provider: "Demo".into(),
            event_id: 7,
            name: "Hi".into(),
            ..MetadataRow::default()
        };
        stream.metadata_rows(&MetadataBlock::new(vec![row]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(1, 1, 1)]));
    } else {
        let definition = Definition {
            metadata_id: 1,
            provider: "Demo".into(),
            event_id: 7,
            ..Definition::default()
        };
        stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 1, definition.encode())]));
    }
    stream
}
