//! Tests of rules that hold for every public type.

use std::fs;
use std::path::Path;

use nettrace_writer::*;

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(fs::read_to_string(path).unwrap()),
        }
    }
}

/// Checks that public enums are `#[non_exhaustive]`, so that they can get further variants. Structs
/// are not, because users construct them by literals.
#[test]
fn public_enums_may_grow() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let mut enums = 0;
    for text in &found {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("pub enum "))
        {
            enums += 1;
            assert_eq!(lines[at - 1], "#[non_exhaustive]", "{line}");
        }
    }
    assert!(enums > 10, "only {enums} were found");
}

#[test]
fn all_public_types_may_go_to_another_thread_and_be_read_by_several() {
    fn holds<T: Send + Sync + 'static>() {}
    holds::<Session>();
    holds::<SessionWriter<Vec<u8>>>();
    holds::<Written<Vec<u8>>>();
    holds::<Recording>();
    holds::<ExpectedEvent>();
    holds::<Stream>();
    holds::<Compressor>();
    holds::<Blob>();
    holds::<EventBlock>();
    holds::<Definition>();
    holds::<MetadataBlock>();
    holds::<StackBlock>();
    holds::<SequencePoint>();
    holds::<ThreadBlock>();
    holds::<RemoveThreadBlock>();
    holds::<LabelListBlock>();
    holds::<Object>();
    holds::<Block>();
    holds::<Value>();
    holds::<Damage>();
    holds::<Sink>();
}

/// Checks that the README is right about the number of malformed streams.
#[test]
fn there_are_several_hundred_malformed_streams() {
    assert!((300..1000).contains(&malformed().len()), "{}", malformed().len());
}

/// Checks that comments name a section of FORMAT.md only as a link to an existing section.
#[test]
fn named_sections_of_the_format_are_links_to_one() {
    let format =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../parser/FORMAT.md"))
            .unwrap();
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    let mut links = 0;
    for line in found
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| line.trim_start().starts_with("///"))
    {
        if let Some((_, section)) = line.split_once("/format_guide/#") {
            links += 1;
            assert!(format.contains(&format!("<a id=\"{section}\"></a>")), "{line}");
        }
        let bare = line.match_indices("FORMAT.md ").filter(|(at, _)| !line[..*at].ends_with('['));
        assert_eq!(bare.count(), 0, "{line}");
    }
    assert!(links >= 20, "only {links} were found");
}
