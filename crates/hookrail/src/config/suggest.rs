//! "Did you mean …?"

/// The candidate that is closest to what was written, when one is close enough to be meant.
pub(crate) fn nearest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower = written.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
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
    }
}
