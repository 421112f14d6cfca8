//! Holds that errors of the libraries compose: each says its own layer, and `source` the next one.

use crate::common;
use nettrace_analysis::AnalysisError;
use nettrace_analysis::convert::ConvertError;
use nettrace_analysis::diff::ConditionError;
use nettrace_analysis::heap::{HeapDump, MetadataError};
use nettrace_analysis::input::TraceBytes;
use nettrace_analysis::live::CounterListError;
use nettrace_analysis::{SymbolFile, SymbolFileError};
use nettrace_export::{Predicate, Quantity, TimeRangeError};
use nettrace_ipc::{
    CommandId, ReplyFault, RequestError, StartupHook, StartupHookFault, Step, Unreachable,
};
use nettrace_parser::{Fault, Guid, Reader, Source};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns an example of each variant of the public errors that has a cause, and of each other error,
/// under its crate and name.
fn errors() -> Vec<(&'static str, Box<dyn Error>)> {
    let io = || io::Error::other("the disk is gone");
    let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    let mut reader = Reader::from_slice(&bytes);
    let event = reader.next_event().unwrap().unwrap();
    let missing = event.get::<u32>("nothing").unwrap_err();
    // A number of two bytes instead of four.
    let cut = event.schema().unwrap().fields(&event.payload()[..2], 8).next().unwrap();
    let (fault, broken) = (cut.value.unwrap_err(), cut.to::<u32>().unwrap_err());
    let command = CommandId::PROCESS_INFO;
    let parser = || nettrace_parser::Error::Io(io());
    let convert = || ConvertError::Write(io());
    let format = Reader::from_slice(b"Hello, world").next_event().map(drop).unwrap_err();
    vec![
        ("parser/Error", Box::new(parser())),
        ("parser/Error", Box::new(format)),
        ("parser/Fault", Box::new(Fault::Truncated)),
        ("parser/PayloadFault", Box::new(fault)),
        ("parser/FieldError", Box::new(missing)),
        ("parser/FieldError", Box::new(broken)),
        ("ipc/RequestError", Box::new(RequestError::NoProviders)),
        ("ipc/RequestError", Box::new(StartupHook::new("/nothing/of/this/name.dll").unwrap_err())),
        ("ipc/StartupHookFault", Box::new(StartupHookFault::Unreadable(Arc::new(io())))),
        ("ipc/ReplyFault", Box::new(ReplyFault::Advertise)),
        ("ipc/Error", Box::new(nettrace_ipc::Error::Request(RequestError::NoProviders))),
        (
            "ipc/Error",
            Box::new(nettrace_ipc::Error::Reply { command, fault: ReplyFault::Advertise }),
        ),
        ("ipc/Error", Box::new(nettrace_ipc::Error::Io { step: Step::Connect, source: io() })),
        ("ipc/Unreachable", Box::new(Unreachable::SwitchedOff("DOTNET_EnableDiagnostics".into()))),
        ("analysis/AnalysisError", Box::new(AnalysisError::Read(parser()))),
        ("analysis/AnalysisError", Box::new(AnalysisError::Convert(convert()))),
        ("analysis/ConvertError", Box::new(convert())),
        ("analysis/ConvertError", Box::new(ConvertError::Other(Box::new(parser())))),
        ("analysis/SymbolFileError", Box::new(SymbolFileError::Bloated)),
        ("analysis/SymbolFileError", Box::new(SymbolFile::from_bytes(b"MZ").unwrap_err())),
        (
            "analysis/UnreadableSymbols",
            SymbolFile::from_bytes(b"")
                .map_err(|error| match error {
                    SymbolFileError::Unreadable(reason) => Box::new(reason),
                    other => panic!("{other}"),
                })
                .unwrap_err(),
        ),
        ("analysis/MetadataError", Box::new(MetadataError::NotPe)),
        ("analysis/PdbError", Box::new(nettrace_analysis::PdbError::Windows)),
        ("analysis/CounterListError", Box::new(CounterListError::NoName)),
        ("analysis/ConditionError", Box::new(ConditionError::NoComparison)),
        ("analysis/GcDumpError", Box::new(HeapDump::from_gcdump(b"").unwrap_err())),
        ("analysis/LimitReached", of_packed(&common::gzip(&bytes), 1)),
        ("analysis/NothingUnpacked", of_packed(b"\x1f\x8bnothing", 1)),
        ("export/PredicateError", Box::new(Predicate::parse_event("(").unwrap_err())),
        ("export/QuantityError", Box::new("a lot".parse::<Quantity>().unwrap_err())),
        ("export/TimeRangeError", Box::new(TimeRangeError::NoRange)),
        ("guid/NotAGuid", Box::new("x".parse::<Guid>().unwrap_err())),
        ("native/Error", Box::new(nettrace_native::Error::Unreadable { pid: 7, source: io() })),
    ]
}

/// Returns why a packed file cannot be unpacked.
fn of_packed(file: &[u8], limit: u64) -> Box<dyn Error> {
    let bytes = TraceBytes::open_stream(Cursor::new(file.to_vec()), true, limit);
    bytes.unwrap().fill(100).unwrap_err().into_inner().unwrap()
}

/// Adds the types below `folder` that are errors to `found`.
fn search(krate: &str, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(krate, &path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.starts_with("impl")) {
            let name = line.split_once("::error::Error for ").map(|(_, rest)| rest);
            let name = name.and_then(|rest| rest.split([' ', '<']).next());
            found.extend(name.map(|name| format!("{krate}/{name}")));
        }
    }
}

#[test]
fn an_error_says_its_own_layer_only_and_its_source_the_next() {
    let mut seen = BTreeSet::new();
    for (name, error) in errors() {
        seen.insert(name.to_owned());
        let mut outer: &dyn Error = &*error;
        while let Some(cause) = outer.source() {
            let (text, below) = (outer.to_string(), cause.to_string());
            assert!(!text.contains(&below), "{name} says {text}, and {below} again");
            outer = cause;
        }
    }
    let mut all = BTreeSet::new();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    for krate in ["parser", "ipc", "analysis", "export", "tables", "guid", "native", "writer"] {
        search(krate, &root.join(krate).join("src"), &mut all);
    }
    // It borrows what is read, so it can be the cause of nothing.
    assert!(all.remove("parser/FaultAt"));
    assert_eq!(seen, all);
}
