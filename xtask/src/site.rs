//! `cargo xtask site`: makes the page that reads dropped traces in a browser.
//!
//! | file of the folder | what it is |
//! |---|---|
//! | `index.html` | the page with its script, its style and the text of its worker |
//! | `nettrace.wasm.gz` | the program, which the page loads |
//! | `nettrace.html` | the same page with the program inside, which a browser opens from a disk |

use crate::{base64, cargo, invalid, shipped, top};
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::PathBuf;
use std::{env, fs};

const TARGET: &str = "wasm32-unknown-unknown";
/// What every browser has since 2023, and a stack for names of types that are nested deeply.
const FLAGS: [&str; 3] =
    ["-Ctarget-feature=+simd128", "-Cstrip=symbols", "-Clink-arg=-zstack-size=4194304"];

/// Maximum number of bytes that are sent before a trace can be read.
const MAX_SENT_BYTES: usize = 3_000_000;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Args)]
pub(crate) struct Site {
    /// Folder for the page
    #[arg(default_value = "target/site")]
    folder: PathBuf,
}

impl Site {
    pub(crate) fn run(self) -> io::Result<()> {
        let program = program()?;
        let policy_of_pages = hashes_of_pages(&program)?;
        let packed = gzip(&program)?;
        let parts = Parts::read(&policy_of_pages)?;
        let hosted = parts.page("", "connect-src 'self'; ");
        let single = parts.page(&base64::standard(&packed), "");
        fs::create_dir_all(&self.folder)?;
        let mut sent = 0;
        for (name, bytes, note) in [
            ("index.html", hosted.as_bytes(), "script, style and worker"),
            ("nettrace.wasm.gz", &packed, "the program"),
            ("nettrace.html", single.as_bytes(), "all of it as one file"),
        ] {
            let path = self.folder.join(name);
            fs::write(&path, bytes)?;
            let as_sent = if name.ends_with(".gz") { bytes.len() } else { gzip(bytes)?.len() };
            println!("{}: {note}, {} bytes, {as_sent} as sent", path.display(), bytes.len());
            if name != "nettrace.html" {
                sent += as_sent;
            }
        }
        println!("the program unpacked: {} bytes; sent to begin: {sent} bytes", program.len());
        if sent > MAX_SENT_BYTES {
            return Err(invalid(format!("more than {MAX_SENT_BYTES} bytes are sent")));
        }
        Ok(())
    }
}

/// Builds the program, and returns its bytes.
fn program() -> io::Result<Vec<u8>> {
    let args =
        ["rustc", "--quiet", "--package", "nettrace-site", "--lib", "--crate-type", "cdylib"];
    let status = cargo()
        .current_dir(top())
        .args(args)
        .args(["--release", "--target", TARGET])
        .env(shipped::FLAGS, shipped::flags(&FLAGS))
        .status()?;
    if !status.success() {
        return Err(io::Error::other(format!("building for {TARGET} failed")));
    }
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| top().join("target"), PathBuf::from);
    fs::read(target.join(TARGET).join("release").join("nettrace_site.wasm"))
}

/// Returns the sources by which the policy of a trace's page allows its script and its style. A page
/// that is shown inside of this one must be allowed by both policies.
fn hashes_of_pages(program: &[u8]) -> io::Result<[String; 2]> {
    let find = |directive: &str| -> Option<String> {
        let directive = format!("{directive} 'sha256-");
        let at = program.windows(directive.len()).position(|part| part == directive.as_bytes())?;
        let rest = &program[at + directive.len()..];
        let end = rest.iter().position(|byte| *byte == b'\'')?;
        Some(format!("'sha256-{}'", str::from_utf8(&rest[..end]).ok()?))
    };
    let found = find("script-src").zip(find("style-src"));
    let (script, style) = found.ok_or_else(|| invalid("the program has no page of a trace"))?;
    Ok([script, style])
}

/// The parts of the page.
struct Parts {
    page: String,
    script: String,
    style: String,
    worker: String,
    /// Directives of the policy that all forms of the page have.
    policy: String,
}

impl Parts {
    fn read([script_of_pages, style_of_pages]: &[String; 2]) -> io::Result<Parts> {
        let read = |name: &str| fs::read_to_string(top().join("site/page").join(name));
        let (script, style) = (read("site.js")?, read("site.css")?);
        let policy = format!(
            "default-src 'none'; script-src {} {script_of_pages} 'wasm-unsafe-eval'; \
             style-src {} {style_of_pages}; worker-src blob:; frame-src blob:; img-src data:; \
             base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(&style)
        );
        Ok(Parts { page: read("index.html")?, script, style, worker: read("worker.js")?, policy })
    }

    /// Returns the page with a program inside, which may be empty, and further directives.
    fn page(&self, program: &str, directives: &str) -> String {
        let policy = format!("{directives}{}", self.policy);
        let parts = [
            ("@@POLICY@@", &*policy),
            ("@@STYLE@@", &self.style),
            ("@@VERSION@@", VERSION),
            ("@@WORKER@@", &self.worker),
            ("@@SCRIPT@@", &self.script),
            ("@@PROGRAM@@", program),
        ];
        parts.into_iter().fold(self.page.clone(), |page, (mark, part)| page.replacen(mark, part, 1))
    }
}

/// Returns what the policy allows a text by.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64::standard(&Sha256::digest(text)))
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
