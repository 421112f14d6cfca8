//! A process that ends unloads all methods and modules, which the session's rundown then lists once
//! more.

use crate::common;

use common::*;
use nettrace_analysis::Finished;
use nettrace_analysis::report::{Loader, LoaderReport, ModuleRow, Modules, Report, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{Session, Step, Value};

const MODULE_LOAD: usize = OBJECTS + 1;
const MODULE_UNLOAD: usize = OBJECTS + 2;
const ASSEMBLY_LOAD: usize = OBJECTS + 3;
const ASSEMBLY_UNLOAD: usize = OBJECTS + 4;

fn unload_session(steps: Vec<Step>) -> Session {
    let mut session = session(steps);
    let more = [152, 153, 154, 155].map(|id| native(RUNTIME, id, 1));
    session.types.extend(more);
    session
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn module_at(event_type: usize, path: &str) -> Step {
    let values = vec![
        Value::U64(7),
        Value::U64(1),
        Value::U32(0),
        Value::U32(0),
        text(path),
        text(""),
        Value::U16(0),
    ];
    event(event_type, 2, 1, &[], values)
}

fn assembly(event_type: usize, name: &str) -> Step {
    let values =
        vec![Value::U64(1), Value::U64(3), Value::U64(0), Value::U32(0), text(name), Value::U16(0)];
    event(event_type, 2, 1, &[], values)
}

fn loader(session: &Session) -> LoaderReport {
    let bytes = session.record().stream.bytes;
    let mut pass = ReportPass::new(Loader::default());
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass.finish().output
}

type Lived<'n> = (&'n str, Option<i64>, Option<i64>);

fn assemblies(report: &LoaderReport) -> Vec<Lived<'_>> {
    report.assemblies.iter().map(|row| (&*row.name, row.loaded_ns, row.unloaded_ns)).collect()
}

fn loaded_modules(report: &LoaderReport) -> Vec<Lived<'_>> {
    report.modules.iter().map(|row| (&*row.path, row.loaded_ns, row.unloaded_ns)).collect()
}

/// Returns the modules, with the number of methods of each.
fn methods_of_modules(finished: &Finished) -> Vec<(String, u64)> {
    let modules = Modules::default().finish(&finished.resolved()).modules;
    let methods = |row: &ModuleRow| row.precompiled_methods + row.jitted_methods;
    modules.iter().map(|row| (row.name.clone(), methods(row))).collect()
}

#[test]
fn what_is_unloaded_and_then_listed_at_the_end_is_one_module() {
    let session = unload_session(vec![
        assembly(ASSEMBLY_LOAD, "app, Version=1.0.0.0"),
        module_at(MODULE_LOAD, "/x/app.dll"),
        method(LOAD, 1, 0x1000, 0x100, "N.T.Main"),
        sample(0, 10, &[0x1010]),
        method(UNLOAD, 1, 0x1000, 0x100, "N.T.Main"),
        module_at(MODULE_UNLOAD, "/x/app.dll"),
        assembly(ASSEMBLY_UNLOAD, "app, Version=1.0.0.0"),
        method(AT_END, 1, 0x1000, 0x100, "N.T.Main"),
        module_at(MODULE, "/x/app.dll"),
        assembly(ASSEMBLY, "app, Version=1.0.0.0"),
    ]);
    let report = loader(&session);
    assert_eq!(assemblies(&report), [("app, Version=1.0.0.0", Some(1), Some(16))]);
    assert_eq!(loaded_modules(&report), [("/x/app.dll", Some(2), Some(15))]);
    let finished = read(&session, full_names());
    assert_eq!(methods_of_modules(&finished), [("app".to_owned(), 1)]);
    let modules = Modules::default().finish(&finished.resolved()).modules;
    assert_eq!((modules[0].loaded_ns, modules[0].unloaded_ns), (Some(2), Some(15)));
}

#[test]
fn a_rundown_names_what_was_unloaded_without_a_name() {
    let session = unload_session(vec![
        sample(0, 10, &[0x1010]),
        method(UNLOAD, 1, 0x1000, 0x100, "."),
        module_at(MODULE_UNLOAD, "/x/app.dll"),
        method(AT_END, 1, 0x1000, 0x100, "N.T.Main"),
        module_at(MODULE, "/x/app.dll"),
    ]);
    let finished = read(&session, full_names());
    assert_eq!(methods_of_modules(&finished), [("app".to_owned(), 1)]);
    assert_eq!(finished.resolved().all_frames()[0].text, "app!N.T.Main");
}

#[test]
fn an_id_that_is_loaded_again_is_another_module() {
    let session = unload_session(vec![
        assembly(ASSEMBLY_LOAD, "app"),
        module_at(MODULE_LOAD, "/x/app.dll"),
        module_at(MODULE_UNLOAD, "/x/app.dll"),
        assembly(ASSEMBLY_UNLOAD, "app"),
        assembly(ASSEMBLY_LOAD, "app"),
        module_at(MODULE_LOAD, "/x/app.dll"),
        module_at(MODULE, "/x/app.dll"),
    ]);
    let report = loader(&session);
    assert_eq!(assemblies(&report), [("app", Some(1), Some(4)), ("app", Some(5), None)]);
    let expected = [("/x/app.dll", Some(2), Some(3)), ("/x/app.dll", Some(6), None)];
    assert_eq!(loaded_modules(&report), expected);
    let finished = read(&session, full_names());
    assert_eq!(Modules::default().finish(&finished.resolved()).modules.len(), 2);
}

#[test]
fn an_id_that_the_rundown_gives_to_another_file_is_another_module() {
    let session = unload_session(vec![
        assembly(ASSEMBLY_LOAD, "old"),
        module_at(MODULE_LOAD, "/x/old.dll"),
        method(LOAD, 1, 0x1000, 0x100, "N.T.Old"),
        method(UNLOAD, 1, 0x1000, 0x100, "N.T.Old"),
        module_at(MODULE_UNLOAD, "/x/old.dll"),
        assembly(ASSEMBLY_UNLOAD, "old"),
        // This method was loaded while events were lost.
        method(AT_END, 1, 0x1000, 0x100, "N.T.New"),
        module_at(MODULE, "/x/new.dll"),
        assembly(ASSEMBLY, "new"),
    ]);
    let report = loader(&session);
    assert_eq!(assemblies(&report), [("new", None, None), ("old", Some(1), Some(6))]);
    assert_eq!(
        loaded_modules(&report),
        [("/x/new.dll", None, None), ("/x/old.dll", Some(2), Some(5))]
    );
    let finished = read(&session, full_names());
    let rows = methods_of_modules(&finished);
    assert_eq!((rows.len(), rows.iter().map(|(_, methods)| methods).sum::<u64>()), (2, 2));
}
