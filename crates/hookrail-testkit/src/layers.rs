//! Checks that crates and modules depend only on what stands below them.
//!
//! `layers.toml` at the root of the workspace lists the crates, and the top modules of every crate, bottom first. A crate
//! without a line fails, and so does a module without one. Imports against the order that exist are listed there too; the
//! list can only shrink, because an entry that is no longer needed fails. Modules that must not use each other, in whichever
//! order, are listed as well.
//!
//! A dependency is a path in a `use` or in the code that begins with `crate`, `super`, `self`, a child module or an imported
//! name, and that leads to another top module. A name that a module only passes on with `pub use` belongs to the module that
//! declares it: passing it on is no dependency, and a path that goes through there leads to the declaring module. Items for
//! tests are left out.
//!
//! Not seen are dependencies through methods alone, what macros expand to, and items that the root file itself declares.

mod order;
mod resolve;
mod source;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use order::{LayerOrder, ProgramRoot, WorkspaceCrate, workspace_crates};
use resolve::{Edges, edges};
use source::{ModulePath, ModuleTree, NamedPath};

/// Something that breaks the order in `layers.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerViolation {
    /// A top module uses one that stands above it.
    Import {
        /// The crate, or `crate/program`.
        program: String,
        /// The module that must not use the other one.
        from: String,
        /// The module that is above it, or in one that is.
        to: String,
        /// The paths in the source, with file and line.
        places: Vec<String>,
    },
    /// Two modules must be kept apart and one uses the other.
    Together {
        /// The crate, or `crate/program`.
        program: String,
        /// The module that must not use the other one.
        from: String,
        /// The other one.
        to: String,
        /// The paths in the source, with file and line.
        places: Vec<String>,
    },
    /// A manifest names a crate that stands above its own.
    CrateDependency {
        /// The crate that must not use the other one.
        from: String,
        /// The crate above it.
        to: String,
    },
    /// A crate has no line.
    UnlistedCrate(String),
    /// A top module has no line.
    UnlistedModule {
        /// The crate, or `crate/program`.
        program: String,
        /// The module.
        module: String,
    },
    /// A crate, program or module has a line and does not exist, or has two.
    StrayLine(String),
    /// An import is permitted that is not there, or not against the order.
    StalePermission {
        /// The crate, or `crate/program`.
        program: String,
        /// The entry, `from -> to`.
        edge: String,
    },
}

impl Display for LayerViolation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Import { program, from, to, places } => {
                write!(f, "{program}: `{from}` must not use `{to}`, which stands above it:")?;
                places.iter().try_for_each(|place| write!(f, "\n    {place}"))
            }
            Self::Together { program, from, to, places } => {
                write!(f, "{program}: `{from}` must not use `{to}`, from which layers.toml keeps it apart:")?;
                places.iter().try_for_each(|place| write!(f, "\n    {place}"))
            }
            Self::CrateDependency { from, to } => write!(f, "{from} must not depend on {to}, which stands above it"),
            Self::UnlistedCrate(name) => write!(f, "{name} has no place in `crates` of layers.toml"),
            Self::UnlistedModule { program, module } => {
                write!(f, "{program}: the module `{module}` has no place in `modules` of layers.toml")
            }
            Self::StrayLine(name) => write!(f, "layers.toml lists `{name}`, which does not exist or is listed twice"),
            Self::StalePermission { program, edge } => {
                write!(f, "{program}: `{edge}` is permitted in layers.toml and no longer needed; remove it there")
            }
        }
    }
}

/// Why the layers could not be checked.
#[derive(Debug)]
pub enum LayersError {
    /// A file or folder cannot be read.
    Unreadable(PathBuf, io::Error),
    /// A file in TOML is not what it must be.
    Malformed(PathBuf, String),
    /// The file of a module was not found.
    NoFile {
        /// The file that declares the module.
        file: PathBuf,
        /// The module.
        module: String,
    },
}

impl Display for LayersError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Malformed(path, error) => write!(f, "{}: {error}", path.display()),
            Self::NoFile { file, module } => write!(f, "{}: there is no file of the module `{module}`", file.display()),
        }
    }
}

impl std::error::Error for LayersError {}

/// Checks the crates of a workspace against its `layers.toml`, and returns what breaks the order.
///
/// # Errors
///
/// A file cannot be read, or is not what it must be.
pub fn check(workspace: &Path) -> Result<Vec<LayerViolation>, LayersError> {
    let order = LayerOrder::read(workspace)?;
    let crates = workspace_crates(workspace)?;
    let mut violations = check_crates(&order, &crates);
    let mut known = BTreeSet::new();
    for program in crates.iter().flat_map(|one| &one.programs) {
        let listed = order.modules.get(&program.name).map(Vec::as_slice).unwrap_or_default();
        check_program(program, workspace, listed, &order, &mut violations)?;
        known.insert(&program.name);
    }
    let listed = order.modules.keys().chain(order.permitted.keys()).chain(order.apart.keys());
    violations.extend(listed.filter(|name| !known.contains(name)).cloned().map(LayerViolation::StrayLine));
    Ok(violations)
}

