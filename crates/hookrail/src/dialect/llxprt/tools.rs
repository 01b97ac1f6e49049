//! Which tools a model may call, when several hooks have a say: lists are united, the most restrictive mode wins.

use super::answer::Answer;
use super::output::HookOutput;
use crate::json::{Json, JsonObject};

/// The merged output with the union of all tool configurations.
pub(super) fn with_union(mut merged: HookOutput, answers: &[&Answer]) -> HookOutput {
    let configs: Vec<JsonObject> =
        answers.iter().filter_map(|answer| answer.output.specific("toolConfig")?.as_object()).collect();
    if !configs.is_empty() {
        merged.hook_specific_output.get_or_insert_default().set("toolConfig", union(&configs).to_json());
    }
    merged
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
