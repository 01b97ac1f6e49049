//! Removes the tools that hooks do not allow from a model request.

use crate::json::{Json, JsonObject};
use crate::tools::declared_name;

/// Returns the request with only the tools that hooks allow. It sets `toolConfig` and also removes the declarations of the
/// other tools, so that a model that ignores the configuration does not see them. A tool without a name is removed.
pub(super) fn restrict(request: &Json, config: &Json) -> Json {
    let (Some(mut request), Some(config)) = (request.as_object(), config.as_object()) else { return request.clone() };
    request.set("toolConfig", config.to_json());
    let none = config.get("mode").and_then(Json::as_str).as_deref() == Some("NONE");
    let allowed: Option<Vec<String>> = config.get("allowedFunctionNames").and_then(Json::decode);
    let keeps = |name: &str| !none && allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|known| known == name));
    if let Some(tools) = request.get("tools").and_then(Json::as_array) {
        let kept: Vec<Json> = tools.iter().filter_map(|tool| filtered(tool, &keeps)).collect();
        request.set("tools", Json::of(&kept).unwrap_or_else(|_| Json::null()));
    }
    request.to_json()
}

/// Returns one tool, or one group of declarations, with only the allowed declarations; `None` if none is left.
fn filtered(tool: &Json, keeps: &impl Fn(&str) -> bool) -> Option<Json> {
    let mut object: JsonObject = tool.as_object()?;
    if let Some(declarations) = object.get("functionDeclarations").and_then(Json::as_array) {
        let kept: Vec<Json> =
            declarations.into_iter().filter(|one| declared_name(one).is_some_and(|name| keeps(&name))).collect();
        object.set("functionDeclarations", Json::of(&kept).ok()?);
        return (!kept.is_empty()).then(|| object.to_json());
    }
    declared_name(tool).is_some_and(|name| keeps(&name)).then(|| tool.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tools: &str, config: &str, expected: &str) {
        let request = Json::parse(&format!(r#"{{"tools":{tools}}}"#)).unwrap();
        let restricted = restrict(&request, &Json::parse(config).unwrap());
        assert_eq!(restricted.as_object().unwrap().get("tools").unwrap().text(), expected, "{config}");
    }

    #[test]
    fn mode_and_list_really_restrict_the_tools() {
        let groups = r#"[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}]"#;
        check(groups, r#"{"mode":"NONE","allowedFunctionNames":[]}"#, "[]");
        check(
            groups,
            r#"{"mode":"AUTO","allowedFunctionNames":["b"]}"#,
            r#"[{"functionDeclarations":[{"name":"b"}]}]"#,
        );
        check(groups, r#"{"mode":"ANY"}"#, groups);
        check(
            r#"[{"name":"a"},{"function":{"name":"b"}}]"#,
            r#"{"allowedFunctionNames":["b"]}"#,
            r#"[{"function":{"name":"b"}}]"#,
        );
        check(groups, r#"{"allowedFunctionNames":[]}"#, "[]");
    }
}
