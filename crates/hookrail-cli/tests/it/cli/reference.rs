//! `schema` and `reference`: what is printed, and that the checked-in pages are what is printed now.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::cli::sandbox::Sandbox;

#[test]
fn the_pages_of_the_reference_in_the_repository_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let bless = std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1");
    for page in ["commands", "events", "bus", "configuration", "test-cases"] {
        // The page shows the commands of a program with the default features.
        if page == "commands" && cfg!(feature = "fleet") {
            continue;
        }
        let printed = Sandbox::new().run(&["reference", page]).stdout;
        let file = folder.join(format!("{page}.md"));
        if bless {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &printed).unwrap();
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            found == printed,
            "docs/reference/{page}.md is not current: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it cli::reference`"
        );
    }
}

const COMMAND: &str = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it cli::reference";

/// Compares the parts of a page that are made from a schema, in their order, with what they must be; writes them when told to.
fn parts_are_current(page: &str, parts: &[String]) {
    crate::made_parts::parts_are_current(page, "from the schema", COMMAND, parts);
}

#[test]
fn the_keys_of_rules_in_the_repository_are_current() {
    let schema: Value = Sandbox::new().run(&["schema", "rules"]).json();
    let conditions = &schema["$defs"]["conditions"]["properties"];
    let about = |about: &Value| about["description"].as_str().unwrap_or("this condition does not hold").to_owned();
    let rows = conditions.as_object().unwrap().iter().map(|(key, value)| format!("| `{key}` | {} |\n", about(value)));
    let git = conditions["git"]["anyOf"][0]["enum"].as_array().unwrap();
    let git = git.iter().map(|fact| format!("`{}`", fact.as_str().unwrap()));
    let table = format!(
        "| key | it holds if |\n|---|---|\n{}\nWhat can happen to a repository: {}.\n",
        rows.collect::<String>(),
        git.collect::<Vec<_>>().join(", "),
    );
    parts_are_current("rules.md", &[table]);
}

/// What a key of an object holds, in a word or two.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| format!("`{}`", word.as_str().unwrap())).collect::<Vec<_>>().join(", ");
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("string") => "text",
        Some("boolean") => "true or false",
        Some("array") => "a list",
        Some("object") => "an object",
        Some("integer" | "number") => {
            return match (&schema["minimum"], &schema["maximum"]) {
                (Value::Null, most) => format!("a number up to {most}"),
                (least, most) => format!("a number from {least} to {most}"),
            };
        }
        None => "text or an object",
        Some(other) => panic!("no word for the type {other}"),
    }
    .to_owned()
}

/// The keys of an object as a table.
fn keys(object: &Value) -> String {
    let mut table = "| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    for (key, schema) in object["properties"].as_object().unwrap() {
        let required = object["required"].as_array().is_some_and(|keys| keys.iter().any(|required| required == key));
        let default = match &schema["default"] {
            Value::Null if required => "required".to_owned(),
            Value::Null => String::new(),
            Value::String(text) => format!("`{text}`"),
            value => format!("`{value}`"),
        };
        let about = schema["description"].as_str().unwrap_or_else(|| panic!("the schema says nothing about `{key}`"));
        let _ = writeln!(table, "| `{key}` | {} | {default} | {about} |", kind(schema));
    }
    table
}

#[test]
fn the_keys_of_settings_in_the_repository_are_current() {
    let schema: Value = Sandbox::new().run(&["schema", "settings"]).json();
    let group = &schema["properties"]["hooks"]["properties"]["BeforeTool"]["items"];
    parts_are_current("reference/settings.md", &[keys(group), keys(&group["properties"]["hooks"]["items"])]);
}

#[test]
fn the_keys_of_plugins_in_the_repository_are_current() {
    let schema: Value = Sandbox::new().run(&["schema", "plugin-hooks"]).json();
    parts_are_current("reference/plugins.md", &[keys(&schema["properties"]["PreToolUse"]["items"])]);
}

#[test]
fn the_schemas_of_this_program_in_the_repository_are_current() {
    for name in ["config", "hooktest"] {
        let printed: serde_json::Value = Sandbox::new().run(&["schema", name]).json();
        let printed = format!("{printed:#}\n");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../schemas/{name}.json"));
        if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
            std::fs::write(&file, &printed).unwrap();
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it cli::reference";
        assert!(found == printed, "schemas/{name}.json is not current: run `{command}`");
    }
}

#[test]
fn schemas_are_listed_printed_and_suggested() {
    let sandbox = Sandbox::new();
    let names = sandbox.run(&["schema"]);
    assert_eq!(names.code, 0);
    assert!(names.stdout.lines().any(|name| name == "settings") && names.stdout.lines().count() == 42);
    let schema = sandbox.run(&["schema", "settings"]);
    let schema: serde_json::Value = serde_json::from_str(&schema.stdout).unwrap();
    assert_eq!(schema["$id"], "urn:hookrail:llxprt:settings:1");
    let unknown = sandbox.run(&["schema", "setings"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("did you mean `settings`?"), "{}", unknown.stderr);
}
