//! Checks the manifests of published packages, because an uploaded package cannot be changed.

use crate::hygiene::files_below;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the package lies in the workspace")
        .to_owned()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the folder and the manifest of each published package.
fn published() -> Vec<(String, String)> {
    let manifest = text(&root().join("Cargo.toml"));
    let members =
        manifest.lines().find_map(|line| line.strip_prefix("members = [")).expect("members");
    let members =
        members.trim_end_matches(']').split(", ").map(|name| name.trim_matches('"').to_owned());
    let manifests = members.map(|name| {
        let manifest = text(&root().join(&name).join("Cargo.toml"));
        (name, manifest)
    });
    manifests.filter(|(_, manifest)| !manifest.contains("publish = false")).collect()
}

/// Returns the value of a key that begins a line.
fn value<'m>(manifest: &'m str, key: &str) -> Option<&'m str> {
    manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
}

/// Returns the strings of a list on one line.
fn list<'m>(manifest: &'m str, key: &str) -> Vec<&'m str> {
    let list = value(manifest, key).and_then(|list| list.strip_prefix('[')?.strip_suffix(']'));
    list.unwrap_or_default().split(", ").map(|text| text.trim_matches('"')).collect()
}

#[test]
fn every_published_package_says_what_registries_show() {
    let published = published();
    assert!(published.len() >= 5, "{published:?}");
    for (folder, manifest) in &published {
        let name = value(manifest, "name").expect("a name").trim_matches('"');
        let description = value(manifest, "description").unwrap_or_default();
        assert!(description.len() > 30, "{folder}: {description}");
        let documentation = format!("\"https://docs.rs/{name}\"");
        assert_eq!(value(manifest, "documentation"), Some(&*documentation), "{folder}");
        for key in ["version", "edition", "rust-version", "license"] {
            assert_eq!(
                value(manifest, &format!("{key}.workspace")),
                Some("true"),
                "{folder}: {key}"
            );
        }
        // crates.io allows at most five of each, and words of at most twenty letters.
        let (keywords, categories) = (list(manifest, "keywords"), list(manifest, "categories"));
        assert!(
            (3..=5).contains(&keywords.len()) && (1..=5).contains(&categories.len()),
            "{folder}"
        );
        assert!(
            keywords.iter().all(|word| (2..=20).contains(&word.len())),
            "{folder}: {keywords:?}"
        );
        let for_docs_rs = "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]";
        assert!(manifest.contains(for_docs_rs), "{folder}: docs.rs shall show all features");
    }
}

#[test]
fn every_published_package_carries_its_licences_readme_and_changelog_and_no_tests() {
    for (folder, manifest) in published() {
        let of_package = |name: &str| text(&root().join(&folder).join(name));
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(of_package(licence), text(&root().join(licence)), "{folder}");
        }
        assert!(of_package("README.md").len() > 300, "{folder}");
        assert!(of_package("CHANGELOG.md").contains("## 0.1.0 (unreleased)"), "{folder}");
        let included = list(&manifest, "include");
        for name in ["/src", "/README.md", "/CHANGELOG.md", "/LICENSE-*"] {
            assert!(included.contains(&name), "{folder}: {name}");
        }
        assert!(!included.iter().any(|name| name.contains("test")), "{folder}: {included:?}");
    }
}

