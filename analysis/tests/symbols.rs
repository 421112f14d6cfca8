//! Names from outside of a trace: from ELF files, program databases and perf maps. Streams and
//! files are made for the tests.

use crate::common;

use common::*;
use nettrace_analysis::{Analysis, Finished, SymbolFile, SymbolFileError};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{EventType, Session, SessionThread, Value, Version};
use nettrace_testdata::{program_database, small_elf};

const BUILD: [u8; 4] = [0xab, 0xcd, 0xef, 0x01];

/// Makes a session as one-collect writes it: two processes with one library at different addresses,
/// and managed code without events. The library's file offset 0x1000 is the linker's address
/// 0x2000.
fn session_with(build_id: &str) -> Session {
    let named = |provider: &str, event_id, name: &str| EventType {
        provider: provider.into(),
        event_id,
        name: name.into(),
        ..EventType::default()
    };
    let text = |text: &str| Value::CountedText(text.to_owned());
    let number = Value::VarUInt;
    let mut session = Session::new(Version::V6);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = vec![
        named("Universal.System", 3, "ProcessMapping"),
        named("Universal.System", 5, "ProcessMappingMetadata"),
        named("Universal.Events", 1, "cpu"),
    ];
    let thread = |os_thread_id, process_id| SessionThread { os_thread_id, process_id, name: None };
    session.threads = vec![thread(100, 1), thread(200, 2), thread(99, 99)];
    let mapping = |thread, start| {
        let values = vec![
            number(7),
            number(start),
            number(start + 0x1000),
            number(0x1000),
            text("/usr/lib/liba.so"),
            number(3),
        ];
        event(0, thread, 1, &[], values)
    };
    let metadata = |thread| {
        let json = format!("{{\"type\": \"ELF\",\"build_id\": \"{build_id}\"}}");
        event(1, thread, 1, &[], vec![number(3), text(&json), text("")])
    };
    let cpu = |thread, stack: &[u64]| event(2, thread, 1, stack, vec![number(1)]);
    session.steps = vec![
        mapping(0, 0x10_0000),
        metadata(0),
        mapping(1, 0x90_0000),
        metadata(1),
        // One byte into `work`, a return address right after its end, and code without a name.
        cpu(0, &[0x10_0011, 0x10_0030, 0x10_0800, 0x50_0010]),
        cpu(1, &[0x90_0011, 0x50_0010]),
    ];
    session
}

fn analysed(session: &Session, prepare: impl FnOnce(&mut Analysis<'_>)) -> Finished {
    let bytes = session.record().stream.bytes;
    let mut analysis = Analysis::new(full_names());
    assert!(analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    prepare(&mut analysis);
    analysis.finish().unwrap()
}

/// Returns the names of all stacks, innermost first.
fn stacks(finished: &Finished) -> Vec<Vec<String>> {
    let resolved = finished.resolved();
    let stacks = finished.model.stacks().map(|stack| {
        resolved.frames(stack).iter().map(|frame| resolved.text(*frame).to_owned()).collect()
    });
    stacks.collect()
}

fn library() -> Vec<u8> {
    small_elf(
        &[("_ZN1N4workEi", 0x2010, 0x20), ("memcpy@@GLIBC_2.14", 0x2100, 0), ("tail", 0x2700, 8)],
        &BUILD,
    )
}

#[test]
fn an_elf_file_names_what_is_mapped_from_it_in_every_process() {
    let session = session_with("ABCDEF01");
    let nameless = stacks(&analysed(&session, |_| {}));
    assert_eq!(nameless[0][0], "liba.so+0x1011");
    let file = SymbolFile::from_bytes(&library()).unwrap();
    assert_eq!(file.build_id(), Some("abcdef01"));
    let name = |offset| file.readable_name_at(offset).map(String::from);
    assert_eq!((name(0x1100).as_deref(), name(0x1708)), (Some("memcpy"), None));
    // A symbol without a size reaches to the next symbol.
    assert_eq!(name(0x16ff).as_deref(), Some("memcpy"));
    let finished = analysed(&session, |analysis| {
        analysis.model_mut().add_symbol_file("/usr/lib/liba.so", file).unwrap();
        analysis
            .model_mut()
            .add_perf_map(Some(1), "500000 100 void [app] N.T::Main(string[])[Tier0]\n");
    });
    let names = stacks(&finished);
    assert_eq!(
        names[0],
        ["liba.so!N::work(int)", "liba.so!N::work(int)", "liba.so+0x17ff", "app!N.T.Main"]
    );
    // The perf map is only for the first process.
    assert_eq!(names[1], ["liba.so!N::work(int)", "0x500010"]);
}

#[test]
fn what_was_stripped_from_a_file_adds_to_it() {
    let finished = analysed(&session_with("abcdef01"), |analysis| {
        let add = |model: &mut nettrace_analysis::model::Model, bytes: &[u8]| {
            model
                .add_symbol_file("/usr/lib/liba.so", SymbolFile::from_bytes(bytes).unwrap())
                .unwrap();
        };
        add(analysis.model_mut(), &small_elf(&[("outer", 0x2000, 8)], &BUILD));
        add(analysis.model_mut(), &library());
    });
    assert_eq!(stacks(&finished)[1][0], "liba.so!N::work(int)");
}

#[test]
fn another_build_of_a_file_is_not_used() {
    let finished = analysed(&session_with("0011"), |analysis| {
        let file = SymbolFile::from_bytes(&library()).unwrap();
        let error = analysis.model_mut().add_symbol_file("/usr/lib/liba.so", file).unwrap_err();
        let expected =
            SymbolFileError::OtherBuild { of_file: "abcdef01".into(), of_trace: "0011".into() };
        assert_eq!(error, expected);
    });
    assert_eq!(stacks(&finished)[1][0], "liba.so+0x1011");
}

#[test]
fn a_hostile_file_is_an_error_or_gives_fewer_names() {
    let whole = library();
    for end in 0..whole.len() {
        let _ = SymbolFile::from_bytes(&whole[..end]);
    }
    for at in 0..whole.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            if let Ok(file) = SymbolFile::from_bytes(&bytes) {
                for offset in [0, 0x1010, 0x1100, u64::MAX] {
                    let _ = file.readable_name_at(offset);
                }
            }
        }
    }
    assert!(matches!(SymbolFile::from_bytes(b"MZ"), Err(SymbolFileError::Unreadable(_))));
    assert!(matches!(SymbolFile::from_bytes(&[]), Err(SymbolFileError::Unreadable(_))));
    // Many symbols share one long name.
    let long = "x".repeat(4000);
    let mut functions = vec![(&*long, 0x2000, 1u64)];
    functions.resize(64, ("", 0x2000, 1));
    let mut bytes = small_elf(&functions, &BUILD);
    let entry = bytes.windows(8).position(|w| w == [1, 0, 0, 0, 0x12, 0, 1, 0]).unwrap();
    for symbol in 1..64 {
        bytes[entry + symbol * 24] = 1;
        bytes[entry + symbol * 24 + 1] = 0;
    }
    assert_eq!(SymbolFile::from_bytes(&bytes).unwrap_err(), SymbolFileError::Bloated);
}

