//! Prints the results of the matcher for patterns and subjects, so that they can be compared with those of another engine.
//! `scripts/matcher-vs-node` compares it with JavaScript's own regular expressions.
//!
//! Reads one JSON object on each line, `{"pattern": …, "subjects": […]}`, and answers each with one line:
//! `{"valid": true, "matches": [true, false, null]}`, where null means that the step limit was reached.

use std::io::{BufRead as _, Write as _};

use hookrail_matcher::{Language, MatchResult, MatchScope, Matcher, OnInvalid};
use serde::Deserialize;

#[derive(Deserialize)]
struct Request {
    pattern: String,
    subjects: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let compiled = Matcher::compile(&request.pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::Literal);
        let verdict = |subject: &String| match compiled.matcher.test(subject) {
            MatchResult::Matches => Some(true),
            MatchResult::Differs => Some(false),
            MatchResult::LimitReached => None,
        };
        let matches: Vec<Option<bool>> = request.subjects.iter().map(verdict).collect();
        writeln!(out, "{}", serde_json::json!({"valid": compiled.problem.is_none(), "matches": matches}))?;
    }
    Ok(())
}
