//! Mistakes of modules that are seen in their text. A module that is trusted was loaded, which reports most of them.

use hookrail::hook::Action;
use hookrail::sources::Location;
use hookrail::{Code, Diagnostic, DialectId, Hook, Level};
use hookrail_js::{MistakeKind, ModuleMistake, find_module_mistakes};

use super::Finding;
use super::context::{HookContext, LintContext};
use super::events::in_other_words;
use super::syntax::position_in;

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    context.active().flat_map(|seen| of_hook(context, seen)).collect()
}

/// The mistakes of one hook's module.
pub(super) fn of_hook(context: &LintContext<'_>, seen: &HookContext<'_>) -> Vec<Finding> {
    let Action::Module(path) = &seen.hook.action else { return Vec::new() };
    let Some(text) = context.text(path) else { return Vec::new() };
    let was_loaded = seen.hook.trust.allows();
    let shows_only_here = |mistake: &ModuleMistake| match mistake.kind {
        MistakeKind::Api | MistakeKind::Result => true,
        MistakeKind::Syntax
        | MistakeKind::Load
        | MistakeKind::Registration
        | MistakeKind::Unsupported
        | MistakeKind::Event { .. } => !was_loaded,
    };
    let mistakes = find_module_mistakes(path, &text).into_iter().filter(shows_only_here);
    mistakes.map(|mistake| Finding::new(diagnostic(context, seen.hook, mistake))).collect()
}

fn diagnostic(context: &LintContext<'_>, hook: &Hook, mistake: ModuleMistake) -> Diagnostic {
    let ModuleMistake { kind, message, mut hint, place } = mistake;
    let code = match &kind {
        MistakeKind::Syntax => Code::ScriptSyntax,
        MistakeKind::Load => Code::ModuleLoad,
        MistakeKind::Registration => Code::ModuleRegistration,
        MistakeKind::Api => Code::ModuleApi,
        MistakeKind::Unsupported => Code::ModuleUnsupported,
        MistakeKind::Event { .. } => Code::ModuleEvent,
        MistakeKind::Result => Code::AnswerUnknownField,
    };
    if let MistakeKind::Event { name } = &kind {
        hint = module_event_hint(name).or(hint);
    }
    let location = match context.text(&place.file) {
        Some(text) => position_in(&place.file, &text, place.line, place.column),
        None => Location::whole_file(&place.file),
    };
    let mut found = Diagnostic::new(code, format!("hook `{hook}` {message}")).at(location);
    // A result without a meaning is a guard that blocks nothing, as it is when the module runs.
    if kind == MistakeKind::Result {
        found.level = Level::Warning;
    }
    found.hint(hint.unwrap_or_else(|| "correct the file at this place".to_owned()))
}

/// Returns what a module has to write instead of an event of another agent.
pub(super) fn module_event_hint(name: &str) -> Option<String> {
    let (event, whose) = in_other_words(name)?;
    let column = event.spec().column(DialectId::Xcsh)?;
    Some(format!("write `{}`; `{name}` is an event of {whose}", column.name))
}
