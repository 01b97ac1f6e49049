//! The page that is made of the rows, so that it cannot say anything else than what is tested.

use std::fmt::Write as _;
use std::path::Path;

use crate::mistakes::sections;

const INTRODUCTION: &str = "\
# Mistakes and their messages

This page is for authors of hooks. It lists typical mistakes and what `hookrail check` and `hookrail fire` say about each.
`check` runs nothing. `fire` runs the hooks of a project, here with `--trust-project`. A message without the name of a command is
that of both.

The page is generated from the rows of `crates/hookrail-cli/tests/it/mistakes`, which a test runs.
";

#[test]
fn every_mistake_gets_a_message_with_a_file_and_a_fix_and_the_page_is_current() {
    let only = std::env::var("HOOKRAIL_ROWS").ok();
    let is_wanted = |name: &str| only.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let mut page = INTRODUCTION.to_owned();
    let mut count = 0;
    let mut problems = Vec::new();
    for (section, rows) in sections() {
        let _ = write!(page, "\n## {section}\n\n| mistake | what hookrail says |\n|---|---|\n");
        for row in rows.iter().filter(|row| is_wanted(row.name)) {
            count += 1;
            match row.run() {
                Ok(said) => {
                    let _ = writeln!(page, "| {} | {} |", escaped(row.name), messages(said.check, said.fire));
                }
                Err(problem) => problems.push(problem),
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    if only.is_some() {
        println!("{page}");
        return;
    }
    assert!(count >= 60, "the page promises many mistakes and has {count}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/mistakes.md");
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, &page).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it mistakes::";
    assert!(found == page, "docs/reference/mistakes.md is not current: run `{command}`");
}

#[test]
fn no_two_rows_have_the_same_name() {
    let mut names: Vec<&str> = sections().iter().flat_map(|(_, rows)| rows.iter().map(|row| row.name)).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// What the two commands say, once if it is the same.
fn messages(check: Option<String>, fire: Option<String>) -> String {
    match (check, fire) {
        (Some(check), Some(fire)) if check == fire => escaped(&check),
        (Some(check), Some(fire)) => format!("`check`: {}; `fire`: {}", escaped(&check), escaped(&fire)),
        (Some(check), None) => format!("`check`: {}", escaped(&check)),
        (None, Some(fire)) => format!("`fire`: {}", escaped(&fire)),
        (None, None) => "nothing".to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}
