//! What the author of an answer most likely meant: fields and words that are misspelled or come from another agent, and
//! decisions in a text that is no JSON. A dialect brings its own names; nothing here changes what an answer does.

use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::nearest;

/// The names of the fields of an answer.
pub(crate) struct AnswerFields<'n> {
    /// The fields that there are.
    pub(crate) known: &'n [&'static str],
    /// What answers of other agents call a field, and where it stands here.
    pub(crate) foreign: &'static [(&'static str, &'static str)],
}

impl AnswerFields<'_> {
    /// Adds the field that an unknown one most likely means. The finding is then a warning: the author meant an effect.
    pub(crate) fn explain(&self, finding: Diagnostic, key: &str) -> Diagnostic {
        let foreign = self.foreign.iter().find(|(other, _)| *other == key);
        let mut finding = match foreign {
            Some((_, here)) => finding.hint(format!("here it is `{here}`")),
            None => finding.suggest(key, self.known.iter().copied()),
        };
        if finding.hint.is_some() {
            finding.level = Level::Warning;
        }
        finding
    }
}

/// Reports the unknown fields of one answer. Only the first few are named: a hook may print thousands.
#[derive(Default)]
pub(crate) struct UnknownFields {
    count: usize,
}

impl UnknownFields {
    /// The finding about one more unknown field; none if enough have been named.
    pub(crate) fn report(&mut self, fields: &AnswerFields<'_>, key: &str) -> Option<Diagnostic> {
        const MOST_NAMED: usize = 8;
        const LONGEST: usize = 80;
        self.count += 1;
        if self.count <= MOST_NAMED {
            let cut = if key.chars().nth(LONGEST).is_some() { "…" } else { "" };
            let key: String = key.chars().take(LONGEST).collect();
            let message = format!("`{key}{cut}` is not a field of an answer");
            return Some(fields.explain(Diagnostic::new(Code::AnswerUnknownField, message), &key));
        }
        (self.count == MOST_NAMED + 1).then(|| {
            let message = "more of its fields are not fields of an answer; only the first are named";
            Diagnostic::new(Code::AnswerUnknownField, message)
        })
    }
}

/// Words that mean a decision and are not spelled like it.
const OTHER_WORDS: [(&str, &str); 15] = [
    ("denied", "deny"),
    ("reject", "deny"),
    ("refuse", "deny"),
    ("forbid", "deny"),
    ("block", "deny"),
    ("blocked", "deny"),
    ("ok", "allow"),
    ("approve", "allow"),
    ("approved", "allow"),
    ("allowed", "allow"),
    ("accept", "allow"),
    ("permit", "allow"),
    ("confirm", "ask"),
    ("rewrite", "modify"),
    ("modified", "modify"),
];

/// The decision that a word most likely means, of those that the dialect has.
pub(crate) fn meant_decision(word: &str, known: &[&'static str]) -> Option<&'static str> {
    let other = OTHER_WORDS.iter().find(|(other, _)| *other == word.to_lowercase()).map(|(_, meant)| *meant);
    other.filter(|meant| known.contains(meant)).or_else(|| nearest(word, known.iter().copied()))
}

/// The word that stands behind the key `decision`, or a key that ends in it, in a text that is no JSON.
pub(crate) fn decision_in_broken(text: &str) -> Option<&str> {
    let keys = text.to_ascii_lowercase();
    let mut ends = keys.match_indices("decision").map(|(at, key)| at + key.len());
    ends.find_map(|end| {
        let rest = text.get(end..)?.trim_start_matches(['"', '\'', '\\']).trim_start();
        let value = rest.strip_prefix(':')?.trim_start().trim_start_matches(['"', '\'', '\\']);
        let length = value.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(value.len());
        value.get(..length).filter(|word| !word.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_found_in_a_broken_answer() {
        for text in [
            "{\"decision\": \"deny\"",
            "{'decision': 'deny'}",
            "{\\\"decision\\\": \\\"deny\\\"}",
            "{decision:deny",
            "{\"hookSpecificOutput\": {\"permissionDecision\":\"deny\"",
            "{\"the decision is\": 1, \"decision\": \"deny\"",
        ] {
            assert_eq!(decision_in_broken(text), Some("deny"), "{text}");
        }
        for text in ["", "{\"reason\": \"no decision\"", "{\"decision\"", "{\"decision\":"] {
            assert_eq!(decision_in_broken(text), None, "{text}");
        }
    }

    #[test]
    fn a_word_means_a_decision_that_the_dialect_has() {
        let (all, some) = (["ask", "deny", "allow"], ["allow", "deny", "modify"]);
        assert_eq!(meant_decision("Refuse", &all), Some("deny"));
        assert_eq!(meant_decision("block", &some), Some("deny"));
        assert_eq!(meant_decision("confirm", &all), Some("ask"));
        assert_eq!(meant_decision("confirm", &some), None);
        assert_eq!(meant_decision("dney", &some), Some("deny"));
    }
}