/// Guid of the program database.
const PDB: [u8; 16] = [
    0xff, 0xf7, 0xa5, 0x97, 0x5d, 0xf5, 0xce, 0xb3, 0x4c, 0x4c, 0x44, 0x20, 0x50, 0x44, 0x42, 0x2e,
];

/// Makes a session of a NativeAOT program for Windows: a module whose id is its address, and a
/// sample in it.
fn compiled_ahead(guid: [u8; 16], age: u32) -> Session {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut session = session(Vec::new());
    session.types.push(native(RUNDOWN, 154, 2));
    let module = session.types.len() - 1;
    let values = vec![
        Value::U64(0x1_4000_0000),
        Value::U64(1),
        Value::U32(2),
        Value::U32(0),
        text(""),
        text("C:\\shop\\App.exe"),
        Value::U16(0),
        Value::Guid([0; 16]),
        Value::U32(0),
        text(""),
        Value::Guid(guid),
        Value::U32(age),
        text("C:\\build\\App.pdb"),
    ];
    // In `Alpha`, right after its call, in `Grind`, and after all methods.
    let stack = [0x1_4000_1018, 0x1_4000_1020, 0x1_4000_1004, 0x1_4000_1800];
    session.steps = vec![sample(0, 1, &stack), event(module, 2, 1, &[], values)];
    session
}

#[test]
fn a_program_database_names_what_was_compiled_ahead_for_windows_if_its_guid_and_age_are_the_same() {
    let path = "C:\\shop\\App.exe";
    let nameless = stacks(&analysed(&compiled_ahead(PDB, 1), |_| {}));
    assert_eq!(nameless[0][0], "App+0x1018");
    let file = SymbolFile::from_bytes(&program_database()).unwrap();
    assert_eq!(file.build_id(), Some("97a5f7fff55db3ce4c4c44205044422e1"));
    let finished = analysed(&compiled_ahead(PDB, 1), |analysis| {
        analysis.model_mut().add_symbol_file(path, file.clone()).unwrap();
    });
    assert_eq!(
        stacks(&finished)[0],
        ["App!N.Program.Alpha", "App!N.Program.Alpha", "App!N.Box<int>.Grind", "App+0x17ff"]
    );
    let mut other = PDB;
    other[0] ^= 1;
    for (guid, age) in [(PDB, 2), (other, 1)] {
        analysed(&compiled_ahead(guid, age), |analysis| {
            let added = analysis.model_mut().add_symbol_file(path, file.clone());
            assert!(matches!(added, Err(SymbolFileError::OtherBuild { .. })), "{added:?}");
        });
    }
}

#[test]
fn a_program_database_that_is_cut_or_changed_is_an_error_or_has_other_symbols() {
    let whole = program_database();
    for end in (0..whole.len()).step_by(61) {
        let _ = SymbolFile::from_bytes(&whole[..end]);
    }
    for at in 0..whole.len() {
        // Most bytes are zero, and changing one in a few is enough.
        if at > 64 && whole[at] == 0 {
            continue;
        }
        for value in [0, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed[at] = value;
            let _ = SymbolFile::from_bytes(&changed);
        }
    }
    // The directory's streams repeat one block many times.
    let mut repeated = whole.clone();
    repeated[44..48].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(SymbolFile::from_bytes(&repeated), Err(SymbolFileError::Unreadable(_))));
}
