//! The arguments of the commands that print or write what the program says about itself: schemas, pages, completions, manuals.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::names;

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The schema, for example `settings` or `BeforeTool.stdin`
    #[arg(value_name = "NAME", add = names::schemas())]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// The page
    #[arg(value_enum, value_name = "PAGE")]
    pub(crate) page: ReferencePage,
}

/// The pages of the reference that are made from the engine's own tables.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ReferencePage {
    /// Every command: its options, its exit statuses, examples
    Commands,
    /// Every event: its names, its fields, what an answer can do
    Events,
    /// Every code a diagnostic can have
    Diagnostics,
    /// Every message of the bus, its fields, and the error codes
    Bus,
    /// Every setting of hookrail's own configuration
    Configuration,
    /// Every key of a file with test cases
    TestCases,
}

#[derive(Debug, Args)]
pub(crate) struct DocsArgs {
    /// The page: its path, or words of its title [default: list all pages]
    #[arg(value_name = "WORD", add = names::pages())]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The directory, which is created if it does not exist
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
}
