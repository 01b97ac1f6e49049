//! `schema` and `reference`: what is printed, and that the checked-in pages are what is printed now.

use std::path::Path;

use crate::cli::sandbox::Sandbox;

#[test]
fn the_pages_of_the_reference_in_the_repository_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let bless = std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1");
    for page in ["commands", "events", "diagnostics", "bus", "configuration", "test-cases"] {
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

/// The part of a page that is made from the schema of rules.
#[test]
fn the_keys_of_rules_in_the_repository_are_current() {
    let schema: serde_json::Value = Sandbox::new().run(&["schema", "rules"]).json();
    let conditions = &schema["$defs"]["conditions"]["properties"];
    let about =
        |about: &serde_json::Value| about["description"].as_str().unwrap_or("this condition does not hold").to_owned();
    let rows = conditions.as_object().unwrap().iter().map(|(key, value)| format!("| `{key}` | {} |\n", about(value)));
    let git = conditions["git"]["anyOf"][0]["enum"].as_array().unwrap();
    let git = git.iter().map(|fact| format!("`{}`", fact.as_str().unwrap()));
    let table = format!(
        "| key | it holds if |\n|---|---|\n{}\nWhat can happen to a repository: {}.\n",
        rows.collect::<String>(),
        git.collect::<Vec<_>>().join(", "),
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it cli::reference";
    let begin = format!("<!-- Made from the schema: run `{command}`. -->\n");
    let end = "<!-- End of what was made. -->";
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, rest) = text.split_once(&begin).unwrap();
    let (_, tail) = rest.split_once(end).unwrap();
    let current = format!("{head}{begin}\n{table}\n{end}{tail}");
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, &current).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == current, "docs/rules.md is not current: run `{command}`");
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
