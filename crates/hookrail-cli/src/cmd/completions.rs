//! `hookrail completions`: a script that completes this command's arguments.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{docs, new};
use crate::args::{Cli, CompletionsArgs};
use crate::errors::{Exit, Result};
use crate::output;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hookrail", &mut script);
    if args.shell == Shell::Fish {
        // The generator for fish leaves out the values of arguments that are not options.
        let topics = docs::topic_names().collect::<Vec<_>>().join(" ");
        let recipes = new::recipe_names().collect::<Vec<_>>().join(" ");
        for (command, values) in [("docs", topics), ("add", recipes)] {
            let condition = format!("__fish_hookrail_using_subcommand {command}");
            script.extend(format!("complete -c hookrail -n \"{condition}\" -f -a \"{values}\"\n").into_bytes());
        }
    }
    output::text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
