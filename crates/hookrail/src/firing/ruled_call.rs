//! A call as permission rules are compared with it.

use std::path::Path;

use hookrail_shell::{FactKind, NetworkHost};

use crate::dialect::snapshot::Snapshot;
use crate::dialect_id::DialectId;
use crate::event::Event;
use crate::hook::permission_rules::{NAMES_OF, RuleFolders, RuledCall, forms_of_path};
use crate::json::Json;
use crate::rules::CallFacts;
use crate::tools::ToolMeaning;

/// The call of an event, in the names of the dialect whose rules these are.
pub(super) fn ruled_call(snapshot: &Snapshot, event: &Event, dialect: DialectId) -> RuledCall {
    let given = dialect.contract().matcher_subject(event, "tool_name");
    let meaning = snapshot.tools.meaning(event);
    let known = match meaning {
        ToolMeaning::Known(_) | ToolMeaning::AsGiven => snapshot.tools.name_in(dialect, &given, meaning),
        ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_) => None,
    };
    let mut tools = vec![known.map_or_else(|| given.clone(), str::to_owned)];
    tools.extend(snapshot.tools.stands_for(dialect, meaning).into_iter().map(str::to_owned));
    let Some(scene) = snapshot.rule_settings.as_ref().map(|settings| &settings.scene) else {
        return RuledCall { tools, ..RuledCall::default() };
    };
    let facts = CallFacts::new(event, &snapshot.tools, scene);
    let mut call = RuledCall { tools, commands: Some(Vec::new()), ..RuledCall::default() };
    if dialect != NAMES_OF {
        call.use_names_of_rules(&facts);
    }
    let home = scene.home.as_deref().map(Path::new);
    let folders = RuleFolders { project: Path::new(&scene.project), cwd: event.cwd(), home };
    for part in facts.parts() {
        let accesses = &part.accesses;
        if part.tool.is_none() {
            add_commands(&mut call, &part.text, accesses);
        } else {
            let used = accesses.reads.iter().chain(&accesses.writes).chain(&accesses.deletes);
            call.paths.extend(used.flat_map(|fact| forms_of_path(Path::new(&fact.what.path), &folders)));
        }
        call.host = call.host.or_else(|| accesses.network.iter().find_map(|fact| host(&fact.what)));
    }
    call.texts = texts(event);
    call
}

impl RuledCall {
    /// Calls a known tool as permission rules do, which are written in one form in every dialect.
    fn use_names_of_rules(&mut self, facts: &CallFacts<'_>) {
        let table = facts.table();
        if let ToolMeaning::Known(tool) = facts.meaning {
            self.elsewhere = std::mem::take(&mut self.tools);
            self.elsewhere.extend(facts.other_names().iter().map(|name| (*name).to_owned()));
            self.tools.extend(table.name_in(NAMES_OF, tool.name).map(str::to_owned));
        }
        self.tools.extend(table.stands_for(NAMES_OF, facts.meaning).into_iter().map(str::to_owned));
    }
}

/// Adds every command of a line, as it is written and without what stands around it. If not all are known, none is.
fn add_commands(call: &mut RuledCall, line: &str, accesses: &hookrail_shell::Accesses) {
    let is_hidden = accesses.unknown.iter().any(|unknown| unknown.facts.contains(FactKind::Commands));
    if is_hidden {
        call.commands = None;
    }
    let Some(commands) = &mut call.commands else { return };
    commands.push(line.trim().to_owned());
    for command in &accesses.commands {
        let words = std::iter::once(&command.program).chain(&command.args);
        commands.push(words.map(String::as_str).collect::<Vec<_>>().join(" "));
        commands.extend(line.get(command.span.range()).map(|written| written.trim().to_owned()));
    }
}

fn host(host: &NetworkHost) -> Option<String> {
    match host {
        NetworkHost::Name(name) => Some(name.clone()),
        NetworkHost::Registry(_) | NetworkHost::Remote(_) | NetworkHost::Unknown => None,
    }
}

/// The texts among the arguments of a call.
fn texts(event: &Event) -> Vec<String> {
    let input = event.field("tool_input").and_then(Json::as_object).unwrap_or_default();
    input.iter().filter_map(|(_, value)| value.as_str()).collect()
}
