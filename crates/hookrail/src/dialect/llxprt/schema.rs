//! JSON Schemas of this dialect, made from the event table and the lists its parsers use.
//!
//! The settings schema accepts exactly the documents in which the parser finds nothing wrong; a test proves it over one
//! corpus. A hook of type `plugin` is not wrong: it is valid, and reported because it is not executed here. What only the text of a file shows (syntax, repeated keys) is beyond a schema.

use serde_json::{Map, Value, json};

use super::settings::CONFIG_KEYS;
use super::specific::MEMBERS;
use crate::dialect::command_hooks::{
    GROUP_KEY, GROUP_KEYS, HOOK_KEYS, HookDecision, LONGEST_TIMEOUT, PROCESS_KEYS, REMOTE_TYPE, RETRIES_KEY,
};
use crate::dialect::{DialectId, condition_key, enforcement, sandbox};
use crate::event::{DialectEvent, EventKind, FieldKind};
use crate::hook::remote::RemoteTarget;
use crate::json::JsonKind;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The version of the schemas. It changes when a document that was accepted would no longer be.
const VERSION: u32 = 1;

/// No value fits: a key that has no schema here is found by the test that compares the schema with the parser.
const UNDESCRIBED: Value = Value::Bool(false);

/// The format of a matcher, for validators that can be taught one.
pub const MATCHER_FORMAT: &str = "hookrail-matcher";

/// Every schema of this dialect by its name: `settings`, and for every event its standard input and output.
#[must_use]
pub fn schemas() -> Vec<(String, Value)> {
    let mut schemas = vec![("settings".to_owned(), settings())];
    for column in EventKind::all().filter_map(|kind| kind.spec().column(DialectId::Llxprt)) {
        schemas.push((format!("{}.stdin", column.name), stdin(column)));
        schemas.push((format!("{}.stdout", column.name), stdout(column)));
    }
    schemas
}

fn document(name: &str, title: &str, mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), json!(DRAFT));
        members.insert("$id".to_owned(), json!(format!("urn:hookrail:llxprt:{name}:{VERSION}")));
        members.insert("title".to_owned(), json!(title));
    }
    schema
}

fn settings() -> Value {
    let events = EventKind::all().filter_map(|kind| Some((kind, kind.spec().column(DialectId::Llxprt)?)));
    let events: Map<String, Value> = events
        .map(|(kind, column)| {
            let group = group(column);
            let about = format!("Hooks that run {}.", kind.spec().fires);
            (column.name.to_owned(), json!({"type": "array", "description": about, "items": group}))
        })
        .collect();
    let names = json!({"type": "array", "items": {"type": "string"}});
    let config = CONFIG_KEYS.iter().map(|key| {
        let schema = match *key {
            "disabled" => json!({"type": "array", "items": {"type": "string"}, "description": "Names (or commands) of hooks that do not run."}),
            "modelDecisions" => json!({"enum": ["strict", "last-wins"], "description": "What a later allow does to an earlier deny of a model call."}),
            sandbox::PROFILE_KEY => sandbox::profile_schema("What processes of hooks with less authority may do at most; for the user's and the system's settings."),
            "enabled" | "notifications" => json!({"type": "boolean"}),
            _ => UNDESCRIBED,
        };
        ((*key).to_owned(), schema)
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "enableHooks": {"type": "boolean", "description": "Switches hooks on or off."},
            "tools": {"type": "object", "properties": {"enableHooks": {"type": "boolean", "description": "Switches hooks on or off."}}},
            "hooksConfig": {"type": "object", "properties": config.collect::<Map<_, _>>(), "additionalProperties": false},
            "security": {"type": "object", "properties": {"environmentVariableRedaction": {
                "type": "object",
                "description": "Keeps variables that look like secrets from hooks.",
                "properties": {"enabled": {"type": "boolean"}, "allowed": names, "blocked": names},
            }}},
            "hooks": {"type": "object", "properties": events, "additionalProperties": false},
        },
    });
    document("settings", "Settings of hooks", schema)
}

fn group(column: &DialectEvent) -> Value {
    let properties = GROUP_KEYS.iter().map(|key| {
        let schema = match *key {
            "matcher" => matcher(column),
            "sequential" => {
                json!({"type": "boolean", "description": "One hook after the other, each seeing the changes so far; if one matching group says so, this holds for all of them."})
            }
            "hooks" => json!({"type": "array", "items": hook(), "description": "The hooks."}),
            _ => UNDESCRIBED,
        };
        ((*key).to_owned(), schema)
    });
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": ["hooks"],
        "additionalProperties": false,
    })
}

