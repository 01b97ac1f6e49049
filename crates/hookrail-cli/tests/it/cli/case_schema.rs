//! The schema of case files accepts what `hookrail test` accepts, and refuses what it refuses.

use std::path::{Path, PathBuf};

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::cli::sandbox::Sandbox;

fn case_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            case_files(&path, found);
        } else if path.to_str().unwrap().ends_with(".hooktest.toml") {
            found.push(path);
        }
    }
}

#[test]
fn the_schema_agrees_with_the_reader() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let schema: Value = serde_json::from_str(&sandbox.run(&["schema", "hooktest"]).ends_with(0).stdout).unwrap();
    let mut compiler = Compiler::new();
    compiler.add_resource("memory:///hooktest.json", schema).unwrap();
    let mut compiled = Schemas::new();
    let index = compiler.compile("memory:///hooktest.json", &mut compiled).unwrap();
    let accepts = |document: &Value| compiled.validate(document, index).is_ok();
    let mut files = Vec::new();
    case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"), &mut files);
    assert!(files.len() >= 25, "only {} case files", files.len());
    for file in files {
        let table: toml::Table = toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert!(accepts(&serde_json::to_value(table).unwrap()), "{}", file.display());
    }
    let case = |changes: Value| {
        let mut case = json!({"name": "a", "event": "BeforeTool", "tool": "t", "expect": {"runs": 1}});
        case.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        json!({"case": [case]})
    };
    for document in [
        case(json!({})),
        case(json!({"env": {"A": "b"}, "needs": ["sh"], "repeat": 1, "payload": "{}"})),
        case(
            json!({"expect": {"decision": null, "exit": [0], "ends": "silent", "rewrite": false, "diagnostics": "any"}}),
        ),
        case(json!({"name": 1})),
        case(json!({"expect": {}})),
        case(json!({"expect": {"decision": "denied"}})),
        case(json!({"expect": {"runs": -1}})),
        case(json!({"expect": {"ends": ["gone"]}})),
        case(json!({"expect": {"rewrite": true}})),
        case(json!({"expected": {}})),
        case(json!({"env": {"A": 1}})),
        case(json!({"dialect": "cobol"})),
        json!({"case": []}),
        json!({}),
    ] {
        sandbox.write("a.hooktest.json", document.to_string());
        let is_read = sandbox.run(&["test", "--list"]).code == 0;
        assert_eq!(accepts(&document), is_read, "{document}");
    }
}
