//! The arguments of the commands that write hooks: `new`, `init`, `add` and `types`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};
use hookrail::{DialectId, EventKind};
use hookrail_app::author;
use hookrail_app::lint::in_other_words;
use hookrail_app::rules::{READY, REPLACED};

use super::{ProjectArgs, dialect_parser};

/// The languages that a hook can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HookLanguage {
    /// A shell script
    #[value(alias = "sh")]
    Bash,
    /// A script for Python 3
    #[value(alias = "py")]
    Python,
    /// JavaScript: a script for Node, or a module for the dialect xcsh
    #[value(alias = "js", alias = "javascript")]
    Node,
    /// A module, which hookrail runs itself
    #[value(alias = "ts")]
    Typescript,
    /// A program that uses the crate `hookrail-hook`
    Rust,
}

impl From<HookLanguage> for author::HookLanguage {
    fn from(language: HookLanguage) -> Self {
        match language {
            HookLanguage::Bash => Self::Bash,
            HookLanguage::Python => Self::Python,
            HookLanguage::Node => Self::Node,
            HookLanguage::Typescript => Self::Typescript,
            HookLanguage::Rust => Self::Rust,
        }
    }
}

/// What a new hook is.
#[derive(Clone, Debug, Args)]
pub(crate) struct TemplateArgs {
    /// The hook system that the hook is written for [default: xcsh for TypeScript, else llxprt]
    #[arg(long, value_name = "DIALECT", value_parser = dialect_parser())]
    pub(crate) dialect: Option<DialectId>,
    /// The language [default: bash]
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) lang: Option<HookLanguage>,
    /// The event, by its name in any dialect or agent; `hookrail reference events` describes all [default: before-tool]
    #[arg(long, value_name = "EVENT", hide_possible_values = true, value_parser = event_parser())]
    pub(crate) event: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct NewArgs {
    /// The hook's name: lower-case letters, digits and dashes
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The rules and recipes [default: list them all]
    #[arg(value_name = "NAME", value_parser = recipe_parser(), hide_possible_values = true)]
    pub(crate) recipes: Vec<String>,
    /// List the recipes, as without a name
    #[arg(long, hide = true, conflicts_with = "recipes")]
    pub(crate) list: bool,
    /// Where rules are written: for every project of the user, or for this project
    #[arg(long, value_enum, value_name = "SCOPE", default_value = "project")]
    pub(crate) scope: RuleScopeArg,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// Which file rules are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RuleScopeArg {
    /// The user's: counts everywhere and needs no grant
    User,
    /// The project's: needs a grant
    Project,
}

/// The languages that there are types for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TypesLanguage {
    /// For modules: `pi.d.ts`, `world.d.ts` and a `tsconfig.json`
    #[value(alias = "ts")]
    Typescript,
    /// For command hooks in Node: `hook-types.d.ts`
    Node,
    /// For command hooks in Python: `hook_types.pyi`, dictionaries with types
    Python,
}

impl From<TypesLanguage> for author::TypesLanguage {
    fn from(language: TypesLanguage) -> Self {
        match language {
            TypesLanguage::Typescript => Self::Typescript,
            TypesLanguage::Node => Self::Node,
            TypesLanguage::Python => Self::Python,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TypesArgs {
    /// The language [default: those of the project's hooks, else typescript]
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) lang: Option<TypesLanguage>,
    /// The directory to write to [default: .xcsh/hooks of the project for TypeScript, else .llxprt/hooks]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that `hookrail types` did not write
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// The recipes, which shells complete and the parser corrects.
fn recipe_parser() -> PossibleValuesParser {
    let rules = READY.iter().map(|rule| (rule.name, rule.about));
    let named = rules.chain(author::recipes()).map(|(name, about)| PossibleValue::new(name).help(about));
    // Names of hooks that rules replaced are understood, and listed nowhere.
    let replaced = REPLACED.iter().map(|(name, _)| PossibleValue::new(*name).hide(true));
    PossibleValuesParser::new(named.chain(replaced))
}

/// Every name of every event, so that shells complete them and the parser corrects them. Names that only other agents have
/// are accepted too: the command translates them.
fn event_parser() -> EventNameParser {
    let mut names: Vec<(&'static str, EventKind)> = Vec::new();
    for kind in EventKind::all() {
        let columns = DialectId::CONFIGURED.into_iter().filter_map(|dialect| kind.spec().column(dialect));
        for name in columns.map(|column| column.name).chain([kind.name()]) {
            if !names.iter().any(|(known, _)| *known == name) {
                names.push((name, kind));
            }
        }
    }
    let values = names.into_iter().map(|(name, kind)| PossibleValue::new(name).help(kind.spec().fires));
    EventNameParser(PossibleValuesParser::new(values))
}

#[derive(Clone)]
struct EventNameParser(PossibleValuesParser);

impl TypedValueParser for EventNameParser {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let foreign = value.to_str().filter(|name| in_other_words(name).is_some());
        foreign.map_or_else(|| self.0.parse_ref(command, arg, value), |name| Ok(name.to_owned()))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}
