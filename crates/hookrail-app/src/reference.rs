//! Pages of the reference, generated from the tables that the engine itself uses.

use std::fmt::Write as _;

use hookrail::event::{Abilities, DialectEvent, EventSpec, FieldKind};
use hookrail::tools::NEUTRAL_TOOLS;
use hookrail::{Code, DialectId, EventKind, Level};
use hookrail_bridge::Agent;

/// What stands below the title of every page.
pub const GENERATED: &str = "<!-- Made by `hookrail reference`; edit the engine's tables, not this file. -->\n\n";

/// Returns the page about the keys of hookrail's own configuration.
pub fn configuration() -> String {
    let guide = include_str!("../assets/reference/configuration.md");
    format!(
        "{guide}\n{GENERATED}## Keys\n\nSizes are in KiB and times in milliseconds.\n{}",
        crate::config::reference()
    )
}

/// Returns the page about case files.
pub fn test_cases() -> String {
    format!(
        "# Case files\n\n{GENERATED}For authors of cases: every key of a file `NAME.hooktest.toml` or `NAME.hooktest.json`. Both have the \
         same shape, and `hookrail schema hooktest` prints its JSON Schema. [The guide](../how-to/test.md) has examples.\n\n\
         In texts of a case, `${{project}}` stands for the case's own project and `${{home}}` for its home directory. Paths of files \
         are below the project unless they begin with `${{home}}/`.\n{}",
        crate::cases::reference()
    )
}

/// Returns the page about events.
pub fn events() -> String {
    let mut page = format!(
        "# Events\n\n{GENERATED}Every event by its neutral name, and what each dialect calls it. A deny has an effect only if the event is gating.\n\n"
    );
    for dialect in DialectId::CONFIGURED {
        let _ = writeln!(page, "* {dialect}: {}", dialect.title());
    }
    let dialects = DialectId::CONFIGURED.map(DialectId::name).join(" | ");
    let lines = "---|".repeat(DialectId::CONFIGURED.len());
    let _ = write!(page, "\n| event | {dialects} | dialects that can deny |\n|---|{lines}---|\n");
    let all = || EventKind::all().map(EventKind::spec);
    for spec in all() {
        let name = |dialect| spec.column(dialect).map_or("–".to_owned(), |column| format!("`{}`", column.name));
        let names = DialectId::CONFIGURED.map(name).join(" | ");
        let _ = writeln!(page, "| `{}` | {names} | {} |", spec.name, gating(spec));
    }
    page.push_str(&tool_names());
    for spec in all() {
        let _ = write!(page, "\n## {}\n\nFires {}.\n", spec.name, spec.fires);
        for dialect in DialectId::CONFIGURED {
            if let Some(column) = spec.column(dialect) {
                describe(&mut page, dialect, column);
            }
        }
    }
    page
}

/// The section about what each dialect and agent calls the tools of the table.
fn tool_names() -> String {
    let mut text = String::from(
        "\n## Tool names\n\nA matcher is compared with the name of its own dialect and with the name that the agent has for the tool. A hook gets the \
         names of its own dialect; for settings files they are those of the first column. Tools in no row keep their names.\n\n",
    );
    let agents = Agent::ALL.map(Agent::title).join(" | ");
    let _ = writeln!(text, "| tool | {} | {} | {agents} |", DialectId::Xcode, DialectId::Xcsh);
    let _ = writeln!(text, "|---|---|---|{}", "---|".repeat(Agent::ALL.len()));
    let table = hookrail_bridge::tools::table();
    for tool in NEUTRAL_TOOLS {
        let quoted = |names: Vec<&str>| match names.as_slice() {
            [] => "–".to_owned(),
            names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let of_dialect = |dialect| quoted(table.name_in(dialect, tool.name).into_iter().collect());
        let of_agent = |agent: Agent| {
            let same = agent.tools().tools.iter().filter(|entry| entry.tool == tool.name);
            quoted(same.map(|entry| entry.name).collect())
        };
        let agents = Agent::ALL.map(of_agent).join(" | ");
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {agents} |",
            tool.name,
            of_dialect(DialectId::Xcode),
            of_dialect(DialectId::Xcsh)
        );
    }
    text
}

fn gating(spec: &EventSpec) -> String {
    let having = || DialectId::CONFIGURED.into_iter().filter(|dialect| spec.column(*dialect).is_some());
    match having().filter(|dialect| spec.gated_by(*dialect)).collect::<Vec<_>>().as_slice() {
        [] => "none".to_owned(),
        gating if gating.len() == having().count() => "all".to_owned(),
        gating => gating.iter().map(|dialect| dialect.name()).collect::<Vec<_>>().join(", "),
    }
}

fn describe(page: &mut String, dialect: DialectId, column: &DialectEvent) {
    let _ = write!(page, "\n**{dialect}: `{}`**\n\n", column.name);
    let fields: Vec<String> = column
        .fields
        .iter()
        .map(|field| {
            format!("`{}` ({}{})", field.name, kind(field.kind), if field.required { "" } else { ", optional" })
        })
        .collect();
    let fields = if fields.is_empty() { "none of its own".to_owned() } else { fields.join(", ") };
    let matched = column.matched_on.map_or("nothing".to_owned(), |field| format!("`{field}`"));
    let _ = writeln!(page, "* fields: {fields}");
    let _ = writeln!(page, "* a matcher is compared with: {matched}");
    let _ = writeln!(page, "* an answer can: {}", abilities(column.can));
    let _ = writeln!(page, "* default timeout: {} ms", column.timeout.as_millis());
}

fn kind(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text => "text",
        FieldKind::Object => "object",
        FieldKind::List => "list",
        FieldKind::Flag => "true or false",
        FieldKind::Number => "number",
        FieldKind::Any => "anything",
    }
}

fn abilities(can: Abilities) -> String {
    let words = [
        (Abilities::DENY, "deny"),
        (Abilities::STOP, "stop the agent"),
        (Abilities::REWRITE_TOOL_INPUT, "rewrite the tool's input"),
        (Abilities::REPLACE_TOOL_OUTPUT, "replace the tool's output"),
        (Abilities::ADD_CONTEXT, "add context"),
        (Abilities::REWRITE_REQUEST, "rewrite the model request"),
        (Abilities::GIVE_RESPONSE, "give or rewrite the response"),
        (Abilities::CHOOSE_TOOLS, "choose the tools"),
        (Abilities::REPLACE_MESSAGES, "replace the messages"),
        (Abilities::ADD_MESSAGE, "add a message"),
        (Abilities::CLEAR_CONTEXT, "clear the context"),
        (Abilities::RESULT, "give a result"),
    ];
    let words: Vec<&str> = words.iter().filter(|(ability, _)| can.includes(*ability)).map(|(_, word)| *word).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// Returns the page about diagnostics.
pub fn diagnostics() -> String {
    let mut page =
        format!("# Diagnostics\n\n{GENERATED}Codes never change their meaning. `check` fails on errors only.\n");
    for level in [Level::Error, Level::Warning, Level::Note] {
        let _ = write!(page, "\n## {}s\n\n| code | meaning |\n|---|---|\n", level.name());
        for code in Code::ALL.iter().filter(|code| code.level() == level) {
            let _ = writeln!(page, "| `{}` | {} |", code.name(), code.meaning());
        }
    }
    page
}
