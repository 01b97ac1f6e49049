//! The switches and lists of a settings file, with their places: what turns hooks and plugins off.

use std::ops::Range;

use hookrail::sources::{Document, PlacedValue, ValueShape};

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
    pub(super) keys: Vec<(ListedName, KeyedValue)>,
}

/// What the value of a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyedValue {
    Object,
    List,
    Other,
}

/// The keys that switch hooks off, each as a path.
const SWITCHES: [&str; 4] = ["enableHooks", "tools.enableHooks", "hooksConfig.enabled", "hooks.enabled"];

impl Switches {
    /// Reads the switches of a text; none of a text that is no object.
    pub(super) fn read(text: &str) -> Self {
        let document = super::entry::tree(text);
        let root = document.as_ref().and_then(Document::root);
        let Some((root, members)) = root.and_then(|root| Some((root, root.members()?))) else { return Self::default() };
        let mut switches = Self::default();
        for (key, value) in members {
            let kind = match &value.shape {
                ValueShape::Object(_) => KeyedValue::Object,
                ValueShape::Array(_) => KeyedValue::List,
                ValueShape::Text(_)
                | ValueShape::Number(_)
                | ValueShape::Flag(_)
                | ValueShape::Date(_)
                | ValueShape::Null => KeyedValue::Other,
            };
            switches.keys.push((ListedName { name: key.name.clone(), span: key.span.clone() }, kind));
        }
        for path in SWITCHES {
            if let Some(value) = value_at(root, path)
                && value.flag() == Some(false)
            {
                switches.off.push((path, value.span.clone()));
            }
        }
        // The old place is used only if the new one has no value.
        let list = value_at(root, "hooksConfig.disabled").or_else(|| value_at(root, "hooks.disabled"));
        switches.disabled = list.map(names_of).unwrap_or_default();
        switches.plugins_off = value_at(root, "blockedPlugins").map(names_of).unwrap_or_default();
        let plugins = value_at(root, "enabledPlugins").and_then(PlacedValue::members).unwrap_or_default();
        let off = plugins.iter().filter(|(_, value)| value.flag() == Some(false));
        let names = off.map(|(key, value)| ListedName { name: key.name.clone(), span: value.span.clone() });
        switches.plugins_off.extend(names);
        switches
    }
}

/// The value at a path of keys; of repeated keys the last one.
fn value_at<'v>(root: &'v PlacedValue, path: &str) -> Option<&'v PlacedValue> {
    path.split('.').try_fold(root, |value, key| value.get(key))
}

fn names_of(list: &PlacedValue) -> Vec<ListedName> {
    let name =
        |element: &PlacedValue| Some(ListedName { name: element.text()?.to_owned(), span: element.span.clone() });
    list.elements().unwrap_or_default().iter().filter_map(name).collect()
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
