//! `docs/agent.md` is true: the tests it names exist, every test of the agent's behaviour with hooks is named, and no event,
//! output or option is left out.

use std::collections::BTreeSet;
use std::path::Path;

use hookrail::EventKind;

use crate::world::{World, says};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn document() -> String {
    std::fs::read_to_string(root().join("docs/agent.md")).unwrap()
}

/// The names of the tests in a file of this folder.
fn tests(file: &str) -> BTreeSet<String> {
    let path = root().join("crates/hookrail-agent/tests/it").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let after = text.split("#[test]").skip(1).map(|rest| rest.trim_start().trim_start_matches("fn "));
    after.map(|rest| rest.split('(').next().unwrap().to_owned()).collect()
}

/// Words in code quotes that look like the name of a test.
fn named(document: &str) -> BTreeSet<String> {
    let quoted = document.split('`').skip(1).step_by(2);
    quoted.filter(|word| word.matches('_').count() >= 3 && !word.contains(' ')).map(str::to_owned).collect()
}

#[test]
fn the_tests_it_names_exist_and_none_is_forgotten() {
    let named = named(&document());
    let files = [
        "tools.rs",
        "model.rs",
        "errors.rs",
        "events.rs",
        "dialects.rs",
        "modes.rs",
        "modules.rs",
        "sessions.rs",
        "terminal.rs",
        "bad_input.rs",
        "records.rs",
        "endings.rs",
        "modules.rs",
        "screen.rs",
        "review.rs",
        "originals.rs",
        "published_modules.rs",
        "stops.rs",
    ];
    let all: BTreeSet<String> = files.iter().flat_map(|file| tests(file)).collect();
    let unknown: Vec<_> = named.difference(&all).collect();
    assert!(unknown.is_empty(), "there are no tests {unknown:?}");
    for file in [
        "tools.rs",
        "dialects.rs",
        "modules.rs",
        "records.rs",
        "endings.rs",
        "originals.rs",
        "published_modules.rs",
        "stops.rs",
    ] {
        let forgotten: Vec<_> = tests(file).difference(&named).cloned().collect();
        assert!(forgotten.is_empty(), "{file}: {forgotten:?}");
    }
}

#[test]
fn every_event_has_a_cause() {
    let document = document();
    for kind in EventKind::all() {
        assert!(document.contains(&format!("\n| `{}` |", kind.name())), "{kind}");
    }
}

#[test]
fn every_option_of_the_agent_is_described() {
    let help = World::new(says("x")).run(&["--help"]).ends_with(0).stdout;
    let document = document();
    for option in help.split_whitespace().filter(|word| word.starts_with("--")) {
        let option = option.trim_end_matches([',', '`', '.', ']']);
        if !["--help", "--extension", "--keep"].contains(&option) {
            assert!(document.contains(option), "{option}");
        }
    }
    assert!(help.contains("EXAMPLES:"));
}
