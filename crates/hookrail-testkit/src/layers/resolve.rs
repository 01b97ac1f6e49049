//! Finds the modules that a path leads to, through names that modules pass on.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Import, Module, ModulePath, ModuleTree, NamedPath};

/// The imports between modules: the one that uses, the one that is used, and the paths that lead there.
pub(super) type Edges = BTreeMap<(ModulePath, ModulePath), Vec<NamedPath>>;

/// Names that are passed on from module to module are followed this often. More would be names that lead in a circle.
const MOST_STEPS: usize = 16;

/// The dependencies between the modules of a tree. The root's are left out.
pub(super) fn edges(tree: &ModuleTree) -> Edges {
    let mut edges = Edges::new();
    for (path, module) in &tree.modules {
        if path.is_empty() {
            continue;
        }
        let mut add = |named: &NamedPath, leads: &[String]| {
            for to in tree.declaring_modules(leads, MOST_STEPS).into_iter().filter(|to| to != path) {
                edges.entry((path.clone(), to)).or_default().push(named.clone());
            }
        };
        for import in &module.imports {
            let Some(leads) = tree.absolute(path, &import.named.names, MOST_STEPS) else { continue };
            if import.name == "*" {
                tree.glob_import(import, module, &leads, &mut add);
            } else if !import.is_passed_on || module.words.contains(&import.name) {
                // A module that is imported counts as what is used of it, below.
                let is_prefix = |used: &NamedPath| used.names.first() == Some(&import.name);
                if !tree.modules.contains_key(&leads) || !module.paths.iter().any(is_prefix) {
                    add(&import.named, &leads);
                }
            }
        }
        for used in &module.paths {
            if let Some(leads) = tree.absolute(path, &used.names, MOST_STEPS) {
                add(used, &leads);
            }
        }
    }
    edges
}

impl ModuleTree {
    /// The top modules without the root: every one needs a place in the order.
    pub(super) fn names_of_top_modules(&self) -> BTreeSet<String> {
        self.modules.keys().filter_map(|path| path.first().cloned()).collect()
    }

    /// `use module::*;` depends on the module, and on what its names that are used here belong to.
    fn glob_import(
        &self,
        import: &Import,
        module: &Module,
        leads: &[String],
        add: &mut impl FnMut(&NamedPath, &[String]),
    ) {
        let Some((_, imported)) = leads.split_last() else { return };
        if import.is_passed_on {
            return;
        }
        add(&import.named, imported);
        let Some(there) = self.modules.get(imported) else { return };
        let children =
            self.modules.keys().filter(|path| path.len() == imported.len() + 1 && path.starts_with(imported));
        let names = there.imports.iter().map(|import| &import.name).chain(children.filter_map(|path| path.last()));
        for name in names.filter(|name| module.words.contains(*name)) {
            let leads: ModulePath = imported.iter().chain([name]).cloned().collect();
            add(&import.named, &leads);
        }
    }

    /// The path from the root of the crate, or none if it leads out of the crate.
    fn absolute(&self, module: &[String], names: &[String], steps: usize) -> Option<ModulePath> {
        let (first, rest) = names.split_first()?;
        let below = |module: &[String], rest: &[String]| module.iter().chain(rest).cloned().collect::<ModulePath>();
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => return Some(below(module, rest)),
            "super" => {
                let levels = names.iter().take_while(|name| *name == "super").count();
                let above = module.get(..module.len().saturating_sub(levels))?;
                return Some(below(above, names.get(levels..)?));
            }
            _ => {}
        }
        let child = below(module, std::slice::from_ref(first));
        if self.modules.contains_key(&child) {
            return Some(below(&child, rest));
        }
        // A name that was imported here.
        let steps = steps.checked_sub(1)?;
        let mut imports = self.modules.get(module)?.imports.iter();
        let imported = imports.find(|import| import.name == *first && import.named.names != names)?;
        Some(below(&self.absolute(module, &imported.named.names, steps)?, rest))
    }

    /// The modules that declare what a path names. There are several where a name depends on the system. The root is left
    /// out: it may use every module and be used by it.
    fn declaring_modules(&self, path: &[String], steps: usize) -> BTreeSet<ModulePath> {
        let is_module = |length: &usize| path.get(..*length).is_some_and(|names| self.modules.contains_key(names));
        let length = (0..=path.len()).rev().find(is_module).unwrap_or(0);
        let (owner, rest) = path.split_at_checked(length).unwrap_or((path, &[]));
        let own =
            || Some(owner.to_vec()).filter(|owner| !owner.is_empty()).into_iter().collect::<BTreeSet<ModulePath>>();
        let (Some(module), Some((name, deeper)), Some(steps)) =
            (self.modules.get(owner), rest.split_first(), steps.checked_sub(1))
        else {
            return own();
        };
        let follow = |leads: ModulePath, rest: &[String]| {
            let leads: ModulePath = leads.iter().chain(rest).cloned().collect();
            if leads == path { BTreeSet::new() } else { self.declaring_modules(&leads, steps) }
        };
        let named = module.imports.iter().filter(|import| import.name == *name);
        let named = named.filter_map(|import| self.absolute(owner, &import.named.names, steps));
        let found: BTreeSet<ModulePath> = named.flat_map(|leads| follow(leads, deeper)).collect();
        if !found.is_empty() {
            return found;
        }
        if module.declared.contains(name) {
            return own();
        }
        let globs = module.imports.iter().filter(|import| import.name == "*");
        let globs = globs.filter_map(|import| self.absolute(owner, &import.named.names, steps));
        let globs = globs.filter_map(|leads| leads.split_last().map(|(_, there)| there.to_vec()));
        let mentions = |there: &ModulePath| {
            let Some(there) = self.modules.get(there) else { return false };
            there.words.contains(name) || there.imports.iter().any(|import| import.name == *name)
        };
        let found: BTreeSet<ModulePath> = globs.filter(mentions).flat_map(|there| follow(there, rest)).collect();
        if found.is_empty() { own() } else { found }
    }
}
