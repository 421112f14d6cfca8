//! What is written here is read back by the `parquet` crate, which has its own decoders.

use super::{ClosedChunk, Encoder, PAGE_ROWS, Packer, physical};
use crate::column::{ColumnKind, Layout};
use bytes::Bytes;
use parquet::basic::{LogicalType, Repetition};
use parquet::column::reader::ColumnReader;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// A file of one column, whose row groups have these values.
fn file(
    kind: ColumnKind,
    layout: Layout,
    groups: &[usize],
    mut put: impl FnMut(&mut Encoder, usize),
) -> SerializedFileReader<Bytes> {
    let logical = match kind {
        ColumnKind::Text => Some(LogicalType::String),
        ColumnKind::Unsigned => Some(LogicalType::integer(64, false)),
        _ => None,
    };
    let field = Type::primitive_type_builder("c", physical(kind))
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .unwrap();
    let schema = Type::group_type_builder("t").with_fields(vec![Arc::new(field)]).build().unwrap();
    let schema = Arc::new(schema);
    let descriptor = SchemaDescriptor::new(schema.clone());
    let mut encoder = Encoder::new(descriptor.column(0), kind, layout, true);
    let mut packer = Packer::new();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let (mut at, mut aside) = (0, Vec::new());
    for rows in groups {
        for row in 0..*rows {
            put(&mut encoder, at);
            at += 1;
            if (row + 1) % PAGE_ROWS == 0 || encoder.is_large() {
                encoder.end_page(&mut packer).unwrap();
                // As a table does whose pages wait in a file.
                if at % 3 == 0 {
                    aside.append(&mut encoder.take_pages());
                }
            }
        }
        let ClosedChunk { result, head, tail } = encoder.close(&mut packer).unwrap();
        let bytes = [head, std::mem::take(&mut aside), tail].concat();
        let mut group = writer.next_row_group().unwrap();
        group.append_column(&Bytes::from(bytes), result).unwrap();
        group.close().unwrap();
    }
    let options = ReadOptionsBuilder::new().with_page_index();
    let bytes = Bytes::from(writer.into_inner().unwrap());
    SerializedFileReader::new_with_options(bytes, options.build()).unwrap()
}

/// Calls `read` with the column of each row group and its rows.
fn groups(file: &SerializedFileReader<Bytes>, mut read: impl FnMut(ColumnReader, usize)) {
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).unwrap();
        let rows = group.metadata().num_rows() as usize;
        read(group.get_column_reader(0).unwrap(), rows);
    }
}

macro_rules! read {
    ($file:expr, $reader:ident) => {{
        let mut all = Vec::new();
        groups($file, |reader, rows| {
            let ColumnReader::$reader(mut reader) = reader else { panic!("another type") };
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            let read = reader.read_records(rows, Some(&mut levels), None, &mut values).unwrap();
            assert_eq!(read.0, rows);
            let mut values = values.into_iter();
            all.extend(levels.iter().map(|level| (*level == 1).then(|| values.next().unwrap())));
            assert_eq!(values.next(), None);
        });
        all
    }};
}

fn noise(at: usize) -> u64 {
    let mut state = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^ (state >> 32)
}

/// The value of a row.
type Pattern = fn(usize) -> Option<i64>;

/// Columns as they occur, and some that are hard to write.
fn patterns() -> Vec<(&'static str, Pattern)> {
    vec![
        ("one", |_| Some(7)),
        ("none", |_| None),
        ("none, then one", |at| (at > 9000).then_some(-1)),
        ("every other", |at| at.is_multiple_of(2).then_some(at as i64)),
        ("few", |at| Some((noise(at) % 5) as i64)),
        ("a few hundred", |at| Some((noise(at) % 700) as i64)),
        ("runs", |at| Some((at / 37 % 300) as i64)),
        ("runs among others", |at| {
            Some(if at / 100 % 2 == 0 { 5 } else { (noise(at) % 90) as i64 })
        }),
        ("steps", |at| Some(1_000_000 * at as i64 + (noise(at) % 1000) as i64)),
        ("all distinct", |at| Some((noise(at) >> 1) as i64)),
        ("more distinct from page to page", |at| Some((noise(at) % (1 + at as u64)) as i64)),
        ("ends of the range", |at| Some(if at % 3 == 0 { i64::MIN } else { i64::MAX })),
        ("both signs, some nulls", |at| {
            (!noise(at).is_multiple_of(9)).then(|| (noise(at + 1) >> (at % 60)) as i64)
        }),
    ]
}

