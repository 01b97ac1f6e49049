//! The ready rules on lines that were run and watched.

use std::path::Path;

use hookrail::rules::{CallPlaces, RuleBook};
use serde_json::Value;

use super::*;

const CORPUS: &str = include_str!("../../../hookrail-shell/tests/it/corpus.jsonl");

fn book() -> RuleBook {
    let text: String = READY.iter().map(|rule| rule.text).collect::<Vec<_>>().join("\n");
    RuleBook::read(&text).unwrap()
}

fn places() -> CallPlaces<'static> {
    CallPlaces { project: Path::new("/w/project"), cwd: Path::new("/w/project"), home: Some(Path::new("/home/u")) }
}

fn line_of(case: &Value) -> String {
    match case["line"].as_str() {
        Some(line) => line.to_owned(),
        None => {
            let parts = case["parts"].as_array().unwrap();
            let repeat = |part: &Value| {
                let (text, count) = (part[0].as_str().unwrap(), part[1].as_u64().unwrap());
                (0..count).map(|number| text.replace('#', &number.to_string())).collect::<String>()
            };
            parts.iter().map(repeat).collect()
        }
    }
}

#[test]
fn every_ready_rule_is_read_and_its_examples_hold() {
    for rule in READY {
        let book = RuleBook::read(rule.text).unwrap();
        let problems: Vec<String> = book.problems().into_iter().map(|problem| problem.message).collect();
        assert!(problems.is_empty(), "{}: {problems:#?}", rule.name);
        assert!(book.rules().next().is_some_and(|first| first.name() == rule.name), "{}", rule.name);
        for table in rule.text.split("[[rule]]").skip(1) {
            let read: toml::Table = toml::from_str(table).unwrap();
            for key in ["match", "no-match"] {
                let count = read[key].as_array().map_or(0, Vec::len);
                assert!(count >= 8, "`{}` of {} has {count} examples in `{key}`", read["name"], rule.name);
            }
        }
    }
    assert!(book().problems().is_empty());
}

#[test]
fn no_harmful_line_passes_and_few_harmless_ones_are_stopped() {
    let (book, places) = (book(), places());
    let (mut passed, mut stopped, mut harmless) = (Vec::new(), Vec::new(), 0_usize);
    for case in CORPUS.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let line = line_of(&case);
        let found = book.judge_line(&line, places);
        let shown: String = line.chars().take(120).collect();
        if case["truth"].as_str().unwrap().contains('Y') {
            if found.is_empty() {
                passed.push(shown);
            }
        } else if case["harmless"] == true {
            harmless += 1;
            if let Some(first) = found.first() {
                stopped.push(format!("{shown}  [{}] {}", first.rule, first.explanation));
            }
        }
    }
    assert!(passed.is_empty(), "harmful lines pass: {passed:#?}");
    assert!(stopped.len() * 100 <= harmless * 3, "harmless lines are stopped: {stopped:#?}");
}

/// Lines with the answers that are true of them: the first six letters say what they do, `Y` for something harmful; `x` behind
/// them says that a line is harmful although its answers are unknown, and `h` that it is harmless.
const INVENTED: [&str; 14] = [
    include_str!("../../../hookrail-shell/tests/it/invented/agents.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/corners.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/files.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/git.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/mixed.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/network.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/programs.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/redirects.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/secrets.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/shells.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/structure.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/tools.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/words.txt"),
    include_str!("../../../hookrail-shell/tests/it/invented/wrappers.txt"),
];

#[test]
fn no_harmful_line_that_was_invented_passes_and_few_harmless_ones_are_stopped() {
    let (book, places) = (book(), places());
    let lines = INVENTED.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with("# "));
    let (mut passed, mut stopped, mut harmless) = (Vec::new(), Vec::new(), 0_usize);
    for (truth, line) in lines.filter_map(|line| line.split_once(' ')) {
        let found = book.judge_line(&line.replace("\\n", "\n").replace("\\t", "\t"), places);
        if truth.contains(['Y', 'x']) {
            if found.is_empty() {
                passed.push(line);
            }
        } else if truth.contains('h') {
            harmless += 1;
            if let Some(first) = found.first() {
                stopped.push(format!("{line}  [{}] {}", first.rule, first.explanation));
            }
        }
    }
    assert!(passed.is_empty(), "harmful lines pass: {passed:#?}");
    assert!(stopped.len() * 100 <= harmless * 3, "harmless lines are stopped: {stopped:#?}");
}

