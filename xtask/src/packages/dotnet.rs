//! Packages of .NET: `dotnet tool install nettrace` and `dnx nettrace` run the command itself.
//!
//! A tool is a package that lists platforms, and one package for each platform with its program.
//! SDKs since .NET 10 know this kind.

use super::platform::Platform;
use super::program::Program;
use super::zipped::zipped;
use super::{DESCRIPTION, Packed, VERSION, repository_file};
use std::io;

/// Name of the package that lists the platforms, and beginning of the others' names.
const ID: &str = "nettrace";
const EXTENSION: &str = ".nupkg";
const XML: &str = r#"<?xml version="1.0" encoding="utf-8"?>"#;

/// Returns a package with the program for each of its runtime identifiers.
pub(super) fn packages(program: &Program) -> io::Result<Vec<Packed>> {
    let rids = program.platform.rids.iter();
    rids.map(|rid| package_of_platform(program.platform, rid, &program.bytes)).collect()
}

fn package_of_platform(platform: &Platform, rid: &str, program: &[u8]) -> io::Result<Packed> {
    let (id, name) = (format!("{ID}.{rid}"), platform.file_name());
    let path = format!("tools/any/{rid}/{name}");
    let settings = format!(
        r#"<DotNetCliTool Version="2"><Commands><Command Name="{ID}" EntryPoint="{name}" Runner="executable" /></Commands></DotNetCliTool>"#
    );
    let program = Packed { path: path.clone(), mode: 0o755, bytes: program.to_vec() };
    let settings = Packed::new(format!("tools/any/{rid}/DotnetToolSettings.xml"), settings);
    package(&id, "DotnetToolRidPackage", &path, vec![program, settings])
}

/// Returns the package that lists the platforms, if packages of platforms are among the names.
pub(super) fn list(packages: &[String]) -> io::Result<Option<Packed>> {
    let (before, after) = (format!("{ID}."), format!(".{VERSION}{EXTENSION}"));
    let rids = packages.iter().filter_map(|name| name.strip_prefix(&before)?.strip_suffix(&after));
    let rids: String = rids
        .map(|rid| {
            format!(r#"<RuntimeIdentifierPackage RuntimeIdentifier="{rid}" Id="{ID}.{rid}" />"#)
        })
        .collect();
    if rids.is_empty() {
        return Ok(None);
    }
    let settings = format!(
        r#"<DotNetCliTool Version="2"><Commands><Command Name="{ID}" /></Commands><RuntimeIdentifierPackages>{rids}</RuntimeIdentifierPackages></DotNetCliTool>"#
    );
    let path = "tools/net10.0/any/DotnetToolSettings.xml";
    package(ID, "DotnetTool", path, vec![Packed::new(path, settings)]).map(Some)
}

/// Returns a package of a type. The file at `typed` is one whose ending says nothing about its type.
fn package(id: &str, kind: &str, typed: &str, files: Vec<Packed>) -> io::Result<Packed> {
    let nuspec = format!(
        r#"{XML}
<package xmlns="http://schemas.microsoft.com/packaging/2012/06/nuspec.xsd">
  <metadata>
    <id>{id}</id><version>{VERSION}</version><authors>nettrace</authors><description>{DESCRIPTION}</description>
    <license type="expression">MIT OR Apache-2.0</license>
    <readme>README.md</readme>
    <tags>dotnet-trace eventpipe nettrace profiling diagnostics</tags>
    <packageTypes><packageType name="{kind}" /></packageTypes>
  </metadata>
</package>"#
    );
    let relationships = format!(
        r#"{XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{id}.nuspec" Id="R1"/></Relationships>"#
    );
    let types: String = ["nuspec", "xml", "md", ""]
        .map(|ending| format!(r#"<Default Extension="{ending}" ContentType="application/octet"/>"#))
        .concat();
    let types = format!(
        r#"{XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}<Override PartName="/{typed}" ContentType="application/octet"/></Types>"#
    );
    let mut all = vec![
        Packed::new(format!("{id}.nuspec"), nuspec),
        Packed::new("_rels/.rels", relationships),
        Packed::new("[Content_Types].xml", types),
        Packed::new("README.md", repository_file("cli/README.md")?),
    ];
    all.extend(files);
    Ok(Packed::new(format!("{id}.{VERSION}{EXTENSION}"), zipped(&all)?))
}

#[cfg(test)]
mod tests {
    mod with_shared {
        use super::super::*;
        use crate::top;
        use std::path::PathBuf;
        use std::process::Command;
        use std::{env, fs};

        /// Compares the packages of two folders: theirs were installed by an SDK.
        const COMPARED: &str = r#"
import re, sys, zipfile
theirs, ours = (zipfile.ZipFile(path) for path in sys.argv[1:3])
assert ours.testzip() is None
for entry in theirs.infolist():
    mine = ours.getinfo(entry.filename)
    assert (mine.external_attr >> 16) & 0o777 == (entry.external_attr >> 16) & 0o777, entry.filename
    a, b = theirs.read(entry), ours.read(entry.filename)
    if entry.filename.endswith('.nuspec') or entry.filename == '[Content_Types].xml':
        # These may say more, and describe the tool otherwise.
        parts = lambda text: set(re.findall(r'<[^<]*', re.sub(r'>\s+', '>', text.decode())))
        lacking = parts(a) - parts(b)
        if 'RID' not in sys.argv[3]:
            lacking = {part for part in lacking if not part.startswith('<Override')}
        assert all(part.startswith('<description>') for part in lacking), lacking
    else:
        assert a == b, entry.filename
print(sorted(set(ours.namelist()) - set(theirs.namelist())))
"#;

        #[test]
        #[ignore = "needs NETTRACE_SHARED and python3"]
        fn packages_have_the_files_of_those_that_an_sdk_installed() {
            let shared = PathBuf::from(env::var_os("NETTRACE_SHARED").expect("it is set"));
            let folder = top().join("target/tmp/dotnet-tool");
            for made in ["theirs", "ours"] {
                fs::create_dir_all(folder.join(made)).unwrap();
            }
            for (target, rid) in
                [("x86_64-unknown-linux-gnu", "linux-x64"), ("x86_64-pc-windows-msvc", "win-x64")]
            {
                let program = folder.join("program");
                fs::write(&program, b"a program").unwrap();
                let mut script = Command::new("python3");
                script.arg(shared.join("dist/dotnet_tool.py")).arg(&program).arg(rid);
                assert!(script.arg(folder.join("theirs")).status().unwrap().success());

                let platform = Platform::find(target).unwrap();
                let of_platform = package_of_platform(platform, rid, b"a program").unwrap();
                let list = list(&[of_platform.path.clone(), String::from("SHA256SUMS")]).unwrap();
                for (package, kind) in [(of_platform, "RID"), (list.unwrap(), "list")] {
                    let path = folder.join("ours").join(&package.path);
                    fs::write(&path, &package.bytes).unwrap();
                    let theirs = folder.join("theirs").join(&package.path);
                    let mut python = Command::new("python3");
                    python.args(["-c", COMPARED]).args([&theirs, &path]).arg(kind);
                    let output = python.output().unwrap();
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{}: {said}", package.path);
                    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "['README.md']");
                }
            }
        }
    }
}
