//! What a new hook does: one small rule for each event, from a table that is part of the program.

use std::collections::BTreeMap;

use hookrail::EventKind;
use hookrail::event::FieldKind;
use serde::Deserialize;

use super::target::TemplateDialect;

/// The rules by dialect and event. The keys of a rule are described there.
const RULES: &str = include_str!("../../assets/templates/rules.toml");

/// The rule of a new hook.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) about: String,
    #[serde(default)]
    pub(super) path: Vec<String>,
    #[serde(default)]
    pub(super) word: String,
    #[serde(default)]
    pub(super) answer: String,
    pub(super) matcher: Option<String>,
    #[serde(default)]
    pub(super) guard: bool,
    event: String,
    texts: [String; 2],
    pub(super) expect: String,
    #[serde(default)]
    pub(super) rust: [String; 2],
    #[serde(default)]
    pub(super) module: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    settings: BTreeMap<String, Rule>,
    plugin: BTreeMap<String, Rule>,
    module: BTreeMap<String, Rule>,
}

impl Rules {
    /// Reads the table. A test holds that it can be read.
    fn read() -> Self {
        toml::from_str(RULES).unwrap_or_default()
    }

    fn of(self, dialect: TemplateDialect) -> BTreeMap<String, Rule> {
        match dialect {
            TemplateDialect::Settings => self.settings,
            TemplateDialect::Plugin => self.plugin,
            TemplateDialect::Module => self.module,
        }
    }
}

impl Rule {
    /// Returns the rule for an event; none if a hook of the dialect only takes note of it.
    pub(super) fn find(dialect: TemplateDialect, kind: EventKind) -> Option<Self> {
        Rules::read().of(dialect).remove(kind.name())
    }

    /// Returns the event of a test case in which the rule applies, and of one in which it does not.
    pub(super) fn events(&self) -> [String; 2] {
        self.texts.each_ref().map(|text| self.event.replace("{text}", text))
    }
}

/// The fields that every event of a kind has, for a test case.
pub(super) fn needed_fields(kind: EventKind) -> String {
    let fields = kind.spec().fields.iter().filter(|field| field.required).map(|field| {
        let value = match field.kind {
            FieldKind::Text | FieldKind::Any => "\"sample\"",
            FieldKind::Flag => "false",
            FieldKind::Number => "1",
            FieldKind::List => "[]",
            FieldKind::Object => "{}",
        };
        format!("{} = {value}", field.name)
    });
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() { "payload = {}".to_owned() } else { format!("payload = {{ {} }}", fields.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookrail::DialectId;

    #[test]
    fn every_event_of_llxprt_has_a_rule() {
        for kind in EventKind::all() {
            let has_event = kind.spec().column(DialectId::Llxprt).is_some();
            assert_eq!(Rule::find(TemplateDialect::Settings, kind).is_some(), has_event, "{kind}");
        }
    }

    #[test]
    fn every_rule_is_that_of_an_event() {
        let rules: Rules = toml::from_str(RULES).unwrap();
        for name in [rules.settings, rules.plugin, rules.module].iter().flat_map(BTreeMap::keys) {
            assert!(EventKind::all().any(|kind| kind.name() == name), "{name}");
        }
    }

    #[test]
    fn answers_are_json_and_say_what_the_event_allows() {
        for dialect in [TemplateDialect::Settings, TemplateDialect::Plugin] {
            for rule in EventKind::all().filter_map(|kind| Rule::find(dialect, kind)) {
                serde_json::from_str::<serde_json::Value>(&rule.answer).unwrap();
                assert!(rule.texts[0].contains(&rule.word) && !rule.texts[1].contains(&rule.word));
            }
        }
    }
}
