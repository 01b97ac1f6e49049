//! The page of messages: every code with its meaning, and with the mistakes that lead to it. It is made of the engine's table and of
//! the rows, so that it cannot say anything else than what is tested.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use hookrail_testkit::{ProgramOutput, TestProject};

use crate::mistakes::row::{Said, Told};
use crate::mistakes::sections;

const COMMAND: &str = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it mistakes::";

const INTRODUCTION: &str = "\
For authors of hooks: every diagnostic by its code, and what `hookrail check` and `hookrail fire` say about typical mistakes. `check` runs
nothing and fails on errors only. `fire` runs the hooks of a project, here with `--trust-project`. Codes never change their meaning.
";

/// What is said about each mistake, by the code under which it is found.
type Mistakes = BTreeMap<String, Vec<(&'static str, Said)>>;

/// Where mistakes are found that no diagnostic is about.
const NO_CODE: &str = "";

#[test]
fn every_mistake_gets_a_message_with_a_file_and_a_fix_and_the_page_is_current() {
    let only = std::env::var("HOOKRAIL_ROWS").ok();
    let is_wanted = |name: &str| only.as_ref().is_none_or(|part| name.contains(part.as_str()));
    let mut mistakes = Mistakes::new();
    let mut count = 0;
    let mut problems = Vec::new();
    for row in sections().iter().flat_map(|(_, rows)| rows).filter(|row| is_wanted(row.name)) {
        count += 1;
        let code = match (row.check, row.told) {
            (Some(code), _) | (None, Told::Code(code)) => code,
            (None, Told::Skipped(_) | Told::Nothing) => NO_CODE,
        };
        match row.run() {
            Ok(said) => mistakes.entry(code.to_owned()).or_default().push((row.name, said)),
            Err(problem) => problems.push(problem),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    if only.is_some() {
        println!("{mistakes:#?}");
        return;
    }
    assert!(count >= 60, "the page promises many mistakes and has {count}");
    let current = page(mistakes);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/messages.md");
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, &current).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == current, "docs/reference/messages.md is not current: run `{COMMAND}`");
}

/// The page: the table of codes that the program prints, each with its mistakes.
fn page(mut mistakes: Mistakes) -> String {
    let project = TestProject::new();
    let mut command = project.command(env!("CARGO_BIN_EXE_hookrail"));
    let codes = ProgramOutput::capture(command.args(["reference", "diagnostics"])).stdout;
    let mut page =
        format!("# Messages\n\n<!-- Made from the codes and from mistakes: run `{COMMAND}`. -->\n\n{INTRODUCTION}");
    for line in codes.lines() {
        if let Some(level) = line.strip_prefix("## ") {
            let _ = write!(page, "\n## {level}\n");
        } else if let Some((code, meaning)) = line.strip_prefix("| `").and_then(|row| row.split_once("` | ")) {
            let _ = write!(page, "\n### `{code}`\n\n{}\n", meaning.trim_end_matches(" |"));
            list(&mut page, code, mistakes.remove(code).unwrap_or_default());
        }
    }
    page.push_str("\n## Without a diagnostic\n");
    list(&mut page, NO_CODE, mistakes.remove(NO_CODE).unwrap_or_default());
    assert!(mistakes.is_empty(), "no code of the program is {:?}", mistakes.keys());
    page
}

fn list(page: &mut String, code: &str, mistakes: Vec<(&'static str, Said)>) {
    if !mistakes.is_empty() {
        page.push('\n');
    }
    for (name, said) in mistakes {
        let _ = writeln!(page, "* {}: {}", escaped(name), messages(code, said.check, said.fire));
    }
}

/// What the two commands say, once if it is the same.
fn messages(code: &str, check: Option<String>, fire: Option<String>) -> String {
    let said = |text: &str| escaped(&without_code(text, code));
    match (check, fire) {
        (Some(check), Some(fire)) if check == fire => said(&check),
        (Some(check), Some(fire)) => format!("`check`: {}; `fire`: {}", said(&check), said(&fire)),
        (Some(check), None) => format!("`check`: {}", said(&check)),
        (None, Some(fire)) => format!("`fire`: {}", said(&fire)),
        (None, None) => "nothing".to_owned(),
    }
}

/// A message without the level and the code that stand above it.
fn without_code(text: &str, code: &str) -> String {
    let mark = format!(" `{code}` ");
    match text.split_once(&mark) {
        Some(("error" | "warning" | "note", rest)) if !code.is_empty() => rest.to_owned(),
        Some(_) | None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\n', " ").replace('<', "&lt;")
}

#[test]
fn no_two_rows_have_the_same_name() {
    let mut names: Vec<&str> = sections().iter().flat_map(|(_, rows)| rows.iter().map(|row| row.name)).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}
