//! What the file system says about the paths of a shell line.

use std::path::Path;

use hookrail_shell::{CommandSurroundings, ProgramTables};

use super::AddedPrograms;
use crate::config::real_path;

/// The file system on which a line would run. Only symbolic links are followed: what a variable of the environment will be when
/// an agent runs the line is not known.
///
/// ```
/// use hookrail::rules::FileSystemLinks;
/// use hookrail_shell::CommandSurroundings as _;
///
/// assert_eq!(FileSystemLinks::default().real_path("/nowhere/at/all"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct FileSystemLinks {
    programs: AddedPrograms,
}

impl FileSystemLinks {
    /// The file system, with what was said about programs.
    #[must_use]
    pub fn new(programs: AddedPrograms) -> Self {
        Self { programs }
    }
}

impl CommandSurroundings for FileSystemLinks {
    fn real_path(&self, path: &str) -> Option<String> {
        // What stands behind a pattern is not known, so nothing there is a link that could be followed.
        let (fixed, rest) = match path.find(['*', '?', '[']) {
            None => (path, ""),
            Some(at) => path.split_at(path.get(..at)?.rfind('/')?),
        };
        let real = real_path(Path::new(fixed));
        let real = real.to_str()?;
        (real != fixed).then(|| format!("{real}{rest}"))
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn is_folder(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }

    fn programs(&self) -> Option<&ProgramTables> {
        self.programs.tables()
    }
}

/// A machine of which only the programs are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoLinks<'p>(pub(crate) &'p AddedPrograms);

impl CommandSurroundings for NoLinks<'_> {
    fn real_path(&self, _path: &str) -> Option<String> {
        None
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn is_folder(&self, _path: &str) -> bool {
        false
    }

    fn programs(&self) -> Option<&ProgramTables> {
        self.0.tables()
    }
}
