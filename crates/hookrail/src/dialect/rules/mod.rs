//! Rules: guards without a program. What a rule says is decided when the event is planned; nothing is started.

mod events;
mod load;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{
    Dialect, DialectId, Flow, FoldContext, Folded, LoadContext, LoadMemory, Loaded, Protocol, Reply, failure_effects,
};
use crate::event::{DialectEvent, Event, EventKind, Stage};
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::matcher::Matcher;
use crate::outcome::{Effects, EndKind};
use crate::run::{Environment, RawEnd, RunEnd, RunInput};

pub(crate) struct Rules;

impl Dialect for Rules {
    fn column(&self, kind: EventKind) -> Option<&'static DialectEvent> {
        events::column(kind)
    }

    fn load(&self, context: &mut LoadContext<'_, '_>, _memory: &mut LoadMemory) -> Loaded {
        load::load(context)
    }

    fn machine_places(&self, _environment: &Environment) -> Vec<PathBuf> {
        load::MACHINE_FILES.map(PathBuf::from).to_vec()
    }

    /// A rule has conditions and no matcher.
    fn matcher(&self, _kind: EventKind, _pattern: &str) -> Matcher {
        Matcher::everything()
    }
}

impl Protocol for Rules {
    const ID: DialectId = DialectId::Rules;

    type Answer = Effects;

    const GRACE: Duration = Duration::ZERO;

    fn input(_hook: &Hook, _event: &Event, _before: &[Reply<Effects>]) -> RunInput {
        Arc::<[u8]>::from([]).into()
    }

    fn read(hook: &Arc<Hook>, on_failure: OnFailure, _kind: EventKind, end: &RunEnd) -> Reply<Effects> {
        let failed = |kind: EndKind| {
            let mut effects = failure_effects(hook, on_failure, kind, end.how());
            if let (RawEnd::Unusable(why), Some(effects)) = (end.how(), &mut effects) {
                effects.reason = Some(unusable(hook, why));
            }
            (kind, effects)
        };
        let (kind, answer) = match (end.how(), end.failure()) {
            (RawEnd::Decided(effects), _) => (EndKind::Answered, Some((**effects).clone())),
            (_, Some(failure)) => failed(failure),
            // What only a runner returns is no answer of a rule.
            (_, None) => failed(EndKind::BadOutput),
        };
        let decision = answer.as_ref().and_then(|effects| effects.decision);
        Reply::new(hook, end, kind, decision, answer)
    }

    /// No rule rewrites anything.
    fn merge_tool_input(_answer: &mut Effects, _merge: &dyn Fn(&Json) -> Option<Json>) {}

    fn apply_answer(_event: &mut Event, _stage: Stage, _reply: &Reply<Effects>) -> Flow {
        Flow::Continue
    }

    fn fold(_context: &FoldContext<'_>, _event: &mut Event, replies: &[Reply<Effects>]) -> Folded {
        let mut folded = Folded::default();
        for effects in replies.iter().filter_map(|reply| reply.answer.clone()) {
            folded.effects.absorb(effects);
        }
        folded
    }
}

/// The reason of a rule that cannot be used: where it is, and what shows its mistakes.
fn unusable(hook: &Hook, why: &str) -> String {
    let place = &hook.origin.location;
    format!("rule `{hook}` cannot be used ({}:{}): {why}; see `hookrail rules check`", place.file.display(), place.line)
}
