//! Pages stay short: no page has more words than its budget in `words.toml`, and no sentence has more than 40.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::links::page;
use super::markdown::{all_pages, root};

/// The longest sentence, in words.
const LONGEST_SENTENCE: usize = 40;

/// What people write by hand may have so many words in all, counted as `wc -w` counts them.
const MOST_WORDS: usize = 40_000;

/// The same with the numbered rules of `conformance/rules`.
const MOST_WORDS_WITH_RULES: usize = 47_000;

/// A page whose budget is this word is written by a program, and is not counted. A page that begins with the mark of a program needs
/// no budget.
const GENERATED: &str = "generated";

/// The budgets, by the path of the page from the root of the repository.
fn budgets() -> BTreeMap<String, toml::Value> {
    let text = include_str!("words.toml");
    toml::from_str::<BTreeMap<String, toml::Value>>(text).unwrap()
}

/// Every Markdown file that readers of the repository find.
pub(super) fn pages() -> Vec<String> {
    let beside = [
        "CHANGELOG.md",
        "clients/README.md",
        "clients/python/README.md",
        "clients/typescript/README.md",
        "conformance/COVERAGE.md",
        "crates/hookrail/INTERNALS.md",
        "crates/hookrail-agent/README.md",
        "crates/hookrail-bench/NOTES.md",
        "crates/hookrail-hook/README.md",
        "examples/plugins/README.md",
    ];
    all_pages().into_iter().chain(beside.map(str::to_owned)).collect()
}

/// The lines of a page that a person wrote there: those outside of the parts that a program writes anew, and of code that is cut
/// from a file.
fn written(text: &str) -> Vec<&str> {
    let (mut generated, mut cut, mut before) = (false, false, "");
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("<!-- Made ") || line.starts_with("<!-- results: made") {
            generated = true;
        } else if line.starts_with("<!-- End of") || line.starts_with("<!-- end of") {
            generated = false;
        } else if line.starts_with("```") && !cut && before.starts_with("<!-- from=") {
            cut = true;
        } else if cut {
            cut = line != "```";
        } else if !generated {
            lines.push(line);
        }
        before = line;
    }
    lines
}

/// Whether nothing but the title stands before the mark of a program.
fn is_made(text: &str) -> bool {
    text.lines().filter(|line| !line.is_empty()).nth(1).is_some_and(|line| line.starts_with("<!-- Made "))
}

fn count(text: &str) -> usize {
    written(text).iter().map(|line| line.split_whitespace().count()).sum()
}

