//! Matchers that no known tool has: names of other agents' tools, wrong case, commas, blanks, and parts of names; and
//! matchers of other events that none of their known values has.

use std::sync::Arc;

use hookrail::sources::nearest;
use hookrail::tools::NEUTRAL_TOOLS;
use hookrail::{Code, Diagnostic, DialectId, Hook, HookSystem};
use hookrail_bridge::{Agent, tools};

use super::Finding;
use super::context::LintContext;
use super::fix::Fix;

/// What other agents call a value that a matcher selects.
const VALUES_ELSEWHERE: [(&str, &str); 5] = [
    ("compact", "compress"),
    ("new", "startup"),
    ("quit", "exit"),
    ("idle", "idle_prompt"),
    ("permission", "permission_prompt"),
];

pub(super) fn check(context: &LintContext<'_>) -> Vec<Finding> {
    let of_values = context.active().filter_map(|seen| no_value(context, seen.hook));
    problems(context).map(|(_, finding)| finding).chain(of_values).collect()
}

/// A matcher of an event that is not about a tool, such as the source of a session, and that no known value has.
fn no_value(context: &LintContext<'_>, hook: &Hook) -> Option<Finding> {
    let field = hook.event.spec().matched_on(hook.dialect).filter(|field| *field != "tool_name")?;
    let pattern = hook.matcher.pattern().filter(|_| context.has_key(hook, "matcher"))?;
    let known = usual_values(field);
    if known.is_empty() || known.iter().any(|value| hook.matcher.test(value).is_match()) {
        return None;
    }
    let separators = [',', '|'].into_iter().find(|separator| pattern.contains(*separator));
    let parts: Vec<&str> = match separators {
        Some(separator) => pattern.split(separator).map(str::trim).collect(),
        None => vec![pattern.trim()],
    };
    let of_others = |part: &str| VALUES_ELSEWHERE.iter().find(|(other, _)| *other == part).map(|(_, meant)| *meant);
    let meant = |part: &&str| {
        of_others(part).filter(|meant| known.contains(meant)).or_else(|| nearest(part, known.iter().copied()))
    };
    let meant: Option<Vec<&str>> = parts.iter().map(meant).collect();
    let shown: Vec<String> = known.iter().map(|value| format!("`{value}`")).collect();
    let message = format!("no known `{field}` matches `{pattern}`; hook `{hook}` never runs");
    let better = meant.map(|meant| meant.join("|"));
    let hint = match &better {
        Some(better) => format!("did you mean `{better}`? Known are {}", shown.join(", ")),
        None => format!("known are {}", shown.join(", ")),
    };
    let diagnostic = context.about_key(hook, "matcher", Code::MatcherNoValue, message).hint(hint);
    let fix = better.and_then(|better| Fix::replace_text(context, hook, "matcher", pattern, &better));
    Some(Finding { diagnostic, fix })
}

/// The lists that leave out tools of an agent although they name them as other agents do, because they also have a name of the
/// agent's own.
pub fn hidden_tools(system: &HookSystem, agent: Agent) -> Vec<Diagnostic> {
    let snapshot = system.snapshot();
    let context = LintContext::new(system.project(), &snapshot);
    let finding = |hook: &Arc<Hook>| {
        let pattern = hook.matcher.pattern()?;
        let hidden = hidden_in(agent, hook)?;
        let message = format!(
            "hook `{hook}` is not asked about {hidden} of {agent}: `{pattern}` has a name of {agent}'s own, so its other names count \
             as they stand",
            agent = agent.title(),
        );
        let hint = format!("write `{}`", in_own_words(hook.dialect, pattern));
        Some(context.about_key(hook, "matcher", Code::MatcherNoTool, message).hint(hint))
    };
    let of_tools = context
        .active()
        .map(|seen| seen.hook)
        .filter(|hook| hook.trust.allows() && hook.event.spec().matched_on(hook.dialect) == Some("tool_name"));
    of_tools.filter_map(finding).collect()
}

