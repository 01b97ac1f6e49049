//! Suggestions for misspelled names ("did you mean …?").

use crate::config::diagnostic::Diagnostic;

/// The candidate that is closest to the written name, if one is close enough.
#[must_use]
pub fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let folded = fold(written);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        // If two candidates differ in spelling only, the one that is closer to the written text is taken.
        .min_by_key(|(distance, candidate)| (*distance, strsim::damerau_levenshtein(written, candidate)))
        .map(|(_, candidate)| candidate)
}

/// The name without case and separators, which are misspelled most often, and with one word for what each agent has its own
/// word for: `PreCompress` is `BeforeCompress`.
fn fold(name: &str) -> String {
    let letters = name.chars().filter(|character| !matches!(character, '-' | '_' | ' ' | '.'));
    let folded: String = letters.flat_map(char::to_lowercase).collect();
    let words = [("pre", "before"), ("post", "after")];
    let other = words.into_iter().find_map(|(from, to)| Some(format!("{to}{}", folded.strip_prefix(from)?)));
    other.unwrap_or(folded)
}

/// Lists words for a message: `"a", "b" or "c"`.
#[must_use]
pub fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some(_) | None => quoted.concat(),
    }
}

impl Diagnostic {
    /// Adds the closest known name to a finding as a hint, if there is one.
    pub(crate) fn suggest<'c>(self, written: &str, known: impl IntoIterator<Item = &'c str>) -> Self {
        match nearest(written, known) {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn close_names_are_suggested_and_strangers_are_not() {
        let names = ["BeforeTool", "AfterTool", "SessionStart"];
        assert_eq!(nearest("BeforTool", names), Some("BeforeTool"));
        assert_eq!(nearest("beforetool", names), Some("BeforeTool"));
        assert_eq!(nearest("PreToolCall", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("BeforeCompress", ["BeforeTool", "PreCompress"]), Some("PreCompress"));
        assert_eq!(nearest("PostTool", names), Some("AfterTool"));
        let spellings = ["before-tool", "BeforeTool", "tool_call"];
        assert_eq!(nearest("before_tool", spellings), Some("before-tool"));
        assert_eq!(nearest("BeforeTol", spellings), Some("BeforeTool"));
        assert_eq!(nearest("ToolCal", spellings), Some("tool_call"));
    }
}
