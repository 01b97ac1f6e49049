//! Which tools a model may call, when several hooks have a say: lists are united, the most restrictive mode wins.

use super::answer::Answer;
use super::output::HookOutput;
use crate::dialect::Reply;
use crate::hook::Authority;
use crate::json::{Json, JsonObject};

/// The merged output with the union of all tool configurations; a list of the system layer is never widened.
pub(super) fn with_union(mut merged: HookOutput, replies: &[Reply<Answer>]) -> HookOutput {
    let given = |reply: &Reply<Answer>| reply.answer.as_ref()?.output.specific("toolConfig")?.as_object();
    let configs: Vec<JsonObject> = replies.iter().filter_map(given).collect();
    if configs.is_empty() {
        return merged;
    }
    let system = replies.iter().filter(|reply| reply.authority == Authority::System).filter_map(given);
    let floors: Vec<Vec<String>> = system.filter_map(|config| config.get("allowedFunctionNames")?.decode()).collect();
    let config = narrowed(union(&configs), &floors);
    merged.hook_specific_output.get_or_insert_default().set("toolConfig", config.to_json());
    merged
}

/// The configuration without the tools that a list of the system layer leaves out.
fn narrowed(mut config: JsonObject, floors: &[Vec<String>]) -> JsonObject {
    let allowed: Option<Vec<String>> = config.get("allowedFunctionNames").and_then(Json::decode);
    if let (Some(mut allowed), false) = (allowed, floors.is_empty()) {
        allowed.retain(|name| floors.iter().all(|floor| floor.contains(name)));
        config.set("allowedFunctionNames", names(allowed));
    }
    config
}

fn union(configs: &[JsonObject]) -> JsonObject {
    let modes: Vec<String> = configs.iter().filter_map(|config| config.get("mode")?.as_str()).collect();
    let mode =
        ["NONE", "ANY", "AUTO"].into_iter().find(|mode| modes.iter().any(|given| given == mode)).unwrap_or("AUTO");
    let mut merged = JsonObject::new();
    merged.set("mode", Json::string(mode));
    let lists: Vec<Vec<String>> =
        configs.iter().filter_map(|config| config.get("allowedFunctionNames")?.decode()).collect();
    if mode == "NONE" {
        merged.set("allowedFunctionNames", names(Vec::new()));
    } else if !lists.is_empty() {
        merged.set("allowedFunctionNames", names(lists.concat()));
    }
    merged
}

fn names(mut names: Vec<String>) -> Json {
    names.sort_unstable();
    names.dedup();
    Json::of(&names).unwrap_or_else(|_| Json::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(configs: &[&str], expected: &str) {
        let configs: Vec<JsonObject> =
            configs.iter().map(|text| Json::parse(text).unwrap().as_object().unwrap()).collect();
        assert_eq!(union(&configs).to_json().text(), expected);
    }

    #[test]
    fn none_takes_everything_away() {
        check(
            &[r#"{"mode":"NONE"}"#, r#"{"mode":"AUTO","allowedFunctionNames":["a"]}"#],
            r#"{"mode":"NONE","allowedFunctionNames":[]}"#,
        );
    }

    #[test]
    fn lists_are_united_and_sorted() {
        check(
            &[r#"{"allowedFunctionNames":["b","a"]}"#, r#"{"mode":"ANY","allowedFunctionNames":["b","c"]}"#],
            r#"{"mode":"ANY","allowedFunctionNames":["a","b","c"]}"#,
        );
    }

    #[test]
    fn a_missing_list_restricts_nothing_and_an_empty_one_everything() {
        check(&[r#"{"mode":"ANY"}"#], r#"{"mode":"ANY"}"#);
        check(&[r#"{"allowedFunctionNames":[]}"#], r#"{"mode":"AUTO","allowedFunctionNames":[]}"#);
        check(&[r#"{}"#, r#"{"allowedFunctionNames":["x"]}"#], r#"{"mode":"AUTO","allowedFunctionNames":["x"]}"#);
    }
}
