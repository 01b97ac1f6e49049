use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::pattern::{check, compare};
use super::{CaseVerdict, ConformanceCase, load, run, run_all};

fn differences(pattern: Value, found: &Value) -> Vec<String> {
    let mut out = Vec::new();
    compare(&pattern, Some(found), "", &mut out);
    out.into_iter().map(|mismatch| mismatch.place).collect()
}

#[test]
fn a_pattern_is_a_subset() {
    let found = json!({ "a": 1, "b": [1, "two", { "c": null }], "t": "{\"x\": 1.0}" });
    let fits = [
        json!({}),
        json!({ "a": 1 }),
        json!({ "b": [1, "two", {}] }),
        json!({ "b": { "$has": ["two", 1] } }),
        json!({ "b": { "$lacks": "three", "$length": 3 } }),
        json!({ "b": [1, { "$contains": "w" }, { "c": { "$absent": true }, "d": { "$absent": true } }] }),
        json!({ "t": { "$json": { "x": 1.0 }, "$squeezed": "{\"x\":1.0}" } }),
        json!({ "a": { "$present": true, "$not": 2 } }),
    ];
    for pattern in fits {
        assert!(check(&pattern).is_ok());
        assert_eq!(differences(pattern.clone(), &found), Vec::<String>::new(), "{pattern}");
    }
    let differs = [
        (json!({ "a": 2 }), "/a"),
        (json!({ "a": 1.0 }), "/a"),
        (json!({ "z": 1 }), "/z"),
        (json!({ "b": [1, "two"] }), "/b"),
        (json!({ "b": [1, "two", { "c": 1 }] }), "/b/2/c"),
        (json!({ "b": { "$has": ["three"] } }), "/b"),
        (json!({ "b": { "$lacks": "two" } }), "/b"),
        (json!({ "z": { "$present": true } }), "/z"),
        (json!({ "t": { "$json": { "x": 1 } } }), "/t$json/x"),
        (json!({ "a": { "$not": 1 } }), "/a"),
    ];
    for (pattern, place) in differs {
        assert_eq!(differences(pattern.clone(), &found), [place], "{pattern}");
    }
}

#[test]
fn patterns_that_mean_nothing_are_rejected() {
    for pattern in [json!({ "$contain": "x" }), json!([{ "$has": "x" }]), json!({ "a": { "$absent": false } })] {
        assert!(check(&pattern).is_err(), "{pattern}");
    }
}

fn folder_with(cases: &Value) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("01.json"), cases.to_string()).unwrap();
    folder
}

fn case(name: &str, more: &Value) -> Value {
    let mut case = json!({ "name": name, "cites": ["llxprt:R67"], "command": ["fire"], "expect": {} });
    for (key, value) in more.as_object().into_iter().flatten() {
        case[key] = value.clone();
    }
    case
}

#[test]
fn malformed_cases_are_not_loaded() {
    let wrong = [
        json!([case("twice", &json!({})), case("twice", &json!({}))]),
        json!([case("no citation", &json!({ "cites": [] }))]),
        json!([case("no place", &json!({ "cites": ["somewhere"] }))]),
        json!([case("no page", &json!({ "cites": [":R1"] }))]),
        json!([case("no number", &json!({ "cites": ["cli:fire"] }))]),
        json!([case("unknown key", &json!({ "expects": {} }))]),
        json!([case("unknown operator", &json!({ "expect": { "json": { "$contain": "x" } } }))]),
        json!([case("outside", &json!({ "files": { "../x": "" } }))]),
        json!([case("nothing to run", &json!({ "command": [] }))]),
    ];
    for cases in wrong {
        assert!(load(folder_with(&cases).path()).is_err(), "{cases}");
    }
    assert_eq!(load(folder_with(&json!([case("right", &json!({}))])).path()).unwrap().len(), 1);
}

/// A program that answers like the tested ones: it prints a file named by an argument.
#[cfg(unix)]
fn answering(cases: &Value) -> (TempDir, Vec<ConformanceCase>, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder_with(cases);
    let program = folder.path().join("program");
    std::fs::write(&program, "#!/bin/sh\ncat \"$HOME/answer\"\necho \"$*\" >\"$HOME/arguments\"\nexit 2\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let loaded = load(folder.path()).unwrap();
    (folder, loaded, program)
}

#[cfg(unix)]
#[test]
fn a_case_is_run_and_compared() {
    let answer = |text: &str| json!({ "files": { "home/answer": text } });
    let mut right = case("right", &answer("{\"cwd\": \"{{project}}\"}"));
    right["expect"] = json!({
        "exit": 2,
        "json": { "cwd": "{{project}}" },
        "files": {
            "home/arguments": { "text": "fire --project {{project}} --json\n" },
            "home/nothing": { "absent": true },
        },
    });
    let mut wrong = case("wrong", &answer("{\"cwd\": 1}"));
    wrong["expect"] = json!({ "exit": 0, "json": { "cwd": 2 }, "files": { "home/answer": { "absent": true } } });
    let lacking = case("lacking", &json!({ "skip_without": ["no-such-program-anywhere"] }));
    let (_folder, cases, program) = answering(&json!([right, wrong, lacking]));
    assert_eq!(run(&cases[0], &program), CaseVerdict::Passed);
    let CaseVerdict::Failed { mismatches } = run(&cases[1], &program) else { panic!("the second case must fail") };
    let places: Vec<_> = mismatches.iter().map(|mismatch| mismatch.place.as_str()).collect();
    assert_eq!(places, ["exit", "json/cwd", "home/answer"]);
    let verdicts = run_all(&cases, &program, 2);
    assert_eq!(verdicts[2].1, CaseVerdict::Skipped { missing: "no-such-program-anywhere".to_owned() });
    assert_eq!(super::CaseSummary::from_verdicts(&verdicts).to_string(), "1 passed, 1 failed, 1 skipped");
}
