//! The example of a converter of one's own does what it says, and stays short.

use nettrace_testdata::corpus;
use std::path::Path;
use std::process::Command;

#[test]
fn the_example_converter_is_short_and_works() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(package.join("examples/own_converter.rs")).unwrap();
    assert!(source.lines().count() <= 60, "{} lines", source.lines().count());
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("example.nettrace");
    std::fs::write(&trace, corpus::trace("net10-linux-x64/samples-only.nettrace").unwrap().bytes()).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "own_converter", "--"])
        .arg(&trace)
        .current_dir(package)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "thread,milliseconds,frame\nthread 19440,1901,\"workload!Workload.Program.Spin(int)\"\n";
    assert_eq!(text, expected);
}
