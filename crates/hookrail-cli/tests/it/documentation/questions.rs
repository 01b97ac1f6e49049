//! The questions that people bring are answered within two clicks from the first page, and briefly. `questions.toml` has them.

use serde::Deserialize;

use super::links::{page, resolve};
use super::markdown::{anchors_of, links_of};

/// Where every reader begins.
const FIRST: &str = "README.md";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    asks: String,
    /// The pages on the way, each reached by a link on the page before it. The last one has the answer; behind `#` is the
    /// heading of the section in which it ends.
    path: Vec<String>,
    /// What a reader passes on the last page, up to the end of that section.
    most_words: usize,
}

#[derive(Deserialize)]
struct Questions {
    question: Vec<Question>,
}

/// The link of a page to another one: to the heading of the answer if there is such a link, else to its begin.
fn links_to(from: &str, target: &str, answer: &str) -> Option<String> {
    let links = links_of(&page(from)).into_iter().filter(|link| {
        let file = link.split('#').next().unwrap_or_default();
        !file.is_empty() && !file.contains("://") && resolve(from, file) == target
    });
    let wanted = [format!("#{answer}"), String::new()];
    let links: Vec<String> = links.collect();
    wanted.iter().find_map(|end| {
        let fits = |link: &&String| if end.is_empty() { !link.contains('#') } else { link.ends_with(end.as_str()) };
        links.iter().find(fits).cloned()
    })
}

/// The words of a page between the heading that a link leads to, or its begin, and the end of the section of the answer.
fn words_to(text: &str, from: &str, answer: &str) -> usize {
    let is_begin = |anchor: &str| from.is_empty() || anchor == from;
    let (mut fenced, mut reading, mut in_answer, mut words) = (false, from.is_empty(), false, 0);
    let anchors = anchors_of(text);
    let mut anchors = anchors.iter();
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        if !fenced && line.starts_with('#') {
            let anchor = anchors.next().unwrap();
            reading |= is_begin(anchor);
            if in_answer {
                return words;
            }
            in_answer = reading && anchor == answer;
        }
        if reading {
            words += line.split_whitespace().count();
        }
    }
    words
}

#[test]
fn every_question_is_answered_in_two_clicks_and_few_words() {
    let questions: Questions = toml::from_str(include_str!("questions.toml")).unwrap();
    assert!(questions.question.len() >= 15);
    let mut wrong = Vec::new();
    for Question { asks, path, most_words } in questions.question {
        let mut at = FIRST.to_owned();
        let mut anchor = String::new();
        if path.len() > 2 {
            wrong.push(format!("{asks} {} clicks", path.len()));
        }
        for step in &path {
            let (target, answer) = step.split_once('#').unwrap_or((step, "no heading"));
            let target = target.to_owned();
            let Some(link) = links_to(&at, &target, answer) else {
                wrong.push(format!("{asks} {at} does not link to {target}"));
                break;
            };
            anchor = link.split_once('#').map(|(_, anchor)| anchor.to_owned()).unwrap_or_default();
            at = target;
        }
        let answer = path.last().and_then(|last| last.split_once('#')).map(|(_, answer)| answer).unwrap_or_default();
        let text = page(&at);
        if !answer.is_empty() && !anchors_of(&text).iter().any(|known| known == answer) {
            wrong.push(format!("{asks} {at} has no section `{answer}`"));
            continue;
        }
        let words = words_to(&text, &anchor, answer);
        println!("{words:5} of {most_words:5}  {asks}");
        if words > most_words {
            wrong.push(format!("{asks} {words} words of {at}, and {most_words} are allowed"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_are_counted_from_the_link_to_the_end_of_the_answer() {
    let text = "# One\na b\n\n## Two\nc\n```sh\n# no heading\n```\n\n## Three\nd e f\n\n## Four\ng\n";
    assert_eq!(words_to(text, "", "one"), 4);
    assert_eq!(words_to(text, "", "three"), 17);
    assert_eq!(words_to(text, "three", "three"), 5);
    assert_eq!(words_to(text, "two", "four"), 16);
}
