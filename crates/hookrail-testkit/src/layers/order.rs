//! Reads `layers.toml` and what the crates of the workspace depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::LayersError;

/// The order that the sources must keep.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LayerOrder {
    /// The crates, bottom first.
    pub(super) crates: Vec<String>,
    /// For every crate, or program of a crate, its top modules, bottom first.
    pub(super) modules: BTreeMap<String, Vec<String>>,
    /// For every crate or program the imports against the order that exist, as `from -> to`, where `to` may be a module
    /// inside a top module.
    #[serde(default)]
    pub(super) permitted: BTreeMap<String, BTreeSet<String>>,
    /// For a crate or program, groups of modules that must not use each other.
    #[serde(default)]
    pub(super) apart: BTreeMap<String, Vec<Vec<String>>>,
}

impl LayerOrder {
    pub(super) fn read(workspace: &Path) -> Result<Self, LayersError> {
        read_toml(&workspace.join("layers.toml"))
    }
}

/// A crate of the workspace.
#[derive(Debug)]
pub(super) struct WorkspaceCrate {
    pub(super) name: String,
    /// All crates that its manifest names, also those for tests only.
    pub(super) dependencies: BTreeSet<String>,
    pub(super) programs: Vec<ProgramRoot>,
}

/// The root file of a library or program.
#[derive(Debug)]
pub(super) struct ProgramRoot {
    /// The name of the crate, or `crate/program` for a program beside a library.
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// Where the files of its modules are.
    pub(super) folder: PathBuf,
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
    #[serde(flatten)]
    tables: DependencyTables,
    #[serde(default)]
    target: BTreeMap<String, DependencyTables>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct DependencyTables {
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
    #[serde(default)]
    dev_dependencies: BTreeMap<String, toml::Value>,
    #[serde(default)]
    build_dependencies: BTreeMap<String, toml::Value>,
}

impl DependencyTables {
    /// The crates that are named. A dependency may have another name here than its crate.
    fn crates(&self) -> impl Iterator<Item = String> {
        let tables = [&self.dependencies, &self.dev_dependencies, &self.build_dependencies];
        let named = |(name, value): (&String, &toml::Value)| {
            value.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned()
        };
        tables.into_iter().flatten().map(named)
    }
}

/// The crates in the folder `crates` of a workspace.
pub(super) fn workspace_crates(workspace: &Path) -> Result<Vec<WorkspaceCrate>, LayersError> {
    let folders = entries(&workspace.join("crates"))?;
    folders.iter().filter(|folder| folder.join("Cargo.toml").is_file()).map(|folder| read_crate(folder)).collect()
}

fn read_crate(folder: &Path) -> Result<WorkspaceCrate, LayersError> {
    let manifest: Manifest = read_toml(&folder.join("Cargo.toml"))?;
    let name = manifest.package.name;
    let target_tables = manifest.target.values().flat_map(DependencyTables::crates);
    let dependencies = manifest.tables.crates().chain(target_tables).collect();
    let source = folder.join("src");
    let (library, main) = (source.join("lib.rs"), source.join("main.rs"));
    let mut programs = Vec::new();
    let main_name = if library.is_file() { format!("{name}/main") } else { name.clone() };
    for (name, file) in [(name.clone(), library), (main_name, main)] {
        if file.is_file() {
            programs.push(ProgramRoot { name, file, folder: source.clone() });
        }
    }
    let others = source.join("bin");
    for path in if others.is_dir() { entries(&others)? } else { Vec::new() } {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (file, folder) =
            if path.is_dir() { (path.join("main.rs"), path.clone()) } else { (path.clone(), others.clone()) };
        programs.push(ProgramRoot { name: format!("{name}/{stem}"), file, folder });
    }
    Ok(WorkspaceCrate { name, dependencies, programs })
}

/// What is in a folder, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, LayersError> {
    let unreadable = |error| LayersError::Unreadable(folder.to_owned(), error);
    let listed = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> =
        listed.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, LayersError> {
    let text = fs::read_to_string(path).map_err(|error| LayersError::Unreadable(path.to_owned(), error))?;
    toml::from_str(&text).map_err(|error| LayersError::Malformed(path.to_owned(), error.to_string()))
}
