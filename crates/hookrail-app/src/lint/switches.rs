//! The switches and lists of a settings file, with their places: what turns hooks and plugins off.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// A name in a list, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedName {
    pub(super) name: String,
    pub(super) span: Range<usize>,
}

/// What a settings file turns off.
#[derive(Debug, Default)]
pub(super) struct Switches {
    /// The switches that are off, by the path of their key.
    pub(super) off: Vec<(&'static str, Range<usize>)>,
    /// The list of disabled hooks.
    pub(super) disabled: Vec<ListedName>,
    /// The plugins that are off.
    pub(super) plugins_off: Vec<ListedName>,
    /// The keys of the file, with what their values are.
    pub(super) keys: Vec<(ListedName, ValueShape)>,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueShape {
    Object,
    List,
    Other,
}

/// The keys that switch hooks off, each as a path.
const SWITCHES: [&str; 4] = ["enableHooks", "tools.enableHooks", "hooksConfig.enabled", "hooks.enabled"];

impl Switches {
    /// Reads the switches of a text; none of a text that is no object.
    pub(super) fn read(text: &str) -> Self {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        let root = parsed.ok().and_then(|parsed| parsed.value);
        let Some(Value::Object(root)) = &root else { return Self::default() };
        let mut switches = Self::default();
        for member in &root.properties {
            let shape = match &member.value {
                Value::Object(_) => ValueShape::Object,
                Value::Array(_) => ValueShape::List,
                _ => ValueShape::Other,
            };
            let span = member.name.start()..member.name.end();
            switches.keys.push((ListedName { name: member.name.as_str().to_owned(), span }, shape));
        }
        for path in SWITCHES {
            if let Some(Value::BooleanLit(flag)) = value_at(root, path)
                && !flag.value
            {
                switches.off.push((path, flag.start()..flag.end()));
            }
        }
        // The old place is used only if the new one has no value.
        let list = value_at(root, "hooksConfig.disabled").or_else(|| value_at(root, "hooks.disabled"));
        switches.disabled = list.map(names_of).unwrap_or_default();
        switches.plugins_off = value_at(root, "blockedPlugins").map(names_of).unwrap_or_default();
        if let Some(Value::Object(plugins)) = value_at(root, "enabledPlugins") {
            for plugin in &plugins.properties {
                if let Value::BooleanLit(flag) = &plugin.value
                    && !flag.value
                {
                    let name = plugin.name.as_str().to_owned();
                    switches.plugins_off.push(ListedName { name, span: flag.start()..flag.end() });
                }
            }
        }
        switches
    }
}

/// The value at a path of keys; of repeated keys the last one.
fn value_at<'o, 't>(root: &'o Object<'t>, path: &str) -> Option<&'o Value<'t>> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let value = root.properties.iter().rev().find(|member| member.name.as_str() == key).map(|member| &member.value)?;
    match (rest, value) {
        (None, value) => Some(value),
        (Some(rest), Value::Object(object)) => value_at(object, rest),
        (Some(_), _) => None,
    }
}

fn names_of(list: &Value<'_>) -> Vec<ListedName> {
    let Value::Array(list) = list else { return Vec::new() };
    let name = |element: &Value<'_>| match element {
        Value::StringLit(text) => Some(ListedName { name: text.value.to_string(), span: text.start()..text.end() }),
        _ => None,
    };
    list.elements.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_lists_have_their_places() {
        let text = "{\n  // off\n  \"hooksConfig\": {\"enabled\": false, \"disabled\": [\"a\", 1]},\n  \"enabledPlugins\": {\"p@m\": false, \"q@m\": true}\n}";
        let switches = Switches::read(text);
        let shown = |span: &Range<usize>| &text[span.clone()];
        assert_eq!(
            switches.off.iter().map(|(key, span)| (*key, shown(span))).collect::<Vec<_>>(),
            [("hooksConfig.enabled", "false")]
        );
        assert_eq!(switches.disabled.iter().map(|one| shown(&one.span)).collect::<Vec<_>>(), ["\"a\""]);
        assert_eq!(switches.plugins_off.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["p@m"]);
        assert!(Switches::read("[]").off.is_empty());
    }
}
