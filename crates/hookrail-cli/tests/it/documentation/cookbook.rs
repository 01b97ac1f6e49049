//! The hooks under `examples/`: each against its cases, with `hookrail test`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::markdown::{document, root};
use super::sandbox::{Sandbox, missing};

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

/// Runs the cases of a folder, and returns the document.
fn test(sandbox: &Sandbox, folder: &Path) -> (i32, Value) {
    let ran = sandbox.hookrail(&["test", folder.to_str().unwrap(), "--trust-project", "--format", "json"]);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    (ran.code, ran.json())
}

#[test]
fn every_example_passes_its_cases() {
    let missing = missing(["python3", "node", "git"]);
    let (code, report) = test(&Sandbox::new(), &root().join("examples"));
    let cases = report["cases"].as_array().unwrap();
    let bad: Vec<&Value> = cases.iter().filter(|case| case["status"] != "passed").collect();
    if missing.is_empty() {
        assert!(bad.is_empty(), "{bad:#?}");
    }
    assert!(bad.iter().all(|case| case["status"] == "skipped"), "{bad:#?}");
    assert_eq!(code, 0);
    // The names begin at the project, which is the example itself where another user owns the folders above it.
    let files: Vec<&Path> = cases.iter().map(|case| Path::new(case["file"].as_str().unwrap())).collect();
    let tested = |name: &str| files.iter().any(|file| file.file_name().unwrap() == name);
    for folder in ["hooks", "plugins", "modules"] {
        for entry in fs::read_dir(root().join("examples").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let is_example =
                path.is_dir() && stem != "snapshots" || path.extension().is_some_and(|ending| ending == "ts");
            assert!(!is_example || tested(&format!("{stem}.hooktest.toml")), "{} has no cases", path.display());
        }
    }
}

#[test]
fn every_recipe_has_cases_that_trigger_it_and_cases_that_do_not() {
    for recipe in recipes() {
        let file = recipe.join(format!("{}.hooktest.toml", name(&recipe)));
        let cases: toml::Table = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let cases = cases["case"].as_array().unwrap();
        let is_quiet = |case: &&toml::Value| {
            let expect = case["expect"].as_table().unwrap();
            expect.contains_key("silent") && !expect.contains_key("files_contain") && !expect.contains_key("file_count")
        };
        let quiet = cases.iter().filter(is_quiet).count();
        assert!(quiet > 0 && quiet < cases.len(), "{}", file.display());
    }
}

/// Cases that pass whatever the hook does would show nothing.
#[test]
fn the_cases_of_a_broken_recipe_fail() {
    let broken = [
        ("a guard that allows everything", "import sys\nsys.exit(0)\n", "decision"),
        ("a misspelt answer", "print('{\"decison\": \"deny\"}')\n", "diagnostics"),
        ("a syntax error", "def (\n", "reason_contains"),
        ("a failure", "import sys\nsys.exit(1)\n", "reason_contains"),
    ];
    if !missing(["python3"]).is_empty() {
        println!("skipped: needs python3");
        return;
    }
    for (what, script, key) in broken {
        let sandbox = Sandbox::new();
        for file in ["settings.json", "secret-scan.hooktest.toml"] {
            let text = fs::read_to_string(root().join("examples/hooks/secret-scan").join(file)).unwrap();
            sandbox.write(&format!("scan/{file}"), text);
        }
        sandbox.write("scan/secret-scan.py", script);
        let (code, report) = test(&sandbox, &sandbox.project.join("scan"));
        assert_eq!(code, 1, "{what}");
        let keys: Vec<&str> = report["cases"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|case| case["failures"].as_array().into_iter().flatten())
            .filter_map(|failure| failure["key"].as_str())
            .collect();
        assert!(keys.contains(&key), "{what}: {report:#}");
    }
}

#[test]
fn the_page_of_recipes_has_a_row_for_each() {
    let text = document("how-to/recipes.md");
    for recipe in recipes() {
        let name = name(&recipe);
        let file = script(&recipe);
        let row = format!("| [{name}](../../examples/hooks/{name}/{}) |", file.file_name().unwrap().to_str().unwrap());
        assert!(text.contains(&row), "how-to/recipes.md does not have `{row}`");
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
