//! Wheels: `pip install nettrace` and `uvx nettrace` bring the command, without a module of Python.

use super::program::Program;
use super::zipped::zipped;
use super::{DESCRIPTION, Packed, VERSION, repository_file};
use crate::base64;
use sha2::{Digest, Sha256};
use std::io;

/// Where shells look for completions below `/usr` or the folder of an environment. The others'
/// have no such place.
const COMPLETIONS: [(&str, &str); 3] = [
    ("nettrace.bash", "bash-completion/completions/nettrace"),
    ("_nettrace", "zsh/site-functions/_nettrace"),
    ("nettrace.fish", "fish/vendor_completions.d/nettrace.fish"),
];

/// Returns the wheel of a program.
pub(super) fn wheel(program: &Program) -> io::Result<Packed> {
    let version = python_version(VERSION);
    let (data, info) =
        (format!("nettrace-{version}.data"), format!("nettrace-{version}.dist-info"));
    let mut files = vec![Packed {
        path: format!("{data}/scripts/{}", program.platform.file_name()),
        mode: 0o755,
        bytes: program.bytes.clone(),
    }];
    let shared = format!("{data}/data/share");
    files.extend(program.pages.iter().map(|file| file.below(&format!("{shared}/man/man1"))));
    for (name, path) in COMPLETIONS {
        let found = program.completions.iter().filter(|file| file.path == name);
        files.extend(found.map(|file| Packed::new(format!("{shared}/{path}"), file.bytes.clone())));
    }

    let readme = String::from_utf8_lossy(&repository_file("cli/README.md")?).into_owned();
    let metadata = format!(
        "Metadata-Version: 2.4\nName: nettrace\nVersion: {version}\nSummary: {DESCRIPTION}\n\
         Keywords: dotnet,dotnet-trace,eventpipe,nettrace,profiling\nLicense-Expression: MIT OR Apache-2.0\n\
         License-File: LICENSE-MIT\nLicense-File: LICENSE-APACHE\nDescription-Content-Type: text/markdown\n\n{readme}"
    );
    let tags = program.platform.wheel_tags;
    let each: String = tags.iter().map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    let kind = format!(
        "Wheel-Version: 1.0\nGenerator: cargo xtask packages\nRoot-Is-Purelib: false\n{each}"
    );
    files.push(Packed::new(format!("{info}/METADATA"), metadata));
    files.push(Packed::new(format!("{info}/WHEEL"), kind));
    for path in ["LICENSE-MIT", "LICENSE-APACHE"] {
        files.push(Packed::new(format!("{info}/licenses/{path}"), repository_file(path)?));
    }
    let record = format!("{info}/RECORD");
    let mut lines: String = files
        .iter()
        .map(|file| {
            let hash = base64::url(&Sha256::digest(&file.bytes));
            format!("{},sha256={hash},{}\n", file.path, file.bytes.len())
        })
        .collect();
    lines += &format!("{record},,\n");
    files.push(Packed::new(record, lines));
    Ok(Packed::new(format!("nettrace-{version}-py3-none-{}.whl", tags.join(".")), zipped(&files)?))
}

/// Returns a version as Python writes it: `1.0.0rc1` for `1.0.0-rc.1`.
fn python_version(version: &str) -> String {
    version.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_before_a_release_is_one_of_python() {
        assert_eq!(python_version("1.2.3"), "1.2.3");
        assert_eq!(python_version("1.2.3-rc.4"), "1.2.3rc4");
    }

    #[cfg(unix)]
    mod with_python {
        use super::*;
        use crate::packages::platform::{Platform, host};
        use crate::top;
        use std::path::Path;
        use std::process::Command;
        use std::{fs, str};

        fn printed(program: &Path, arguments: &[&str]) -> String {
            let output = Command::new(program).args(arguments).output().expect("it starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            str::from_utf8(&output.stdout).unwrap().to_owned()
        }

        #[test]
        #[ignore = "needs python3"]
        fn pip_installs_a_command_that_runs_and_its_pages_and_removes_them() {
            let Some(platform) = Platform::find(&host()) else { return };
            let program = Program {
                platform,
                bytes: b"#!/bin/sh\necho \"ran with $*\"\n".to_vec(),
                completions: vec![Packed::new("_nettrace", "completions")],
                pages: vec![
                    Packed::new("nettrace.1", "page"),
                    Packed::new("nettrace-report.1", "page"),
                ],
                ran: true,
            };
            let folder = top().join("target/tmp/wheel");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            let wheel = wheel(&program).unwrap();
            let path = folder.join(&wheel.path);
            fs::write(&path, &wheel.bytes).unwrap();

            let environment = folder.join("environment");
            printed("python3".as_ref(), &["-m", "venv", environment.to_str().unwrap()]);
            let (pip, command) = (environment.join("bin/pip"), environment.join("bin/nettrace"));
            printed(&pip, &["install", "--quiet", "--no-index", path.to_str().unwrap()]);
            assert_eq!(printed(&command, &["info", "x y"]), "ran with info x y\n");
            let installed = [
                "man/man1/nettrace.1",
                "man/man1/nettrace-report.1",
                "zsh/site-functions/_nettrace",
            ];
            for file in installed {
                assert!(environment.join("share").join(file).is_file(), "{file}");
            }
            let shown = printed(&pip, &["show", "--verbose", "nettrace"]);
            let summary = format!("Version: {VERSION}\nSummary: {DESCRIPTION}\n");
            assert!(shown.contains(&summary), "{shown}");
            let licences = "from importlib.metadata import metadata; print(metadata('nettrace').get_all('License-File'))";
            let licences = printed(&environment.join("bin/python"), &["-c", licences]);
            assert_eq!(licences, "['LICENSE-MIT', 'LICENSE-APACHE']\n");
            printed(&pip, &["uninstall", "--quiet", "--yes", "nettrace"]);
            assert!(!command.exists());
            assert!(!environment.join("share/man/man1/nettrace.1").exists());
        }
    }
}
