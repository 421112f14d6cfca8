//! Source lines of a program whose hot lines are known. The golden is what System.Reflection.Metadata
//! says of the same addresses.

use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{ReportPass, TopN};
use nettrace_analysis::{AnalysisOptions, NameStyle, PdbError, PdbFile, ThreadState};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn pass(has_lines: bool) -> ReportPass<'static, TopNOptions> {
    let mut options = AnalysisOptions::default();
    options.names.style = NameStyle::Short;
    options.filter.states = ThreadState::ALL.to_vec();
    options.lines = has_lines;
    let mut rows = TopNOptions::default();
    rows.count = usize::MAX;
    let mut pass = ReportPass::with_options(rows, options);
    let bytes = corpus::known("lines/LineHot").bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    pass
}

fn top() -> TopN {
    let mut pass = pass(true);
    pass.model_mut().add_pdb(PdbFile::from_bytes(&corpus::known_file("LineHot.pdb")).unwrap());
    let reported = pass.finish();
    let lines = reported.lines.unwrap();
    // The two methods that the compiler made, which have no lines, are not counted.
    assert_eq!((lines.found, lines.without_map, lines.without_pdb.len()), (9, 0, 0), "{lines:?}");
    reported.output
}

/// Own time of a line that calls the framework, whose time the golden counts for the line.
const CALLS: f64 = -1.0;

/// Milliseconds in the line itself and in all that it calls, file, line and method.
const GOLDEN: [(f64, f64, &str, u32, &str); 22] = [
    (CALLS, 2533.3, "/src/LineHot/Program.cs", 85, "Program.Main"),
    (875.2, 875.2, "/src/LineHot/Program.cs", 33, "Program.Slow"),
    (CALLS, 788.2, "/src/LineHot/Program.cs", 68, "Program.Main"),
    (646.7, 646.7, "/src/LineHot/Program.cs", 14, "Program.Compute"),
    (5.8, 607.0, "/src/LineHot/Program.cs", 70, "Program.Main"),
    (2.6, 505.4, "/src/LineHot/Program.cs", 69, "Program.Main"),
    (18.9, 400.4, "/src/LineHot/Program.cs", 73, "Program.Main"),
    (0.0, 400.3, "/src/LineHot/Program.cs", 71, "Program.Main"),
    (380.1, 380.1, "/src/LineHot/Program.cs", 57, "Program.Iter"),
    (1.4, 362.0, "/src/LineHot/Program.cs", 25, "Program.TwoLines"),
    (343.4, 343.4, "/src/LineHot/Program.cs", 39, "Program.Inlined"),
    (0.0, 343.4, "/src/LineHot/Program.cs", 48, "Program.Caller"),
    (0.0, 301.5, "/src/LineHot/Program.cs", 78, "Program.Main.lambda_8_0"),
    (0.0, 301.5, "/src/LineHot/Program.cs", 81, "Program.Main"),
    (0.0, 291.4, "/src/LineHot/Program.cs", 64, "Program.Later"),
    (232.5, 232.5, "/src/LineHot/Program.cs", 13, "Program.Compute"),
    (0.0, 213.0, "/src/LineHot/Program.cs", 26, "Program.TwoLines"),
    // The line that `#line` names.
    (0.0, 200.9, "/src/LineHot/Generated/Model.g.cs", 500, "Program.Main"),
    (115.9, 115.9, "/src/LineHot/Program.cs", 17, "Program.Compute"),
    (56.9, 56.9, "/src/LineHot/Program.cs", 46, "Program.Caller"),
    (CALLS, 26.1, "/src/LineHot/Program.cs", 23, "Program.TwoLines"),
    (CALLS, 7.4, "/src/LineHot/Program.cs", 63, "Program.Later"),
];

#[test]
fn times_of_lines_are_those_of_the_golden() {
    let top = top();
    for (own, total, file, line, method) in GOLDEN {
        let is_it = |name: &str| {
            let short = file.rsplit('/').next().unwrap();
            let row = format!("{method} {short}:{line}");
            name == row || name.strip_prefix(&row).is_some_and(|rest| rest.starts_with(" → "))
        };
        let rows: Vec<_> = top.methods.iter().filter(|row| is_it(&row.name)).collect();
        let sum: u64 = rows.iter().map(|row| row.self_ns).sum();
        let most = rows.iter().map(|row| row.total_ns).max().unwrap_or(0);
        let found = [sum, most].map(|nanos| nanos as f64 / 1e6);
        assert!(
            own == CALLS || (found[0] - own).abs() < 0.06,
            "{method} {line}: {found:?} {rows:?}"
        );
        // The golden gives each thread's last sample another length.
        assert!((found[1] - total).abs() < 0.06 + total / 1e4, "{method} {line}: {found:?}");
        for row in rows {
            let at = row.line.as_ref().unwrap();
            assert_eq!((&*at.file, at.line, at.is_first), (file, line, false));
        }
    }
}

