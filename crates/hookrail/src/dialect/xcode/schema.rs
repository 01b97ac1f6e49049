//! JSON Schemas of a plugin's manifest and of its file of hooks, made from the event table and the lists that the parser uses.
//!
//! They accept exactly the documents in which the parser finds nothing wrong, apart from what only the parser can know: whether
//! a pattern is valid, whether a path leads out of the plugin, and whether a variable of a command exists. A test proves it
//! over one corpus.

use serde_json::{Map, Value, json};

use super::entries::{KEYS, MAX_TIMEOUT_MS};
use crate::dialect::{DialectId, condition_key, enforcement, sandbox};
use crate::event::{DialectEvent, EventKind};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The version of the schemas. It changes when a document that was accepted would no longer be.
const VERSION: u32 = 1;

/// A text that names one folder, and names that belong to devices on some systems.
const FOLDER_NAME: &str = r"^[^/\\:\u0000-\u001f\u007f-\u009f]*[^/\\:\u0000-\u001f\u007f-\u009f. ]$";
const DEVICE_NAME: &str =
    r"^([cC][oO][nN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|([cC][oO][mM]|[lL][pP][tT])[0-9])(\.|$)";
/// The name of a plugin.
const PLUGIN_NAME: &str = "^[a-z0-9][a-z0-9-]*$";

/// Every schema of this dialect by its name: `plugin` for the manifest, and `plugin-hooks` for a file of hooks.
#[must_use]
pub fn schemas() -> Vec<(String, Value)> {
    vec![("plugin".to_owned(), manifest()), ("plugin-hooks".to_owned(), hooks_file())]
}

fn document(name: &str, title: &str, mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), json!(DRAFT));
        members.insert("$id".to_owned(), json!(format!("urn:hookrail:xcode:{name}:{VERSION}")));
        members.insert("title".to_owned(), json!(title));
    }
    schema
}

fn manifest() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": PLUGIN_NAME, "not": {"pattern": DEVICE_NAME}, "description": "The plugin's name: lower-case letters, digits and dashes."},
            "version": {"type": "string", "pattern": FOLDER_NAME, "not": {"pattern": DEVICE_NAME}, "default": "0.0.0", "description": "The plugin's version."},
            "description": {"description": "What the plugin does, for people."},
            "hooks": {
                "anyOf": [events(), {"type": "string"}],
                "description": "The hooks by event, or the path of a file with them. Without it, `hooks/hooks.json` is read if it exists.",
            },
        },
        "required": ["name"],
    });
    document("plugin", "The manifest of a plugin", schema)
}

fn hooks_file() -> Value {
    document("plugin-hooks", "The hooks of a plugin, in a file of their own", events())
}

fn events() -> Value {
    let events = EventKind::all().filter_map(|kind| Some((kind, kind.spec().column(DialectId::Xcode)?)));
    let events: Map<String, Value> = events
        .map(|(kind, column)| {
            let about = format!("Hooks that run {}.", kind.spec().fires);
            (column.name.to_owned(), json!({"type": "array", "description": about, "items": entry(column)}))
        })
        .collect();
    json!({"type": "object", "properties": events, "additionalProperties": false})
}

fn entry(column: &DialectEvent) -> Value {
    // Not empty, and without a NUL character.
    let command = |about: &str| json!({"type": "string", "allOf": [{"pattern": r"\S"}, {"pattern": "^[^\\u0000]*$"}], "description": about});
    let properties = KEYS.iter().map(|key| {
        let schema = match *key {
            "matcher" if column.matched_on.is_some() => json!({"type": "string", "format": "regex", "description": "An ECMAScript regular expression that is searched for in the tool's name: anchor it with `^…$`. Missing, empty and `*` match every tool, and so does an invalid one, with a warning."}),
            "matcher" => json!({"type": "string", "pattern": r"^\s*\*?\s*$", "description": "This event is not matched against anything."}),
            "command" => command("A command line for the shell. `${pluginDir}` is the plugin's folder."),
            "commandWindows" => command("In place of `command` on Windows."),
            "commandDarwin" => command("In place of `command` on macOS."),
            "commandLinux" => command("In place of `command` on Linux."),
            "timeout" => json!({"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_MS as u64, "default": 5_000, "description": "Milliseconds. More than the maximum is cut to it, with a warning; anything else rejects the entry."}),
            "statusMessage" => json!({"type": "string", "description": "What a host shows while the hook runs."}),
            "failurePolicy" => json!({"enum": ["allow", "block"], "default": "allow", "description": "What a failure of the hook does."}),
            condition_key::KEY => condition_key::schema(),
            enforcement::KEY => json!({"type": "boolean", "default": true, "description": "`false`: the hook runs and its verdict is reported, and it has no effect."}),
            sandbox::PROFILE_KEY => sandbox::profile_schema("What the hook's processes may do; enforced on Linux."),
            sandbox::REQUIRED_KEY => json!({"type": "boolean", "default": false, "description": "The hook fails where its sandbox cannot be enforced in full."}),
            "description" => json!({"type": "string", "description": "For people."}),
            // No value fits: a key that has no schema is found by the test that compares the schema with the parser.
            _ => Value::Bool(false),
        };
        ((*key).to_owned(), schema)
    });
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": ["command"],
        "allOf": [sandbox::required_schema()],
        "additionalProperties": false,
    })
}
