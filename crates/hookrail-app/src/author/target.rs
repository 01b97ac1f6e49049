//! What a new hook is written for: a dialect that there are templates for, and an event under the name it has there.

use crate::event_draft::find_kind;
use crate::failure::{Failure, Result};
use crate::lint::in_other_words;
use hookrail::dialect::find_event;
use hookrail::event::DialectEvent;
use hookrail::{DialectId, EventKind};

use super::{HookLanguage, TemplateChoice};

/// The dialects that there are templates for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateDialect {
    /// Commands in a settings file.
    Settings,
    /// Commands of a plugin.
    Plugin,
    /// Modules.
    Module,
}

impl TemplateDialect {
    /// Returns the dialect that was named, or the one that the language is for.
    pub(super) fn chosen(choice: TemplateChoice<'_>) -> Result<Self> {
        match (choice.dialect, choice.language) {
            (None, HookLanguage::Typescript) => Ok(Self::Module),
            (None, HookLanguage::Bash | HookLanguage::Python | HookLanguage::Node | HookLanguage::Rust) => {
                Ok(Self::Settings)
            }
            (Some(DialectId::Llxprt), _) => Ok(Self::Settings),
            (Some(DialectId::Xcode), _) => Ok(Self::Plugin),
            (Some(DialectId::Xcsh), _) => Ok(Self::Module),
            (Some(other), _) => Err(Failure::new(format!("there is no template for the dialect {}", other.name()))
                .hint("use `--dialect llxprt`, `--dialect xcode` or `--dialect xcsh`")),
        }
    }

    const ALL: [Self; 3] = [Self::Settings, Self::Plugin, Self::Module];

    pub(super) fn id(self) -> DialectId {
        match self {
            Self::Settings => DialectId::Llxprt,
            Self::Plugin => DialectId::Xcode,
            Self::Module => DialectId::Xcsh,
        }
    }

    /// Checks that hooks of the dialect can be written in a language.
    pub(super) fn check_language(self, language: HookLanguage) -> Result<()> {
        match (self, language) {
            (Self::Settings | Self::Plugin, HookLanguage::Typescript) => Err(Failure::new(format!(
                "a hook of the dialect {} is a command, and hookrail runs TypeScript only as a module",
                self.id().name()
            ))
            .hint("leave out `--dialect` to write a module, or use `--lang node`")),
            (Self::Module, HookLanguage::Bash | HookLanguage::Python | HookLanguage::Rust) => {
                Err(Failure::new("a hook of the dialect xcsh is a JavaScript or TypeScript module")
                    .hint("use `--lang typescript` or `--lang node`, or another dialect"))
            }
            (
                Self::Settings | Self::Plugin,
                HookLanguage::Bash | HookLanguage::Python | HookLanguage::Node | HookLanguage::Rust,
            )
            | (Self::Module, HookLanguage::Node | HookLanguage::Typescript) => Ok(()),
        }
    }

    /// Finds an event by any name that a dialect or an agent has for it.
    pub(super) fn find_event(self, name: &str) -> Result<TemplateEvent> {
        let foreign = in_other_words(name);
        let kind = match (find_event(name), &foreign) {
            (Some(kind), _) => kind,
            (None, Some((kind, _))) => *kind,
            (None, None) => find_kind(name)?,
        };
        let whose = foreign.map(|(_, whose)| format!(" of {whose}")).unwrap_or_default();
        let Some(column) = kind.spec().column(self.id()) else { return Err(self.without_event(name, &whose, kind)) };
        let is_own = name == column.name || name == kind.name();
        let translated = (!is_own).then(|| format!("`{name}`{whose} is called `{}` here", column.name));
        Ok(TemplateEvent { kind, column, translated })
    }

    fn without_event(self, name: &str, whose: &str, kind: EventKind) -> Failure {
        let failure = Failure::new(format!("the dialect {} has no event `{name}`", self.id().name()));
        let others = Self::ALL.into_iter().map(Self::id).filter_map(|dialect| {
            let column = kind.spec().column(dialect)?;
            Some(format!("`{}` with `--dialect {}`", column.name, dialect.name()))
        });
        let others: Vec<String> = others.collect();
        let failure = match others.is_empty() {
            true => failure,
            false => failure.hint(format!("`{name}`{whose} is {}", others.join(", or "))),
        };
        let columns = EventKind::all().filter_map(|kind| kind.spec().column(self.id()));
        let names: Vec<&str> = columns.map(|column| column.name).collect();
        failure.hint(format!("its events are {}", names.join(", ")))
    }
}

/// The event of a new hook.
#[derive(Debug)]
pub(super) struct TemplateEvent {
    pub(super) kind: EventKind,
    pub(super) column: &'static DialectEvent,
    /// What to tell a user who named the event as another agent does.
    pub(super) translated: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_other_agents_are_translated() {
        for (dialect, name, here) in [
            (TemplateDialect::Settings, "Stop", "AfterAgent"),
            (TemplateDialect::Settings, "PreToolUse", "BeforeTool"),
            (TemplateDialect::Settings, "tool_call", "BeforeTool"),
            (TemplateDialect::Plugin, "BeforeTool", "PreToolUse"),
            (TemplateDialect::Module, "Stop", "agent_end"),
        ] {
            let event = dialect.find_event(name).unwrap();
            assert_eq!(event.column.name, here);
            let told = event.translated.unwrap();
            assert!(told.starts_with(&format!("`{name}` of ")) && told.ends_with(&format!("is called `{here}` here")));
        }
        for (dialect, name) in [
            (TemplateDialect::Settings, "BeforeTool"),
            (TemplateDialect::Settings, "before-tool"),
            (TemplateDialect::Plugin, "PreToolUse"),
        ] {
            assert_eq!(dialect.find_event(name).unwrap().translated, None, "{name}");
        }
    }

    #[test]
    fn an_event_that_the_dialect_does_not_have_is_explained() {
        let failure = TemplateDialect::Plugin.find_event("Stop").unwrap_err();
        assert_eq!(failure.message(), "the dialect xcode has no event `Stop`");
        let hint = failure.first_hint().unwrap();
        assert!(hint.starts_with("`Stop` of Claude Code"), "{hint}");
        assert!(
            hint.ends_with("is `AfterAgent` with `--dialect llxprt`, or `agent_end` with `--dialect xcsh`"),
            "{hint}"
        );
    }
}
