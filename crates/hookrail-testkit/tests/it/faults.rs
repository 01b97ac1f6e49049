//! `docs/evidence/faults.md` is made from `conformance/faults.toml`, and every test that a row names exists.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

const BEGIN: &str = "<!-- Made from conformance/faults.toml: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-testkit --test it faults::`. -->\n";
const END: &str = "<!-- End of the tables. -->\n";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Faults {
    section: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    fault: String,
    answer: String,
    shown_by: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn faults() -> Faults {
    toml::from_str(&std::fs::read_to_string(root().join("conformance/faults.toml")).unwrap()).unwrap()
}

fn tables(faults: &Faults) -> String {
    let mut text = String::new();
    for Section { name, fault } in &faults.section {
        let _ = write!(text, "\n## {name}\n\n| fault | what happens | shown by |\n|---|---|---|\n");
        for row in fault {
            let cell = |text: &str| text.replace('|', "\\|");
            let _ = writeln!(text, "| {} | {} | {} |", cell(&row.fault), cell(&row.answer), cell(&row.shown_by));
        }
    }
    text
}

#[test]
fn the_page_is_made_from_the_rows() {
    let file = root().join("docs/evidence/faults.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let (head, rest) = page.split_once(BEGIN).expect("the page has no tables");
    let (_, tail) = rest.split_once(END).expect("the tables have no end");
    let current = format!("{head}{BEGIN}{}\n{END}{tail}", tables(&faults()));
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, &current).unwrap();
        return;
    }
    assert!(page == current, "docs/evidence/faults.md is not current: run the command that it names");
}

/// The names between backticks that look like those of tests, without the modules before them.
fn named_tests(shown_by: &str) -> impl Iterator<Item = &str> {
    let quoted = shown_by.split('`').skip(1).step_by(2);
    let last = quoted.map(|name| name.rsplit("::").next().unwrap_or(name));
    last.filter(|name| name.matches('_').count() >= 2)
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'))
}

fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() && path.file_name().is_none_or(|name| name != "target") {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

#[test]
fn every_test_that_a_row_names_exists() {
    let mut text = String::new();
    sources(&root().join("crates"), &mut text);
    let (mut count, mut missing) = (0, Vec::new());
    for row in faults().section.iter().flat_map(|section| &section.fault) {
        for name in named_tests(&row.shown_by) {
            count += 1;
            if !text.contains(&format!("fn {name}(")) {
                missing.push(format!("{name}: {}", row.fault));
            }
        }
        assert!(!row.shown_by.trim().is_empty(), "nothing shows {}", row.fault);
    }
    assert!(missing.is_empty(), "there are no tests\n{}", missing.join("\n"));
    assert!(count > 150, "only {count} tests were found");
}

#[test]
fn a_test_is_found_by_its_last_name() {
    let shown =
        "`hookrail` `loading`: `a_b_c`, `x::tests::d_e_f`; `conformance/a_b_c.json`, `hookrail-js/tests/it/p.rs`";
    assert_eq!(named_tests(shown).collect::<Vec<_>>(), ["a_b_c", "d_e_f"]);
}
