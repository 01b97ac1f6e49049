//! The examples of the engine's crate, and the guide that shows parts of them.

use std::collections::BTreeSet;
use std::fs;

use super::markdown::{blocks, root};

// Each of these has a test that runs its `main`, which asserts what it shows.
#[path = "../../../hookrail/examples/agent_loop.rs"]
mod agent_loop;
#[path = "../../../hookrail/examples/closures.rs"]
mod closures;
#[path = "../../../hookrail/examples/guard.rs"]
mod guard;
#[path = "../../../hookrail/examples/minimal.rs"]
mod minimal;
#[path = "../../../hookrail/examples/notifications.rs"]
mod notifications;
#[path = "../../../hookrail/examples/translator.rs"]
mod translator;
#[path = "../../../hookrail/examples/trust.rs"]
mod trust;
#[path = "../../../hookrail/examples/tutorial.rs"]
mod tutorial;

#[test]
fn the_guide_shows_the_examples_as_they_are() {
    let mut shown = BTreeSet::new();
    let pages = ["embedding.md", "tutorial/embedding.md"].into_iter().flat_map(blocks);
    for block in pages.filter(|block| block.language == "rust") {
        let from = block.value("from").unwrap_or_else(|| panic!("{}: from nowhere", block.place));
        let (file, region) = from.split_once('#').unwrap();
        let text = fs::read_to_string(root().join("crates/hookrail/examples").join(file)).unwrap();
        assert_eq!(block.text, part(&text, region), "{}", block.place);
        shown.insert(file.to_owned());
    }
    let examples = fs::read_dir(root().join("crates/hookrail/examples")).unwrap();
    let examples: BTreeSet<String> = examples.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(shown, examples, "the guide shows something of every example");
}

#[test]
fn the_tutorial_shows_what_its_program_prints() {
    let shown = blocks("tutorial/embedding.md").into_iter().find(|block| block.value("output") == Some("tutorial.rs"));
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
