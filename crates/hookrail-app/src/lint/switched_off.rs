//! Hooks that settings switch off, and names in lists of disabled hooks that mean no hook.
//!
//! Whether that is meant is not known. A guard that is off lets everything pass, so a strict check fails on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::hook::Enablement;
use hookrail::sources::{Location, nearest};
use hookrail::{Code, Diagnostic, DialectId, Hook};

use super::Finding;
use super::context::LintContext;
use super::switches::{ListedName, Switches};

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let files: Vec<(PathBuf, Switches)> = context
        .settings_files()
        .filter_map(|file| Some((file.to_owned(), Switches::read(&context.text(file)?))))
        .collect();
    let mut found: Vec<Finding> = Vec::from_iter(by_environment());
    for (why, hooks) in switched_off(context) {
        let guards: Vec<&Hook> = hooks.iter().copied().filter(|hook| is_guard(hook)).collect();
        let others: Vec<&Hook> = hooks.iter().copied().filter(|hook| !is_guard(hook)).collect();
        for (code, hooks) in [(Code::GuardSwitchedOff, guards), (Code::HookSwitchedOff, others)] {
            let Some(first) = hooks.first() else { continue };
            let message = match (code, hooks.as_slice()) {
                (Code::GuardSwitchedOff, [guard]) => format!("guard `{guard}` never runs: it is switched off by {why}"),
                (_, [hook]) => format!("hook `{hook}` never runs: it is switched off by {why}"),
                (Code::GuardSwitchedOff, all) => format!("{} guards never run: {why} switches them off", all.len()),
                (_, all) => format!("{} hooks never run: {why} switches them off", all.len()),
            };
            let place = place_of(context, &files, &why, first);
            let (place, hint) = match place {
                Some((place, hint)) => (place, hint),
                None => (first.origin.location.clone(), "switch it on again, or remove its entry"),
            };
            found.push(Finding::new(Diagnostic::new(code, message).at(place).hint(hint)));
        }
    }
    let lists = files.iter().flat_map(|(file, switches)| switches.disabled.iter().map(move |name| (file, name)));
    found.extend(lists.filter_map(|(file, name)| unknown_name(context, file, name)));
    found
}

/// The variable that turns hooks off for the programs that inherit it, such as this one and an agent.
fn by_environment() -> Option<Finding> {
    let is_set = std::env::var_os("HOOKRAIL_DISABLE").is_some_and(|value| value == "1");
    let message = "`HOOKRAIL_DISABLE=1` in the environment turns off all hooks but those of the system layer";
    let diagnostic = Diagnostic::new(Code::HooksDisabled, message);
    is_set.then(|| Finding::new(diagnostic.hint("run `unset HOOKRAIL_DISABLE`")))
}

/// The hooks that are off, by what switches them off, in the order of the hooks.
fn switched_off<'s>(context: &'s LintContext<'_>) -> Vec<(Arc<str>, Vec<&'s Hook>)> {
    let mut by_reason: Vec<(Arc<str>, Vec<&Hook>)> = Vec::new();
    for seen in &context.hooks {
        let why = match &seen.hook.enablement {
            // Modules that stand for each other have a lint of their own.
            Enablement::Disabled(why) if seen.hook.dialect != DialectId::Xcsh => why,
            Enablement::SwitchedOff(why) => why,
            Enablement::Disabled(_)
            | Enablement::Active
            | Enablement::NeverSwitchedOn
            | Enablement::OwnBridge
            | Enablement::RunByAgent => continue,
        };
        match by_reason.iter_mut().find(|(known, _)| known == why) {
            Some((_, hooks)) => hooks.push(seen.hook),
            None => by_reason.push((Arc::clone(why), vec![seen.hook])),
        }
    }
    by_reason
}

fn is_guard(hook: &Hook) -> bool {
    hook.event.spec().gated_by(hook.dialect)
}

/// The place of the setting that switches a hook off, and what to do there.
fn place_of(
    context: &LintContext<'_>,
    files: &[(PathBuf, Switches)],
    why: &str,
    hook: &Hook,
) -> Option<(Location, &'static str)> {
    let (file, switches) = files.iter().find(|(file, _)| why.contains(&*file.to_string_lossy()))?;
    let text = context.text(file)?;
    let at = |span: &std::ops::Range<usize>| Location::in_text(file, &text, span.clone());
    if let Enablement::SwitchedOff(_) = hook.enablement {
        let off = switches.off.iter().find(|(key, _)| why.starts_with(key)).or(switches.off.first())?;
        return Some((at(&off.1), "write `true`, or remove the hooks"));
    }
    let owner = hook.owner.as_ref().map(|owner| owner.id.as_str());
    let is_meant = |listed: &&ListedName| listed.name == *hook.label || Some(listed.name.as_str()) == owner;
    if let Some(listed) = switches.disabled.iter().find(is_meant) {
        return Some((at(&listed.span), "remove it from the list, or remove the hook"));
    }
    let plugin = switches.plugins_off.iter().find(is_meant)?;
    Some((at(&plugin.span), "run `hookrail plugin enable`, or uninstall the plugin"))
}

/// Reports a name of a list that no hook has. A list of the user may mean a hook of another project, so that of the user
/// has to be close to the name of a hook here.
fn unknown_name(context: &LintContext<'_>, file: &Path, listed: &ListedName) -> Option<Finding> {
    let labels =
        || context.hooks.iter().filter(|seen| seen.hook.dialect == DialectId::Llxprt).map(|seen| &*seen.hook.label);
    if labels().any(|label| label == listed.name) {
        return None;
    }
    let meant = nearest(&listed.name, labels());
    let is_of_project = file.starts_with(context.root);
    if meant.is_none() && !is_of_project {
        return None;
    }
    let text = context.text(file)?;
    let message = format!("`{}` is on the list of disabled hooks, and no hook has this name", listed.name);
    let diagnostic =
        Diagnostic::new(Code::DisabledUnknown, message).at(Location::in_text(file, &text, listed.span.clone()));
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "remove it; the name of a hook is its `name`, else its command".to_owned(),
    };
    Some(Finding::new(diagnostic.hint(hint)))
}