/// The names of an agent's tools that a hook's list leaves out.
fn hidden_in(agent: Agent, hook: &Hook) -> Option<String> {
    let names = tools::table().of_host(agent.tools()).hidden_by_own_name(hook.dialect, &hook.matcher);
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The agents in which a list leaves tools out, as the end of a sentence.
fn left_out(hook: &Hook) -> String {
    let hidden = |agent: Agent| Some(format!("; in {} not for {}", agent.title(), hidden_in(agent, hook)?));
    Agent::ALL.into_iter().filter_map(hidden).collect()
}

/// A list with the names that a dialect has for the tools in it.
fn in_own_words(dialect: DialectId, pattern: &str) -> String {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let words = pattern.split_inclusive(|letter| !is_of_name(letter)).map(|part| {
        let name = part.trim_end_matches(|letter| !is_of_name(letter));
        match part.strip_prefix(name) {
            Some(rest) if !name.is_empty() => format!("{}{rest}", translated(dialect, name)),
            _ => part.to_owned(),
        }
    });
    words.collect()
}

/// Every matcher that no tool has, with its hook.
fn problems<'s>(context: &'s LintContext<'_>) -> impl Iterator<Item = (&'s Arc<Hook>, Finding)> {
    let of_tools = context.active().map(|seen| seen.hook).filter(|hook| {
        hook.event.spec().matched_on(hook.dialect) == Some("tool_name") && context.has_key(hook, "matcher")
    });
    let with_pattern = of_tools.filter_map(|hook| Some((hook, hook.matcher.pattern()?)));
    with_pattern.filter_map(|(hook, pattern)| Some((hook, problem(context, hook, pattern)?)))
}

/// What to write instead of a hook's matcher.
#[derive(Clone, Debug)]
pub struct MatcherFix {
    pub hook: Arc<Hook>,
    /// The instruction.
    pub text: String,
}

/// Returns the matchers that no tool has and for which there is a better one.
pub fn matcher_fixes(system: &HookSystem) -> Vec<MatcherFix> {
    let snapshot = system.snapshot();
    let context = LintContext::new(system.project(), &snapshot);
    let fixable = problems(&context).filter(|(_, finding)| finding.fix.is_some());
    fixable
        .filter_map(|(hook, finding)| Some(MatcherFix { hook: Arc::clone(hook), text: finding.diagnostic.hint? }))
        .collect()
}

