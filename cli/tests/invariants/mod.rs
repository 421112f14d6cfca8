//! Fuzz target `convert`: gives any bytes as a trace to the converters and to a command.

pub(crate) mod files;
pub(crate) mod gcdump;
pub(crate) mod sessions;
mod well_formed;

use nettrace_analysis::convert::{ConvertError, ConvertOptions, FORMATS, Format};
use nettrace_analysis::{Analysis, AnalysisError, AnalysisOptions};
use nettrace_cli::{Console, Exit, run};
use nettrace_parser::Reader;
use std::io::{self, Cursor, Write};
use well_formed::{assert_json, assert_json_lines, assert_made, assert_text};

/// Maximum bytes of an input, because longer inputs show nothing new and cost time.
const MAX_BYTES: usize = 1 << 16;

/// Form of a command's output.
#[derive(Clone, Copy)]
enum Prints {
    /// Text for people, without control characters.
    Text,
    Json,
    JsonLines,
    /// Text for other programs.
    Utf8,
}

use Prints::{Json, JsonLines, Text, Utf8};

/// Commands that read a trace from standard input, with their output's form.
const COMMANDS: &[(&[&str], Prints)] = &[
    (&["info"], Text),
    (&["info", "--json"], Json),
    (&["stats"], Text),
    (&["stats", "--json"], Json),
    (&["schema"], Text),
    (&["schema", "--json"], Json),
    (&["check", "--strict"], Text),
    (&["check", "--json"], Json),
    (&["events", "--stacks"], Text),
    (&["events", "--format", "csv"], Utf8),
    (&["events", "--format", "ndjson", "--stacks", "--order", "file"], JsonLines),
    (&["events", "--format", "ndjson", "--raw", "--big-ints", "string"], JsonLines),
    (&["convert", "--format", "ndjson", "--output", "-"], JsonLines),
    (&["report", "summary"], Text),
    (&["report", "summary", "--json"], Json),
    (&["report", "topN"], Text),
    (&["report", "topN", "--json"], Json),
    (&["report", "tree"], Text),
    (&["report", "tree", "--json"], Json),
    (&["report", "threads"], Text),
    (&["report", "threads", "--json"], Json),
    (&["report", "modules"], Text),
    (&["report", "modules", "--json"], Json),
    (&["report", "gc"], Text),
    (&["report", "gc", "--json"], Json),
    (&["report", "alloc"], Text),
    (&["report", "alloc", "--json"], Json),
    (&["report", "types"], Text),
    (&["report", "types", "--json"], Json),
    (&["report", "jit"], Text),
    (&["report", "jit", "--json"], Json),
    (&["report", "loader"], Text),
    (&["report", "loader", "--json"], Json),
    (&["report", "threadpool"], Text),
    (&["report", "threadpool", "--json"], Json),
    (&["report", "exceptions"], Text),
    (&["report", "exceptions", "--json"], Json),
    (&["report", "contention"], Text),
    (&["report", "contention", "--json"], Json),
    (&["report", "waits"], Text),
    (&["report", "waits", "--json"], Json),
    (&["report", "startup"], Text),
    (&["report", "startup", "--json"], Json),
    (&["report", "sql"], Text),
    (&["report", "sql", "--json"], Json),
    (&["report", "tasks"], Text),
    (&["report", "tasks", "--json"], Json),
    (&["report", "activities"], Text),
    (&["report", "activities", "--json"], Json),
    (&["report", "http"], Text),
    (&["report", "http", "--json"], Json),
    (&["report", "logs"], Text),
    (&["report", "logs", "--json"], Json),
    (&["report", "counters"], Text),
    (&["report", "counters", "--json"], Json),
    (&["report", "counters", "--format", "csv"], Utf8),
    (&["report", "counters", "--format", "ndjson"], JsonLines),
    (&["report", "counters", "--format", "openmetrics"], Utf8),
    (&["heap"], Text),
    (&["heap", "--json"], Json),
    (&["heap", "tree"], Text),
    (&["heap", "objects"], Text),
    (&["heap", "paths", "--type", "."], Text),
];

/// Runs every converter, and one command, which follows from the input, so that runs can be
/// repeated.
#[allow(dead_code, reason = "the fuzz target asks less of each input")]
pub(crate) fn convert(bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let sum = sum(bytes);
    for format in FORMATS {
        converted(format, sum % 2 == 1, bytes);
    }
    let (args, prints) = COMMANDS[sum % COMMANDS.len()];
    drop(output(args, prints, bytes));
}

/// Runs one converter, and a command for every other input: a part of [`convert`], so that a fuzzer
/// runs ten times as many inputs.
#[allow(dead_code, reason = "a replay asks all of each input")]
pub(crate) fn convert_once(bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let sum = sum(bytes);
    converted(&FORMATS[sum / 2 % FORMATS.len()], sum % 2 == 1, bytes);
    if (sum / 2).is_multiple_of(2) {
        let (args, prints) = COMMANDS[sum / 4 % COMMANDS.len()];
        drop(output(args, prints, bytes));
    }
}