const SIZES: [&[usize]; 6] = [&[1], &[5, 1], &[8192], &[8193, 7], &[30_000, 30_000], &[100_000]];

#[test]
fn numbers_come_back_however_they_are_spread() {
    for (name, value) in patterns() {
        for layout in [Layout::Dictionary, Layout::Steps, Layout::Plain] {
            for sizes in SIZES {
                let rows: usize = sizes.iter().sum();
                let file = file(ColumnKind::Whole, layout, sizes, |encoder, at| {
                    encoder.number(value(at));
                });
                let expected: Vec<Option<i64>> = (0..rows).map(value).collect();
                assert!(
                    read!(&file, Int64ColumnReader) == expected,
                    "{name}, {layout:?}, {sizes:?}"
                );
            }
        }
    }
}

#[test]
fn small_numbers_doubles_and_flags_come_back() {
    for (name, value) in patterns() {
        for sizes in SIZES {
            let rows: usize = sizes.iter().sum();
            let small = |at| value(at).map(|number| number as i32);
            let read = file(ColumnKind::Small, Layout::Dictionary, sizes, |encoder, at| {
                encoder.number(small(at).map(i64::from));
            });
            let expected: Vec<Option<i32>> = (0..rows).map(small).collect();
            assert!(read!(&read, Int32ColumnReader) == expected, "{name}, {sizes:?}");

            let real = |at| value(at).map(|number| number as f64 / 3.0);
            let read = file(ColumnKind::Real, Layout::Dictionary, sizes, |encoder, at| {
                encoder.number(real(at).map(|real| real.to_bits().cast_signed()));
            });
            let expected: Vec<Option<f64>> = (0..rows).map(real).collect();
            assert!(read!(&read, DoubleColumnReader) == expected, "{name}, {sizes:?}");

            let flag = |at| value(at).map(|number| number % 2 == 0);
            let read = file(ColumnKind::Flag, Layout::Dictionary, sizes, |encoder, at| {
                encoder.flag(flag(at));
            });
            let expected: Vec<Option<bool>> = (0..rows).map(flag).collect();
            assert!(read!(&read, BoolColumnReader) == expected, "{name}, {sizes:?}");
        }
    }
}

#[test]
fn texts_come_back_when_they_become_too_many_for_a_dictionary_too() {
    for (name, value) in patterns() {
        for layout in [Layout::Dictionary, Layout::Plain] {
            for sizes in SIZES {
                let rows: usize = sizes.iter().sum();
                let text = |at| {
                    let number = value(at)?;
                    Some(format!("{number}").repeat((number & 7) as usize))
                };
                let read = file(ColumnKind::Text, layout, sizes, |encoder, at| {
                    let text = text(at);
                    match (&text, at % 2) {
                        (Some(text), 1) => {
                            let written = encoder.write(|out| out.extend(text.as_bytes()));
                            assert_eq!(written.0, text.len());
                        }
                        _ => encoder.text(text.as_deref().map(str::as_bytes)),
                    }
                });
                let all = read!(&read, ByteArrayColumnReader);
                assert_eq!(all.len(), rows);
                for (at, read) in all.iter().enumerate() {
                    let read = read.as_ref().map(|read| read.as_utf8().unwrap().to_owned());
                    assert!(read == text(at), "{name}, {layout:?}, {sizes:?}, row {at}: {read:?}");
                }
            }
        }
    }
}

