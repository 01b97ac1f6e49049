//! Which tools a model may call, as hooks answer it, and how several such answers become one.

use serde::{Deserialize, Serialize};

use crate::json::{Json, JsonObject};

/// Which tools a model may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookToolConfig {
    /// How the model chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<HookToolMode>,
    /// The only tools it may call; none does not restrict it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_function_names: Option<Vec<String>>,
}

/// How a model chooses tools, from the least to the most restrictive mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HookToolMode {
    /// It may call tools.
    Auto,
    /// It must call one.
    Any,
    /// It must not call any.
    None,
}

impl HookToolConfig {
    /// Reads a configuration; what cannot be read is left out.
    #[must_use]
    pub fn read(config: &JsonObject) -> Self {
        Self {
            mode: config.get("mode").and_then(Json::decode),
            allowed_function_names: config.get("allowedFunctionNames").and_then(Json::decode),
        }
    }

    /// The configuration as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::of(self).unwrap_or_else(|_| Json::null())
    }
}

/// The configuration without the tools that a list of the system layer leaves out.
pub(crate) fn narrowed(mut config: HookToolConfig, floors: &[Vec<String>]) -> HookToolConfig {
    if let Some(allowed) = &mut config.allowed_function_names {
        allowed.retain(|name| floors.iter().all(|floor| floor.contains(name)));
    }
    config
}

/// The union of all lists, under the most restrictive mode.
pub(crate) fn union(configs: Vec<HookToolConfig>) -> HookToolConfig {
    let mode = configs.iter().filter_map(|config| config.mode).max().unwrap_or(HookToolMode::Auto);
    let lists: Vec<Vec<String>> = configs.into_iter().filter_map(|config| config.allowed_function_names).collect();
    let allowed_function_names = match mode {
        HookToolMode::None => Some(Vec::new()),
        HookToolMode::Auto | HookToolMode::Any => (!lists.is_empty()).then(|| lists.concat()),
    };
    let sorted = allowed_function_names.map(|mut names| {
        names.sort_unstable();
        names.dedup();
        names
    });
    HookToolConfig { mode: Some(mode), allowed_function_names: sorted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(configs: &[&str], expected: &str) {
        let read = |text: &&str| HookToolConfig::read(&Json::parse(text).unwrap().as_object().unwrap());
        assert_eq!(union(configs.iter().map(read).collect()).to_json().text(), expected);
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
