//! Many matchers tried on one subject at once.
//!
//! Literal texts are found in one pass over the subject, and linear patterns in another. The other matchers are tested one
//! by one. The results are the same as those of the matchers themselves; the property tests compare both.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use regex::{RegexSet, RegexSetBuilder};

use super::Matcher;
use super::compile::SetMembership;
use super::engine::in_code_units;
use super::literal::Literal;
use super::types::MatchResult;

/// The largest automaton of a set, in bytes. If it would be larger, its patterns are tested one by one.
const MAX_SET_SIZE: usize = 512 << 20;

/// The largest cache of the automaton, in bytes for each pattern. Only what the subjects need is allocated.
const CACHE_PER_PATTERN: usize = 32 << 10;

/// The smallest and the largest cache of a whole set, in bytes.
const SET_CACHE: (usize, usize) = (2 << 20, 128 << 20);

/// Many matchers that are tried on one subject at once, in about the time of one.
///
/// ```
/// use hookrail_matcher::{Language, Matcher, MatcherSet, OnInvalid, MatchScope, MatchResult};
///
/// let compile = |text| Matcher::compile(text, Language::Regex, MatchScope::Anywhere, OnInvalid::MatchAll).matcher;
/// let matchers = [compile("^write_"), compile("read"), compile("file$")];
/// let set = MatcherSet::new(&matchers);
/// assert_eq!(set.test("write_file"), [(0, MatchResult::Matches), (2, MatchResult::Matches)]);
/// ```
#[derive(Debug)]
pub struct MatcherSet {
    /// The matchers that match every subject. Here and below, a `usize` is the position of a matcher in the list.
    always: Vec<usize>,
    /// The subjects that match because they are equal to a pattern's text.
    equal: HashMap<Box<str>, Vec<usize>>,
    literals: Option<LiteralSet>,
    /// The linear patterns, and the matcher of each.
    patterns: Option<(RegexSet, Vec<usize>)>,
    /// The matchers that are tested one by one.
    separately: Vec<(usize, Matcher)>,
}

/// Literal texts, found in one pass.
#[derive(Debug)]
struct LiteralSet {
    texts: AhoCorasick,
    /// For each text, the position of its matcher and the literal with its anchors.
    owners: Vec<(usize, Literal)>,
}

impl MatcherSet {
    /// Makes a set of these matchers. The time to build its automata grows with the size of the patterns.
    #[must_use]
    pub fn new<'m>(matchers: impl IntoIterator<Item = &'m Matcher>) -> Self {
        let mut set =
            Self { always: Vec::new(), equal: HashMap::new(), literals: None, patterns: None, separately: Vec::new() };
        let (mut owners, mut patterns) = (Vec::new(), Vec::new());
        for (at, matcher) in matchers.into_iter().enumerate() {
            if let Some(text) = matcher.equal_text() {
                set.equal.entry(text.into()).or_default().push(at);
            }
            match matcher.set_membership() {
                SetMembership::Always => set.always.push(at),
                SetMembership::Literals(literals) => {
                    owners.extend(literals.iter().map(|literal| (at, matcher, literal)));
                }
                SetMembership::Pattern(text) => patterns.push((at, matcher, text)),
                SetMembership::Separately => set.separately.push((at, matcher.clone())),
            }
        }
        set.add_literals(&owners);
        if patterns.is_empty() {
            return set;
        }
        let built = RegexSetBuilder::new(patterns.iter().map(|(_, _, text)| *text))
            .size_limit(MAX_SET_SIZE)
            .dfa_size_limit((patterns.len() * CACHE_PER_PATTERN).clamp(SET_CACHE.0, SET_CACHE.1))
            .build();
        match built {
            Ok(regexes) => set.patterns = Some((regexes, patterns.iter().map(|(at, ..)| *at).collect())),
            Err(_) => set.separately.extend(patterns.iter().map(|(at, matcher, _)| (*at, Matcher::clone(matcher)))),
        }
        set
    }

    fn add_literals(&mut self, owners: &[(usize, &Matcher, &Literal)]) {
        if owners.is_empty() {
            return;
        }
        match AhoCorasick::new(owners.iter().map(|(_, _, literal)| literal.text())) {
            Ok(texts) => {
                let owners = owners.iter().map(|(at, _, literal)| (*at, Literal::clone(literal))).collect();
                self.literals = Some(LiteralSet { texts, owners });
            }
            Err(_) => self.separately.extend(owners.iter().map(|(at, matcher, _)| (*at, Matcher::clone(matcher)))),
        }
    }

    /// Returns the position and the result of each matcher that counts as matching, in the order of the list.
    #[must_use]
    pub fn test(&self, subject: &str) -> Vec<(usize, MatchResult)> {
        let matches = |at: &usize| (*at, MatchResult::Matches);
        let mut found: Vec<(usize, MatchResult)> = self.always.iter().map(matches).collect();
        if let Some(equal) = self.equal.get(subject) {
            found.extend(equal.iter().map(matches));
        }
        if let Some(literals) = &self.literals {
            found.extend(literals.test(subject).map(|at| (at, MatchResult::Matches)));
        }
        if let Some((regexes, places)) = &self.patterns {
            let subject = in_code_units(subject);
            // Most names match no pattern, and `matches` allocates room for all patterns.
            if regexes.is_match(&subject) {
                let hits = regexes.matches(&subject);
                found.extend(hits.iter().filter_map(|hit| places.get(hit)).map(matches));
            }
        }
        for (at, matcher) in &self.separately {
            let result = matcher.test(subject);
            if result.is_match() {
                found.push((*at, result));
            }
        }
        // A matcher is found more than once if several of its literals occur, or if its text is equal to the subject too.
        found.sort_unstable_by_key(|(at, _)| *at);
        found.dedup_by_key(|(at, _)| *at);
        found
    }
}

impl LiteralSet {
    fn test<'s>(&'s self, subject: &'s str) -> impl Iterator<Item = usize> + 's {
        self.texts.find_overlapping_iter(subject).filter_map(|hit| {
            let (at, literal) = self.owners.get(hit.pattern().as_usize())?;
            literal.may_match_at(hit.range(), subject.len()).then_some(*at)
        })
    }
}