#[test]
fn maps_of_old_runtimes_which_do_not_tell_their_code_belong_to_the_method_beside_them() {
    let mut options = AnalysisOptions::default();
    options.lines = true;
    let mut pass = ReportPass::with_options(TopNOptions::default(), options);
    let bytes = corpus::trace("net3.1-linux-x64/all.nettrace").bytes();
    let _ = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    let wanted = pass.model_mut().wanted_pdbs();
    // Its precompiled code is replaced after some calls.
    let library = wanted.iter().find(|it| it.module_path.ends_with("System.Private.CoreLib.dll"));
    let id = library.unwrap().id.to_bytes();
    let pdb = nettrace_testdata::portable_pdb(id, 60_000, "/_/src/Library.cs", None);
    pass.model_mut().add_pdb(PdbFile::from_bytes(&pdb).unwrap());
    let lines = pass.finish().lines.unwrap();
    // Without it, 37 precompiled methods had lines by the maps of the code that replaced them.
    let found = (lines.found, lines.without_map, lines.precompiled);
    assert_eq!(found, (33, 0, 131), "{lines:?}");
}

#[test]
fn a_method_that_the_compiler_made_has_no_line() {
    let top = top();
    let of = |name: &str| top.methods.iter().find(|row| row.name == name).unwrap();
    for name in ["Program.Later", "Program.Iter → native call"] {
        assert_eq!(of(name).line, None, "{name}");
    }
}

#[test]
fn without_being_asked_for_lines_nothing_changes() {
    let pass = pass(false);
    let mut pass = pass;
    assert_eq!(pass.model_mut().wanted_pdbs(), []);
    pass.model_mut().add_pdb(PdbFile::from_bytes(&corpus::known_file("LineHot.pdb")).unwrap());
    let reported = pass.finish();
    assert_eq!(reported.lines, None);
    assert!(reported.output.methods.iter().all(|row| row.line.is_none()));
    let names: Vec<&str> = reported.output.methods.iter().map(|row| row.name.as_str()).collect();
    assert!(names.contains(&"Program.Slow"), "{names:?}");
}

#[test]
fn a_module_without_its_pdb_is_named_with_the_id_and_what_to_do() {
    let mut pass = pass(true);
    let wanted = pass.model_mut().wanted_pdbs();
    let own: Vec<_> = wanted.iter().filter(|wanted| !wanted.is_framework).collect();
    assert_eq!(own.len(), 1, "{own:?}");
    assert!(own[0].module_path.ends_with("/LineHot.dll"), "{own:?}");
    assert_eq!(own[0].pdb_path, "/src/LineHot/obj/Release/net10.0/LineHot.pdb");
    let lines = pass.finish().lines.unwrap();
    assert!(lines.of_framework > 10, "{lines:?}");
    assert_eq!(
        lines.advice(),
        [
            "11 methods of LineHot without lines: no PDB {ac042f96-ad03-465f-bbd0-dc692317e733}; give its folder with --symbols"
        ]
    );
}

#[test]
fn the_pdb_of_another_build_is_refused() {
    let mut file = corpus::known_file("LineHot.pdb");
    let pdb = PdbFile::from_bytes(&file).unwrap();
    let id = pdb.id().to_bytes();
    let at = file.windows(16).position(|bytes| bytes == id).unwrap();
    file[at] ^= 1;
    let wanted = pass(true).model_mut().wanted_pdbs();
    let wanted = wanted.iter().find(|wanted| wanted.id == pdb.id()).unwrap();
    assert_eq!(wanted.check(&pdb), Ok(()));
    let error = wanted.check(&PdbFile::from_bytes(&file).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "another build: its id is ac042f97-ad03-465f-bbd0-dc692317e733, the trace has ac042f96-ad03-465f-bbd0-dc692317e733"
    );
}

