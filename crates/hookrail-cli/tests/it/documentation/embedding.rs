//! The examples of the engine's crate, and the guide that shows parts of them.

use std::collections::BTreeSet;
use std::fs;

use super::markdown::{blocks, documents, root};

// Each of these has a test that runs its `main`, which asserts what it shows.
#[path = "../../../../hookrail/examples/embedding/agent_loop.rs"]
mod agent_loop;
#[path = "../../../../hookrail/examples/embedding/closures.rs"]
mod closures;
#[path = "../../../../hookrail/examples/embedding/guard.rs"]
mod guard;
#[path = "../../../../hookrail/examples/embedding/minimal.rs"]
mod minimal;
#[path = "../../../../hookrail/examples/embedding/notifications.rs"]
mod notifications;
#[path = "../../../../hookrail/examples/embedding/translator.rs"]
mod translator;
#[path = "../../../../hookrail/examples/embedding/trust.rs"]
mod trust;
#[path = "../../../../hookrail/examples/tutorial.rs"]
mod tutorial;

#[test]
fn the_guide_shows_the_examples_as_they_are() {
    let mut shown = BTreeSet::new();
    let pages = ["how-to/embed-rust.md", "get-started/embed.md"].into_iter().flat_map(blocks);
    for block in pages.filter(|block| block.language == "rust") {
        let from = block.value("from").unwrap_or_else(|| panic!("{}: from nowhere", block.place));
        let (file, region) = from.split_once('#').unwrap();
        let text = fs::read_to_string(root().join("crates/hookrail/examples").join(file)).unwrap();
        assert_eq!(block.text, part(&text, region), "{}", block.place);
        shown.insert(file.to_owned());
    }
    let programs = fs::read_dir(root().join("crates/hookrail/examples/embedding")).unwrap();
    let programs = programs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut examples: BTreeSet<String> =
        programs.filter(|name| name != "main.rs").map(|name| format!("embedding/{name}")).collect();
    examples.insert("tutorial.rs".to_owned());
    assert_eq!(shown, examples, "the guide shows something of every example");
}

/// Programs in other languages are files of `examples`, shown whole.
#[test]
fn the_pages_show_programs_as_they_are() {
    let cut = documents().flat_map(|name| blocks(&name)).filter(|block| block.language != "rust");
    let mut count = 0;
    for block in cut {
        let Some(file) = block.value("from") else { continue };
        let text = fs::read_to_string(root().join("examples").join(file)).unwrap();
        assert!(block.text == text, "{}: is not examples/{file}", block.place);
        count += 1;
    }
    assert!(count > 0, "no page shows a program of the examples");
}

#[test]
fn the_tutorial_shows_what_its_program_prints() {
    let shown = blocks("get-started/embed.md").into_iter().find(|block| block.value("output") == Some("tutorial.rs"));
    assert_eq!(shown.map(|block| block.text), Some(tutorial::printed()));
}

/// The lines between `// region: NAME` and `// endregion`, moved to the left.
fn part(text: &str, region: &str) -> String {
    let begin = format!("// region: {region}");
    let lines = text.lines().skip_while(|line| line.trim() != begin).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.trim() != "// endregion").collect();
    assert!(!lines.is_empty(), "there is no region `{region}`");
    let indent = lines.iter().filter(|line| !line.is_empty()).map(|line| line.len() - line.trim_start().len());
    let indent = indent.min().unwrap_or(0);
    lines.iter().map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect()
}
