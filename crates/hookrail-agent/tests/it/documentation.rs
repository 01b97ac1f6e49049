//! `crates/hookrail-agent/README.md` leaves out no event, output or option.

use std::path::Path;

use hookrail::EventKind;

use crate::world::{World, says};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn document() -> String {
    std::fs::read_to_string(root().join("crates/hookrail-agent/README.md")).unwrap()
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
