//! A row of the tables.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::role::{Operands, Role};
use crate::facts::{GitFact, Why};

/// A row as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RawRow {
    pub(super) names: String,
    pub(super) sub: Option<String>,
    #[serde(default)]
    valued: String,
    #[serde(default)]
    attached: String,
    #[serde(default)]
    double: String,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    operands: String,
    #[serde(default)]
    when: Vec<RawWhen>,
    #[serde(default)]
    recursive: String,
    bare: Option<String>,
    #[serde(default)]
    stops: bool,
    #[serde(default)]
    long_dash: bool,
    #[serde(default)]
    tracked: bool,
    #[serde(default)]
    changes: bool,
    /// Operands that begin with `+` are commands of an editor.
    #[serde(default)]
    plus: bool,
    executes: Option<String>,
    network: Option<String>,
    reads: Option<String>,
    writes: Option<String>,
    deletes: Option<String>,
    unknown: Option<String>,
    #[serde(default)]
    env_dump: bool,
    input_code: Option<String>,
    #[serde(default)]
    reveals: String,
    #[serde(default)]
    prints: Option<Printed>,
    #[serde(default)]
    lists: String,
    #[serde(default)]
    narrows: String,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
    #[serde(default)]
    same: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawWhen {
    has: Option<String>,
    lacks: Option<String>,
    /// There are no operands.
    #[serde(default)]
    bare: bool,
    operands: Option<String>,
    #[serde(default)]
    nothing: bool,
    #[serde(default)]
    env_dump: bool,
    unknown: Option<String>,
    network: Option<String>,
    reads: Option<String>,
    writes: Option<String>,
    deletes: Option<String>,
    input_code: Option<String>,
    /// What operands are if the code stands in an option.
    files: Option<String>,
}

/// What is known of the text that a program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Printed {
    /// It has no slash, if no argument has one.
    Name,
}

/// What a program's options and operands are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Options with a value.
    pub(crate) valued: String,
    /// Options whose value can only be attached.
    pub(crate) attached: String,
    /// Long options with two values.
    pub(crate) double: String,
    pub(crate) options: Vec<(Vec<String>, Role)>,
    pub(crate) operands: Operands,
    pub(crate) when: Vec<When>,
    pub(crate) recursive: Recursive,
    /// The operand that is meant if there is none.
    pub(crate) bare: Option<String>,
    /// Options end at the first operand.
    pub(crate) stops: bool,
    /// Options are long with one dash: `-connect`.
    pub(crate) long_dash: bool,
    /// What is below a folder is what a repository tracks.
    pub(crate) tracked: bool,
    /// Whether what is below a folder changes too, for the role `write`.
    pub(crate) changes: bool,
    /// A kind and a name of a task: `make:{1}`.
    pub(crate) executes: Option<(String, String)>,
    pub(crate) plus: bool,
    pub(crate) fixed: FixedFacts,
    pub(crate) unknown: Option<Why>,
    pub(crate) env_dump: bool,
    /// The language of code that is read from standard input if the line has none.
    pub(crate) input_code: Option<String>,
    /// Options with which hidden and ignored files are read too.
    pub(crate) reveals: Vec<String>,
    pub(crate) prints: Option<Printed>,
    /// Options with which it prints the names of the files that it reads.
    pub(crate) lists: Vec<String>,
    /// Options with a pattern for the names of the files that are read below a folder.
    pub(crate) narrows: Vec<String>,
    /// Names of options that mean the same.
    pub(crate) same: Vec<Vec<String>>,
    /// Arguments that are a fact of git.
    pub(crate) facts: Vec<(String, GitFact)>,
}

/// Which options make a command recursive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Recursive {
    #[default]
    Never,
    Always,
    With(Vec<String>),
}

/// What is different with some options.
#[derive(Clone, Debug, Default)]
pub(crate) struct When {
    /// One of these options is given.
    pub(crate) has: Vec<String>,
    /// None of these options is given.
    pub(crate) lacks: Vec<String>,
    /// There are no operands.
    pub(crate) is_bare: bool,
    pub(crate) operands: Option<Operands>,
    /// The command does nothing.
    pub(crate) nothing: bool,
    pub(crate) env_dump: bool,
    pub(crate) unknown: Option<Why>,
    pub(crate) fixed: FixedFacts,
    pub(crate) input_code: Option<String>,
    pub(crate) files: Option<Operands>,
}

/// What a command does whatever its operands are. `{1}` in a path is the first operand.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedFacts {
    pub(crate) network: Vec<String>,
    pub(crate) reads: Vec<String>,
    pub(crate) writes: Vec<String>,
    pub(crate) deletes: Vec<String>,
}

impl FixedFacts {
    fn read(lists: [Option<&str>; 4]) -> Self {
        let [network, reads, writes, deletes] = lists.map(|text| list(text.unwrap_or_default()));
        Self { network, reads, writes, deletes }
    }
}

fn reason(key: Option<&str>) -> Result<Option<Why>, String> {
    key.map(|key| Why::named(key).ok_or_else(|| format!("the reason `{key}` does not exist"))).transpose()
}

fn list(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

impl Row {
    pub(super) fn read(raw: RawRow) -> Result<Self, String> {
        let unknown = reason(raw.unknown.as_deref())?;
        let mut facts = Vec::new();
        for (argument, fact) in raw.arguments {
            facts.push((argument, GitFact::named(&fact).ok_or_else(|| format!("the fact `{fact}` does not exist"))?));
        }
        let mut options = Vec::new();
        let mut valued = list(&raw.valued);
        for (names, role) in &raw.options {
            let names = list(names);
            valued.extend(names.iter().cloned());
            options.push((names, Role::of_option(role)?));
        }
        let mut when = Vec::new();
        for raw in raw.when {
            when.push(When {
                has: list(raw.has.as_deref().unwrap_or_default()),
                lacks: list(raw.lacks.as_deref().unwrap_or_default()),
                is_bare: raw.bare,
                operands: raw.operands.as_deref().map(Operands::read).transpose()?,
                nothing: raw.nothing,
                env_dump: raw.env_dump,
                unknown: reason(raw.unknown.as_deref())?,
                fixed: FixedFacts::read([&raw.network, &raw.reads, &raw.writes, &raw.deletes].map(Option::as_deref)),
                input_code: raw.input_code,
                files: raw.files.as_deref().map(Operands::read).transpose()?,
            });
        }
        let attached = list(&raw.attached);
        valued.retain(|name| !attached.contains(name));
        Ok(Self {
            valued: valued.join(" "),
            attached: attached.join(" "),
            double: raw.double,
            options,
            operands: Operands::read(&raw.operands)?,
            when,
            recursive: match raw.recursive.as_str() {
                "" => Recursive::Never,
                "always" => Recursive::Always,
                other => Recursive::With(list(other)),
            },
            bare: raw.bare,
            stops: raw.stops,
            long_dash: raw.long_dash,
            tracked: raw.tracked,
            changes: raw.changes,
            executes: raw
                .executes
                .as_deref()
                .and_then(|text| text.split_once(':'))
                .map(|(kind, name)| (kind.to_owned(), name.to_owned())),
            plus: raw.plus,
            fixed: FixedFacts::read([&raw.network, &raw.reads, &raw.writes, &raw.deletes].map(Option::as_deref)),
            unknown,
            env_dump: raw.env_dump,
            input_code: raw.input_code,
            reveals: list(&raw.reveals),
            prints: raw.prints,
            lists: list(&raw.lists),
            narrows: list(&raw.narrows),
            same: raw.same.split(',').map(list).filter(|group| !group.is_empty()).collect(),
            facts,
        })
    }
}
