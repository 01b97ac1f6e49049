//! Compares rules with what a call would do. Every condition has three values: it holds, it does not, or it is not known.

use hookrail_shell::{Accesses, Class, Fact, FactKind, NetworkHost, PathUse, Span, Unknown, Why};

use super::condition::{
    ClassSet, Clause, Condition, ContentPattern, HostCondition, PathCondition, PathKey, SessionCondition, Since,
};
use super::explain;
use super::facts::{CallFacts, FactPart};
use super::inline::code_names;
use super::path_pattern::{Fit, Reach, below, fits_text, is_shell_pattern};
use super::rule::{Rule, RuleAnswer, RuleMatch};
use super::scene::{PastKind, RuleScene};
use crate::tools::ToolMeaning;

/// Whether a condition holds.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Yes(Holds),
    No,
    Unknown(Vec<NotKnown>),
}

/// Why a condition holds.
#[derive(Clone, Debug)]
pub(crate) struct Holds {
    /// The key that decided.
    pub(crate) key: &'static str,
    pub(crate) sentence: String,
}

/// Why it is not known whether a condition holds.
#[derive(Clone, Debug)]
pub(crate) struct NotKnown {
    pub(crate) key: &'static str,
    pub(crate) why: Why,
    pub(crate) sentence: String,
    /// Whether the text of code in another language names what the condition is about.
    pub(crate) is_named: bool,
}

/// What a rule says about a call.
#[derive(Clone, Debug)]
pub(crate) enum RuleVerdict {
    Matches(RuleMatch),
    DoesNotMatch,
    /// It does not match, and code in another language is the reason why it is not known.
    NotTold(String),
}

/// What a rule says about a call.
pub(crate) fn judge(rule: &Rule, facts: &CallFacts<'_>) -> RuleVerdict {
    if rule.answer == RuleAnswer::Allow && !facts.is_all_known() {
        return RuleVerdict::DoesNotMatch;
    }
    let found = |answer, key, explanation| {
        RuleVerdict::Matches(RuleMatch {
            answer,
            rule: rule.name.clone(),
            condition: key,
            explanation,
            text: rule.text.clone(),
        })
    };
    match holds(&rule.when, facts) {
        Verdict::Yes(Holds { key, sentence }) => found(rule.answer, key, sentence),
        Verdict::No => RuleVerdict::DoesNotMatch,
        Verdict::Unknown(unknown) => {
            let classes = rule.matched_classes();
            let is_guard = matches!(rule.answer, RuleAnswer::Deny | RuleAnswer::Ask);
            if let Some(known) = unknown.iter().find(|unknown| classes.has(unknown.why)) {
                return found(rule.answer, known.key, known.sentence.clone());
            }
            // What the text of code names is more than nothing. Only a rule for which no class matches does without it.
            let is_asked = |unknown: &&NotKnown| {
                is_guard && classes != ClassSet::NONE && unknown.why.class() == Class::Inline && unknown.is_named
            };
            if let Some(named) = unknown.iter().find(is_asked) {
                return found(RuleAnswer::Ask, named.key, named.sentence.clone());
            }
            match unknown.into_iter().find(|unknown| is_guard && unknown.why.class() == Class::Inline) {
                Some(unknown) => RuleVerdict::NotTold(unknown.sentence),
                None => RuleVerdict::DoesNotMatch,
            }
        }
    }
}

/// Whether a condition holds for a call.
pub(crate) fn holds(condition: &Condition, facts: &CallFacts<'_>) -> Verdict {
    if condition.rules_out(|| facts.kinds()) {
        return Verdict::No;
    }
    let mut unknown = Vec::new();
    for clauses in &condition.alternatives {
        match all_hold(clauses, facts) {
            Verdict::Yes(found) => return Verdict::Yes(found),
            Verdict::No => {}
            Verdict::Unknown(more) => unknown.extend(more),
        }
    }
    if unknown.is_empty() { Verdict::No } else { Verdict::Unknown(unknown) }
}

fn all_hold(clauses: &[Clause], facts: &CallFacts<'_>) -> Verdict {
    let mut decided: Option<Holds> = None;
    let mut unknown: Vec<NotKnown> = Vec::new();
    for clause in clauses {
        match clause_holds(clause, facts) {
            Verdict::No => return Verdict::No,
            // What the call does says more than which tool it is.
            Verdict::Yes(found) => {
                let says_more =
                    decided.as_ref().is_none_or(|known| matches!(known.key, "event" | "tool" | "agent" | "not"));
                if says_more {
                    decided = Some(found);
                }
            }
            Verdict::Unknown(more) => unknown.extend(more),
        }
    }
    match (unknown.is_empty(), decided) {
        (false, _) => Verdict::Unknown(unknown),
        (true, Some(found)) => Verdict::Yes(found),
        (true, None) => Verdict::Yes(Holds { key: "event", sentence: "every such event is meant".to_owned() }),
    }
}

