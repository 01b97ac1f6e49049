//! What the commands of a line would do.

mod builtins;
mod carried_code;
mod evaluate;
mod expand;
mod hosts;
mod invoke;
mod line_files;
mod normal_words;
mod options;
mod programs;
mod record;
mod roles;
mod rows;
mod secrets;

use crate::facts::Accesses;
use crate::syntax::ShellScript;
use crate::tables::ProgramTables;
use evaluate::{Evaluator, Input};

/// Where a line would run.
#[derive(Clone, Copy)]
pub struct Scene<'s> {
    /// The folder of the project.
    pub project: &'s str,
    /// The folder in which the line runs.
    pub cwd: &'s str,
    /// The home folder.
    pub home: &'s str,
    /// What else is known of the machine.
    pub surroundings: &'s dyn CommandSurroundings,
}

/// What is known of the machine on which a line would run. This crate touches no files itself.
pub trait CommandSurroundings {
    /// Returns the path that a path leads to behind symbolic links, if it is another one.
    fn real_path(&self, path: &str) -> Option<String>;
    /// Returns the value of a variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// Whether a folder exists, so that `cd` certainly goes there.
    fn is_folder(&self, path: &str) -> bool;
    /// Returns the tables of programs, if there are more rows than those of this crate.
    fn programs(&self) -> Option<&ProgramTables> {
        None
    }
}

/// Nothing is known of the machine.
impl CommandSurroundings for () {
    fn real_path(&self, _path: &str) -> Option<String> {
        None
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn is_folder(&self, _path: &str) -> bool {
        false
    }
}

/// Returns what a line may do.
#[must_use]
pub fn accesses(script: &ShellScript, scene: &Scene<'_>) -> Accesses {
    let mut evaluator = Evaluator::new(scene);
    evaluator.line(script, &Input::default());
    evaluator.facts
}