fn matcher(column: &DialectEvent) -> Value {
    match column.matched_on {
        Some(field) => json!({
            "type": ["string", "null"],
            "format": MATCHER_FORMAT,
            "description": format!("A glob or a regular expression for `{field}`. Missing, null, empty and `*` match everything."),
        }),
        None => {
            json!({"type": ["string", "null"], "pattern": r"^\s*\*?\s*$", "description": "This event is not matched against anything."})
        }
    }
}

fn hook() -> Value {
    let word = json!({"type": "string", "pattern": "^[^\\u0000]*$"});
    let properties = HOOK_KEYS.iter().map(|key| {
        let schema = match *key {
            "type" => json!({"enum": ["command", REMOTE_TYPE, "plugin"], "description": "`command` runs a command, `remote` asks a group of workers elsewhere, `plugin` is listed and never executed."}),
            GROUP_KEY => json!({"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,62}$", "description": "The group of workers that a remote hook asks."}),
            RETRIES_KEY => json!({"type": "integer", "minimum": 0, "maximum": RemoteTarget::MOST_RETRIES, "default": RemoteTarget::DEFAULT_RETRIES, "description": "How often a remote hook asks again if there was no answer, within its `timeout`."}),
            "command" => json!({"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$", "description": "The command line, for `bash -c`, or `/bin/sh -c` where there is no bash; a program if `args` is there."}),
            "args" => json!({"type": "array", "items": word, "description": "Arguments: `command` is then a program, and nothing is expanded or split."}),
            "timeout" => json!({"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_TIMEOUT.as_secs() * 1_000, "default": 60_000, "description": "Milliseconds, at most a day. The default of a remote hook is 500."}),
            "onFailure" => json!({"enum": ["allow", "ask", "block"], "default": "allow", "description": "What a failure of the hook does."}),
            "mode" => json!({"enum": ["once", "worker"], "default": "once", "description": "`worker`: the process stays and is asked again, one line for each event."}),
            "statusMessage" => json!({"type": "string", "description": "What a host shows while the hook runs."}),
            condition_key::KEY => condition_key::schema(),
            enforcement::KEY => json!({"type": "boolean", "default": true, "description": "`false`: the hook runs and its verdict is reported, and it has no effect."}),
            sandbox::PROFILE_KEY => sandbox::profile_schema("What the hook's processes may do; enforced on Linux."),
            sandbox::REQUIRED_KEY => json!({"type": "boolean", "default": false, "description": "The hook fails where its sandbox cannot be enforced in full."}),
            "name" => json!({"type": "string", "description": "What the hook is called in lists, in messages and in `disabled`."}),
            "description" => json!({"type": "string", "description": "For people."}),
            _ => UNDESCRIBED,
        };
        ((*key).to_owned(), schema)
    });
    let without_process: Map<_, _> = PROCESS_KEYS.map(|key| (key.to_owned(), Value::Bool(false))).into_iter().collect();
    json!({
        "type": "object",
        "properties": properties.collect::<Map<_, _>>(),
        "required": ["type"],
        "allOf": [
            {
                "if": {"properties": {"type": {"const": "command"}}},
                "then": {"required": ["command"]},
            },
            {
                "if": {"properties": {"type": {"const": "command"}}, "required": ["type"]},
                "then": {"properties": {GROUP_KEY: false, RETRIES_KEY: false}},
            },
            {
                "if": {"properties": {"type": {"const": REMOTE_TYPE}}, "required": ["type"]},
                "then": {"required": [GROUP_KEY], "properties": without_process},
            },
            sandbox::required_schema(),
        ],
        "additionalProperties": false,
    })
}

fn stdin(column: &DialectEvent) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in ["session_id", "transcript_path", "cwd", "timestamp"] {
        properties.insert(name.to_owned(), json!({"type": "string"}));
        required.push(name);
    }
    properties.insert("hook_event_name".to_owned(), json!({"const": column.name}));
    required.push("hook_event_name");
    for field in column.fields {
        let schema = match field.name {
            "llm_request" => request(),
            "llm_response" => response(),
            _ => json_type(field.kind),
        };
        properties.insert(field.name.to_owned(), schema);
        if field.required {
            required.push(field.name);
        }
    }
    let previous = json!({"type": "array", "items": {"type": "object"}, "description": "In a sequential group: the answers so far."});
    properties.insert("previous_outputs".to_owned(), previous);
    let schema =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    document(&format!("{}.stdin", column.name), &format!("What a {} hook receives", column.name), schema)
}

fn json_type(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Text => json!({"type": "string"}),
        FieldKind::Object => json!({"type": "object"}),
        FieldKind::List => json!({"type": "array"}),
        FieldKind::Flag => json!({"type": "boolean"}),
        FieldKind::Number => json!({"type": "number"}),
        FieldKind::Any => json!({}),
    }
}

