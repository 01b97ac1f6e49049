//! "Did you mean …?" for what was typed on the command line.

/// The candidate that is closest to what was typed, when one is close enough to be meant.
pub(crate) fn nearest<'c>(typed: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let folded = fold(typed);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        // Of two spellings of one name, the one that was nearly typed.
        .min_by_key(|(distance, candidate)| (*distance, strsim::damerau_levenshtein(typed, candidate)))
        .map(|(_, candidate)| candidate)
}

/// Case and separators are what people get wrong most.
fn fold(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '-' | '_' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn another_spelling_is_found_and_a_stranger_is_not() {
        let names = ["before-tool", "BeforeTool", "tool_call"];
        assert_eq!(nearest("before_tool", names), Some("before-tool"));
        assert_eq!(nearest("BeforeTol", names), Some("BeforeTool"));
        assert_eq!(nearest("ToolCal", names), Some("tool_call"));
        assert_eq!(nearest("elephant", names), None);
    }
}