fn clause_holds(clause: &Clause, facts: &CallFacts<'_>) -> Verdict {
    match clause {
        Clause::Event(events) => match events.contains(&facts.event.kind()) {
            true => yes("event", format!("the event is {}", facts.event.kind())),
            false => Verdict::No,
        },
        Clause::RunsOrWrites => {
            let acts = |part: &FactPart| {
                let Accesses { writes, deletes, unknown, .. } = &part.accesses;
                part.tool.is_none() || !writes.is_empty() || !deletes.is_empty() || !unknown.is_empty()
            };
            match facts.parts().iter().any(acts) {
                true => yes("event", "the call runs a command or writes".to_owned()),
                false => Verdict::No,
            }
        }
        Clause::Tool(names) => tool_holds(names, facts),
        Clause::Agent(names) => agent_holds(names, facts),
        Clause::Paths(key, conditions) => paths_hold(*key, conditions, clause, facts),
        Clause::Commands(patterns) => over_parts(clause, facts, "commands", &[FactKind::Commands], |part| {
            part.accesses.commands.iter().enumerate().find_map(|(index, command)| {
                let pattern = patterns.iter().find(|pattern| pattern.fits(command))?;
                Some(explain::command(part, index, &pattern.text))
            })
        }),
        Clause::Executes(patterns) => over_parts(clause, facts, "executes", &[FactKind::Executes], |part| {
            part.accesses.executes.iter().find_map(|fact| {
                let text = fact.what.text();
                let inside = below(&text, &facts.scene.project).unwrap_or(&text);
                let fits = patterns.iter().any(|pattern| fits_text(pattern, &text) || fits_text(pattern, inside));
                fits.then(|| explain::action(part, fact.command, fact.span, "runs", &text))
            })
        }),
        Clause::Network(hosts) => over_parts(clause, facts, "network", &[FactKind::Network], |part| {
            part.accesses.network.iter().find_map(|fact| {
                let fits = hosts.iter().any(|host| host_fits(host, &fact.what));
                fits.then(|| explain::action(part, fact.command, fact.span, "connects to", &fact.what.text()))
            })
        }),
        Clause::Git(wanted) => {
            over_parts(clause, facts, "git", &[FactKind::Git], |part| {
                part.accesses.git.iter().find(|fact| wanted.contains(&fact.what)).map(|fact| {
                    explain::action(part, fact.command, fact.span, "does", &fact.what.name().replace('_', "-"))
                })
            })
        }
        Clause::Flow(wanted) => over_parts(clause, facts, "flow", &[FactKind::Commands], |part| {
            part.accesses.flow.iter().find(|flow| wanted.contains(&flow.kind)).map(|flow| explain::flow(part, flow))
        }),
        Clause::EnvDump => over_parts(clause, facts, "env-dump", &[FactKind::Reads], |part| {
            let span = part.accesses.env_dump?;
            Some(format!("`{}` prints all variables", explain::words(part, span)))
        }),
        Clause::Content(patterns) => content_holds(patterns, facts),
        Clause::Prompt(patterns) => {
            let prompt = facts.event.text("prompt").unwrap_or_default();
            match patterns.iter().find_map(|pattern| pattern.find(&prompt)) {
                Some(found) => yes("prompt", format!("the prompt has `{}`", explain::short(found.as_str()))),
                None => Verdict::No,
            }
        }
        Clause::Session(condition) => session_holds(condition, facts),
        Clause::Not(condition) => match holds(condition, facts) {
            Verdict::Yes(_) => Verdict::No,
            Verdict::No => yes("not", "what the rule leaves out does not hold".to_owned()),
            Verdict::Unknown(unknown) => Verdict::Unknown(unknown),
        },
    }
}

fn yes(key: &'static str, sentence: String) -> Verdict {
    Verdict::Yes(Holds { key, sentence })
}

/// Looks for a fact in every part; without one, what is not known decides.
fn over_parts(
    clause: &Clause,
    facts: &CallFacts<'_>,
    key: &'static str,
    kinds: &[FactKind],
    find: impl Fn(&FactPart) -> Option<String>,
) -> Verdict {
    if let Some(sentence) = facts.parts().iter().find_map(find) {
        return yes(key, sentence);
    }
    not_known(clause, facts, key, kinds, |_, _| true)
}