/// Front pages are shown by crates.io, too, which resolves no names of items and hides no lines.
#[test]
fn front_pages_need_no_rustdoc() {
    let workspace = text(&root().join("Cargo.toml"));
    let minimum = value(&workspace, "rust-version").expect("a version").trim_matches('"');
    for (folder, _) in published() {
        let page = text(&root().join(&folder).join("README.md"));
        assert!(page.contains(&format!("Minimum Rust version: {minimum}.")), "{folder}");
        assert!(!page.contains("nettrace_testdata"), "{folder}: it is not published");
        let mut in_code = None;
        for line in page.lines() {
            match (in_code, line.strip_prefix("```")) {
                (None, Some(language)) => in_code = Some(language),
                (Some(_), Some(_)) => in_code = None,
                (Some(language), None) => {
                    let is_hidden = line == "#" || line.starts_with("# ");
                    assert!(!(language.starts_with("rust") && is_hidden), "{folder}: {line}");
                    assert!(language != "no_run", "{folder}: a fence is `rust,no_run`");
                }
                (None, None) => {
                    for name in line.split("[`").skip(1).filter_map(|rest| rest.split_once("`]")) {
                        let (name, after) = name;
                        let is_target = format!("\n[`{name}`]: https://");
                        assert!(
                            after.starts_with('(') || page.contains(&is_target),
                            "{folder}: [`{name}`] leads nowhere outside of rustdoc"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn no_dependency_is_held_at_one_version() {
    let manifests =
        published().into_iter().map(|(folder, manifest)| (folder + "/Cargo.toml", manifest));
    let workspace = ("Cargo.toml".to_owned(), text(&root().join("Cargo.toml")));
    for (name, manifest) in manifests.chain([workspace]) {
        let pinned: Vec<&str> = manifest
            .lines()
            .filter(|line| line.contains("\"=") && !line.starts_with('#'))
            .collect();
        assert!(
            pinned.is_empty(),
            "{name}: who else wants another version cannot use the crate: {pinned:?}"
        );
    }
}

/// Adds each text between `before` and `end` in the sources below the folder to `found`.
fn between(folder: &Path, before: &str, end: char, found: &mut Vec<String>) {
    for (_, text) in files_below(vec![folder.to_owned()], "rs") {
        let rests = text.split(before).skip(1);
        found.extend(rests.filter_map(|rest| Some(rest.split_once(end)?.0.to_owned())));
    }
}

#[test]
fn links_to_sections_of_the_format_lead_to_one_and_no_public_item_names_one_without_a_link() {
    let format = include_str!("../FORMAT.md");
    let mut sections = Vec::new();
    between(&root().join("parser/src"), "(crate::format_guide#", ')', &mut sections);
    assert!(sections.len() > 50, "{sections:?}");
    for section in &sections {
        assert!(format.contains(&format!("<a id=\"{section}\"></a>")), "no section {section}");
    }
    // Comments of items, not of files.
    let mut bare = Vec::new();
    between(&root().join("parser/src"), "/// ", '\n', &mut bare);
    bare.retain(|line| line.contains("FORMAT.md ") && !line.contains("format_guide#"));
    assert!(bare.is_empty(), "{bare:?}");
}

/// Looks for files that no program of tests names. Most tests of a crate are one program, so Cargo
/// does not find files by itself.
#[test]
fn no_file_of_tests_is_left_out() {
    for folder in ["parser", "export", "analysis", "cli"] {
        let manifest = text(&root().join(folder).join("Cargo.toml"));
        let tests = root().join(folder).join("tests");
        let all = text(&tests.join("all.rs"));
        for entry in fs::read_dir(&tests).unwrap() {
            let path = entry.unwrap().path();
            let is_program = path.join("main.rs").exists();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let file = if is_program { format!("{name}/main.rs") } else { name };
            let Some(stem) = file.strip_suffix(".rs") else { continue };
            let is_built = all.contains(&format!("mod {stem};\n"))
                || manifest.contains(&format!("path = \"tests/{file}\""));
            assert!(
                is_built,
                "{folder}/tests/{file}: give it a line in all.rs, or a row in Cargo.toml"
            );
        }
    }
}

#[test]
fn packages_are_published_after_all_that_they_need() {
    let contributing = text(&root().join("CONTRIBUTING.md"));
    let row = contributing.lines().find(|line| line.ends_with("| yes, in this order |"));
    let row = row.expect("the row of published packages");
    let order: Vec<&str> =
        row.split('|').nth(1).expect("a cell").split(',').map(str::trim).collect();
    let published = published();
    assert_eq!(order.len(), published.len(), "{order:?}");
    let place = |name: &str| order.iter().position(|known| *known == name);
    for (folder, manifest) in &published {
        let name = value(manifest, "name").expect("a name").trim_matches('"');
        let own = place(name).unwrap_or_else(|| panic!("{name} is not in the row"));
        // An upload requires that all dependencies with a version exist, including those of tests.
        // A dependency with only a path is left out.
        let needs = manifest.lines().filter_map(|line| {
            let (needed, rest) = line.split_once(['.', ' '])?;
            let has_version = rest.contains("workspace") && needed.starts_with("nettrace-");
            has_version.then_some(needed)
        });
        for needed in needs.filter(|needed| *needed != "nettrace-testdata") {
            let before = place(needed).unwrap_or_else(|| panic!("{folder} needs {needed}"));
            assert!(before < own, "{folder} needs {needed}, which is published after it");
        }
    }
}
