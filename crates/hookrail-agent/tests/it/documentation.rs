//! The rows of `crates/hookrail-agent/README.md` about events name events. Its options are in the reference of commands, which is made from the
//! program; that every event fires is shown by `events`.

use hookrail::EventKind;

const PAGE: &str = include_str!("../../README.md");

#[test]
fn the_rows_about_events_name_events() {
    let (_, section) = PAGE.split_once("\n## What causes events\n").unwrap();
    let names = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        assert!(EventKind::all().any(|kind| kind.name() == name), "{name}");
    }
}
