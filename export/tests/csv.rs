//! Cells of CSV.

use nettrace_export::{EventForm, EventWriter, WriteOptions};
use nettrace_parser::Reader;
use nettrace_testdata::synth::*;

/// Returns the end of each row, from the cell of the level on.
fn ends(lists: Vec<Vec<Label>>) -> Vec<String> {
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default());
    stream.metadata_rows(&MetadataBlock::new(vec![MetadataRow {
        metadata_id: 1,
        provider: "Demo".into(),
        event_id: 7,
        name: "Hi".into(),
        ..MetadataRow::default()
    }]));
    stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(11, 1234, 11)]));
    let count = lists.len() as u32;
    stream.label_list_block(&LabelListBlock::new(1, lists));
    stream.event_block(&EventBlock::new((1..=count).map(|number| Blob {
        metadata_id: 1,
        sequence_number: number,
        thread_id: 11,
        capture_thread_id: 11,
        ticks: u64::from(number),
        label_list_id: number,
        ..Blob::default()
    })));
    stream.end();
    let mut writer = EventWriter::new(EventForm::Csv, WriteOptions::default());
    let mut out = Vec::new();
    let mut reader = Reader::from_slice(&stream.bytes);
    while let Some(event) = reader.next_event().unwrap() {
        writer.write(&mut out, &event);
    }
    let rows = String::from_utf8(out).unwrap();
    rows.lines().skip(1).map(|row| row.split(",Hi,").nth(1).unwrap().to_string()).collect()
}

#[test]
fn an_event_whose_labels_all_have_columns_of_their_own_has_an_empty_cell_of_labels() {
    let rows = ends(vec![
        vec![Label::Level(2)],
        vec![Label::Level(3), Label::Text("key".into(), "text".into())],
    ]);
    assert_eq!(rows[0], "2,1234,,,,{},,");
    assert!(rows[1].starts_with(r#"3,1234,,,"{""key"":""text""}",{},,"#), "{rows:?}");
}
