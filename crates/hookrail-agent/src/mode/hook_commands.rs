//! `/hooks`: lists hooks, enables and disables them, reads the configuration again.
//!
//! What the user disables is kept in the user's own list of disabled hooks, where the other commands find it too. Hooks of
//! plugins and modules have no such list, so they are disabled for this run only.

use std::path::PathBuf;
use std::sync::Arc;

use hookrail::dialect::llxprt::set_disabled;
use hookrail::hook::{Authority, Enablement};
use hookrail::{DialectId, Hook};

use crate::agent::ReferenceAgent;
use crate::text::hook_name;

/// What a command shows.
pub(super) enum HooksOutput {
    Lines(Vec<String>),
    Note(String),
    Error(String),
}

pub(super) fn run(agent: &ReferenceAgent, words: &[&str]) -> HooksOutput {
    match words {
        [] | ["list"] => {
            HooksOutput::Lines(agent.hooks().snapshot().hooks().iter().map(|hook| line(agent, hook)).collect())
        }
        ["reload"] => {
            agent.reload_hooks();
            HooksOutput::Note(match agent.hooks().snapshot().hooks().len() {
                1 => "the configuration was read again: 1 hook".to_owned(),
                count => format!("the configuration was read again: {count} hooks"),
            })
        }
        ["disable-all"] => {
            let labels = labels(agent, |_| true);
            match switch(agent, &labels, Switch::Off) {
                Ok(_) => HooksOutput::Note(format!("{} disabled", counted(labels.len()))),
                Err(why) => HooksOutput::Error(why),
            }
        }
        ["enable-all"] => {
            let labels = labels(agent, |hook| matches!(hook.enablement, Enablement::Disabled(_)));
            match switch(agent, &labels, Switch::On) {
                Ok(_) => HooksOutput::Note(format!("{} enabled", counted(labels.len()))),
                Err(why) => HooksOutput::Error(why),
            }
        }
        ["disable", name @ ..] if !name.is_empty() => one(agent, &name.join(" "), Switch::Off),
        ["enable", name @ ..] if !name.is_empty() => one(agent, &name.join(" "), Switch::On),
        _ => HooksOutput::Error(
            "`/hooks`, `/hooks enable NAME`, `/hooks disable NAME`, `/hooks enable-all`, `/hooks disable-all` or `/hooks reload`"
                .to_owned(),
        ),
    }
}

/// The direction of a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// How long a switch lasts.
enum Kept {
    Always,
    ThisRun,
}

fn one(agent: &ReferenceAgent, name: &str, to: Switch) -> HooksOutput {
    let named = |hook: &Hook| &*hook.label == name || hook_name(&hook.label, agent.hooks().project()) == name;
    let labels = labels(agent, named);
    if labels.is_empty() {
        let word = if to == Switch::Off { "disabled" } else { "enabled" };
        return HooksOutput::Error(format!("there is no hook `{name}` that can be {word} here"));
    }
    let is_disabled = |hook: &Hook| named(hook) && matches!(hook.enablement, Enablement::Disabled(_));
    if to == Switch::On && !agent.hooks().snapshot().hooks().iter().any(|hook| is_disabled(hook)) {
        return HooksOutput::Error(format!("`{name}` is not disabled"));
    }
    match (switch(agent, &labels, to), to) {
        (Err(why), _) => HooksOutput::Error(why),
        (Ok(Kept::Always), Switch::Off) => HooksOutput::Note(format!("{name} is disabled")),
        (Ok(Kept::ThisRun), Switch::Off) => HooksOutput::Note(format!("{name} is disabled for this run")),
        (Ok(_), Switch::On) => match agent.hooks().snapshot().hooks().iter().find(|hook| is_disabled(hook)) {
            Some(hook) => HooksOutput::Error(format!("`{name}` stays disabled: {}", state(hook))),
            None => HooksOutput::Note(format!("{name} is enabled again")),
        },
    }
}

/// Returns the labels of hooks that the user may switch, with the dialect of each. A hook of the system layer stays on.
fn labels(agent: &ReferenceAgent, wanted: impl Fn(&Hook) -> bool) -> Vec<(Arc<str>, DialectId)> {
    let snapshot = agent.hooks().snapshot();
    let mut labels: Vec<(Arc<str>, DialectId)> = Vec::new();
    for hook in snapshot.hooks().iter().filter(|hook| hook.authority() != Authority::System && wanted(hook)) {
        if !labels.iter().any(|(label, _)| *label == hook.label) {
            labels.push((Arc::clone(&hook.label), hook.dialect));
        }
    }
    labels
}

fn switch(agent: &ReferenceAgent, labels: &[(Arc<str>, DialectId)], to: Switch) -> Result<Kept, String> {
    let kept: Vec<&str> =
        labels.iter().filter(|(_, dialect)| *dialect == DialectId::Llxprt).map(|(label, _)| &**label).collect();
    if !kept.is_empty() {
        let settings = user_settings().ok_or("settings cannot be stored: there is no home directory")?;
        set_disabled(&settings, &kept, to == Switch::Off).map_err(|error| error.to_string())?;
    }
    for (label, dialect) in labels {
        // One that is in the user's list needs no second switch, which would keep it off when the list changes.
        if to == Switch::On || *dialect != DialectId::Llxprt {
            match to {
                Switch::On => drop(agent.hooks().enable_hook(label)),
                Switch::Off => drop(agent.hooks().disable_hook(label)),
            }
        }
    }
    agent.refresh_hooks();
    Ok(if kept.len() == labels.len() { Kept::Always } else { Kept::ThisRun })
}

/// Returns the settings file of the user.
fn user_settings() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(home.join(".llxprt/settings.json"))
}

fn counted(hooks: usize) -> String {
    if hooks == 1 { "1 hook is".to_owned() } else { format!("{hooks} hooks are") }
}

fn line(agent: &ReferenceAgent, hook: &Hook) -> String {
    let name = hook_name(&hook.label, agent.hooks().project());
    format!("{name}  {}  {}  {}  {}", hook.event, hook.dialect.name(), hook.origin.kind.name(), state(hook))
}

fn state(hook: &Hook) -> String {
    match &hook.enablement {
        _ if !hook.trust.allows() => match hook.edit() {
            Some(edit) => format!("untrusted ({edit})"),
            None => "untrusted".to_owned(),
        },
        Enablement::Active => "on".to_owned(),
        Enablement::Disabled(by) => format!("off (disabled by {by})"),
        Enablement::SwitchedOff(by) => format!("off (switched off by {by})"),
        Enablement::NeverSwitchedOn => "off (no settings file enables hooks)".to_owned(),
        Enablement::OwnBridge => "off (calls `hookrail bridge`)".to_owned(),
        Enablement::RunByAgent => "off (the agent runs it itself)".to_owned(),
    }
}