#[test]
fn every_page_keeps_to_its_budget() {
    let mut budgets = budgets();
    let (mut wrong, mut sum) = (Vec::new(), 0);
    for name in pages() {
        let words = count(&page(&name));
        match budgets.remove(&name) {
            Some(toml::Value::Integer(most)) => {
                println!("{words:6} of {most:5}  {name}");
                if usize::try_from(most).unwrap() < words {
                    wrong.push(format!("{name} has {words} words, and its budget is {most}"));
                }
                sum += words;
            }
            Some(toml::Value::String(kind)) if kind == GENERATED => println!("{GENERATED:>15}  {name}"),
            None if is_made(&page(&name)) => println!("{GENERATED:>15}  {name}"),
            other => wrong.push(format!("{name} has {words} words and no budget ({other:?})")),
        }
    }
    println!("{sum:6} of {MOST_WORDS:5}  all");
    let with_rules = sum + words_of_rules();
    println!("{with_rules:6} of {MOST_WORDS_WITH_RULES:5}  with the numbered rules");
    wrong.extend(budgets.keys().map(|name| format!("{name} has a budget and does not exist")));
    if sum > MOST_WORDS {
        wrong.push(format!("all pages have {sum} words"));
    }
    if with_rules > MOST_WORDS_WITH_RULES {
        wrong.push(format!("all pages and rules have {with_rules} words"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of what the rules say; their differences from the originals are data of another page.
fn words_of_rules() -> usize {
    let files = fs::read_dir(root().join("conformance/rules")).unwrap();
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap().parse::<toml::Table>().unwrap());
    let mut sum = 0;
    for page in texts {
        for section in page["section"].as_array().unwrap() {
            for rule in section.get("rule").and_then(toml::Value::as_array).into_iter().flatten() {
                sum += rule["text"].as_str().unwrap().split_whitespace().count();
            }
        }
    }
    assert!(sum > 1_000, "the rules were not found");
    sum
}

/// No page is left out of the budgets because nothing looks for it.
#[test]
fn every_markdown_file_is_counted() {
    let counted = pages();
    let mut folders = vec![root()];
    let mut missed = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            let is_ours = !path.is_symlink() && !is_passed_over(&name);
            if is_ours && path.is_dir() {
                folders.push(path);
            } else if is_ours && name.ends_with(".md") && !counted.contains(&name) {
                missed.push(name);
            }
        }
    }
    assert!(missed.is_empty(), "no budget counts {missed:?}");
}

/// Folders without pages: what tools leave, and what tests and demonstrations read.
fn is_passed_over(name: &str) -> bool {
    let last = Path::new(name).file_name().unwrap().to_str().unwrap();
    last.starts_with('.')
        || ["target", "node_modules", "tests", "assets", "corpus", "fuzz"].contains(&last)
        || name == "packaging"
}

/// The sentences of a text: paragraphs and items of lists, without tables, code and headings.
fn sentences(text: &str) -> Vec<String> {
    let (mut fenced, mut paragraphs) = (false, vec![String::new()]);
    for line in written(text) {
        let line = line.trim();
        fenced ^= line.starts_with("```");
        let apart = fenced || line.is_empty() || ["```", "|", "#", "<!--"].iter().any(|mark| line.starts_with(mark));
        let item = line.strip_prefix("* ").or(line.strip_prefix("- ")).or(line.strip_prefix("> ")).or_else(|| {
            let (number, rest) = line.split_once(". ")?;
            number.parse::<u32>().is_ok().then_some(rest)
        });
        if apart || item.is_some() {
            paragraphs.push(String::new());
        }
        if !apart {
            let paragraph = paragraphs.last_mut().unwrap();
            paragraph.push_str(item.unwrap_or(line));
            paragraph.push(' ');
        }
    }
    let mut found = vec![String::new()];
    for paragraph in paragraphs {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let sentence = found.last_mut().unwrap();
            sentence.push_str(word);
            sentence.push(' ');
            let bare = word.trim_end_matches(['*', '`', ')', '"']);
            let ends = bare.ends_with(['.', '?', '!'])
                && words.get(at + 1).is_none_or(|next| !next.starts_with(char::is_lowercase));
            if ends || at + 1 == words.len() {
                found.push(String::new());
            }
        }
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// The sentences that people wrote, with the pages that have them.
fn written_sentences() -> Vec<(String, String)> {
    let budgets = budgets();
    let is_made = |name: &String| {
        budgets.get(name).and_then(toml::Value::as_str) == Some(GENERATED) || name.starts_with("docs/specification/")
    };
    let pages = pages().into_iter().filter(|name| !is_made(name));
    pages.flat_map(|name| sentences(&page(&name)).into_iter().map(move |sentence| (name.clone(), sentence))).collect()
}

#[test]
fn no_sentence_is_too_long() {
    let mut wrong = Vec::new();
    for (name, sentence) in written_sentences() {
        let words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        if words > LONGEST_SENTENCE {
            wrong.push(format!("{name}: {words} words: {sentence}"));
        }
    }
    assert!(wrong.is_empty(), "sentences of more than {LONGEST_SENTENCE} words:\n{}", wrong.join("\n"));
}

/// "What is broken fails" makes readers wait for the verb: `CONTRIBUTING.md` asks for a noun as the subject.
#[test]
fn no_sentence_has_a_clause_as_its_subject() {
    let is_wrong = |sentence: &str| sentence.trim_start_matches("**").starts_with("What ") && sentence.ends_with(". ");
    let wrong = written_sentences().into_iter().filter(|(_, sentence)| is_wrong(sentence));
    let wrong: Vec<String> = wrong.map(|(name, sentence)| format!("{name}: {sentence}")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(is_wrong("What is broken fails. ") && !is_wrong("What fails? ") && !is_wrong("A guard fails. "));
}

#[test]
fn sentences_are_found_across_lines_and_not_in_tables_and_code() {
    let text = "# A title. Not\n\nOne two.\nThree `four`! See e.g. five\n\n| a. | b. |\n\n```sh\nsix. Seven\n```\n\n* eight\n  nine\n* ten.\n\
        <!-- Made by x -->\nEleven. Twelve.\n<!-- End of it -->\nThirteen\n";
    let found: Vec<String> = sentences(text).iter().map(|sentence| sentence.trim().to_owned()).collect();
    assert_eq!(found, ["One two.", "Three `four`!", "See e.g. five", "eight nine", "ten.", "Thirteen"]);
    assert_eq!(count(text), 26);
}