#[test]
fn texts_that_the_caller_has_numbered_come_back_in_every_row_group() {
    let names = ["cpu", "off_cpu", "", "cpu"];
    let read = file(ColumnKind::Text, Layout::Dictionary, &[20_000, 3], |encoder, at| {
        let name = noise(at) as usize % names.len();
        encoder.named(name, names[name]);
    });
    for (at, read) in read!(&read, ByteArrayColumnReader).into_iter().enumerate() {
        assert_eq!(read.unwrap().as_utf8().unwrap(), names[noise(at) as usize % names.len()]);
    }
}

#[test]
fn ranges_and_nulls_of_pages_and_row_groups_are_those_of_their_values() {
    for (name, value) in patterns() {
        for (kind, layout) in [
            (ColumnKind::Whole, Layout::Dictionary),
            (ColumnKind::Whole, Layout::Steps),
            (ColumnKind::Unsigned, Layout::Dictionary),
        ] {
            let rows = 30_000;
            let file = file(kind, layout, &[rows], |encoder, at| encoder.number(value(at)));
            let compared = |number: i64| match kind {
                ColumnKind::Unsigned => i128::from(number.cast_unsigned()),
                _ => i128::from(number),
            };
            let range = |rows: std::ops::Range<usize>| {
                let all: Vec<i64> = rows.filter_map(value).collect();
                let least = all.iter().copied().min_by_key(|number| compared(*number));
                (least, all.iter().copied().max_by_key(|number| compared(*number)))
            };
            let nulls =
                |rows: std::ops::Range<usize>| rows.filter(|at| value(*at).is_none()).count();
            let metadata = file.metadata();
            let column = metadata.row_group(0).column(0);
            let Some(Statistics::Int64(all)) = column.statistics() else { panic!("{name}") };
            assert_eq!((all.min_opt().copied(), all.max_opt().copied()), range(0..rows), "{name}");
            assert_eq!(all.null_count_opt(), Some(nulls(0..rows) as u64), "{name}");
            let index = metadata.page_index().unwrap();
            let Some(ColumnIndexMetaData::INT64(pages)) = index.column_index(0, 0) else {
                panic!("{name}: no ranges of pages")
            };
            let offsets = index.offset_index(0, 0).unwrap().page_locations();
            assert_eq!(pages.num_pages() as usize, offsets.len(), "{name}");
            for (at, page) in offsets.iter().enumerate() {
                let from = page.first_row_index as usize;
                let to = offsets.get(at + 1).map_or(rows, |next| next.first_row_index as usize);
                let of_page = (pages.min_value(at).copied(), pages.max_value(at).copied());
                assert_eq!(of_page, range(from..to), "{name}, {kind:?}, {layout:?}, page {at}");
                assert_eq!(pages.null_count(at), Some(nulls(from..to) as i64), "{name}, page {at}");
            }
        }
    }
}

#[test]
fn what_is_not_a_number_is_in_no_range() {
    let value = |at: usize| if at.is_multiple_of(3) { f64::NAN } else { at as f64 - 10.0 };
    let file = file(ColumnKind::Real, Layout::Dictionary, &[100], |encoder, at| {
        encoder.number(Some(value(at).to_bits().cast_signed()));
    });
    let column = file.metadata().row_group(0).column(0).clone();
    let Some(Statistics::Double(all)) = column.statistics() else { panic!() };
    assert_eq!((all.min_opt(), all.max_opt()), (Some(&-9.0), Some(&88.0)));
    assert_eq!(all.nan_count_opt(), Some(34));
}

#[test]
fn a_long_text_is_cut_between_characters_in_ranges() {
    // 63 bytes, then one of 3.
    let text = format!("{}€€", "a".repeat(63));
    let file = file(ColumnKind::Text, Layout::Dictionary, &[1], |encoder, _| {
        encoder.text(Some(text.as_bytes()));
    });
    let column = file.metadata().row_group(0).column(0).clone();
    let Some(Statistics::ByteArray(all)) = column.statistics() else { panic!() };
    assert_eq!(all.min_opt().unwrap().as_utf8().unwrap(), "a".repeat(63));
    assert_eq!(all.max_opt().unwrap().as_utf8().unwrap(), format!("{}b", "a".repeat(62)));
    assert!(!all.min_is_exact() && !all.max_is_exact());
}
