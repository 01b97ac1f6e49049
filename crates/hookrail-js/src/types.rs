//! TypeScript declarations for authors of modules.
//!
//! The events and their results come from the engine's event table, as the runtime's own rules do. The rest is written by
//! hand in `types/`; a test compares it with what the runtime really offers, member by member.

use std::fmt::Write as _;

use hookrail::event::{DialectEvent, FieldKind, FieldSpec};
use hookrail::module::result_members;
use hookrail::{DialectId, EventKind};

use crate::rules::Rule;

const PI: &str = include_str!("../types/pi.d.ts");
const WORLD: &str = include_str!("../types/world.d.ts");

/// Where the events stand in the declarations.
const EVENTS_MARK: &str = "// EVENTS\n";

/// Returns `pi.d.ts`: the API of modules, with every event and every result.
#[must_use]
pub fn module_declarations() -> String {
    with_version(&PI.replace(EVENTS_MARK, &events()))
}

/// Returns `world.d.ts`: the globals of a module, and what there is of Node and Bun.
#[must_use]
pub fn world_declarations() -> String {
    with_version(WORLD)
}

/// The members of `pi` that have a declaration.
pub(crate) fn api_members() -> Vec<&'static str> {
    let body = PI.split_once("\texport interface HookAPI {\n").map_or("", |(_, rest)| rest);
    let body = body.split_once("\n\t}").map_or(body, |(body, _)| body);
    // A member begins with its name; the lines between are comments.
    let name = |line: &'static str| {
        let line = line.trim_start();
        let line = line.strip_prefix("readonly ").unwrap_or(line);
        let end = line.find(|letter: char| !letter.is_ascii_alphanumeric())?;
        line.get(..end).filter(|name| !name.is_empty())
    };
    body.lines().filter_map(name).collect()
}

/// The members of the object that handlers of an event get.
pub(crate) fn event_members(kind: EventKind) -> Vec<String> {
    let Some(column) = kind.spec().column(DialectId::Xcsh) else { return Vec::new() };
    let text: String = column.fields.iter().map(|field| members(kind, field)).collect();
    let declared = text.lines().filter_map(|line| line.trim().split(['?', ':']).next()).map(str::to_owned);
    ["type", "signal"].into_iter().map(str::to_owned).chain(declared).collect()
}

fn with_version(text: &str) -> String {
    text.replacen("VERSION", env!("CARGO_PKG_VERSION"), 1)
}

fn columns() -> impl Iterator<Item = (EventKind, &'static DialectEvent)> {
    EventKind::all().filter_map(|kind| Some((kind, kind.spec().column(DialectId::Xcsh)?)))
}

/// What looks like a denial of a tool call and blocks nothing: a compiler refuses it.
const NOT_BLOCKING: [&str; 5] = ["blocked", "decision", "denied", "deny", "permissionDecision"];

fn events() -> String {
    let mut text = String::new();
    let (mut events, mut results) = (String::new(), String::new());
    for (kind, column) in columns() {
        let interface = format!("{}Event", pascal_case(column.name));
        let _ = writeln!(text, "\t/** Fires {}. */", kind.spec().fires);
        let _ = writeln!(text, "\texport interface {interface} {{\n\t\ttype: \"{}\";", column.name);
        for field in column.fields {
            text.push_str(&members(kind, field));
        }
        if Rule::of_event(column.name).is_some_and(|rule| rule.has_signal()) {
            text.push_str("\t\t/** Is aborted when the answer is not wanted any more. */\n\t\tsignal: AbortSignal;\n");
        }
        text.push_str("\t}\n");
        let _ = writeln!(events, "\t\t\"{}\": {interface};", column.name);
        let members = result_members(kind);
        if !members.is_empty() {
            let typed = |name: &&str| format!("{name}?: {}", result_type(name).unwrap_or("unknown"));
            let mut members: Vec<String> = members.iter().map(typed).collect();
            if kind == EventKind::BeforeTool {
                members.extend(NOT_BLOCKING.map(|name| format!("{name}?: never")));
            }
            let _ = writeln!(results, "\t\t\"{}\": {{ {} }};", column.name, members.join("; "));
        }
    }
    let _ = write!(
        text,
        "\t/** Every event, by its name. */\n\texport interface HookEvents {{\n{events}\t}}\n\
         \t/** What a handler may return, by the name of its event. */\n\texport interface HookResults {{\n{results}\t}}\n"
    );
    text
}

