//! `hookrail man`: writes a manual page for every command.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::text::counted;

use crate::args::{Cli, ManArgs};
use crate::cmd::exit::Exit;
use crate::output;

pub(crate) fn run(args: &ManArgs) -> Result<Exit> {
    let cannot_write = |error: std::io::Error| {
        Failure::new(format!("the pages cannot be written to `{}`: {error}", args.dir.display()))
            .hint("name a directory that you may write to, such as `~/.local/share/man/man1`")
    };
    std::fs::create_dir_all(&args.dir).map_err(cannot_write)?;
    let mut command = Cli::whole_command().disable_help_subcommand(true);
    command.build();
    let count = write_pages(&command, &args.dir).map_err(cannot_write)?;
    output::text(&format!("{} in {}\n", counted(count, "manual page"), args.dir.display()))?;
    Ok(Exit::Fine)
}

/// Writes the page of a command and those of the commands below it. Returns how many there are.
fn write_pages(command: &Command, dir: &Path) -> std::io::Result<usize> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    hookrail_app::temporary_file::write_atomically(
        &dir.join(man.get_filename()),
        &String::from_utf8_lossy(&page),
        None,
    )?;
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    below.map(|command| write_pages(command, dir)).try_fold(1, |sum, count| Ok(sum + count?))
}
