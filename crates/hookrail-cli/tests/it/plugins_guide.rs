//! `docs/reference/plugins.md` is true: its manifests load without findings, its tables
//! name what there is.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use hookrail::{DialectId, EventKind};
use hookrail_testkit::TestProject;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn guide() -> String {
    fs::read_to_string(root().join("docs/reference/plugins.md")).unwrap()
}

/// Returns the blocks of the guide: the words after the fence, and the text.
fn blocks() -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in guide().lines() {
        match (line.strip_prefix("```"), open) {
            (Some(head), false) => {
                blocks.push((head.to_owned(), String::new()));
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let text = &mut blocks.last_mut().unwrap().1;
                text.push_str(line);
                text.push('\n');
            }
            (None, false) => {}
        }
    }
    blocks
}

struct Sandbox(TestProject);

impl Sandbox {
    fn new() -> Self {
        Self(TestProject::new())
    }

    fn plugin(&self, name: &str, manifest: &str) {
        self.0.write(&format!(".x-code/plugins/{name}/plugin.json"), manifest);
    }

    fn run(&self, line: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_hookrail"));
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        self.0.command("sh").args(["-c", line]).env("PATH", path).output().unwrap()
    }
}

#[test]
fn manifests_and_settings_load_without_findings() {
    let mut count = 0;
    for (head, text) in blocks().iter().filter(|(head, _)| head.starts_with("json")) {
        let sandbox = Sandbox::new();
        match head.strip_prefix("json plugin=") {
            Some(name) => sandbox.plugin(name, text),
            None => {
                assert_eq!(head, "json settings", "a block that no test checks");
                sandbox.0.write_home(".x-code/settings.json", text);
            }
        }
        let output = sandbox.run("hookrail check --json --trust-project");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        // A block shows a manifest alone, so the scripts that it names are not there.
        let found = document["diagnostics"].as_array().unwrap().iter();
        let found: Vec<_> = found.filter(|finding| finding["code"] != "script-missing").collect();
        assert!(found.is_empty(), "{head}: {found:#?}");
        count += 1;
    }
    assert_eq!(count, 2);
}

#[test]
fn the_table_of_events_is_complete() {
    let guide = guide();
    for column in EventKind::all().filter_map(|kind| kind.spec().column(DialectId::Xcode)) {
        let row = guide.lines().find(|line| line.starts_with(&format!("| `{}` |", column.name)));
        assert!(row.is_some(), "{} is not described", column.name);
    }
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let guide = guide();
    let anchors: Vec<String> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(|heading| heading.to_lowercase().replace(' ', "-"))
        .collect();
    for link in guide.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        match link.strip_prefix('#') {
            Some(anchor) => assert!(anchors.iter().any(|known| known == anchor), "{link}"),
            None => {
                let file = link.split('#').next().unwrap_or(link);
                assert!(root().join("docs/reference").join(file).exists(), "{link}");
            }
        }
    }
}