/// The members that a module gets for a field.
fn members(kind: EventKind, field: &FieldSpec) -> String {
    let mark = if field.required { "" } else { "?" };
    match field.name {
        "tool_input" => "\t\tinput: Record<string, unknown>;\n".to_owned(),
        "tool_response" => {
            "\t\tcontent: (TextContent | ImageContent)[];\n\t\tdetails?: unknown;\n\t\tisError: boolean;\n".to_owned()
        }
        // Both spellings are there.
        name @ ("agent_id" | "agent_type") => {
            format!("\t\t{name}{mark}: string;\n\t\t{}{mark}: string;\n", camel_case(name))
        }
        name => {
            let type_name = field_type(kind, name).unwrap_or(plain_type(field.kind));
            format!("\t\t{}{mark}: {type_name};\n", camel_case(name))
        }
    }
}

/// The type of a field whose kind does not say enough.
fn field_type(kind: EventKind, name: &str) -> Option<&'static str> {
    Some(match (kind, name) {
        (_, "messages") => "AgentMessage[]",
        (_, "images") => "ImageContent[]",
        (EventKind::TurnStart, "timestamp") => "number",
        (EventKind::TurnEnd, "message") => "AgentMessage",
        (_, "tool_results") => "ToolResultMessage[]",
        (EventKind::BeforeCompact, "preparation") => "CompactionPreparation",
        (EventKind::SessionBeforeTree, "preparation") => "TreePreparation",
        (_, "branch_entries") => "SessionEntry[]",
        (_, "compaction_entry") => "CompactionEntry",
        (_, "summary_entry") => "BranchSummaryEntry",
        (EventKind::AutoCompactionEnd, "result") => "CompactionResult",
        (_, "new_leaf_id" | "old_leaf_id") => "string | null",
        (_, "rules" | "todos") => "Record<string, any>[]",
        _ => return None,
    })
}

const fn plain_type(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text => "string",
        FieldKind::Flag => "boolean",
        FieldKind::Number => "number",
        FieldKind::Object => "Record<string, unknown>",
        FieldKind::List => "unknown[]",
        FieldKind::Any => "unknown",
    }
}

/// The type of a member of a result.
fn result_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "block" | "cancel" | "isError" | "skipConversationRestore" => "boolean",
        "reason" | "prompt" => "string",
        "content" => "(TextContent | ImageContent)[]",
        "details" => "unknown",
        "messages" => "AgentMessage[]",
        "message" => "NewMessage",
        "compaction" => "CompactionResult",
        "summary" => "{ summary: string; details?: unknown }",
        "context" => "string[]",
        "preserveData" => "Record<string, unknown>",
        _ => return None,
    })
}

fn camel_case(name: &str) -> String {
    let pascal = pascal_case(name);
    let mut letters = pascal.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

fn pascal_case(name: &str) -> String {
    let words = name.split(['_', '.']);
    words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_every_result_has_a_type() {
        for (kind, column) in columns() {
            for field in column.fields {
                let is_known = matches!(field.name, "tool_input" | "tool_response")
                    || field_type(kind, field.name).is_some()
                    || matches!(field.kind, FieldKind::Text | FieldKind::Flag | FieldKind::Number);
                assert!(is_known, "give `{}` of `{}` a type in `field_type`", field.name, column.name);
            }
            for member in result_members(kind) {
                assert!(result_type(member).is_some(), "give `{member}` a type in `result_type`");
            }
        }
    }

    #[test]
    fn the_members_of_the_api_are_those_with_a_declaration() {
        let expected = [
            "on",
            "sendMessage",
            "appendEntry",
            "registerCommand",
            "registerMessageRenderer",
            "exec",
            "logger",
            "typebox",
            "pi",
        ];
        assert_eq!(api_members(), expected);
    }

    #[test]
    fn the_members_of_an_event_are_those_with_a_declaration() {
        let call = event_members(EventKind::BeforeTool);
        for name in ["type", "toolName", "toolCallId", "input"] {
            assert!(call.iter().any(|known| known == name), "{call:?}");
        }
        assert!(event_members(EventKind::AfterTool).iter().any(|known| known == "isError"));
        assert!(!call.iter().any(|known| known.contains([' ', '_']) && !known.starts_with("agent_")), "{call:?}");
    }

    #[test]
    fn events_have_the_names_that_modules_see() {
        let text = module_declarations();
        assert!(
            text.contains("\t\"tool_call\": ToolCallEvent;")
                && text.contains("export interface SessionCompactingEvent")
        );
        let call = "\texport interface ToolCallEvent {\n\t\ttype: \"tool_call\";\n\t\ttoolName: string;\n\t\ttoolCallId: string;\n";
        assert!(text.contains(call), "{text}");
        assert!(!text.contains("VERSION") && !text.contains("// EVENTS"));
    }
}
