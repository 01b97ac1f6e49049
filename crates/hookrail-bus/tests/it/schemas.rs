//! The generated schemas and the reference are current in the repository, and agree with the parser.

use std::path::{Path, PathBuf};

use boon::{Compiler, Schemas};
use hookrail_bus::{reference, schemas};
use serde_json::{Value, json};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a generated file with the one in the repository, or writes it when HOOKRAIL_BLESS=1.
fn current(path: &Path, text: &str) {
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-bus --test it schemas::";
    assert!(found == text, "{} is not current: run `{command}`", path.display());
}

#[test]
fn the_schemas_in_the_repository_are_current() {
    let folder = repository().join("schemas/bus");
    let mut expected = Vec::new();
    for (name, schema) in schemas() {
        current(&folder.join(format!("{name}.json")), &format!("{schema:#}\n"));
        expected.push(format!("{name}.json"));
    }
    let mut files: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    expected.sort();
    assert_eq!(files, expected, "a schema that is not generated any more");
}

#[test]
fn the_reference_in_the_repository_is_current() {
    current(&repository().join("docs/reference/bus.md"), &reference());
}

#[test]
fn schemas_accept_what_the_parser_accepts_and_refuse_what_it_refuses() {
    let mut compiler = Compiler::new();
    let mut compiled = Schemas::new();
    for (name, schema) in schemas() {
        compiler.add_resource(&format!("memory:///{name}.json"), schema).unwrap();
    }
    let index = compiler.compile("memory:///client.json", &mut compiled).unwrap();
    let accepts = |message: &Value| compiled.validate(message, index).is_ok();
    for payload in [
        json!({"eventName": "BeforeTool", "input": {}}),
        json!({"correlationId": null, "eventName": "x", "input": {"a": 1}, "project": "/p", "wait": "all", "more": 1}),
    ] {
        assert!(accepts(&json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload})), "{payload}");
    }
    assert!(accepts(&json!({"type": "ping"})));
    assert!(accepts(&json!({"type": "hello", "payload": {"protocol": 1}})));
    for message in [
        json!({"type": "HOOK_EXECUTION_REQUEST"}),
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "x"}}),
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": 1, "input": {}}}),
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "x", "input": []}}),
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"eventName": "x", "input": {}, "wait": "long"}}),
        json!({"type": "hello", "payload": {"protocol": -1}}),
        json!({"type": "dance", "payload": {}}),
        json!({"type": "cancel", "payload": {}}),
    ] {
        assert!(!accepts(&message), "{message}");
    }
}