/// What is not known and could make a clause hold.
fn not_known(
    clause: &Clause,
    facts: &CallFacts<'_>,
    key: &'static str,
    kinds: &[FactKind],
    counts: impl Fn(&Accesses, &Unknown) -> bool,
) -> Verdict {
    let mut found = Vec::new();
    for part in facts.parts() {
        for unknown in &part.accesses.unknown {
            if !kinds.iter().any(|kind| unknown.facts.contains(*kind)) || !counts(&part.accesses, unknown) {
                continue;
            }
            // Code on standard input stands elsewhere on the line.
            let command = part.accesses.commands.iter().find(|command| command.span == unknown.span);
            let fed = command.and_then(|command| command.fed.as_deref());
            let code = fed.unwrap_or_else(|| explain::text(part, unknown.span));
            let is_named =
                unknown.why.class() == Class::Inline && code_names(code, clause, &facts.scene.project, facts.scene);
            found.push(NotKnown { key, why: unknown.why, sentence: explain::unknown(part, unknown), is_named });
        }
    }
    if found.is_empty() { Verdict::No } else { Verdict::Unknown(found) }
}

fn tool_holds(names: &[String], facts: &CallFacts<'_>) -> Verdict {
    let Some(given) = facts.tool_name.as_deref() else { return Verdict::No };
    let known = match facts.meaning {
        ToolMeaning::Known(tool) => Some(tool),
        ToolMeaning::AsGiven | ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_) => None,
    };
    let is_meant = |name: &String| {
        fits_text(name, given)
            || known.is_some_and(|known| {
                fits_text(name, known.name)
                    || !is_shell_pattern(name)
                        && facts.other_names().contains(&name.as_str())
                        && matches!(facts.table().meaning(name, None), ToolMeaning::Known(tool) if tool == known)
            })
    };
    if names.iter().any(is_meant) { yes("tool", format!("the tool is `{given}`")) } else { Verdict::No }
}

fn agent_holds(names: &[String], facts: &CallFacts<'_>) -> Verdict {
    let Some(agent) = facts.table().host_name() else { return Verdict::No };
    let is_meant = |name: &String| {
        let short = agent.split(' ').next().unwrap_or_default();
        name.eq_ignore_ascii_case(agent) || name.eq_ignore_ascii_case(short)
    };
    if names.iter().any(is_meant) { yes("agent", format!("the agent is {agent}")) } else { Verdict::No }
}

fn paths_hold(key: PathKey, conditions: &[PathCondition], clause: &Clause, facts: &CallFacts<'_>) -> Verdict {
    let scene = facts.scene;
    let best = |used: &PathUse, reach: Reach| {
        let mut best = Fit::No;
        for condition in conditions {
            match fit_of_path(condition, used, reach, scene) {
                Fit::Yes => return (Fit::Yes, Some(condition)),
                Fit::Possible => best = Fit::Possible,
                Fit::No => {}
            }
        }
        (best, None)
    };
    for part in facts.parts() {
        for kind in key.kinds() {
            let (list, verb, reach) = paths_of(&part.accesses, *kind);
            for fact in list {
                if let (Fit::Yes, Some(condition)) = best(&fact.what, reach) {
                    return yes(key.name(), explain::path(part, fact, verb, condition, scene));
                }
            }
        }
    }
    not_known(clause, facts, key.name(), key.kinds(), |accesses, unknown| {
        // Where the unknown word is a path, the parts of it that are known may rule it out.
        let mut is_a_path = false;
        for kind in key.kinds().iter().filter(|kind| unknown.facts.contains(**kind)) {
            let (list, _, reach) = paths_of(accesses, *kind);
            let same = list.iter().filter(|fact| fact.span == unknown.span && fact.what.is_partly_unknown);
            for fact in same {
                is_a_path = true;
                // A number leads nowhere else.
                let counted = (unknown.why == Why::Arithmetic).then(|| PathUse {
                    path: fact.what.path.replace('?', "0"),
                    is_partly_unknown: false,
                    covers_hidden: fact.what.covers_hidden,
                });
                if best(counted.as_ref().unwrap_or(&fact.what), reach).0 != Fit::No {
                    return true;
                }
            }
        }
        !is_a_path
    })
}

fn paths_of(accesses: &Accesses, kind: FactKind) -> (&[Fact<PathUse>], &'static str, Reach) {
    match kind {
        FactKind::Reads => (&accesses.reads, "reads", Reach::Itself),
        FactKind::Writes => (&accesses.writes, "writes", Reach::Itself),
        FactKind::Deletes => (&accesses.deletes, "deletes", Reach::Below),
        FactKind::Commands | FactKind::Executes | FactKind::Network | FactKind::Git => (&[], "", Reach::Itself),
    }
}

/// Files that are no place: what is written there is nowhere.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/tty",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/full",
];