/// Returns a module file with an entry of its debug directory replaced by an embedded PDB.
fn with_embedded(module: &[u8], pdb: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder =
        flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(pdb).unwrap();
    let size = (pdb.len() as u32).to_le_bytes();
    let entry = [b"MPDB", &size[..], &encoder.finish().unwrap()].concat();
    let mut file = module.to_vec();
    let number = |at: usize| u32::from_le_bytes(module[at..at + 4].try_into().unwrap());
    let headers = number(0x3c) as usize;
    let optional = headers + 24;
    // The addresses of PE32 and of PE32+ have different sizes.
    let directories = optional + if module[optional + 1] == 1 { 96 } else { 112 };
    let address = number(directories + 6 * 8);
    let optional_bytes = u16::from_le_bytes(module[headers + 20..][..2].try_into().unwrap());
    let section = optional + usize::from(optional_bytes);
    let directory = (address - number(section + 12) + number(section + 20)) as usize;
    // The last entry is that of a reproducible build, which says nothing.
    let last = directory + number(directories + 6 * 8 + 4) as usize - 28;
    assert_eq!(number(last + 12), 16);
    for (at, value) in [(12, 17), (16, entry.len()), (20, 0), (24, module.len())] {
        file[last + at..last + at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    }
    file.extend(entry);
    file
}

#[test]
fn a_pdb_that_is_embedded_in_the_module_is_the_same() {
    let (module, pdb) = (corpus::known_file("LineHot.dll"), corpus::known_file("LineHot.pdb"));
    assert_eq!(PdbFile::from_bytes(&module), Err(PdbError::NotEmbedded));
    let with = with_embedded(&module, &pdb);
    assert_eq!(PdbFile::from_bytes(&with), PdbFile::from_bytes(&pdb));
    // A compressed PDB that is cut off gives an error, or lacks its last methods.
    for length in 0..with.len() {
        let _ = PdbFile::from_bytes(&with[..length]);
    }
}

#[test]
fn a_pdb_for_windows_is_refused_by_its_name() {
    let error = PdbFile::from_bytes(b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0").unwrap_err();
    assert!(error.to_string().starts_with("a Windows PDB: build with"), "{error}");
}

/// Returns the samples of the program in a format.
fn converted(format: &str) -> Vec<u8> {
    use nettrace_analysis::Analysis;
    use nettrace_analysis::convert::{ConvertOptions, Format};
    let (mut out, mut options) = (Vec::new(), AnalysisOptions::default());
    (options.lines, options.names.style) = (true, NameStyle::Short);
    let mut analysis = Analysis::new(options);
    let format = Format::by_name(format).unwrap();
    analysis.add_format(format, &mut out, &ConvertOptions::default());
    let bytes = corpus::known("lines/LineHot").bytes();
    let _ = analysis.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    analysis.model_mut().add_pdb(PdbFile::from_bytes(&corpus::known_file("LineHot.pdb")).unwrap());
    assert_eq!(analysis.finish().unwrap().lines().unwrap().found, 9);
    out
}

/// Returns the fields of a message of protobuf, each with its number, its value and its content.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        let (content, rest) = bytes.split_at(if tag & 7 == 2 { value as usize } else { 0 });
        found.push((tag >> 3, value, content));
        bytes = rest;
    }
    found
}

#[test]
fn pprof_has_one_function_with_its_lines() {
    use std::io::Read;
    let mut file = Vec::new();
    flate2::read::GzDecoder::new(&*converted("pprof")).read_to_end(&mut file).unwrap();
    let all = fields(&file);
    let messages = |number: u64| all.iter().filter(move |field| field.0 == number);
    let texts: Vec<&str> =
        messages(6).map(|(_, _, text)| std::str::from_utf8(text).unwrap()).collect();
    let value = |message: &[u8], number: u64| {
        fields(message).into_iter().find(|field| field.0 == number).map_or(0, |field| field.1)
    };
    let functions: Vec<_> = messages(5)
        .map(|(_, _, function)| {
            let text = |number| texts[value(function, number) as usize];
            (value(function, 1), text(2), text(4))
        })
        .filter(|(_, name, file)| *name == "Program.Compute" && file.ends_with(".cs"))
        .collect();
    let [(id, _, file)] = functions[..] else { panic!("{functions:?}") };
    assert_eq!(file, "/src/LineHot/Program.cs");
    let mut lines: Vec<u64> = messages(4)
        .filter_map(|(_, _, location)| {
            let line = fields(location).into_iter().find(|field| field.0 == 4)?.2;
            (value(line, 1) == id).then(|| value(line, 2))
        })
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [13, 14, 17]);
}

