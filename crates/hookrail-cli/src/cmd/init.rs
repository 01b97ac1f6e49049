//! `hookrail init`: a first hook in a project. Existing files are never changed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::args::{InitArgs, ProjectArgs};
use crate::errors::{Exit, Failure, Result};
use crate::output;
use crate::project::Project;
use crate::style::{GOOD, HEADING, paint};

const SETTINGS: &str = ".llxprt/settings.json";
const GUARD: &str = ".llxprt/hooks/guard.sh";

pub(crate) fn run(args: &InitArgs) -> Result<Exit> {
    // A new project begins here, not in a folder above.
    let here = args.project.project.clone().unwrap_or_else(|| PathBuf::from("."));
    let project = Project::open(&ProjectArgs { project: Some(here), ..args.project.clone() })?;
    if let Some(present) =
        [SETTINGS, GUARD].into_iter().find(|file| project.root().join(file).symlink_metadata().is_ok())
    {
        return Err(Failure::new(format!("`{present}` already exists; nothing was written"))
            .hint("run `hookrail list` to see the hooks, or move the file away and run `hookrail init` again"));
    }
    if let Some(link) = [".llxprt", ".llxprt/hooks"].into_iter().find(|folder| project.root().join(folder).is_symlink())
    {
        // A link could lead to the user's own settings, whose hooks run without a grant.
        return Err(Failure::new(format!("`{link}` is a symbolic link; nothing was written"))
            .hint("replace it with a directory, or run `hookrail init` in the directory that the link leads to"));
    }
    create(&project.root().join(GUARD), include_str!("../../assets/init/guard.sh"), FileMode::Executable)?;
    create(&project.root().join(SETTINGS), include_str!("../../assets/init/settings.json"), FileMode::Plain)?;
    let created = paint(GOOD, "created");
    output::text(&format!(
        "{created}  {SETTINGS}   one hook for BeforeTool, enabled\n\
         {created}  {GUARD}  the hook: it denies writing `.env` files\n\
         \n\
         {}\n\
         \x20 hookrail trust grant\n\
         \x20 hookrail fire BeforeTool --tool write_file --tool-input '{{\"path\":\".env\"}}'\n",
        paint(HEADING, "next"),
    ))?;
    Ok(Exit::Fine)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileMode {
    Plain,
    Executable,
}

/// Writes a file that must not exist yet.
fn create(path: &Path, text: &str, mode: FileMode) -> Result<()> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write_new(path, text, mode));
    written.map_err(|error| {
        Failure::new(format!("`{}` cannot be created: {error}", path.display()))
            .hint("check that the project's directory is writable")
    })
}

fn write_new(path: &Path, text: &str, mode: FileMode) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if mode == FileMode::Executable { 0o777 } else { 0o666 });
    }
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)?.write_all(text.as_bytes())
}
