//! The map of the repository, `ARCHITECTURE.md`, has a row for everything in `layers.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The map names every crate and every top module, and none that is gone.
#[test]
fn the_map_has_a_row_for_every_crate_and_top_module() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = std::fs::read_to_string(workspace.join("ARCHITECTURE.md")).unwrap();
    let layers: toml::Table = std::fs::read_to_string(workspace.join("layers.toml")).unwrap().parse().unwrap();
    let sections: BTreeMap<&str, Vec<&str>> = map.split("\n### ").skip(1).map(map_section).collect();
    let modules = layers["modules"].as_table().unwrap().iter();
    // The programs beside a library are described with it.
    let libraries = modules.filter(|(name, _)| !name.contains('/'));
    let listed: BTreeMap<&str, Vec<&str>> = libraries
        .map(|(name, modules)| {
            (name.as_str(), sorted(modules.as_array().unwrap().iter().filter_map(|one| one.as_str())))
        })
        .collect();
    assert_eq!(sections, listed);
}

/// The table of tasks names files and folders, with `NAME` or `COMMAND` in the place of the one that is meant.
#[test]
fn what_the_five_tasks_name_is_there() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = std::fs::read_to_string(workspace.join("ARCHITECTURE.md")).unwrap();
    let tasks = map.split("\n## ").find(|section| section.starts_with("Five tasks\n")).unwrap();
    let named: Vec<&str> = tasks.split('`').skip(1).step_by(2).filter(|name| name.contains('/')).collect();
    let is_fixed =
        |part: &&std::ffi::OsStr| !matches!(part.to_str().unwrap(), "NAME" | "NAME.rs" | "NAME.json" | "COMMAND.rs");
    let is_there = |name: &&&str| {
        let known: PathBuf = Path::new(name).iter().take_while(is_fixed).collect();
        workspace.join("crates").join(&known).exists() || workspace.join(&known).exists()
    };
    let missing: Vec<_> = named.iter().filter(|name| !is_there(name)).collect();
    assert!(named.len() > 10 && missing.is_empty(), "{missing:?} of {named:?}");
}

/// The crate of a section of the map, and the modules that its rows begin with.
fn map_section(section: &str) -> (&str, Vec<&str>) {
    let section = section.split("\n## ").next().unwrap();
    let (name, rest) = section.split_once('\n').unwrap();
    let rows = rest.lines().filter_map(|line| line.strip_prefix("* `")?.split("`: ").next());
    let modules = rows.flat_map(|row| row.split("`, `"));
    (name.trim_matches('`'), sorted(modules))
}

fn sorted<'t>(names: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}