fn check_crates(order: &LayerOrder, crates: &[WorkspaceCrate]) -> Vec<LayerViolation> {
    let place = |name: &String| order.crates.iter().position(|listed| listed == name);
    let mut violations = stray_lines(&order.crates, &crates.iter().map(|one| one.name.clone()).collect(), "");
    for one in crates {
        let Some(own) = place(&one.name) else {
            violations.push(LayerViolation::UnlistedCrate(one.name.clone()));
            continue;
        };
        let above = one.dependencies.iter().filter(|used| place(used).is_some_and(|theirs| theirs > own));
        violations.extend(above.map(|to| LayerViolation::CrateDependency { from: one.name.clone(), to: to.clone() }));
    }
    violations
}

/// The lines of a list that name nothing, or what another line has named.
fn stray_lines(listed: &[String], existing: &BTreeSet<String>, prefix: &str) -> Vec<LayerViolation> {
    let mut seen = BTreeSet::new();
    let stray = listed.iter().filter(|name| !existing.contains(*name) || !seen.insert(*name));
    stray.map(|name| LayerViolation::StrayLine(format!("{prefix}{name}"))).collect()
}

fn check_program(
    program: &ProgramRoot,
    workspace: &Path,
    listed: &[String],
    order: &LayerOrder,
    violations: &mut Vec<LayerViolation>,
) -> Result<(), LayersError> {
    let tree = ModuleTree::read(&program.file, &program.folder)?;
    let existing = tree.names_of_top_modules();
    violations.extend(stray_lines(listed, &existing, &format!("{}::", program.name)));
    let unlisted = existing.iter().filter(|module| !listed.contains(module));
    violations.extend(
        unlisted.map(|module| LayerViolation::UnlistedModule { program: program.name.clone(), module: module.clone() }),
    );
    let permitted = order.permitted.get(&program.name).cloned().unwrap_or_default();
    let mut needed = BTreeSet::new();
    let edges = edges(&tree);
    for ((from, used), found) in against_the_order(&edges, listed) {
        let permissions = (1..=used.len()).filter_map(|length| used.get(..length));
        let permissions: Vec<String> = permissions.map(|names| format!("{from} -> {}", names.join("::"))).collect();
        let covering: Vec<&String> = permissions.iter().filter(|edge| permitted.contains(*edge)).collect();
        if covering.is_empty() {
            let (program, to, places) = (program.name.clone(), used.join("::"), shown(&found, workspace));
            violations.push(LayerViolation::Import { program, from: from.to_owned(), to, places });
        }
        needed.extend(covering.into_iter().cloned());
    }
    for group in order.apart.get(&program.name).into_iter().flatten() {
        check_apart(program, workspace, group, &tree, &edges, violations);
    }
    let stale = permitted.difference(&needed).cloned();
    violations.extend(stale.map(|edge| LayerViolation::StalePermission { program: program.name.clone(), edge }));
    Ok(())
}

/// The imports that lead to a top module above their own: from which top module, to which module, by which paths.
fn against_the_order<'e>(
    edges: &'e Edges,
    listed: &[String],
) -> BTreeMap<(&'e str, &'e ModulePath), Vec<&'e NamedPath>> {
    let place = |path: &ModulePath| path.first().and_then(|name| listed.iter().position(|listed| listed == name));
    let mut found: BTreeMap<_, Vec<&NamedPath>> = BTreeMap::new();
    for ((from, to), paths) in edges {
        // A module without a place is reported as such.
        let (Some(own), Some(theirs), Some(top)) = (place(from), place(to), from.first()) else { continue };
        if own < theirs {
            found.entry((top.as_str(), to)).or_default().extend(paths);
        }
    }
    found
}

/// Modules that must not use each other.
fn check_apart(
    program: &ProgramRoot,
    workspace: &Path,
    group: &[String],
    tree: &ModuleTree,
    edges: &Edges,
    violations: &mut Vec<LayerViolation>,
) {
    let group: Vec<ModulePath> = group.iter().map(|name| name.split("::").map(str::to_owned).collect()).collect();
    let gone = group.iter().filter(|path| !tree.modules.contains_key(*path));
    violations.extend(gone.map(|path| LayerViolation::StrayLine(format!("{}::{}", program.name, path.join("::")))));
    let member = |path: &ModulePath| group.iter().find(|member| path.starts_with(member));
    for ((from, to), paths) in edges {
        let (Some(own), Some(theirs)) = (member(from), member(to)) else { continue };
        if own != theirs {
            let (program, places) = (program.name.clone(), shown(&paths.iter().collect::<Vec<_>>(), workspace));
            violations.push(LayerViolation::Together { program, from: own.join("::"), to: theirs.join("::"), places });
        }
    }
}

/// Paths with the files and lines they are in.
fn shown(paths: &[&NamedPath], workspace: &Path) -> Vec<String> {
    let show = |path: &&NamedPath| {
        let file = path.file.strip_prefix(workspace).unwrap_or(&path.file);
        format!("{}:{}: {}", file.display(), path.line, path.names.join("::"))
    };
    paths.iter().map(show).collect()
}

#[cfg(test)]
mod tests;
