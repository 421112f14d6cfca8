//! Holds that `{:?}` of readers and feeds is short, and shows no bytes of the stream.

use nettrace_parser::{Buffered, Feed, PositionedFile, Reader, Source};
use nettrace_testdata::corpus;
use std::fmt::Debug;
use std::io::Cursor;

/// Maximum length of a text in bytes.
const MAX_TEXT_BYTES: usize = 400;

fn assert_short(what: &impl Debug) {
    let text = format!("{what:?}");
    assert!(text.len() < MAX_TEXT_BYTES, "{} bytes: {}", text.len(), &text[..MAX_TEXT_BYTES]);
    assert!(format!("{what:#?}").len() < 2 * MAX_TEXT_BYTES);
}

/// Reads some events, and looks at the reader in between.
fn assert_short_while_reading(mut reader: Reader<impl Source>) {
    for _ in 0..100 {
        reader.next_event().unwrap().unwrap();
    }
    assert_short(&reader);
    let mut ordered = reader.time_ordered();
    for _ in 0..100 {
        ordered.next_event().unwrap().unwrap();
    }
    assert!(ordered.waiting() > 0);
    assert_short(&ordered);
}

#[test]
fn readers_and_feeds_show_where_they_are_and_no_bytes() {
    let bytes = corpus::trace("net10-linux-x64/all.nettrace").bytes();
    assert_short_while_reading(Reader::from_slice(&bytes));
    assert_short_while_reading(Reader::from_read(&bytes[..]));
    let input = Buffered::new(Cursor::new(bytes.to_vec())).at_rest();
    assert_short(&input);
    assert_short_while_reading(Reader::new(input));
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("debug-text.nettrace");
    std::fs::write(&path, &bytes).unwrap();
    let mut positioned = PositionedFile::open(&path).unwrap();
    positioned.fill(100_000).unwrap();
    assert_short(&positioned);
    for mut feed in [Feed::new(), Feed::new().time_ordered()] {
        feed.push(&bytes);
        feed.next_event().unwrap().unwrap();
        assert_short(&feed);
    }
}