fn problem(context: &LintContext<'_>, hook: &Hook, pattern: &str) -> Option<Finding> {
    let mut known: Vec<&str> = known_tools(hook.dialect);
    known.extend(&context.own_tools);
    let finding = |code, message: String, hint: String, better: Option<String>| {
        let diagnostic = context.about_key(hook, "matcher", code, message).hint(hint);
        let fix = better.and_then(|better| Fix::replace_text(context, hook, "matcher", pattern, &better));
        Some(Finding { diagnostic, fix })
    };
    // Loading reports that this is no pattern.
    if pattern.starts_with("(?i") {
        return None;
    }
    if is_list_with(pattern, ',') {
        let better = pattern.split(',').map(|part| translated(hook.dialect, part.trim())).collect::<Vec<_>>().join("|");
        let message = format!("`{pattern}` matches a comma, which no tool's name has; hook `{hook}` never runs");
        return finding(Code::MatcherNoTool, message, format!("write `{better}`"), Some(better));
    }
    if pattern.contains([' ', '\t']) && is_list_with(&without_blanks(pattern), '|') {
        let names = without_blanks(pattern);
        let better = names.split('|').map(|name| translated(hook.dialect, name)).collect::<Vec<_>>().join("|");
        let message =
            format!("the blanks in `{pattern}` belong to the names, and no tool has them; a part of it never matches");
        return finding(Code::MatcherNoTool, message, format!("write `{better}`"), Some(better));
    }
    if let Some(tool) = tool_with_arguments(hook.dialect, &known, pattern) {
        let message = format!(
            "`{pattern}` has arguments, and a matcher is compared with the name of the tool alone; hook `{hook}` never runs"
        );
        let hint = format!("write `{tool}`, and look at `tool_input` in the hook");
        return finding(Code::MatcherNoTool, message, hint, None);
    }
    let matches_known = known.iter().any(|tool| hook.matcher.test(tool).is_match());
    if !matches_known && let Some(better) = glob_without_dots(hook.dialect, pattern) {
        let message = format!("`{pattern}` is a glob, in which a dot is a dot; hook `{hook}` never runs");
        return finding(Code::MatcherNoTool, message, format!("write `{better}`"), Some(better));
    }
    let elsewhere = tools::table().selected_elsewhere(hook.dialect, pattern);
    if !is_list_with(pattern, '|') {
        // What a pattern with operators means is not guessed, and a tool of an MCP server may have any name.
        if matches_known || pattern.contains("mcp") || pattern.contains("__") {
            return None;
        }
        if !elsewhere.is_empty() {
            let own = elsewhere.iter().map(|(_, own)| *own).collect::<Vec<_>>().join("|");
            let better = if elsewhere.len() == 1 { format!("^{own}$") } else { format!("^({own})$") };
            let message = format!(
                "`{pattern}` has names of other agents' tools; hook `{hook}` runs for `{own}`{}",
                left_out(hook)
            );
            let is_all = elsewhere.len() == pattern.split('|').count();
            return finding(Code::MatcherElsewhere, message, format!("write `{better}`"), is_all.then_some(better));
        }
        let message = format!("no known tool matches `{pattern}`; hook `{hook}` runs only if the host has such a tool");
        return match resembles_a_tool(pattern, &known) {
            true => finding(Code::MatcherNoTool, message, tools_hint(&known), None),
            false => finding(Code::MatcherOwnTool, message, tools_hint(&known), None),
        };
    }
    let names: Vec<&str> = pattern.split('|').collect();
    let strange: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !known.iter().any(|tool| tool.contains(name)) && !name.contains("__"))
        .collect();
    if !strange.is_empty() && strange.iter().all(|name| elsewhere.iter().any(|(known, _)| known == name)) {
        let better = names.iter().map(|name| translated(hook.dialect, name)).collect::<Vec<_>>().join("|");
        let message = format!(
            "`{pattern}` has names of other agents' tools; hook `{hook}` runs for `{better}`{}",
            left_out(hook)
        );
        return finding(Code::MatcherElsewhere, message, format!("write `{better}`"), Some(better));
    }
    if !strange.is_empty() {
        let better = names.iter().map(|name| translated(hook.dialect, name)).collect::<Vec<_>>().join("|");
        let shown = strange.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let message = format!("no known tool is called {shown}; names are compared with their case");
        return match (better == pattern, strange.first()) {
            (true, Some(own)) => finding(Code::MatcherOwnTool, own_tool(&shown, hook), own_tool_hint(own), None),
            _ => finding(Code::MatcherNoTool, message, format!("did you mean `{better}`?"), Some(better)),
        };
    }
    let is_part = |name: &&str| known.iter().filter(|tool| tool.contains(*name)).count() > 1;
    let loose = names.iter().find(|name| is_part(name) && !known.contains(*name))?;
    let matched: Vec<String> =
        known.iter().filter(|tool| tool.contains(*loose)).map(|tool| format!("`{tool}`")).collect();
    let message = format!("`{loose}` is a part of several names and matches {}", matched.join(", "));
    finding(Code::MatcherLoose, message, "anchor it to match one name, as in `^write_file$`".to_owned(), None)
}

/// The glob that was meant by one with `.*` in it, such as `mcp__.*__write_*`.
fn glob_without_dots(dialect: DialectId, pattern: &str) -> Option<String> {
    let is_of_glob = |letter: char| letter.is_ascii_alphanumeric() || "_.:/-*".contains(letter);
    let meant = pattern.replace(".*", "*");
    let is_mixed = pattern.contains(".*") && pattern.replace(".*", "").contains('*') && pattern.chars().all(is_of_glob);
    (dialect == DialectId::Llxprt && is_mixed).then_some(meant)
}

/// The tool of a pattern that is a name with arguments in brackets, as in `Bash(git *)`.
fn tool_with_arguments(dialect: DialectId, known: &[&str], pattern: &str) -> Option<String> {
    let (name, rest) = pattern.split_once('(')?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let tool = translated(dialect, name);
    let is_alternative = rest.contains('|') || rest.starts_with('?');
    (is_name && rest.ends_with(')') && !is_alternative && known.contains(&tool.as_str())).then_some(tool)
}

fn without_blanks(pattern: &str) -> String {
    pattern.split('|').map(str::trim).collect::<Vec<_>>().join("|")
}

