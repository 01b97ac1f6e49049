//! Lines with the answers that are true of them.
//!
//! `corpus.jsonl` has lines that were run and watched: what they do is known. The files of `invented` have further ones of the
//! same kinds, with truths by hand: a line begins with the answers to the questions of `verdicts.rs`, `Y` yes, `-` no, `?` unknown,
//! and has `\n` and `\t` for a line break and a tab. Behind the answers `h` says that ready rules should let the line pass, and `x`
//! that they should stop it although its answers are unknown.

use serde::Deserialize;

use super::verdicts::{NAMES, of_line, verdicts};

#[derive(Deserialize)]
struct Case {
    id: String,
    line: Option<String>,
    /// Texts that are repeated; `#` is the number of the repetition.
    parts: Option<Vec<(String, usize)>>,
    truth: String,
}

impl Case {
    fn text(&self) -> String {
        let parts = self.parts.iter().flatten();
        let repeated = parts.flat_map(|(text, count)| (0..*count).map(|index| text.replace('#', &index.to_string())));
        self.line.clone().unwrap_or_else(|| repeated.collect())
    }
}

fn cases() -> Vec<Case> {
    let text = include_str!("corpus.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const INVENTED: [&str; 14] = [
    include_str!("invented/agents.txt"),
    include_str!("invented/corners.txt"),
    include_str!("invented/files.txt"),
    include_str!("invented/git.txt"),
    include_str!("invented/mixed.txt"),
    include_str!("invented/network.txt"),
    include_str!("invented/programs.txt"),
    include_str!("invented/redirects.txt"),
    include_str!("invented/secrets.txt"),
    include_str!("invented/shells.txt"),
    include_str!("invented/structure.txt"),
    include_str!("invented/tools.txt"),
    include_str!("invented/words.txt"),
    include_str!("invented/wrappers.txt"),
];

fn invented() -> Vec<Case> {
    let lines = INVENTED.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("# "));
    let case = |line: &str| {
        let (truth, line) = line.split_once(' ').unwrap();
        Case {
            id: "invented".to_owned(),
            line: Some(line.replace("\\n", "\n").replace("\\t", "\t")),
            parts: None,
            truth: truth.chars().take(NAMES.len()).collect(),
        }
    };
    lines.map(case).collect()
}

/// Returns the lines of both lists.
pub(crate) fn lines() -> Vec<String> {
    cases().iter().chain(&invented()).map(Case::text).collect()
}

struct Score {
    lines: usize,
    right: usize,
    known: usize,
    unknown: usize,
    holes: Vec<String>,
    report: String,
}

fn score(cases: &[Case]) -> Score {
    let mut score = Score { lines: 0, right: 0, known: 0, unknown: 0, holes: Vec::new(), report: String::new() };
    for case in cases {
        let line = case.text();
        let answers = verdicts(&of_line(&line));
        score.lines += 1;
        score.right += usize::from(answers == case.truth);
        let shown: String = line.chars().take(150).collect();
        if answers != case.truth {
            score.report.push_str(&format!("{} expected {} answered {}: {shown:?}\n", case.id, case.truth, answers));
        }
        for ((truth, answer), name) in case.truth.chars().zip(answers.chars()).zip(NAMES) {
            score.known += usize::from(truth != '?');
            score.unknown += usize::from(truth != '?' && answer == '?');
            if truth == 'Y' && answer == '-' {
                score.holes.push(format!("{name}: {shown:?}"));
            }
        }
    }
    score
}

fn check(cases: &[Case], least_right: f64) {
    let score = score(cases);
    println!("{}", score.report);
    println!("{} of {} lines, {} of {} known answers unknown", score.right, score.lines, score.unknown, score.known);
    assert!(score.holes.is_empty(), "yes answered no: {:#?}", score.holes);
    let share = score.right as f64 / score.lines as f64;
    assert!(share >= least_right, "{share:.3} of the lines are right:\n{}", score.report);
    let unknown = score.unknown as f64 / score.known as f64;
    assert!(unknown <= 0.03, "{unknown:.3} of the known answers are unknown:\n{}", score.report);
}

#[test]
fn lines_that_were_run_have_the_answers_that_are_true() {
    check(&cases(), 0.97);
}

#[test]
fn invented_lines_have_the_answers_that_are_true() {
    check(&invented(), 0.97);
}
