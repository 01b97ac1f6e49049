//! Dependencies between the engine's modules point one way, apart from two small cycles that ARCHITECTURE.md explains.

use std::path::{Path, PathBuf};

/// Every module may use those before it and those on its own line. A path names a file inside a module that is a leaf
/// of its own: what everything needs stands there.
const LAYERS: &[&[&str]] = &[
    &["log"],
    &["names"],
    &["json"],
    &["payload"],
    &["source"],
    &["diagnostic"],
    &["exec_options"],
    &["hidden"],
    &["own_bridge"],
    &["matcher"],
    &["dialect::registry"],
    &["run::search_path"],
    &["run::environment"],
    &["run::project_share"],
    &["run::capabilities"],
    &["event"],
    &["tools"],
    &["breadcrumb"],
    &["effects"],
    &["system::host"],
    &["native"],
    &["remote"],
    &["sandbox"],
    &["config", "hook", "trust"],
    &["user_folders"],
    &["places"],
    &["session_facts"],
    &["protect"],
    &["skips"],
    &["outcome"],
    &["run"],
    &["snapshot"],
    &["enrolment"],
    &["dialect", "firing"],
    &["repeated"],
    &["document"],
    &["recorder"],
    &["system"],
    &["guard"],
    &["module"],
    &["guide"],
];

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The module of a path such as `run::capabilities::Capabilities`: the leaf, if it names one.
fn module_of(path: &str) -> String {
    let mut names = path.split("::");
    let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let leaf = format!("{first}::{second}");
    if layer(&leaf).is_some() { leaf } else { first.to_owned() }
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn modules_depend_on_what_stands_before_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    let is_test = |file: &PathBuf| file.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("_tests"));
    for file in files.iter().filter(|file| !file.ends_with("lib.rs") && !is_test(file)) {
        let relative = file.strip_prefix(&source).unwrap().with_extension("");
        let names: Vec<&str> = relative.iter().map(|name| name.to_str().unwrap()).collect();
        let module = module_of(&names.join("::"));
        let own = layer(&module).unwrap_or_else(|| panic!("`{module}` is in no layer: give it one"));
        let text = std::fs::read_to_string(file).unwrap();
        let code: String = text
            .split("#[cfg(test)]\nmod ")
            .next()
            .unwrap()
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .map(|line| format!("{line}\n"))
            .collect();
        // What a leaf takes from its neighbours is not its own module's.
        let above = if module.contains("::") { format!("crate::{}::", names[0]) } else { "super::".to_owned() };
        for used in code.replace("super::", &above).split("crate::").skip(1) {
            let path: String = used.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
            let target = module_of(&path);
            let Some(theirs) = layer(&target) else { continue };
            assert!(theirs <= own, "{}: `{module}` must not use `{target}` (`crate::{path}`)", file.display());
        }
    }
}
