//! Opens files that `nettrace collect` made with Microsoft's tools.

use super::Subject;
use super::common::Json;
use nettrace_testdata::peers;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn dotnet_trace_converts_what_was_collected() {
    peers::each(peers::all(), |peer| {
        let mut tool = peers::tool("dotnet-trace/dotnet-trace.dll");
        let mut subject = Subject::start(peer, "cpu");
        // The recording lasts a second from the first sample on.
        let until = ["--until", "Microsoft-DotNETCore-SampleProfiler/*", "--keep-after", "1s"];
        assert_eq!(subject.collect(&[&until[..], &["-o", "x.nettrace"]].concat()).code, Some(0));
        tool.args(["convert", "x.nettrace", "--format", "Speedscope", "-o", "y"]);
        let output = tool.current_dir(subject.folder.path()).output().unwrap();
        let output_text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), ".NET {}: {output_text}", peer.major);
        let converted = std::fs::read_to_string(subject.folder.file("y.speedscope.json"))
            .unwrap_or_else(|error| panic!(".NET {}: {error}: {output_text}", peer.major));
        assert!(
            converted.contains("CpuRound"),
            ".NET {}: a method of the program is named",
            peer.major
        );
        subject.assert_unharmed();
    });
}

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn trace_event_sees_every_event_that_was_collected() {
    peers::each(peers::all(), |peer| {
        let mut tool = peers::tool("traceevent/dump.dll");
        let mut subject = Subject::start(peer, "custom");
        assert_eq!(subject.collect(&["--duration", "500ms", "-o", "x.nettrace"]).code, Some(0));
        tool.args(["events", "x.nettrace", "y"]);
        let output = tool.current_dir(subject.folder.path()).output().unwrap();
        let output_text = String::from_utf8_lossy(&output.stdout);
        let counted = subject.info("x.nettrace")["events"].int();
        let expected = format!("events {counted} lost 0 error none");
        assert!(
            output.status.success() && output_text.contains(&expected),
            ".NET {}: {output_text}",
            peer.major
        );
        subject.assert_unharmed();
    });
}
