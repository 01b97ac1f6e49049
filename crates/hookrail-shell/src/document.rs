//! The document of `hookrail accesses --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::facts::{Accesses, Fact, PathUse};
use crate::syntax::Span;

/// What a line may do, as a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessDocument {
    /// The commands that may run.
    pub commands: Vec<CommandDocument>,
    /// Files whose contents are read.
    pub reads: Vec<PathDocument>,
    /// Files that are written.
    pub writes: Vec<PathDocument>,
    /// Files that are deleted.
    pub deletes: Vec<PathDocument>,
    /// Code that is run.
    pub executes: Vec<ExecutedDocument>,
    /// Hosts that are connected to.
    pub network: Vec<HostDocument>,
    /// What is done to repositories.
    pub git: BTreeMap<&'static str, bool>,
    /// What flows from one command to another.
    pub flow: Vec<FlowDocument>,
    /// Whether all variables are printed.
    pub env_dump: bool,
    /// Which facts are a lower bound, and why.
    pub unknown: Vec<UnknownDocument>,
}

/// A range of bytes: its first one, and the one behind its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SpanDocument(pub u32, pub u32);

impl From<Span> for SpanDocument {
    fn from(span: Span) -> Self {
        Self(span.start, span.end)
    }
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandDocument {
    program: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subcommand: Option<String>,
    args: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    via: Vec<String>,
    span: SpanDocument,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathDocument {
    path: String,
    span: SpanDocument,
    command: Option<usize>,
}

/// Code that is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExecutedDocument {
    what: String,
    span: SpanDocument,
    command: Option<usize>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HostDocument {
    host: String,
    span: SpanDocument,
    command: Option<usize>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowDocument {
    kind: &'static str,
    span: SpanDocument,
}

/// Facts that are a lower bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownDocument {
    class: &'static str,
    why: &'static str,
    facts: Vec<&'static str>,
    span: SpanDocument,
}

impl From<&Accesses> for AccessDocument {
    fn from(accesses: &Accesses) -> Self {
        let paths = |facts: &[Fact<PathUse>]| {
            let document = |fact: &Fact<PathUse>| PathDocument {
                path: fact.what.path.clone(),
                span: fact.span.into(),
                command: fact.command,
            };
            facts.iter().map(document).collect()
        };
        Self {
            commands: accesses
                .commands
                .iter()
                .map(|command| CommandDocument {
                    program: command.program.clone(),
                    subcommand: command.subcommand.clone(),
                    args: command.args.clone(),
                    via: command.via.clone(),
                    span: command.span.into(),
                })
                .collect(),
            reads: paths(&accesses.reads),
            writes: paths(&accesses.writes),
            deletes: paths(&accesses.deletes),
            executes: accesses
                .executes
                .iter()
                .map(|fact| ExecutedDocument { what: fact.what.text(), span: fact.span.into(), command: fact.command })
                .collect(),
            network: accesses
                .network
                .iter()
                .map(|fact| HostDocument { host: fact.what.text(), span: fact.span.into(), command: fact.command })
                .collect(),
            git: accesses.git.iter().map(|fact| (fact.what.name(), true)).collect(),
            flow: accesses
                .flow
                .iter()
                .map(|flow| FlowDocument { kind: flow.kind.name(), span: flow.span.into() })
                .collect(),
            env_dump: accesses.env_dump.is_some(),
            unknown: accesses
                .unknown
                .iter()
                .map(|unknown| UnknownDocument {
                    class: unknown.why.class().name(),
                    why: unknown.why.text(),
                    facts: unknown.facts.kinds().map(crate::facts::FactKind::name).collect(),
                    span: unknown.span.into(),
                })
                .collect(),
        }
    }
}