/// Returns a number computed from the bytes, which chooses converter and command.
fn sum(bytes: &[u8]) -> usize {
    bytes.iter().fold(bytes.len(), |sum, byte| sum.wrapping_mul(5).wrapping_add(usize::from(*byte)))
        >> 3
}

/// Runs the commands of this turn. [`TURNS`] turns run all commands.
#[allow(dead_code, reason = "the fuzz target asks one a run")]
pub(crate) fn say(turn: usize, bytes: &[u8]) {
    for (args, prints) in COMMANDS.iter().skip(turn % TURNS).step_by(TURNS) {
        drop(output(args, *prints, bytes));
    }
}

/// Calls `each` with the arguments and output of each command, or only of commands whose first word
/// is `first`.
#[allow(dead_code, reason = "the fuzz target asks one a run")]
pub(crate) fn all(first: Option<&str>, bytes: &[u8], mut each: impl FnMut(&[&str], String)) {
    for (args, prints) in COMMANDS {
        if first.is_none_or(|first| args[0] == first) {
            each(args, output(args, *prints, bytes));
        }
    }
}

/// Number of turns in which [`say`] runs all commands.
#[allow(dead_code, reason = "the fuzz target asks one a run")]
pub(crate) const TURNS: usize = 14;

/// Asserts that a converter's output is well formed.
fn converted(format: &Format, is_gzip: bool, bytes: &[u8]) {
    let mut made = Bounded::for_input(bytes);
    let mut options = AnalysisOptions::default();
    options.kinds = format.kinds.to_vec();
    let mut analysis = Analysis::new(options);
    let mut options = ConvertOptions::default();
    options.is_gzip = is_gzip;
    analysis.add_format(format, &mut made, &options);
    let mut events = Reader::from_slice(bytes).time_ordered();
    // Bytes that are no trace have no output.
    let finished = match analysis.read(&mut events) {
        Ok(_) => analysis.finish().map(drop),
        Err(AnalysisError::Read(_)) => return,
        Err(error) => panic!("{}: {error}", format.name),
    };
    match finished {
        Ok(()) => assert_made(format.name, is_gzip || format.is_always_gzip, &made.bytes),
        Err(ConvertError::NothingToShow { .. }) => {}
        Err(error) => panic!("{}: {error}", format.name),
    }
}

/// Runs a command and returns its exit code, standard output and stderr. Both are limited by the
/// size of `bytes`, the trace that it reads.
fn output_bytes(args: &[&str], stdin: &[u8], bytes: &[u8]) -> (Exit, Vec<u8>, Vec<u8>) {
    let (mut stdout, mut stderr) = (Bounded::for_input(bytes), Bounded::for_input(bytes));
    let console = Console {
        stdin: Box::new(Cursor::new(stdin.to_vec())),
        stdout: &mut stdout,
        detached_stdout: || None,
        stderr: &mut stderr,
        stdin_is_terminal: false,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
        variable: &|_| None,
    };
    let words = [&["nettrace"], args].concat();
    let exit = run(words.into_iter().map(Into::into), console);
    (exit, stdout.bytes, stderr.bytes)
}

/// Asserts that a command's output is well formed and its exit code is possible for a trace.
/// Returns the output.
fn output(args: &[&str], prints: Prints, bytes: &[u8]) -> String {
    let (exit, stdout, stderr) = output_bytes(&[args, &["-"]].concat(), bytes, bytes);
    let errors = assert_text(&stderr);
    match exit {
        Exit::Fine | Exit::Damaged | Exit::Noted => match prints {
            Text => drop(assert_text(&stdout)),
            Json => assert_json(&stdout),
            JsonLines => assert_json_lines(&stdout),
            Utf8 => drop(std::str::from_utf8(&stdout).expect("the output is UTF-8")),
        },
        Exit::Failed => assert!(errors.contains("nettrace: error: "), "{args:?}: {errors}"),
        Exit::Usage | Exit::Changed | Exit::Program(_) => {
            panic!("{args:?} ends with {exit:?}: {errors}")
        }
    }
    format!("{}{errors}", String::from_utf8_lossy(&stdout))
}

/// Writer that fails beyond a limit.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl Bounded {
    /// Creates a writer whose limit follows from the input. A byte of the input may become many,
    /// because a name is written wherever it is used, but their number does not grow with the
    /// input.
    fn for_input(bytes: &[u8]) -> Bounded {
        Bounded { bytes: Vec::new(), most: (1 << 20) + 4096 * bytes.len() }
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        assert!(self.bytes.len() <= self.most, "more than {} bytes written", self.most);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