/// Whether a pattern is a list of plain names with this separator.
fn is_list_with(pattern: &str, separator: char) -> bool {
    let is_name = |part: &str| {
        let part = if separator == ',' { part.trim() } else { part };
        !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    (separator != ',' || pattern.contains(',')) && pattern.split(separator).all(is_name)
}

/// Returns the tools that hooks of a dialect may know, by the names they have there.
pub fn known_tools(dialect: DialectId) -> Vec<&'static str> {
    // A matcher is compared with the host's own name for a tool too.
    let neutral = NEUTRAL_TOOLS.iter().map(|tool| tool.name);
    let mut known: Vec<&'static str> = Vec::new();
    for name in tools::table().names_known_in(dialect).into_iter().chain(neutral) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// The name that a dialect has for a tool of another vocabulary; the same name if there is none.
fn translated(dialect: DialectId, name: &str) -> String {
    let known = known_tools(dialect);
    if known.contains(&name) {
        return name.to_owned();
    }
    tools::table().name_in(dialect, name).or_else(|| nearest(name, known)).unwrap_or(name).to_owned()
}

/// Whether a part of a pattern is a part of the name of a tool, whatever its case, or nearly a name.
fn resembles_a_tool(pattern: &str, known: &[&str]) -> bool {
    let words = pattern.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| word.len() > 3);
    let is_part = |word: &str| known.iter().any(|tool| tool.to_ascii_lowercase().contains(word));
    let mut words = words.map(str::to_ascii_lowercase);
    words.any(|word| is_part(&word) || nearest(&word, known.iter().copied()).is_some())
}

fn own_tool(shown: &str, hook: &Hook) -> String {
    format!("no known tool is called {shown}; hook `{hook}` runs for it only if the host has such a tool")
}

fn own_tool_hint(name: &str) -> String {
    format!("say what the tool does under `[tools]` in hookrail's `config.toml`, as in `{name} = \"write\"`")
}

fn tools_hint(known: &[&str]) -> String {
    let first: Vec<String> = known.iter().take(8).map(|tool| format!("`{tool}`")).collect();
    format!("known tools are {}, …", first.join(", "))
}

/// Returns the values of fields other than a tool's name that matchers select, the usual one first.
pub fn usual_values(field: &str) -> &'static [&'static str] {
    match field {
        "source" => &["startup", "resume", "clear", "compress"],
        "reason" => &["exit", "clear", "logout", "prompt_input_exit", "other"],
        "trigger" => &["auto", "manual"],
        "notification_type" => &["ToolPermission", "permission_prompt", "idle_prompt"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_agents_are_translated() {
        for (dialect, name, meant) in [
            (DialectId::Llxprt, "Write", "write_file"),
            (DialectId::Llxprt, "Edit", "replace"),
            (DialectId::Llxprt, "Bash", "run_shell_command"),
            (DialectId::Llxprt, "Write_File", "write_file"),
            (DialectId::Llxprt, "MultiEdit", "replace"),
            (DialectId::Xcode, "write_file", "write_file"),
            (DialectId::Xcode, "Write", "writeFile"),
            (DialectId::Xcode, "Bash", "shell"),
            (DialectId::Llxprt, "deploy", "deploy"),
        ] {
            assert_eq!(translated(dialect, name), meant, "{name}");
        }
    }

    #[test]
    fn a_glob_with_the_dots_of_a_pattern_is_seen() {
        let glob = |pattern: &str| glob_without_dots(DialectId::Llxprt, pattern);
        assert_eq!(glob("mcp__.*__write_*").as_deref(), Some("mcp__*__write_*"));
        assert_eq!((glob("mcp__.*__write_.*"), glob("write_*"), glob("(a.*)*")), (None, None, None));
        assert_eq!(glob_without_dots(DialectId::Xcode, "mcp__.*__write_*"), None);
    }

    #[test]
    fn arguments_are_told_from_alternatives() {
        let tool = |pattern: &str| tool_with_arguments(DialectId::Llxprt, &known_tools(DialectId::Llxprt), pattern);
        assert_eq!(tool("Bash(git *)").as_deref(), Some("run_shell_command"));
        assert_eq!(tool("run_shell_command(rm*)").as_deref(), Some("run_shell_command"));
        assert_eq!((tool("write_(file|x)"), tool("(a)"), tool("write_file")), (None, None, None));
    }

    #[test]
    fn only_plain_lists_are_taken_apart() {
        assert!(is_list_with("write_file, replace", ',') && is_list_with("a|b", '|') && is_list_with("a", '|'));
        assert!(!is_list_with("write_(a|b)", '|') && !is_list_with("a{1,2}", ',') && !is_list_with("a", ','));
    }
}
