//! The hooks under `examples/hooks/`: each with its settings, against its cases, with the real binary.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::markdown::{anchors, blocks, document, root};
use super::sandbox::{Sandbox, missing};
use super::scripts::effect;

/// One line of a `cases.json`. In texts, `$PROJECT` and `$HOME` are the sandbox's folders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    event: String,
    payload: Value,
    /// The one effect there must be, in the words of the guide's info strings.
    expect: String,
    /// A text that the reason, the context or the stop must contain.
    says: Option<String>,
    /// Members that the outcome must have.
    #[serde(default)]
    outcome: BTreeMap<String, Value>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Files and links of the project, and programs on the search path, before the event.
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    programs: BTreeMap<String, String>,
    /// How often the event is fired before it counts.
    #[serde(default)]
    before: usize,
    /// A program without which the case is skipped.
    needs: Option<String>,
    /// Files that must contain this afterwards, files that must not be there, and folders with so many files in all.
    #[serde(default)]
    then: BTreeMap<String, String>,
    #[serde(default)]
    absent: Vec<String>,
    #[serde(default)]
    count: BTreeMap<String, usize>,
}

/// The folders of the cookbook.
fn recipes() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(root().join("examples/hooks")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert!(found.len() >= 12, "only {} recipes", found.len());
    found
}

fn name(recipe: &Path) -> &str {
    recipe.file_name().unwrap().to_str().unwrap()
}

/// The recipe's one script.
fn script(recipe: &Path) -> PathBuf {
    let found = ["sh", "py", "mjs"].map(|ending| recipe.join(format!("{}.{ending}", name(recipe))));
    found.into_iter().find(|path| path.exists()).unwrap()
}

#[test]
fn every_recipe_does_what_its_cases_say() {
    let missing = missing(["python3", "node", "git"]);
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(4);
    let recipes = recipes();
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (recipes, missing) = (&recipes, &missing);
            scope.spawn(move || {
                for recipe in recipes.iter().skip(worker).step_by(workers) {
                    run_recipe(recipe, missing);
                }
            });
        }
    });
}

fn run_recipe(recipe: &Path, missing: &[&str]) {
    let script = script(recipe);
    let program = match script.extension().unwrap().to_str().unwrap() {
        "py" => "python3",
        "mjs" => "node",
        _ => "sh",
    };
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(recipe.join("cases.json")).unwrap()).unwrap();
    let quiet = cases.iter().filter(|case| case.expect == "silent" && case.then.is_empty() && case.count.is_empty());
    let quiet = quiet.count();
    assert!(quiet > 0 && quiet < cases.len(), "{}: needs cases that trigger and cases that do not", name(recipe));
    for case in cases {
        let needed: Vec<&str> = [Some(program), case.needs.as_deref()].into_iter().flatten().collect();
        if let Some(program) = needed.iter().find(|program| missing.contains(program)) {
            println!("skipped: {}, {}, needs {program}", name(recipe), case.name);
            continue;
        }
        run_case(recipe, &script, &case);
    }
}

fn run_case(recipe: &Path, script: &Path, case: &Case) {
    let place = format!("{}, {}", name(recipe), case.name);
    let sandbox = Sandbox::with_settings(&fs::read_to_string(recipe.join("settings.json")).unwrap());
    let filled = |text: &str| {
        text.replace("$PROJECT", sandbox.project.to_str().unwrap())
            .replace("$HOME/", &format!("{}/", sandbox.home.display()))
    };
    let installed = format!(".llxprt/hooks/{}", script.file_name().unwrap().to_str().unwrap());
    sandbox.write(&installed, fs::read_to_string(script).unwrap());
    for (file, text) in &case.files {
        sandbox.write(file, text);
    }
    for (link, target) in &case.links {
        symlink(target, sandbox.project.join(link)).unwrap();
    }
    for (program, text) in &case.programs {
        sandbox.program(program, text);
    }
    let variables: Vec<(String, String)> = case.env.iter().map(|(name, value)| (name.clone(), filled(value))).collect();
    // Only strings of the payload are filled in; a command line with `$HOME` in it stays as it is.
    let payload: Value =
        serde_json::from_str(&case.payload.to_string().replace("$PROJECT", sandbox.project.to_str().unwrap())).unwrap();
    for _ in 0..case.before {
        sandbox.fire(&case.event, &payload, &variables);
    }
    let ran = sandbox.fire(&case.event, &payload, &variables);
    let outcome = ran.json();
    assert_eq!(outcome["diagnostics"].to_string(), "[]", "{place}: something is reported");
    assert_eq!(effect(&outcome), case.expect, "{place}: {outcome:#}");
    if let Some(says) = &case.says {
        let fields = ["reason", "stopReason", "additionalContext", "systemMessage"];
        let said = fields.iter().filter_map(|field| outcome[*field].as_str()).any(|text| text.contains(says));
        assert!(said, "{place}: does not say `{says}`: {outcome:#}");
    }
    for (field, expected) in &case.outcome {
        assert!(includes(&outcome[field], expected), "{place}: {field} is {}", outcome[field]);
    }
    for (file, text) in &case.then {
        let found = fs::read_to_string(sandbox.project.join(filled(file))).unwrap_or_default();
        assert!(found.contains(text.as_str()), "{place}: {file} is {found:?}");
    }
    for file in &case.absent {
        assert!(!sandbox.project.join(file).exists(), "{place}: {file} exists");
    }
    for (folder, count) in &case.count {
        assert_eq!(files_below(&sandbox.project.join(folder)), *count, "{place}: {folder}");
    }
}

/// Whether a value has all members of another one.
fn includes(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(key, expected)| value.get(key).is_some_and(|value| includes(value, expected)))
        }
        _ => value == expected,
    }
}

fn files_below(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_below(&path) } else { 1 }).sum()
}

#[test]
fn the_cookbook_shows_every_recipe_with_its_settings() {
    let headings = anchors("cookbook.md");
    let text = document("cookbook.md");
    for recipe in recipes() {
        let name = name(&recipe);
        assert!(headings.contains(&name.to_owned()), "the cookbook has no section `{name}`");
        let file = script(&recipe);
        let link = format!("../examples/hooks/{name}/{}", file.file_name().unwrap().to_str().unwrap());
        assert!(text.contains(&format!("]({link})")), "the cookbook does not link to {link}");
        let settings = format!("examples/hooks/{name}/settings.json");
        let shown = blocks("cookbook.md").into_iter().find(|block| block.value("from") == Some(&settings));
        let shown = shown.unwrap_or_else(|| panic!("the cookbook does not show {settings}"));
        assert_eq!(shown.text, fs::read_to_string(recipe.join("settings.json")).unwrap(), "{}", shown.place);
    }
}

#[test]
fn scripts_are_executable_and_say_what_they_are() {
    for recipe in recipes() {
        let path = script(&recipe);
        assert_ne!(fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0, "{}", path.display());
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        assert!(lines.next().unwrap().starts_with("#!/"), "{}", path.display());
        let second = lines.next().unwrap();
        assert!(["# ", "// ", "\"\"\""].iter().any(|mark| second.starts_with(mark)), "{}", path.display());
    }
}