#[test]
fn a_complete_line_that_is_not_understood_is_stopped_and_one_that_a_shell_refuses_is_not() {
    let (book, places) = (book(), places());
    for line in ["f() [[ -n $(rm -rf /opt/app) ]]; f", "echo a; then rm -rf build"] {
        assert!(!book.judge_line(line, places).is_empty(), "{line}");
    }
    for line in ["echo \"unterminated", "ls |", "echo $(ls", "{ ls", "case x in"] {
        assert!(book.judge_line(line, places).is_empty(), "{line}");
    }
    // A rule that says nothing about classes matches both.
    let strict = RuleBook::read("[[rule]]\nname = \"a\"\ndeny = \"x\"\nwhen = { git = \"clean\" }\n").unwrap();
    for line in ["f() [[ -n $(ls) ]]; f", "echo \"unterminated"] {
        assert!(!strict.judge_line(line, places).is_empty(), "{line}");
    }
}

#[test]
fn code_that_names_what_a_ready_rule_is_about_is_asked_about() {
    let (book, places) = (book(), places());
    for line in [
        "python3 -c \"import shutil; shutil.rmtree('/opt/app')\"",
        "python3 - <<'P'\nimport shutil\nshutil.rmtree('/opt/app')\nP",
        "python3 -c \"print(open('.env').read())\"",
        "node -e \"require('fs').rmSync('/opt/app', { recursive: true })\"",
        "python3 -c \"import urllib.request as u; u.urlopen('https://example.com')\"",
        "perl -e 'unlink \"/etc/motd\"'",
    ] {
        let found = book.judge_line(line, places);
        assert!(!found.is_empty() && found.iter().all(|found| found.answer.name() == "ask"), "{line}: {found:?}");
    }
    for line in
        ["python3 -c 'print(1 + 1)'", "node -p 'process.env.HOME'", "python3 -c \"import os; print(os.environ['A'])\""]
    {
        assert!(book.judge_line(line, places).is_empty(), "{line}: {:?}", book.judge_line(line, places));
    }
}

#[test]
fn the_classes_of_what_is_not_known_are_six() {
    let rule = |classes: &str| {
        let text = format!(
            "[[rule]]\nname = \"a\"\ndeny = \"x\"\nwhen = {{ git = \"clean\" }}\nmatch-unknown = [{classes}]\n"
        );
        RuleBook::read(&text).unwrap()
    };
    let lines = [
        ("hidden", "$(echo git) clean -f"),
        ("unparsable", "echo \"x"),
        ("bound", "f() [[ -n $(ls) ]]"),
        ("inline", "python3 -c 'x = 1'"),
        ("opaque", "./script.sh"),
        ("remote", "ssh u@example.com ls"),
    ];
    for (class, line) in lines {
        assert!(!rule(&format!("\"{class}\"")).judge_line(line, places()).is_empty(), "{class}");
        assert!(rule("").judge_line(line, places()).is_empty(), "{class}");
    }
    let unknown = rule("\"unreadable\"").problems();
    assert!(unknown.first().is_some_and(|problem| problem.message.contains("unknown class")), "{unknown:?}");
}

#[test]
fn rules_are_added_once_and_what_the_file_has_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (project, file) = (folder.path(), folder.path().join(PROJECT_FILE));
    let add = |rules: &[ReadyRule]| add(rules, RuleScope::Project, project);
    let first = add(&READY[..2]).unwrap();
    assert_eq!((first.added.len(), first.known.len()), (2, 0));
    let before = std::fs::read_to_string(&file).unwrap();
    let second = add(&READY[1..3]).unwrap();
    assert_eq!((second.added.as_slice(), second.known.as_slice()), (&["stay-in-project"][..], &["git-history"][..]));
    let after = std::fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&before));
    std::fs::write(&file, "[[rule").unwrap();
    assert!(add(READY).is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[[rule");
}