#[test]
fn speedscope_and_v8_have_the_file_and_the_line_of_a_frame() {
    let document: serde_json::Value = serde_json::from_slice(&converted("speedscope")).unwrap();
    let frames = document["shared"]["frames"].as_array().unwrap();
    let slow = frames.iter().find(|frame| frame["name"] == "Program.Slow Program.cs:33").unwrap();
    assert_eq!((&slow["file"], &slow["line"]), (&"/src/LineHot/Program.cs".into(), &33.into()));
    let document: serde_json::Value = serde_json::from_slice(&converted("cpuprofile")).unwrap();
    let nodes = document["nodes"].as_array().unwrap();
    let mut frames = nodes.iter().map(|node| &node["callFrame"]);
    // Lines of V8 count from 0.
    let is_it = |frame: &&serde_json::Value| {
        frame["functionName"] == "Program.Slow" && frame["url"] == "/src/LineHot/Program.cs"
    };
    assert_eq!(frames.find(is_it).unwrap()["lineNumber"], 32);
}

#[test]
fn firefox_profiler_has_the_line_of_a_frame_and_the_file_of_its_function() {
    let document: serde_json::Value = serde_json::from_slice(&converted("firefox")).unwrap();
    let mut lines = Vec::new();
    for thread in document["threads"].as_array().unwrap() {
        let text = |at: &serde_json::Value| &thread["stringArray"][at.as_u64().unwrap() as usize];
        let (frames, functions) = (&thread["frameTable"], &thread["funcTable"]);
        for (at, line) in frames["line"].as_array().unwrap().iter().enumerate() {
            let function = frames["func"][at].as_u64().unwrap() as usize;
            let (name, file) =
                (text(&functions["name"][function]), &functions["fileName"][function]);
            assert_eq!(line.is_null(), file.is_null(), "{name}");
            if let Some(line) = line.as_u64() {
                assert!(name.as_str().unwrap().contains(&format!(".cs:{line}")), "{name} {line}");
                lines.push((text(file).as_str().unwrap().to_owned(), line));
            }
        }
        let length = frames["length"].as_u64().unwrap() as usize;
        assert_eq!(frames["line"].as_array().unwrap().len(), length);
    }
    assert!(lines.contains(&("/src/LineHot/Program.cs".to_owned(), 33)), "{lines:?}");
    assert!(lines.contains(&("/src/LineHot/Generated/Model.g.cs".to_owned(), 500)), "{lines:?}");
}

#[test]
fn nodes_of_a_tree_have_lines() {
    let mut options = AnalysisOptions::default();
    (options.lines, options.names.style) = (true, NameStyle::Short);
    let mut pass =
        ReportPass::with_options(nettrace_analysis::report::TreeOptions::default(), options);
    let bytes = corpus::known("lines/LineHot").bytes();
    let _ = pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap();
    pass.model_mut().add_pdb(PdbFile::from_bytes(&corpus::known_file("LineHot.pdb")).unwrap());
    let tree = serde_json::to_value(pass.finish().output).unwrap();
    let nodes = tree["nodes"].as_array().unwrap();
    // The call of each caller, then what runs in it.
    for (name, line) in [("Program.TwoLines Program.cs:25", 25), ("Program.Slow Program.cs:33", 33)]
    {
        let node = nodes.iter().find(|node| node["name"] == name).unwrap();
        assert_eq!(
            (&node["line"], &node["file"]),
            (&line.into(), &"/src/LineHot/Program.cs".into())
        );
    }
}

#[test]
fn precompiled_code_has_the_first_line_of_its_method_and_a_mark() {
    let mut pass = pass(true);
    let wanted = pass.model_mut().wanted_pdbs();
    let library = wanted.iter().find(|it| it.module_path.ends_with("System.Private.CoreLib.dll"));
    let id = library.unwrap().id.to_bytes();
    // The library has some 40,000 methods.
    let pdb = nettrace_testdata::portable_pdb(id, 60_000, "/_/src/Library.cs", None);
    pass.model_mut().add_pdb(PdbFile::from_bytes(&pdb).unwrap());
    let reported = pass.finish();
    let lines = reported.lines.unwrap();
    assert!(lines.precompiled > 10, "{lines:?}");
    let rows = &reported.output.methods;
    let start = rows.iter().find(|row| row.name.starts_with("Thread.StartCallback ")).unwrap();
    let at = start.line.as_ref().unwrap();
    assert!(at.is_first && at.url.is_none(), "{at:?}");
    assert_eq!(start.name, format!("Thread.StartCallback Library.cs:{}+", at.line));
}