fn stdout(column: &DialectEvent) -> Value {
    let words = || HookDecision::ALL.map(HookDecision::word).map(Value::from).into_iter();
    let or_null: Vec<Value> = words().chain([Value::Null]).collect();
    let specific = MEMBERS.iter().filter(|(_, _, ability)| ability.is_none_or(|ability| column.can.includes(ability)));
    let specific = specific.map(|(name, kind, _)| {
        let schema = match *name {
            "hookEventName" => json!({"const": column.name}),
            "permissionDecision" => json!({"enum": words().collect::<Vec<_>>()}),
            "llm_request" => request(),
            "llm_response" => response(),
            "toolConfig" => tool_config(),
            _ => kind_schema(*kind),
        };
        ((*name).to_owned(), schema)
    });
    let text = || json!({"type": ["string", "null"]});
    let flag = || json!({"type": ["boolean", "null"]});
    let schema = json!({
        "type": "object",
        "properties": {
            "continue": flag(),
            "stopReason": text(),
            "suppressOutput": flag(),
            "systemMessage": text(),
            "decision": {"enum": or_null},
            "reason": text(),
            "hookSpecificOutput": {
                "type": ["object", "null"],
                "properties": specific.collect::<Map<_, _>>(),
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    });
    document(&format!("{}.stdout", column.name), &format!("What a {} hook may answer", column.name), schema)
}

fn kind_schema(kind: JsonKind) -> Value {
    match kind {
        JsonKind::Object => json!({"type": "object"}),
        JsonKind::Array => json!({"type": "array"}),
        JsonKind::String => json!({"type": "string"}),
        JsonKind::Number => json!({"type": "number"}),
        JsonKind::Boolean => json!({"type": "boolean"}),
        JsonKind::Null => json!({"type": "null"}),
    }
}

fn tool_config() -> Value {
    json!({
        "type": "object",
        "properties": {
            "mode": {"enum": ["AUTO", "ANY", "NONE"]},
            "allowedFunctionNames": {"type": "array", "items": {"type": "string"}},
        },
    })
}

fn content(role: &Value) -> Value {
    let part = json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}]});
    json!({"type": "object", "properties": {"role": role, "parts": {"type": "array", "items": part}}, "required": ["parts"]})
}

fn request() -> Value {
    let message = json!({
        "type": "object",
        "properties": {"role": {"enum": ["user", "model", "system"]}, "content": {"type": "string"}},
        "required": ["role", "content"],
    });
    let numbers =
        ["temperature", "maxOutputTokens", "topP", "topK", "candidateCount", "presencePenalty", "frequencyPenalty"];
    let mut config: Map<String, Value> =
        numbers.iter().map(|key| ((*key).to_owned(), json!({"type": "number"}))).collect();
    config.insert("stopSequences".to_owned(), json!({"type": "array", "items": {"type": "string"}}));
    json!({
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "messages": {"type": "array", "items": message},
            "config": {"type": "object", "properties": config},
            "toolConfig": tool_config(),
            "contents": {"type": "array", "items": content(&json!({"enum": ["user", "model"]}))},
            "systemInstruction": content(&json!({"const": "system"})),
            "generationConfig": {"type": "object", "properties": config},
        },
    })
}

fn response() -> Value {
    let rating =
        json!({"type": "object", "properties": {"category": {"type": "string"}, "probability": {"type": "string"}}});
    let candidate = json!({
        "type": "object",
        "properties": {
            "content": content(&json!({"const": "model"})),
            "finishReason": {"type": "string"},
            "index": {"type": "number"},
            "safetyRatings": {"type": "array", "items": rating},
        },
    });
    let counts = ["promptTokenCount", "candidatesTokenCount", "totalTokenCount"];
    let usage: Map<String, Value> = counts.iter().map(|key| ((*key).to_owned(), json!({"type": "number"}))).collect();
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "candidates": {"type": "array", "items": candidate},
            "usageMetadata": {"type": "object", "properties": usage},
        },
    })
}