/// Whether a path is what a condition is about.
pub(crate) fn fit_of_path(condition: &PathCondition, used: &PathUse, reach: Reach, scene: &RuleScene) -> Fit {
    let PathCondition { globs, except, outside, inside, is_guard_place } = condition;
    let mut fit = if globs.is_empty() { Fit::Yes } else { Fit::No };
    for glob in globs {
        match glob.fits(used, reach, scene) {
            Fit::Yes => {
                fit = Fit::Yes;
                break;
            }
            Fit::Possible => fit = Fit::Possible,
            Fit::No => {}
        }
    }
    if fit == Fit::No || except.iter().any(|glob| glob.covers(used, scene)) {
        return Fit::No;
    }
    let mut weaken = |other: Fit| {
        fit = match (fit, other) {
            (Fit::No, _) | (_, Fit::No) => Fit::No,
            (Fit::Possible, _) | (_, Fit::Possible) => Fit::Possible,
            (Fit::Yes, Fit::Yes) => Fit::Yes,
        };
    };
    let path = used.path.as_str();
    if !outside.is_empty() {
        let is_device = DEVICES.contains(&path) || path.starts_with("/dev/fd/");
        let is_inside = outside.iter().any(|root| root.holds(path, scene));
        weaken(match (is_device || is_inside, used.is_partly_unknown) {
            (true, false) => Fit::No,
            (true, true) => Fit::Possible,
            (false, true) if !path.starts_with('/') || path.starts_with("/?") => Fit::Possible,
            (false, _) => Fit::Yes,
        });
    }
    if !inside.is_empty() {
        let is_inside = inside.iter().any(|root| root.holds(path, scene));
        weaken(match (is_inside, used.is_partly_unknown) {
            (true, _) => Fit::Yes,
            (false, true) => Fit::Possible,
            (false, false) => Fit::No,
        });
    }
    if *is_guard_place {
        let folder = path.strip_suffix("/**").or(path.strip_suffix("/*"));
        let place = std::path::Path::new(folder.unwrap_or(path));
        let surroundings = &scene.surroundings;
        let is_place = surroundings.protects(place)
            || (reach == Reach::Below || path.ends_with("/**"))
                && used.covers_hidden
                && surroundings.protects_below(place);
        weaken(match (is_place, used.is_partly_unknown) {
            (true, _) => Fit::Yes,
            (false, true) => Fit::Possible,
            (false, false) => Fit::No,
        });
    }
    fit
}

fn host_fits(condition: &HostCondition, host: &NetworkHost) -> bool {
    let text = host.text();
    match condition {
        HostCondition::Fits(pattern) => fits_text(pattern, &text),
        HostCondition::Except(patterns) => !patterns.iter().any(|pattern| fits_text(pattern, &text)),
    }
}

fn content_holds(patterns: &[ContentPattern], facts: &CallFacts<'_>) -> Verdict {
    let content = facts.content();
    for pattern in patterns {
        match pattern {
            ContentPattern::Fits(pattern) => {
                if let Some(found) = pattern.find(content) {
                    return yes("content", format!("the text has `{}`", explain::short(found.as_str())));
                }
            }
            ContentPattern::Secrets => {
                if let Some(what) = super::secret_forms::found_in(content) {
                    return yes("content", format!("the text has {what}"));
                }
            }
        }
    }
    Verdict::No
}

fn session_holds(condition: &SessionCondition, facts: &CallFacts<'_>) -> Verdict {
    let Some(past) = facts.scene.surroundings.past(facts.event.session_id()) else {
        let sentence = "it is not known what this session has done".to_owned();
        // What a session did is kept by a service of the machine, and that one has lost it.
        return Verdict::Unknown(vec![NotKnown { key: "session", why: Why::Service, sentence, is_named: false }]);
    };
    let is_recent = |age: u64| match condition.since {
        Since::Session => true,
        Since::Seconds(most) => age <= most,
    };
    for act in past.iter().filter(|act| is_recent(act.age)) {
        let used = || PathUse { path: act.what.clone(), is_partly_unknown: false, covers_hidden: true };
        let fits = |globs: &[super::path_pattern::PathPattern]| {
            globs.iter().any(|glob| glob.fits(&used(), Reach::Itself, facts.scene) == Fit::Yes)
        };
        let verb = match act.kind {
            PastKind::Read if fits(&condition.read) => "read",
            PastKind::Wrote if fits(&condition.wrote) => "wrote",
            PastKind::Ran if condition.ran.iter().any(|pattern| pattern.fits(&explain::command_of_text(&act.what))) => {
                "ran"
            }
            PastKind::Read | PastKind::Wrote | PastKind::Ran => continue,
        };
        return yes("session", format!("this session {verb} `{}` before", explain::short(&act.what)));
    }
    Verdict::No
}

/// The words of a span that is in no line are those of the whole text.
pub(crate) fn is_of_a_line(span: Span) -> bool {
    span.end > span.start
}
