//! The JSON Schema of `rules.toml`, for editors.

use hookrail_shell::{Class, GitFact};
use serde_json::{Value, json};

use super::condition::CLASSES;
use super::rule::RuleAnswer;
use crate::event::EventKind;

/// Returns the schema.
#[must_use]
pub fn schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "minLength": 1, "description": about });
    let many = |item: Value, about: &str| json!({ "description": about, "anyOf": [item.clone(), { "type": "array", "items": item, "minItems": 1 }] });
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let git: Vec<String> = GitFact::ALL.iter().map(|fact| fact.name().replace('_', "-")).collect();
    let events: Vec<&str> = EventKind::all().map(EventKind::name).collect();
    let command = json!({ "anyOf": [
        text("A program with its leading words and options: `rm -r -f`"),
        { "type": "object", "additionalProperties": false, "required": ["words"], "properties": {
            "words": text("A program with its leading words and options"),
            "text": text("A regular expression over its arguments and what is fed to it"),
        } },
    ] });
    let path_pattern =
        text("A pattern: relative to the project, or beginning with `/` or `~/`; `**` is any number of folders");
    let folder = text("A folder: `project`, `home`, or a path");
    let path = json!({ "anyOf": [
        path_pattern,
        { "type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
            "glob": many(path_pattern.clone(), "One of these patterns"),
            "except": many(path_pattern.clone(), "None of these patterns"),
            "outside": many(folder.clone(), "In none of these folders"),
            "inside": many(folder, "In one of these folders"),
            "places": { "const": "guards", "description": "What decides which hooks run" },
        } },
    ] });
    let host = json!({ "anyOf": [
        text("A host; `*` is any text"),
        { "type": "object", "additionalProperties": false, "required": ["except"], "properties": {
            "except": many(text("A host"), "Any host but these"),
        } },
    ] });
    let session = json!({ "type": "object", "additionalProperties": false, "minProperties": 1, "description": "The session has `read`, `wrote` or `ran` this before, `since` for example `10m`", "properties": {
        "read": many(path_pattern.clone(), "It has read one of these"),
        "wrote": many(path_pattern, "It has written one of these"),
        "ran": many(command.clone(), "It has run one of these"),
        "since": { "type": "string", "pattern": "^(session|[0-9]+[smhd])$", "description": "How far back, for example `10m`" },
    } });
    let conditions = json!({ "type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
        "event": many(json!({ "enum": events }), "The event is this; if none is named, before a tool, and for `deny` and `ask` also when the agent asks its user about the call"),
        "tool": many(text("A tool, by its name in any agent; `*` is any text"), "The tool is this, by its name in any agent"),
        "agent": many(text("An agent"), "The agent is this"),
        "commands": many(command, "A command may run: a program with its leading words, `*` for one word, and options in any order, so that `rm -r -f` covers `rm --force -R`; or `{ words, text }` with a regular expression over its arguments and what is fed to it"),
        "reads": many(reference("path"), "A file is read"),
        "writes": many(reference("path"), "A file is made or changed"),
        "deletes": many(reference("path"), "A file is removed, also with its folder"),
        "touches": many(reference("path"), "A file is read, written or deleted"),
        "executes": many(text("A file, or `make:T`, `npm:S`, `inline:LANGUAGE`, `stdin`"), "Code is run: a file, `make:T`, `npm:S`, `inline:LANGUAGE`, `stdin`"),
        "network": many(host, "A host is connected to; `registry:X` is a registry of packages, and `{ except = [\"localhost\"] }` any host but these"),
        "git": many(json!({ "enum": git }), "This happens to a repository"),
        "flow": many(json!({ "enum": ["net>exec", "secret>net"] }), "`net>exec`: what comes from the network is run; `secret>net`: a secret goes to the network"),
        "env-dump": { "const": true, "description": "All variables are printed" },
        "content": many(text("A regular expression, or `secrets` for known forms of keys"), "A text that is written or sent has this; `secrets` are known forms of keys"),
        "prompt": many(text("A regular expression"), "The user's prompt has this"),
        "session": session,
        "not": reference("condition"),
    } });
    let example = json!({ "anyOf": [
        text("A shell line; for a rule about prompts, a prompt"),
        { "type": "object", "additionalProperties": false, "required": ["tool", "input"], "properties": {
            "tool": text("A tool"), "input": { "type": "object" },
        } },
    ] });
    let classes = CLASSES.map(Class::name);
    let one_answer = RuleAnswer::ALL.map(|answer| json!({ "required": [answer.name()] }));
    let rule = json!({ "type": "object", "additionalProperties": false, "required": ["name", "when"], "oneOf": one_answer, "properties": {
        "name": text("How the rule is reported, switched off and excepted from"),
        "description": text("What it is for, for people"),
        "deny": text("The reason why such a call is denied"),
        "ask": text("The reason why a person is asked"),
        "allow": text("Why such a call needs no question of the agent"),
        "context": text("What the model is told"),
        "stop": text("Why the agent stops"),
        "when": reference("condition"),
        "match": { "type": "array", "items": example, "description": "Examples that the rule matches" },
        "no-match": { "type": "array", "items": example, "description": "Examples that it does not match" },
        "match-unknown": {
            "type": "array", "items": { "enum": classes },
            "description": "The kinds of what is not known that match too; `hidden`, `unparsable` and `bound` if this is left out",
        },
        "enforce": { "type": "boolean", "description": "false: what the rule would answer is reported and has no effect" },
    } });
    let exception = json!({ "type": "object", "additionalProperties": false, "required": ["rule", "when", "reason"], "properties": {
        "rule": text("The name of the rule"),
        "when": reference("condition"),
        "until": { "description": "Its last day", "type": "string" },
        "once": { "type": "boolean", "description": "true: it holds once in a session" },
        "reason": text("Why"),
    } });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rules of hookrail",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "rule": { "type": "array", "items": rule },
            "exception": { "type": "array", "items": exception, "description": "Counts in the user's file only" },
        },
        "$defs": {
            "path": path,
            "condition": { "anyOf": [
                reference("conditions"),
                { "type": "array", "items": reference("conditions"), "minItems": 1 },
            ] },
            "conditions": conditions,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::read::{EXCEPTION_KEYS, RULE_KEYS};
    use super::super::read_condition::{CONDITION_KEYS, NOT};

    #[test]
    fn an_editor_knows_the_keys_that_are_read_and_no_others() {
        let schema = super::schema();
        for (place, read) in [
            ("/properties/rule/items/properties", RULE_KEYS.as_slice()),
            ("/properties/exception/items/properties", EXCEPTION_KEYS.as_slice()),
            ("/$defs/conditions/properties", &[CONDITION_KEYS.as_slice(), &[NOT]].concat()),
        ] {
            let mut known: Vec<&str> =
                schema.pointer(place).unwrap().as_object().unwrap().keys().map(String::as_str).collect();
            let mut read = read.to_vec();
            known.sort_unstable();
            read.sort_unstable();
            assert_eq!(known, read, "{place}");
        }
    }
}
