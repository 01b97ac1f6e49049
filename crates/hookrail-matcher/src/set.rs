//! Many matchers tried on one subject at once.
//!
//! Literal texts are found in one pass over the subject and so are linear patterns; only what fits neither is tried one
//! by one. The answers are those of the matchers themselves, which the property tests hold it to.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use regex::{RegexSet, RegexSetBuilder};

use super::Matcher;
use super::compile::InSet;
use super::engine::in_code_units;
use super::literal::Literal;
use super::types::Verdict;

/// How large the automaton of a set may become, in bytes. Beyond that its patterns are tried one by one.
const MAX_SET_SIZE: usize = 512 << 20;

/// How much memory the automaton may use to be fast, in bytes for each pattern. It takes what its subjects need.
const CACHE_PER_PATTERN: usize = 32 << 10;

/// The least and the most of that for a whole set.
const SET_CACHE: (usize, usize) = (2 << 20, 128 << 20);

/// Many matchers that are tried on one subject at once, in about the time of one.
///
/// ```
/// use hookrail_matcher::{Language, Matcher, MatcherSet, OnInvalid, Scope, Verdict};
///
/// let compile = |text| Matcher::compile(text, Language::Regex, Scope::Anywhere, OnInvalid::MatchAll).matcher;
/// let matchers = [compile("^write_"), compile("read"), compile("file$")];
/// let set = MatcherSet::new(&matchers);
/// assert_eq!(set.test("write_file"), [(0, Verdict::Matches), (2, Verdict::Matches)]);
/// ```
#[derive(Debug)]
pub struct MatcherSet {
    always: Vec<usize>,
    /// Subjects that are a match by being equal.
    equal: HashMap<Box<str>, Vec<usize>>,
    literals: Option<LiteralSet>,
    patterns: Option<(RegexSet, Vec<usize>)>,
    singly: Vec<(usize, Matcher)>,
}

/// Literal texts, found in one pass.
#[derive(Debug)]
struct LiteralSet {
    texts: AhoCorasick,
    /// For each text the matcher it belongs to, and where it may stand.
    owners: Vec<(usize, Literal)>,
}

impl MatcherSet {
    /// Makes a set of these matchers. Building its automata takes time in proportion to the patterns.
    #[must_use]
    pub fn new<'m>(matchers: impl IntoIterator<Item = &'m Matcher>) -> Self {
        let mut set =
            Self { always: Vec::new(), equal: HashMap::new(), literals: None, patterns: None, singly: Vec::new() };
        let (mut owners, mut patterns) = (Vec::new(), Vec::new());
        for (at, matcher) in matchers.into_iter().enumerate() {
            if let Some(text) = matcher.own_text() {
                set.equal.entry(text.into()).or_default().push(at);
            }
            match matcher.in_set() {
                InSet::Always => set.always.push(at),
                InSet::Literals(literals) => owners.extend(literals.iter().map(|literal| (at, matcher, literal))),
                InSet::Pattern(text) => patterns.push((at, matcher, text)),
                InSet::Singly => set.singly.push((at, matcher.clone())),
            }
        }
        set.add_literals(&owners);
        let built = RegexSetBuilder::new(patterns.iter().map(|(_, _, text)| *text))
            .size_limit(MAX_SET_SIZE)
            .dfa_size_limit((patterns.len() * CACHE_PER_PATTERN).clamp(SET_CACHE.0, SET_CACHE.1))
            .build();
        match built {
            _ if patterns.is_empty() => {}
            Ok(regexes) => set.patterns = Some((regexes, patterns.iter().map(|(at, ..)| *at).collect())),
            Err(_) => set.singly.extend(patterns.iter().map(|(at, matcher, _)| (*at, Matcher::clone(matcher)))),
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
            Err(_) => self.singly.extend(owners.iter().map(|(at, matcher, _)| (*at, Matcher::clone(matcher)))),
        }
    }

    /// Returns the position and verdict of each matcher that counts as matching, in the order of the list.
    #[must_use]
    pub fn test(&self, subject: &str) -> Vec<(usize, Verdict)> {
        let matches = |at: &usize| (*at, Verdict::Matches);
        let mut found: Vec<(usize, Verdict)> = self.always.iter().map(matches).collect();
        if let Some(equal) = self.equal.get(subject) {
            found.extend(equal.iter().map(matches));
        }
        if let Some(literals) = &self.literals {
            found.extend(literals.test(subject).map(|at| (at, Verdict::Matches)));
        }
        if let Some((regexes, places)) = &self.patterns {
            let subject = in_code_units(subject);
            // Most names match no pattern, and `matches` allocates room for all patterns.
            if regexes.is_match(&subject) {
                let hits = regexes.matches(&subject);
                found.extend(hits.iter().filter_map(|hit| places.get(hit)).map(matches));
            }
        }
        for (at, matcher) in &self.singly {
            let verdict = matcher.test(subject);
            if verdict.is_match() {
                found.push((*at, verdict));
            }
        }
        found.sort_unstable_by_key(|(at, _)| *at);
        found.dedup_by_key(|(at, _)| *at);
        found
    }
}

impl LiteralSet {
    fn test<'s>(&'s self, subject: &'s str) -> impl Iterator<Item = usize> + 's {
        self.texts.find_overlapping_iter(subject).filter_map(|hit| {
            let (at, literal) = self.owners.get(hit.pattern().as_usize())?;
            literal.may_stand(hit.range(), subject.len()).then_some(*at)
        })
    }
}
