//! Joins the modules, the style and the shell of the page (folder `page`) into the file that
//! `src/html/mod.rs` includes.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "src/html/base64.rs"]
mod base64;
#[path = "page/sha256.rs"]
mod sha256;

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "page";

fn main() {
    for name in ["src", "page.css", "shell.html"] {
        println!("cargo::rerun-if-changed={FOLDER}/{name}");
    }
    if env::var_os("CARGO_FEATURE_PAGE").is_none() {
        return;
    }
    let script = script();
    let style = read("page.css");
    // Style attributes are set by the script alone, through the style object, which no policy forbids.
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let page = read("shell.html")
        .replacen("@@POLICY@@", &policy, 1)
        .replacen("@@STYLE@@", &style, 1)
        .replacen("@@SCRIPT@@", &script, 1);
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("page.html"), page).expect("cargo's folder can be written");
}

/// Returns the modules as one script, without comments.
fn script() -> String {
    let mut script = "\"use strict\";(()=>{\n".to_owned();
    let mut modules = Modules::default();
    modules.add("main.mjs");
    for line in &modules.lines {
        let bare = line.trim_start_matches(' ');
        // Half of the indentation is enough.
        script.extend(std::iter::repeat_n(' ', (line.len() - bare.len()) / 2));
        script.push_str(bare);
        script.push('\n');
    }
    script.push_str("})();\n");
    assert!(!script.to_lowercase().contains("</script"), "the script would end the script");
    script
}

/// Modules, each after those that it imports.
#[derive(Default)]
struct Modules {
    begun: HashSet<String>,
    /// What each name at the beginning of a line is declared in: all share one scope.
    names: HashMap<String, String>,
    lines: Vec<String>,
}

impl Modules {
    /// Adds the modules that a module imports, and then its own lines.
    fn add(&mut self, module: &str) {
        if !self.begun.insert(module.to_owned()) {
            return;
        }
        let text = read(&format!("src/{module}"));
        let mut own = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("import ") {
                let mut import = line.to_owned();
                while !import.ends_with(';') {
                    import.push_str(lines.next().expect("an import ends with a semicolon"));
                }
                let (_, from) = import.split_once(" from './").expect("modules of the folder");
                self.add(from.trim_end_matches("';"));
            } else if !line.trim().is_empty() && !line.trim_start().starts_with("//") {
                let line = line.strip_prefix("export ").unwrap_or(line);
                self.declare(line, module);
                own.push(line.to_owned());
            }
        }
        self.lines.append(&mut own);
    }

    /// Notes the name that a line declares, if it does.
    fn declare(&mut self, line: &str, module: &str) {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let kinds = ["function ", "const ", "let ", "class "];
        let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { return };
        let name: String =
            rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        if !name.is_empty()
            && let Some(other) = self.names.insert(name.clone(), module.to_owned())
        {
            panic!("{name} is in {other} and in {module}");
        }
    }
}

/// Returns what the policy allows a text by.
fn hash(text: &str) -> String {
    let mut letters = Vec::new();
    let mut base64 = base64::Base64::new(&mut letters);
    base64.write_all(&sha256::hash(text)).expect("a Vec takes all");
    base64.finish().expect("a Vec takes all");
    format!("'sha256-{}'", String::from_utf8(letters).expect("base64 is ASCII"))
}

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(FOLDER).join(name))
        .unwrap_or_else(|error| panic!("{FOLDER}/{name}: {error}"))
}
